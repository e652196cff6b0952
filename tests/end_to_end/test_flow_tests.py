"""Every flow of the gallery, proven on the running service: a new folder is a new test, which fails until it is proven.

Every flow is validated and linted on each change. Its pipeline tests are run if it differs from what `make trust` last
proved, which proven_flows.json has by digest; of the others, one of each signal is run. Runs last as long as they were
asked to, so those of all selected flows go on at once.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from headgate.flows import source
from headgate.foundation.settings import settings
from tests.support import sizes
from tests.support.local_service import LocalService

pytestmark = [pytest.mark.end_to_end, pytest.mark.sized]

FLOWS = Path(__file__).parents[2] / "flows"
SLUGS = sorted(folder.name for folder in FLOWS.iterdir() if folder.is_dir())
RUNS_AT_ONCE = 6
FINAL = ("Success", "Fail", "Error")
INFERRED = re.compile(r'context "\w+" is inferred from the paths')
# A receiver that gives way to the sample as any other does, and does nothing to raw lines.
PLAIN_RECEIVER = {"otlp/plain": {"protocols": {"grpc": {}}}}

Json = dict[str, Any]
PROVEN = Path(__file__).with_name("proven_flows.json")
# `make collector-upgrade` has it written beside its report, until the default collector is raised.
NOTED = Path(os.environ.get("HEADGATE_NOTE_PROVEN") or PROVEN)


def digest(slug: str) -> str:
    """The digest of everything in this repository that the pipeline tests of a flow depend on."""
    flow = source.read(FLOWS / slug)
    parts = [flow.yaml, flow.sample, flow.file.test.model_dump(), [rule.model_dump() for rule in flow.rules]]
    return hashlib.sha256(json.dumps([settings().collector_version, parts]).encode()).hexdigest()


def selected() -> list[str]:
    """The flows whose pipeline tests are run."""
    if sizes.FULL:
        return SLUGS
    proven = json.loads(PROVEN.read_text())
    first = {source.read(FLOWS / slug).file.test.signal_type: slug for slug in reversed(SLUGS)}
    return [slug for slug in SLUGS if proven.get(slug) != digest(slug) or slug in first.values()]


RUN = selected()


@dataclass(frozen=True)
class Proof:
    """What the service says of a flow."""

    validation: Json
    lint: Json
    run: Json | None
    run_without_main_component: Json | None


@pytest.fixture(scope="session")
def proofs(service: LocalService, request: pytest.FixtureRequest) -> Iterator[dict[str, Future[Proof]]]:
    """The proofs of the selected flows, under way."""
    callspecs = [item.callspec for item in request.session.items if hasattr(item, "callspec")]
    selected = sorted({spec.params["slug"] for spec in callspecs if spec.params.get("slug") in SLUGS})
    with service.client() as client, ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
        yield {slug: pool.submit(prove, client, slug) for slug in selected}
        pool.shutdown(cancel_futures=True)


def prove(client: httpx.Client, slug: str) -> Proof:
    flow = source.read(FLOWS / slug)
    trial = flow.file.test
    return Proof(
        validation=answer(client.post("/validate", json={"yaml": flow.yaml})),
        lint=answer(client.post("/ottl/lint", json={"yaml": flow.yaml})),
        run=run(client, flow, flow.yaml) if slug in RUN else None,
        run_without_main_component=(
            run(client, flow, without(flow.yaml, trial.main_component)) if slug in RUN else None
        ),
    )


def answer(response: httpx.Response) -> Json:
    assert response.is_success, response.text
    content: Json = response.json()
    return content


def run(client: httpx.Client, flow: source.FlowSource, text: str) -> Json:
    """A finished run of the flow's sample through `text`."""
    trial = flow.file.test
    request = {
        "yaml": text,
        "sample": flow.sample,
        "signal_type": trial.signal_type,
        "target_pipeline": trial.target_pipeline,
        "duration_seconds": trial.duration_seconds,
        "rules": [rule.model_dump(exclude_none=True) for rule in flow.rules],
    }
    response = client.post("/testing/runs", json=request)
    if refused := refused_rules(response):
        return {"status": "Refused", "stderr": "", "validation_results": refused}
    started = answer(response)
    while (found := answer(client.get(f"/testing/runs/{started['id']}")))["status"] not in FINAL:
        time.sleep(0.5)
    return found


