"""Test runs on the real collector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headgate_cli.accept import expect
from headgate_cli.accept.bench import EDGE, Bench
from headgate_cli.accept.model import check
from headgate_cli.api import Entity

# On AWS a container starts first.
_PATIENCE: Final = 240.0
_FINAL: Final = ("Success", "Fail", "Error")
_NEVER: Final = "The test was never executed:"
_PASSES: Final = {"name": "has a team", "condition": 'log.attributes["team"] == "edge"', "expect": "all"}
_FAILS: Final = {"name": "has no team", "condition": 'log.attributes["team"] != nil', "expect": "none"}
_RUN: Final = {"sample": "a line\nanother", "signal_type": "logs", "target_pipeline": "logs", "duration_seconds": 1}


def _started(bench: Bench, more: Mapping[str, object]) -> Entity:
    return expect.entity(bench.write.post("/testing/runs", {**_RUN, "yaml": EDGE, **more}), 202)


def _ended(bench: Bench, run_id: str) -> Entity:
    def ended() -> Entity | None:
        now = expect.entity(bench.write.get(f"/testing/runs/{run_id}"))
        return now if now.get("status") in _FINAL else None

    return bench.until(ended, _PATIENCE, lambda: f"the run {run_id} has not ended after {_PATIENCE:.0f} s")


@check("runs.passes", "A run with a rule that holds is a Success, and its output is what the pipeline put out.")
def passes(bench: Bench) -> None:
    started = _started(bench, {"rules": [_PASSES]})
    expect.equal("`status`", started.get("status"), "Queued")
    run_id = expect.text(started, "id")
    run = _ended(bench, run_id)
    result = (run.get("status"), run.get("success"))
    expect.that(result == ("Success", True), f"the run ended in {result}: {expect.shown(run.get('stderr'))}")
    expect.equal("the rules", _results(run), [("has a team", True, 2, 2)])
    output = bench.write.get(f"/testing/runs/{run_id}/output")
    expect.status(output, 200, 307)
    if output.status == 200:
        expect.that(b"another" in output.content, "the output lacks a line of the sample")


@check("runs.fails", "A run with a rule that does not hold is a Fail, and says which rule.")
def fails(bench: Bench) -> None:
    run = _ended(bench, expect.text(_started(bench, {"rules": [_PASSES, _FAILS]}), "id"))
    expect.equal("`status`, `success`", (run.get("status"), run.get("success")), ("Fail", False))
    expect.equal("the rules", _results(run), [("has a team", True, 2, 2), ("has no team", False, 2, 2)])


@check("runs.refused", "A run on a collector that is not installed ends in Error, and says that it never ran.")
def refused(bench: Bench) -> None:
    run = _ended(bench, expect.text(_started(bench, {"collector_version": "0.1.0"}), "id"))
    expect.equal("`status`", run.get("status"), "Error")
    expect.that(expect.text(run, "stderr").startswith(_NEVER), f"`stderr` is {expect.shown(run.get('stderr'))}")


@check("runs.unknown-pipeline", "A pipeline that the configuration does not have is 422.")
def unknown_pipeline(bench: Bench) -> None:
    body = {**_RUN, "yaml": EDGE, "target_pipeline": "logs/none"}
    expect.problem(bench.write.post("/testing/runs", body), 422)


@check("runs.bounds", "A run takes 1 to 20 rules and 1 to 60 seconds, and the message names the field.")
def bounds(bench: Bench) -> None:
    for more, field in (
        ({"rules": []}, "rules"),
        ({"rules": [_PASSES] * 21}, "rules"),
        ({"duration_seconds": 61}, "duration_seconds"),
    ):
        answer = bench.write.post("/testing/runs", {**_RUN, "yaml": EDGE, **more})
        expect.names_field(expect.problem(answer, 422), field)


def _results(run: Entity) -> object:
    results = run.get("validation_results")
    if not isinstance(results, list):
        return results
    return [tuple(result.get(name) for name in ("name", "passed", "matched", "total")) for result in results]
