"""Executions of the state machine that carries rollouts out (statemachines/rollout.asl.yaml). No crash loses a rollout.

The transaction that opens a rollout also names the execution that carries it out, and says when that one ticks at the
latest. Then the execution is started. If the process ends in between, or the execution ends before its rollout, the
sweep of each minute starts another one. Only the execution that is named may tick: one that was replaced ends itself.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from headgate.foundation import clock
from headgate.foundation.log import logger
from headgate.foundation.settings import settings
from headgate.rollouts import execution_store as store
from headgate.rollouts.model import RolloutExecution
from headgate.storage import aws
from headgate.storage.table import Write

LONGEST_WAIT: Final = timedelta(minutes=1)
"""An execution waits no longer between two ticks, so that it is soon known to be lost."""
MOST_TICKS: Final = 700
"""A successor takes over then: AWS ends an execution after 25,000 events of its history."""
TICKS_WITHIN: Final = LONGEST_WAIT + timedelta(minutes=3)
"""A wait, and a tick with its retries (statemachines/rollout.asl.yaml)."""
# A request ends within 30 s.
_STARTED_WITHIN: Final = timedelta(seconds=30)


def new(fleet_id: str, deployment_id: str, rollout_id: str) -> RolloutExecution:
    """An execution that is to carry the rollout out, from its transaction on."""
    return RolloutExecution(f"{rollout_id}-{secrets.token_hex(8)}", fleet_id, deployment_id, rollout_id)


def write(execution: RolloutExecution, at: datetime) -> Write:
    """For the transaction that opens a rollout, or changes what is to happen next. Call `begin` after it."""
    return store.put(execution, at + _STARTED_WITHIN)


def begin(execution: RolloutExecution) -> None:
    """Start the execution. If that fails, the sweep starts another one; the request does not depend on it."""
    try:
        _start(execution)
    except (BotoCoreError, ClientError) as error:
        logger.warning("rollout_execution_not_started", rollout_id=execution.rollout_id, reason=str(error))


def may_tick(execution: RolloutExecution) -> bool:
    """Renew the execution until the next tick; True if it still carries its rollout out. One write."""
    return store.postpone(execution, clock.now() + TICKS_WITHIN)


end = store.delete
"""The rollout needs no execution any more; one write."""


def succeed(lost: RolloutExecution) -> bool:
    """Start an execution in place of a lost one: a write, and StartExecution. False if another process did it first."""
    execution = new(lost.fleet_id, lost.deployment_id, lost.rollout_id)
    if not store.take_over(lost, execution, clock.now() + _STARTED_WITHIN):
        return False
    _start(execution)
    return True


def sweep() -> int:
    """Start an execution for each rollout that has lost its own; a query, and for each a write and a start. How many.

    Raises the first fault of AWS, after it has tried them all.
    """
    at = clock.now()
    return _replace_all(rollout.execution for rollout in store.open_rollouts() if rollout.due_at < at)


def resume() -> int:
    """Start an execution for every open rollout, for a service whose executions do not survive it. How many."""
    return _replace_all(rollout.execution for rollout in store.open_rollouts())


def _replace_all(lost: Iterable[RolloutExecution]) -> int:
    faults: list[BotoCoreError | ClientError] = []
    started = 0
    for execution in lost:
        try:
            started += succeed(execution)
        except (BotoCoreError, ClientError) as error:
            faults.append(error)
    if faults:
        raise faults[0]
    return started


def _start(execution: RolloutExecution) -> None:
    rollout = {
        "fleet_id": execution.fleet_id,
        "deployment_id": execution.deployment_id,
        "rollout_id": execution.rollout_id,
        "tick": {"ticks": 0},
    }
    aws.stepfunctions().start_execution(
        stateMachineArn=settings().rollouts_state_machine_arn, name=execution.name, input=json.dumps(rollout)
    )
