"""Rollouts in the fleets table, with the group that they change. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from functools import cache
from typing import Final

from pydantic import TypeAdapter

from headgate.fleets import keys
from headgate.foundation.page import Slice
from headgate.rollouts.model import Rollout
from headgate.storage import idempotent_create, items
from headgate.storage.items import Item
from headgate.storage.table import Write
from headgate.storage.table import fleets as table

KEPT: Final = timedelta(days=400)
"""After its end: a year and a month."""


def rollout(deployment_id: str, rollout_id: str) -> Rollout | None:
    """One read. None if there is none."""
    return table.find(keys.rollout(deployment_id, rollout_id), from_item)


def each(ids: Iterable[tuple[str, str]]) -> list[Rollout]:
    """Rollouts of several groups, each named by its group's id and its own; one batch read for each hundred."""
    return [from_item(item) for item in table.get_all([keys.rollout(*each) for each in ids])]


def rollouts(deployment_id: str, limit: int, after: str | None) -> Slice[Rollout]:
    """A group's, newest first, starting after the id `after`; one query."""
    return table.page(keys.rollouts_of(deployment_id), keys.ROLLOUTS, limit, after, from_item, newest_first=True)


def created(rollout: Rollout) -> list[Write]:
    """The writes that store a new rollout, for the transaction that changes its group."""
    return [recorded(rollout), *noted(rollout)]


def noted(rollout: Rollout) -> list[Write]:
    """The writes that carry out a start or an act once under an `Idempotency-Key`; for its transaction."""
    path = f"/fleets/{rollout.fleet_id}/deployments/{rollout.deployment_id}/rollouts/{rollout.id}"
    return idempotent_create.writes(path)


def recorded(rollout: Rollout) -> Write:
    """The write that stores what was assigned at once."""
    return table.put_new(to_item(rollout))


def changed(before: Rollout, after: Rollout) -> Write:
    """The write that changes a rollout. Its condition is that nobody changed it since `before` was read."""
    return table.put_if(to_item(after), *table.at_revision(before.revision))


def to_item(rollout: Rollout) -> Item:
    end = rollout.finished_at
    return keys.rollout(rollout.deployment_id, rollout.id) | {
        "rollout": _rollouts().dump_json(rollout).decode(),
        "revision": rollout.revision,
        "expires": int((end + KEPT).timestamp()) if end else None,
    }


def from_item(item: Item) -> Rollout:
    return _rollouts().validate_json(items.text(item, "rollout"))


@cache
def _rollouts() -> TypeAdapter[Rollout]:
    return TypeAdapter(Rollout)
