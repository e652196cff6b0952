"""The steps of a test run with AWS failing at each of their calls in turn, in every way.

The state machine of the template is executed as the local service does it, retries and catches included. A fault that
passes, at the latest with the step that met it, must not be noticed. One that lasts ends the run in Error with a reason
in our words; or, where the run's own table is what fails, with the event that AWS sends of an execution that failed.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from headgate.runs.run_steps import RunSteps
from headgate_local import template
from run_steps.app import handler
from tests.support import sizes
from tests.support.faults.aws_faults import LASTING, PASSING, Fault, Kind
from tests.support.faults.run_bench import Collected, Ended, RunBench, Until, ready_to_run
from tests.support.faults.verdicts import secrets

pytestmark = pytest.mark.sized

_CALLS: Final = [
    # prepare; a run is read and written with its details
    "dynamodb.TransactGetItems",
    "s3.PutObject",
    "dynamodb.TransactWriteItems",
    # evaluate
    "dynamodb.TransactGetItems",
    *["s3.GetObject"] * 2,
    *["s3.PutObject"] * 3,
    # record
    "dynamodb.TransactGetItems",
    "s3.GetObject",
    "dynamodb.TransactWriteItems",
    # and room for the next run, which a fault may keep until a waiting one is looked at
    "dynamodb.GetItem",
    "dynamodb.PutItem",
]
_ENDED: Final = len(_CALLS) - 2
"""The first call that the run's end does not depend on any more."""
FEW_PASSING: Final[tuple[Kind, ...]] = ("throttled", "lost")
FEW_LASTING: Final[tuple[Kind, ...]] = ("denied", "lost", "unsure")
_UNTIL: Final[tuple[Until, ...]] = ("attempt", "step", "call", "end")
_ERROR: Final = re.compile(
    r"(The test was never executed: preparing the run|headgate: (evaluating the rules|recording the results))"
    r" failed: the service's storage did not answer; run the test again\n?"
    r"((Everything is ready\.\n)?|headgate: what the collector wrote could not be fetched\n)"
)
_LOST: Final = "The test run was interrupted: its execution did not come to an end"


@pytest.fixture(scope="module")
def run(aws_here: template.Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunBench]:
    with ready_to_run(aws_here, tmp_path_factory.mktemp("state")) as run:
        yield run


@pytest.fixture(scope="module")
def clean(run: RunBench) -> Ended:
    """How the run ends with nothing wrong."""
    ended = run.execute()
    assert (ended.execution, ended.run["status"], ended.run["success"]) == ("SUCCEEDED", "Success", True)
    assert [one["passed"] for one in ended.run["validation_results"]] == [True]
    return ended


def test_the_table_has_every_call_of_the_steps(run: RunBench) -> None:
    assert run.execute().calls == _CALLS


# One of the lengths at each call, in turn, or all four.
_CASES: Final = [
    pytest.param(at, until, id=f"{at} {call}-{until}")
    for at, call in enumerate(_CALLS)
    for until in sizes.turn(_UNTIL, at)
]


@pytest.mark.parametrize(("at", "until"), _CASES)
def test_a_fault_at_any_call_of_a_step_ends_the_run_as_it_should(
    at: int, until: Until, run: RunBench, clean: Ended, aws_here: template.Template
) -> None:
    kinds = sizes.either(FEW_PASSING, PASSING) if until == "attempt" else sizes.either(FEW_LASTING, LASTING)
    problems: list[str] = []
    for kind in sizes.turn(kinds, at // len(_UNTIL)):
        fault = Fault(kind, at, once=until == "attempt", onwards=until == "end")
        ended = run.execute(fault, until)
        problems += [f"{kind}: {problem}" for problem in _problems(fault, until, ended, clean, run, aws_here)]
    assert not problems, "\n".join(problems)


def _problems(
    fault: Fault, until: Until, ended: Ended, clean: Ended, run: RunBench, described: template.Template
) -> Iterator[str]:
    if not run.bench.aws.hit:
        yield "the fault did not happen"
    if ended.execution == "FAILED":
        if until in ("attempt", "step") or _CALLS[fault.at].startswith("s3."):
            yield f"the execution failed: {ended.run}"
        handler(_event(described, run.run_id), None)
        ended = replace(ended, run=run.read())
    if ended.run == clean.run:
        if until == "end" and not fault.may_be_done and fault.at < _ENDED:
            yield "a lasting fault was not noticed"
    elif until in ("attempt", "step"):
        yield f"a passing fault was noticed: {ended.run}"
    elif (ended.run["status"], ended.run["success"], ended.run["validation_results"]) != ("Error", False, []):
        yield f"neither whole nor an error: {ended.run}"
    elif not ended.run["finished_at"]:
        yield "an end without its time"
    elif ended.execution == "FAILED" and ended.run["stderr"] != _LOST:
        yield f"the reason of a lost execution: {ended.run['stderr']!r}"
    elif ended.execution != "FAILED" and not _ERROR.fullmatch(ended.run["stderr"]):
        yield f"the reason: {ended.run['stderr']!r}"
    for secret in secrets(run.bench):
        if secret in json.dumps(ended.run):
            yield f"{secret[:8]}… is in the run"
        if secret in run.bench.log.getvalue():
            yield f"{secret[:8]}… is in the log"


def _event(described: template.Template, run_id: str) -> dict[str, Any]:
    """What the template's rule makes of an execution's failure for the step function."""
    events: Any = dict(described.of_type("AWS::Serverless::Function"))["RunStepsFunction"]["Events"]
    rule = events["ExecutionLost"]["Properties"]
    assert "FAILED" in rule["Pattern"]["detail"]["status"]
    assert rule["InputTransformer"]["InputPathsMap"] == {"run": "$.detail.name"}
    event: dict[str, Any] = json.loads(rule["InputTransformer"]["InputTemplate"].replace("<run>", f'"{run_id}"'))
    return event


@pytest.mark.parametrize(
    ("collected", "status", "stderr"),
    [
        ("refused once", "Success", "Everything is ready.\n"),
        ("refused", "Error", "headgate: the test runner failed: it could not be started; run the test again\n"),
        ("with status 3", "Error", "headgate: the test runner failed: it ended with an error; run the test again\n"),
        ("to nothing", "Error", "headgate: the test runner left no results\n"),
    ],
)
def test_a_container_that_fails_ends_the_run_without_words_of_aws(
    collected: Collected, status: str, stderr: str, run: RunBench
) -> None:
    ended = run.execute(collected=collected)

    assert (ended.execution, ended.run["status"], ended.run["stderr"]) == ("SUCCEEDED", status, stderr)


@pytest.mark.parametrize("step", ["prepare", "evaluate", "record"])
def test_a_defect_in_a_step_ends_the_run_without_its_words(
    step: str, run: RunBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defective(*_: object) -> None:
        raise KeyError("a word of the text that is tested")

    monkeypatch.setattr(RunSteps, step, defective)
    ended = run.execute()

    assert (ended.execution, ended.run["status"], ended.run["success"]) == ("SUCCEEDED", "Error", False)
    assert ended.run["stderr"].splitlines()[0].endswith(" failed: it ended with an error; run the test again")
