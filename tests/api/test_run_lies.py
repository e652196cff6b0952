"""What a test runner leaves is a stranger's word: each lie ends the run in Error with a plain reason."""

import json
from datetime import timedelta
from typing import Any

import pytest

from headgate.foundation import clock
from headgate.runs import keys, runner
from headgate.runs.model import CASE, Run
from headgate.storage import objects
from run_steps.app import handler
from testing.app import router
from tests.support.members import API, JoinWith, Member
from tests.support.run_outcomes import outcome
from tests.support.runs import queued

LINE = '{"resourceLogs":[]}\n'


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.fixture
def run(ann: Member) -> Run:
    return queued(ann, status="Running", started_at=clock.now(), duration_seconds=5)


def left(run: Run, *results: object) -> None:
    """Store results as the test runner does, each a line."""
    lines = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in results]
    objects.write(keys.file(run.id, "results"), b"\n".join(lines))


def ended(member: Member, run: Run) -> Any:
    """The run as its creator reads it, after the steps that judge and record it."""
    evaluation = handler({"step": "evaluate", "run_id": run.id}, None)
    handler({"step": "record", "run_id": run.id, "evaluation": evaluation}, None)
    return member.http.get(f"{API}/testing/runs/{run.id}").json()


def said(**changes: object) -> dict[str, object]:
    """An honest result of five seconds, but for what is changed of its outcome."""
    ended = outcome(5).model_dump(mode="json")
    return {"id": CASE, "outcome": {**ended, **changes}, "output": LINE, "stderr": "some words\n"}


def at(seconds: float) -> str:
    return (clock.now() + timedelta(seconds=seconds)).isoformat()


LIES: dict[str, tuple[Any, str]] = {
    "a result that is no JSON": (lambda: b"{", "a line of its results is not a result"),
    "a result that is a list": (lambda: [True], "a line of its results is not a result"),
    "a result that is not UTF-8": (lambda: b'"\xff"', "a line of its results is not a result"),
    "a truth value as text": (lambda: said(ran="true"), "a line of its results is not a result"),
    "a reason over several lines": (
        lambda: said(ran=False, reason="a\n::warning::b"),
        "a line of its results is not a result",
    ),
    "a reason without end": (lambda: said(ran=False, reason="a" * 1_501), "a line of its results is not a result"),
    "it ran and says why not": (lambda: said(reason="it broke"), "an outcome contradicts itself"),
    "it did not run and does not say why": (lambda: said(ran=False), "an outcome contradicts itself"),
    "it ran without being executed": (lambda: said(executed=False), "an outcome contradicts itself"),
    "it ended before it began": (
        lambda: said(started_at=at(-1), finished_at=at(-7)),
        "its times are before or after its execution",
    ),
    "it began before the run": (lambda: said(started_at=at(-3_600)), "its times are before or after its execution"),
    "it ended in time to come": (lambda: said(finished_at=at(3_600)), "its times are before or after its execution"),
    "its times have no zone": (lambda: said(started_at="2026-01-01T00:00:00"), "its times have no time zone"),
    "it ran in no time": (
        lambda: said(started_at=at(-1), finished_at=at(0)),
        "a case is said to have run for its duration, in less time than that",
    ),
    "it ended early when it was idle": (
        lambda: said(idle=True, started_at=at(-1), finished_at=at(0)),
        "a case is said to have run for its duration, in less time than that",
    ),
    "an output without end": (
        lambda: {**said(), "output": "x" * (runner.LARGEST_OUTPUT + 1)},
        "a result is larger than a run's",
    ),
    "words without end": (
        lambda: {**said(), "stderr": "x" * (runner.LARGEST_STDERR + 1)},
        "a result is larger than a run's",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_about_how_it_ended_ends_the_run_in_error(lie: str, run: Run, ann: Member) -> None:
    tell, reason = LIES[lie]
    left(run, tell())
    answer = ended(ann, run)

    assert (answer["status"], answer["validation_results"], answer["records"]) == ("Error", [], None)
    assert answer["stderr"] == f"headgate: the test runner's answer cannot be right: {reason}\n"


def test_a_result_that_changes_after_it_was_read_changes_nothing(run: Run, ann: Member) -> None:
    left(run, said(ran=False, reason="it broke"))
    evaluation = handler({"step": "evaluate", "run_id": run.id}, None)
    left(run, said())
    handler({"step": "record", "run_id": run.id, "evaluation": evaluation}, None)

    assert ann.http.get(f"{API}/testing/runs/{run.id}").json()["status"] == "Error"


def test_a_run_whose_runner_left_nothing_is_an_error(run: Run, ann: Member) -> None:
    assert ended(ann, run)["stderr"] == "headgate: the test runner left no results\n"
