"""Executions of open rollouts, in the fleets table. One function, one access pattern."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headgate.fleets import keys
from headgate.foundation import clock
from headgate.rollouts.model import RolloutExecution
from headgate.storage.items import Item
from headgate.storage.stored import Stored
from headgate.storage.table import ConditionFailed, Write, write
from headgate.storage.table import fleets as table

_IT_CARRIES_OUT = "execution = :execution"


@dataclass(frozen=True, slots=True)
class Open:
    """An open rollout. If its execution has not ticked by `due_at`, there is none."""

    execution: RolloutExecution
    due_at: datetime


_OPEN: Final = Stored(Open, flat=["execution"])
Stored(RolloutExecution, names={"name": "execution"})


def put(execution: RolloutExecution, due_at: datetime) -> Write:
    """The execution becomes the one that carries the rollout out, whichever it was before."""
    return table.put_over(to_item(execution, due_at))


def take_over(lost: RolloutExecution, execution: RolloutExecution, due_at: datetime) -> bool:
    """The execution takes the place of `lost`; one write. False if another one has it."""
    return _written(table.put_if(to_item(execution, due_at), _IT_CARRIES_OUT, {":execution": lost.name}))


def postpone(execution: RolloutExecution, due_at: datetime) -> bool:
    """The execution's next tick is due then; one write. False if it does not carry the rollout out."""
    values: Item = {":execution": execution.name, ":due_at": clock.rfc3339(due_at)}
    key = keys.open_rollout(execution.rollout_id)
    return _written(table.update(key, "SET due_at = :due_at", _IT_CARRIES_OUT, values))


def delete(execution: RolloutExecution) -> None:
    """The rollout is not open, unless another execution carries it out; one write."""
    _written(table.delete(keys.open_rollout(execution.rollout_id), _IT_CARRIES_OUT, {":execution": execution.name}))


def open_rollouts() -> list[Open]:
    """The open rollouts of all organizations; one query."""
    return [_OPEN.read(item) for item in table.list_all(keys.OPEN_ROLLOUTS)]


def _written(change: Write) -> bool:
    try:
        write(change)
    except ConditionFailed:
        return False
    return True


def to_item(execution: RolloutExecution, due_at: datetime) -> Item:
    return keys.open_rollout(execution.rollout_id) | _OPEN.item(Open(execution, due_at))
