"""The labels that select groups' members in the fleets table. One function, one access pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from headgate.deployments.selection import Selectors
from headgate.fleets import keys
from headgate.storage.stored import Stored
from headgate.storage.table import fleets as table

if TYPE_CHECKING:
    from headgate.storage.table import Write

_SELECTORS: Final = Stored(Selectors, names={"by_group": "selectors"})


def get(fleet_id: str) -> Selectors:
    """One batch read, for which the fleet service has the right; empty if no group was ever selected by labels."""
    rows = table.get_all([keys.selectors(fleet_id)])
    return _SELECTORS.read(rows[0]) if rows else Selectors()


def put(fleet_id: str, before: Selectors, after: Selectors) -> Write:
    """Fails if they were changed since."""
    item = keys.selectors(fleet_id) | {"fleet_id": fleet_id} | _SELECTORS.item(after)
    if before.revision == 0:
        return table.put_new(item)
    return table.put_if(item, "revision = :revision", {":revision": before.revision})


def without(fleet_id: str, deployment_id: str) -> Write:
    """For the deletion of a group that is selected by labels."""
    change = f"REMOVE selectors.#{deployment_id} ADD revision :one"
    return table.update(keys.selectors(fleet_id), change, "attribute_exists(pk)", {":one": 1})


def deleting(fleet_id: str) -> Write:
    return table.delete(keys.selectors(fleet_id))