def remark(item: Json) -> str | None:
    """What the linter says against an expression. That a context was inferred is not a fault."""
    note = item["note"] or ""
    return item["error"] or ("" if INFERRED.fullmatch(note) else note)


def refused_rules(response: httpx.Response) -> list[Json]:
    """The rules that cannot even be judged, since no signal of theirs is left; as results that did not pass."""
    problems = response.json().get("errors") or [] if response.status_code == 422 else []
    return [{"passed": False, **problem} for problem in problems if problem["loc"][:2] == ["body", "rules"]]


def without(text: str, component: str) -> str:
    """The configuration with no pipeline using the component."""
    document = yaml.safe_load(text)
    is_connector = component in (document.get("connectors") or {})
    for pipeline in document["service"]["pipelines"].values():
        for section in ("receivers", "processors", "exporters"):
            used = pipeline.get(section) or []
            pipeline[section] = [name for name in used if name != component]
        # What loses all its receivers or exporters still has to be a pipeline.
        pipeline["receivers"] = pipeline["receivers"] or list(PLAIN_RECEIVER)
        pipeline["exporters"] = pipeline["exporters"] or ["debug/plain"]
    document["receivers"] |= PLAIN_RECEIVER
    document["exporters"] |= {"debug/plain": {}}
    if is_connector:
        del document["connectors"][component]
    changed: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    return changed


def test_the_gallery_is_whole() -> None:
    assert sorted(flow.slug for flow in source.load(FLOWS)) == SLUGS


@pytest.mark.parametrize("slug", SLUGS)
def test_a_flow_validates_on_the_real_collector_with_an_empty_environment(
    slug: str, proofs: dict[str, Future[Proof]]
) -> None:
    validation = proofs[slug].result().validation

    assert (validation["valid"], validation["errors"]) == (True, [])
    assert {warning["code"] for warning in validation["warnings"]} <= {"unset_variable"}
    assert {variable["name"] for variable in validation["environment"]} == set(source.read(FLOWS / slug).file.settings)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_flow_lints_clean_with_no_expression_left_unjudged(slug: str, proofs: dict[str, Future[Proof]]) -> None:
    lint = proofs[slug].result().lint

    assert [item for item in lint["items"] if remark(item)] == []
    assert (lint["valid"], lint["skipped"]) == (True, [])


@pytest.mark.parametrize("slug", RUN)
def test_the_sample_of_a_flow_passes_its_rules_in_a_real_pipeline_test(
    slug: str, proofs: dict[str, Future[Proof]]
) -> None:
    run = proofs[slug].result().run

    assert run is not None
    assert [result for result in run["validation_results"] if not result["passed"]] == [], run["stderr"]
    assert (run["status"], run["success"]) == ("Success", True), run["stderr"]
    assert len(run["validation_results"]) >= source.FEWEST_RULES


@pytest.mark.parametrize("slug", RUN)
def test_without_its_main_component_a_flow_fails_a_rule(slug: str, proofs: dict[str, Future[Proof]]) -> None:
    run = proofs[slug].result().run_without_main_component

    assert run is not None
    assert run["status"] in ("Fail", "Refused"), run["stderr"]
    assert not all(result["passed"] for result in run["validation_results"])


@pytest.mark.full
def test_what_is_proved_is_noted(proofs: dict[str, Future[Proof]]) -> None:
    for slug in SLUGS:
        proof = proofs[slug].result()
        assert proof.run is not None
        assert proof.run_without_main_component is not None
        assert (proof.run["status"], proof.run_without_main_component["status"]) in (
            ("Success", "Fail"),
            ("Success", "Refused"),
        )
    NOTED.write_text(json.dumps({slug: digest(slug) for slug in SLUGS}, indent=2) + "\n")


def test_no_flow_that_is_gone_is_noted_as_proven() -> None:
    assert set(json.loads(PROVEN.read_text())) <= set(SLUGS)
