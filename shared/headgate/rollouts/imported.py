"""Rollouts in another deployment than the one that they were started in."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from headgate.rollouts import execution_store, store
from headgate.rollouts.model import Rollout, RolloutExecution
from headgate.storage.items import Item

_HALTED: Final = "The rollout was under way when its organization was exported; retry it once its hosts report here"


def imported(item: Item) -> Item:
    """A rollout's item as an import writes it: halted if hosts were judged, which do not report here yet."""
    rollout = store.from_item(item)
    if rollout.is_final or rollout.status in ("halted", "rolling_back"):
        return item
    return store.to_item(replace(rollout, status="halted", reason=_HALTED))


def to_carry_out(item: Item, at: datetime) -> Item | None:
    """The item that lets an execution be started for a rollout of an export; None if the rollout has ended."""
    rollout = store.from_item(item)
    return None if rollout.is_final else execution_store.to_item(_execution(rollout), at)


def _execution(rollout: Rollout) -> RolloutExecution:
    """The same for each try to import it."""
    return RolloutExecution(f"{rollout.id}-imported", rollout.fleet_id, rollout.deployment_id, rollout.id)
