"""What a test runner leaves is a stranger's word: each lie ends the run in Error with a plain reason."""

import json
from datetime import timedelta
from typing import Any

import pytest

from headgate.foundation import clock
from headgate.runs import keys, runner
from headgate.runs.model import Run
from headgate.storage import objects
from run_steps.app import handler
from testing.app import router
from tests.support.members import API, JoinWith, Member
from tests.support.run_outcomes import outcome
from tests.support.runs import queued

LINE = b'{"resourceLogs":[]}\n'


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.fixture
def run(ann: Member) -> Run:
    return queued(ann, status="Running", started_at=clock.now(), duration_seconds=5)


def left(run: Run, *, told: bytes | None = None, **files: bytes) -> None:
    """Store files as they are, and an honest outcome unless another one is told."""
    honest = outcome(run.duration_seconds).model_dump_json().encode()
    for name, content in {"output": LINE, **files, "outcome.json": honest if told is None else told}.items():
        objects.write(keys.file(run.id, name), content)


def ended(member: Member, run: Run) -> Any:
    """The run as its creator reads it, after the steps that judge and record it."""
    evaluation = handler({"step": "evaluate", "run_id": run.id}, None)
    handler({"step": "record", "run_id": run.id, "evaluation": evaluation}, None)
    return member.http.get(f"{API}/testing/runs/{run.id}").json()


def said(**changes: object) -> bytes:
    """An honest outcome of five seconds, but for what is changed."""
    told = json.loads(outcome(5).model_dump_json())
    return json.dumps({**told, **changes}).encode()


def at(seconds: float) -> str:
    return (clock.now() + timedelta(seconds=seconds)).isoformat()


LIES: dict[str, tuple[Any, str]] = {
    "an outcome without end": (lambda: b" " * 8_193, "outcome.json is larger than 8192 bytes"),
    "an outcome that is no JSON": (lambda: b"{", "outcome.json is not an outcome"),
    "an outcome that is a list": (lambda: b"[true]", "outcome.json is not an outcome"),
    "an outcome that is not UTF-8": (lambda: b'"\xff"', "outcome.json is not UTF-8"),
    "a truth value as text": (lambda: said(ran="true"), "outcome.json is not an outcome"),
    "a reason over several lines": (
        lambda: said(ran=False, reason="a\n::warning::b"),
        "outcome.json is not an outcome",
    ),
    "a reason without end": (lambda: said(ran=False, reason="a" * 1_501), "outcome.json is not an outcome"),
    "it ran and says why not": (lambda: said(reason="it broke"), "its outcome contradicts itself"),
    "it did not run and does not say why": (lambda: said(ran=False), "its outcome contradicts itself"),
    "it ran without being executed": (lambda: said(executed=False), "its outcome contradicts itself"),
    "it ended before it began": (
        lambda: said(started_at=at(-1), finished_at=at(-7)),
        "its times are not of this run",
    ),
    "it began before the run": (lambda: said(started_at=at(-3_600)), "its times are not of this run"),
    "it ended in time to come": (lambda: said(finished_at=at(3_600)), "its times are not of this run"),
    "its times have no zone": (lambda: said(started_at="2026-01-01T00:00:00"), "its times have no time zone"),
    "it ran in no time": (
        lambda: said(started_at=at(-1), finished_at=at(0)),
        "it says that it ran for its duration, in less time than that",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_about_how_it_ended_ends_the_run_in_error(lie: str, run: Run, ann: Member) -> None:
    tell, reason = LIES[lie]
    left(run, told=tell(), stderr=b"some words\n")
    answer = ended(ann, run)

    assert (answer["status"], answer["validation_results"], answer["records"]) == ("Error", [], None)
    assert answer["stderr"] == f"headgate: the test runner's answer cannot be right: {reason}\nsome words\n"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"output": b"x" * (runner.LARGEST["output"] + 1)}, "output is larger than 33554432 bytes"),
        ({"output": b"\xff"}, "output is not UTF-8"),
        ({"stderr": b"x" * (runner.LARGEST["stderr"] + 1)}, "stderr is larger than 66000 bytes"),
        ({"stderr": b"\xff"}, "stderr is not UTF-8"),
    ],
    ids=["an output without end", "an output that is not text", "words without end", "words that are not text"],
)
def test_what_cannot_have_come_out_ends_the_run_in_error(
    files: dict[str, bytes], reason: str, run: Run, ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate_engine.rules.engine.evaluate", nothing_to_judge)
    left(run, **files)
    answer = ended(ann, run)

    assert (answer["status"], answer["stderr"]) == (
        "Error",
        f"headgate: the test runner's answer cannot be right: {reason}\n",
    )


def nothing_to_judge(*_: object, **__: object) -> Any:
    from headgate_engine.rules.engine import Results

    return Results(verdicts=[], records={"logs": 0})


def test_an_outcome_that_changes_after_it_was_read_changes_nothing(run: Run, ann: Member) -> None:
    left(run, told=said(ran=False, reason="it broke"))
    evaluation = handler({"step": "evaluate", "run_id": run.id}, None)
    left(run)
    handler({"step": "record", "run_id": run.id, "evaluation": evaluation}, None)

    assert ann.http.get(f"{API}/testing/runs/{run.id}").json()["status"] == "Error"


def test_a_run_whose_runner_left_nothing_is_an_error(run: Run, ann: Member) -> None:
    assert ended(ann, run)["stderr"] == "headgate: the test runner left no outcome\n"
