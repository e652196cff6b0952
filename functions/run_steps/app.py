"""The tasks of the state machine of test runs. The input is `{"step": …, "run_id": …}` and what the step needs."""

import json
from collections.abc import Callable, Mapping
from typing import Final, Literal

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter

from headgate.foundation import clock
from headgate.foundation.errors import Unavailable
from headgate.observability import faults, metrics
from headgate.runs import steps
from headgate.runs.steps import RunGone


class PassingFault(Exception):
    """A fault that may pass. The state machine retries on this name."""


class Step(BaseModel):
    """A task's input. `error` is what a `Catch` of the state machine passes on."""

    model_config = ConfigDict(extra="forbid")

    step: Literal["prepare", "evaluate", "record", "fail", "settle"]
    run_id: str
    evaluation: steps.Evaluation = steps.Evaluation()
    stage: steps.Stage = "prepare"
    error: dict[str, JsonValue] = {}


def prepare(asked: Step) -> JsonValue:
    return _json(steps.prepare(asked.run_id))


def evaluate(asked: Step) -> JsonValue:
    return _json(steps.evaluate(asked.run_id))


def record(asked: Step) -> JsonValue:
    steps.record(asked.run_id, asked.evaluation)
    return None


def fail(asked: Step) -> JsonValue:
    steps.fail(asked.run_id, asked.stage, str(asked.error.get("Error", "")), _own_words(asked.error.get("Cause")))
    return None


def finish(asked: Step) -> JsonValue:
    """For an execution that has ended without having recorded anything: timed out, or stopped by a person."""
    steps.finish(asked.run_id)
    return None


_STEPS: Final[Mapping[str, Callable[[Step], JsonValue]]] = {
    "prepare": prepare,
    "evaluate": evaluate,
    "record": record,
    "fail": fail,
    # The name in EventBridge's rule, which an event on its way may still carry.
    "settle": finish,
}
_STEP: Final = TypeAdapter(Step)
_NO_STORAGE: Final = "the service's storage did not answer; run the test again"


def handler(event: Mapping[str, JsonValue], _context: object) -> JsonValue:
    """Carry out one step. Raises PassingFault when trying again may help."""
    # Lambda counts an error in the minute in which the invocation began.
    at = clock.now()
    asked = _STEP.validate_python(event)
    try:
        return _STEPS[asked.step](asked)
    except (Unavailable, BotoCoreError, ClientError, RunGone) as error:
        if isinstance(error, RunGone) or faults.blame(error) != "ours":
            metrics.count("ExpectedStepErrors", at)
        if isinstance(error, RunGone):
            raise
        detail = error.detail if isinstance(error, Unavailable) else _NO_STORAGE
        raise PassingFault(detail) from error


def _json(model: BaseModel) -> JsonValue:
    value: JsonValue = model.model_dump(mode="json")
    return value


def _own_words(cause: JsonValue) -> str | None:
    """The message of a PassingFault in a function's error; messages of AWS and of defects are not shown."""
    try:
        error = json.loads(cause) if isinstance(cause, str) else None
    except ValueError:
        return None
    match error:
        case {"errorType": str(kind), "errorMessage": str(message)} if kind == PassingFault.__name__:
            return message
    return None
