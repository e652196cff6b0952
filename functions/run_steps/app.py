"""The tasks of the state machine of test runs and jobs. The input is `{"step": …, "run_id": …}`, and what it needs."""

import json
from collections.abc import Callable, Mapping
from typing import Final, Literal

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, ConfigDict, JsonValue

from headgate.foundation import clock, faults, metrics
from headgate.foundation.errors import Unavailable
from headgate.foundation.ids import is_id
from headgate.runs.execution import RunGone
from headgate.runs.jobs.steps import JobSteps
from headgate.runs.run_steps import RunSteps
from headgate.runs.steps import Evaluation, Stage
from headgate_engine.testing.model import Unworkable


class PassingFault(Exception):
    """A fault that may pass. The state machine retries on this name."""


class StateStep(BaseModel):
    """A task's input. `error` is what a `Catch` of the state machine passes on."""

    model_config = ConfigDict(extra="forbid")

    step: Literal["prepare", "evaluate", "record", "fail", "finish"]
    run_id: str
    evaluation: Evaluation = Evaluation()
    stage: Stage = "prepare"
    error: dict[str, JsonValue] = {}


def prepare(asked: StateStep) -> JsonValue:
    return _json(_steps(asked).prepare(asked.run_id))


def evaluate(asked: StateStep) -> JsonValue:
    return _json(_steps(asked).evaluate(asked.run_id))


def record(asked: StateStep) -> JsonValue:
    _steps(asked).record(asked.run_id, asked.evaluation)
    return None


def fail(asked: StateStep) -> JsonValue:
    cause = _own_words(asked.error.get("Cause"))
    _steps(asked).fail(asked.run_id, asked.stage, str(asked.error.get("Error", "")), cause)
    return None


def finish(asked: StateStep) -> JsonValue:
    """For an execution that has ended without having recorded anything: timed out, or stopped by a person."""
    _steps(asked).finish(asked.run_id)
    return None


def _steps(asked: StateStep) -> RunSteps | JobSteps:
    return JobSteps() if is_id("job", asked.run_id) else RunSteps()


_STEPS: Final[Mapping[str, Callable[[StateStep], JsonValue]]] = {
    "prepare": prepare,
    "evaluate": evaluate,
    "record": record,
    "fail": fail,
    "finish": finish,
}
_TOLD: Final = (PassingFault.__name__, Unworkable.__name__)
_NO_STORAGE: Final = "the service's storage did not answer; run the test again"


def handler(event: Mapping[str, JsonValue], _context: object) -> JsonValue:
    """Carry out one step. Raises PassingFault when trying again may help, and Unworkable when it cannot."""
    # Lambda counts an error in the minute in which the invocation began.
    at = clock.now()
    asked = StateStep.model_validate(event)
    try:
        return _STEPS[asked.step](asked)
    except (Unavailable, BotoCoreError, ClientError, RunGone, Unworkable) as error:
        final = isinstance(error, RunGone | Unworkable)
        if final or faults.blame(error) != "ours":
            metrics.count("ExpectedStepErrors", at)
        if final:
            raise
        detail = error.detail if isinstance(error, Unavailable) else _NO_STORAGE
        raise PassingFault(detail) from error


def _json(model: BaseModel) -> JsonValue:
    value: JsonValue = model.model_dump(mode="json")
    return value


def _own_words(cause: JsonValue) -> str | None:
    """The message of an error of ours; messages of AWS and of defects are not shown."""
    try:
        error = json.loads(cause) if isinstance(cause, str) else None
    except ValueError:
        return None
    match error:
        case {"errorType": str(kind), "errorMessage": str(message)} if kind in _TOLD:
            return message
    return None
