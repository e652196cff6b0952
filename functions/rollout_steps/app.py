"""The task of the state machine of rollouts, and the sweep that starts an execution where one is missing."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

from headgate.foundation import faults
from headgate.foundation.errors import Unavailable
from headgate.foundation.log import logger
from headgate.rollouts import executions, service
from headgate.rollouts.model import RolloutExecution

# While AWS does not answer.
_FAULT_SECONDS: Final = 10
_DONE: Final[JsonValue] = {"done": True, "wait_seconds": 0, "ticks": 0}


class TickInput(BaseModel):
    """A tick of an execution, after so many others."""

    model_config = ConfigDict(extra="forbid")

    step: Literal["tick"]
    execution: str
    fleet_id: str
    deployment_id: str
    rollout_id: str
    ticks: int


class Sweep(BaseModel):
    model_config = ConfigDict(extra="forbid")

    step: Literal["sweep"]


_ASKED: Final[TypeAdapter[TickInput | Sweep]] = TypeAdapter(Annotated[TickInput | Sweep, Field(discriminator="step")])


def handler(event: Mapping[str, JsonValue], _context: object) -> JsonValue:
    """Carry out one step. A tick returns `done` if the execution ends, else the `wait_seconds` until the next tick.

    An execution outlives faults that pass, and the next sweep makes up for one. Raises what does not pass by itself.
    """
    asked = _ASKED.validate_python(event)
    try:
        return _tick(asked) if isinstance(asked, TickInput) else {"started": executions.sweep()}
    except (BotoCoreError, ClientError, Unavailable) as error:
        if faults.blame(error) == "ours":
            raise
        logger.warning("rollout_step_failed", step=asked.step, reason=str(error))
    return _waits(asked, _FAULT_SECONDS) if isinstance(asked, TickInput) else {"started": 0}


def _tick(asked: TickInput) -> JsonValue:
    execution = RolloutExecution(asked.execution, asked.fleet_id, asked.deployment_id, asked.rollout_id)
    if not executions.may_tick(execution):
        return _DONE
    tick = service.tick(asked.fleet_id, asked.deployment_id, asked.rollout_id)
    if tick.done:
        executions.end(execution)
        return _DONE
    if asked.ticks >= executions.MOST_TICKS:
        executions.succeed(execution)
        return _DONE
    return _waits(asked, min(max(tick.wait_seconds, 1), int(executions.LONGEST_WAIT.total_seconds())))


def _waits(asked: TickInput, seconds: int) -> JsonValue:
    return {"done": False, "wait_seconds": seconds, "ticks": asked.ticks + 1}
