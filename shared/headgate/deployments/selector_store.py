"""The labels that select groups' members in the fleets table. One function, one access pattern."""

from __future__ import annotations

from headgate.deployments.mapping import SELECTORS
from headgate.deployments.model import Selectors
from headgate.fleets import keys
from headgate.storage.table import Write
from headgate.storage.table import fleets as table


def get(fleet_id: str) -> Selectors:
    """One batch read, for which the fleet service has the right; empty if no group was ever selected by labels."""
    rows = table.get_all([keys.selectors(fleet_id)])
    return SELECTORS.read(rows[0]) if rows else Selectors()


def put(fleet_id: str, before: Selectors, after: Selectors) -> Write:
    """Fails if they were changed since."""
    item = keys.selectors(fleet_id) | {"fleet_id": fleet_id} | SELECTORS.item(after)
    return table.put_if(item, *table.at_revision(before.revision))


def without(fleet_id: str, deployment_id: str) -> Write:
    """For the deletion of a group that is selected by labels."""
    change = f"REMOVE selectors.#{deployment_id} ADD revision :one"
    return table.update(keys.selectors(fleet_id), change, "attribute_exists(pk)", {":one": 1})


def deleting(fleet_id: str) -> Write:
    return table.delete(keys.selectors(fleet_id))
