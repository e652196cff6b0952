"""Traces of a real collector: tracing changes no output, and what is said to have changed a record changes it.

The runs are those of `headgate test run --local`: many collectors side by side, each until it has nothing left to do.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from headgate.flows import source
from headgate_engine.testing.model import Case
from tests.support import local_cases, pipeline_cases, sizes
from tests.support.local_cases import Ran

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

Json = dict[str, Any]
FLOWS = Path(__file__).parents[2] / "flows"
SLUGS = sorted(folder.name for folder in FLOWS.iterdir() if folder.is_dir())
# Each signal, a connector that chooses, data points that are added up, records that are copied, and sampled ones.
SOME = ["cardinality-control", "host-logs", "kubernetes-gateway", "log-noise-filter"]
FLOWS_HERE = sizes.either(SOME, SLUGS)
CASES_HERE = sizes.either(pipeline_cases.names()[::12], pipeline_cases.names())
# What these put out has times of the run, or depends on when it came.
MADE_TIMES = {
    "log-dedup",
    "span-metrics",
    *pipeline_cases.names("_count", "_dedup", "_spanmetrics", "_interval", "_deltatocumulative"),
}
REPEATS = {"span-metrics", "traces_spanmetrics"}


def flow_case(slug: str) -> Case:
    flow = source.read(FLOWS / slug)
    trial = flow.file.test
    return local_cases.a_case(slug, flow.yaml, flow.sample, trial.target_pipeline, trial.duration_seconds)


def golden_case(name: str) -> Case:
    tested = pipeline_cases.case(name)
    return local_cases.a_case(name, tested.yaml, tested.sample, tested.target_pipeline, tested.duration_seconds)


@dataclass(frozen=True)
class Proof:
    """A run without a trace, one with it, and one without each part that is said to have done something."""

    plain: Ran
    traced: Ran
    without: dict[str, Ran]

    def output_of(self, ran: Ran) -> Counter[str]:
        return pipeline_cases.records(ran.result.output, self.plain.result.case.id in MADE_TIMES)

    @property
    def trace(self) -> Json:
        assert self.traced.trace is not None
        return self.traced.trace.model_dump(mode="json")


@pytest.fixture(scope="module")
def proofs() -> Iterator[dict[str, Proof]]:
    subjects = [*map(flow_case, FLOWS_HERE), *map(golden_case, CASES_HERE)]
    with closing(local_cases.checker()) as collectors:
        both = local_cases.run(
            collectors, [*subjects, *(replace(one, id=f"{one.id} traced", trace=True) for one in subjects)]
        )
        plain, traced = both[: len(subjects)], both[len(subjects) :]
        changed = [
            replace(one, id=f"{one.id} without {what}", yaml=text)
            for one, ran in zip(subjects, traced, strict=True)
            if ran.trace and one.id in FLOWS_HERE
            for what, text in parts_left_out(one.yaml, ran.trace.model_dump(mode="json")).items()
        ]
        # At most 200 run in one task.
        parts = [changed[start : start + 100] for start in range(0, len(changed), 100)]
        left_out = {ran.result.case.id: ran for part in parts for ran in local_cases.run(collectors, part)}
        yield {
            one.id: Proof(
                was, has, {name: ran for name, ran in left_out.items() if name.startswith(f"{one.id} without ")}
            )
            for one, was, has in zip(subjects, plain, traced, strict=True)
        }


def parts_left_out(text: str, trace: Json) -> dict[str, str]:
    """The configuration without each component and each statement that is said to have changed or dropped a record."""
    found: dict[str, str] = {}
    for step in trace["items"]:
        for record in step["records"] if step["kind"] == "processor" else []:
            if record["outcome"] in ("changed", "dropped", "split", "merged"):
                found.setdefault(step["component"], without_component(text, step["component"]))
            reasons = [field["by"] for field in record["fields"] if field["by"]]
            for reason in reasons + (record["by"] if record["outcome"] == "dropped" else []):
                if reason["path"] and (changed := without_statement(text, reason["path"])):
                    found.setdefault(reason["path"], changed)
    return found if sizes.FULL else dict(list(found.items())[:2])


def without_component(text: str, component: str) -> str:
    document = yaml.safe_load(text)
    for pipeline in document["service"]["pipelines"].values():
        pipeline["processors"] = [name for name in pipeline.get("processors") or [] if name != component]
    changed: str = yaml.safe_dump(document, sort_keys=False)
    return changed


def without_statement(text: str, path: str) -> str:
    """The text without the entry of a list at a path as `processors::filter::logs::log_record[0]`."""
    document = yaml.safe_load(text)
    keys: list[Any] = []
    for part in path.split("::"):
        name, *indices = re.split(r"\[(\d+)\]", part)
        keys += [name, *map(int, filter(None, indices))]
    holder = document
    for key in keys[:-1]:
        holder = holder[key]
    del holder[keys[-1]]
    changed: str = yaml.safe_dump(document, sort_keys=False)
    return changed


@pytest.mark.parametrize("name", [*FLOWS_HERE, *CASES_HERE])
def test_the_output_with_a_trace_is_that_without(name: str, proofs: dict[str, Proof]) -> None:
    proof = proofs[name]
    plain, traced = proof.output_of(proof.plain), proof.output_of(proof.traced)

    assert (proof.plain.result.status, proof.traced.result.status) == ("ran", "ran"), proof.traced.result.stderr
    assert set(plain) == set(traced)
    assert name in REPEATS or plain == traced


@pytest.mark.parametrize("name", [*FLOWS_HERE, *CASES_HERE])
def test_every_record_is_accounted_for_at_every_step(name: str, proofs: dict[str, Proof]) -> None:
    proof = proofs[name]
    trace = proof.trace

    assert (trace["available"], trace["complete"], trace["left_out"]) == (True, True, {"records": 0, "bytes": 0})
    for step in trace["items"]:
        ways = [step[outcome] for outcome in ("unchanged", "changed", "dropped", "split", "merged")]
        assert sum(ways) == step["records_in"], step["component"]
        assert len(step["records"]) + step["left_out"] == step["records_in"] + step["created"], step["component"]
    out = sum(step["records_out"] for step in trace["items"] if step["kind"] == "exporter")
    assert out == sum((proof.traced.result.records_out or {}).values())


@pytest.mark.parametrize("slug", FLOWS_HERE)
def test_what_is_said_to_have_changed_a_record_changes_it(slug: str, proofs: dict[str, Proof]) -> None:
    proof = proofs[slug]
    before = proof.output_of(proof.traced)

    assert proof.without
    unchanged = [
        name for name, ran in proof.without.items() if ran.result.status != "ran" or proof.output_of(ran) == before
    ]
    assert unchanged == []
