"""Stored variables of deployment groups in the fleets table. One function, one access pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from headgate.deployments import store
from headgate.deployments.environment import Environment, Variable
from headgate.fleets import keys
from headgate.storage.stored import Stored
from headgate.storage.table import fleets as table
from headgate.storage.table import transact

if TYPE_CHECKING:
    from headgate.deployments.model import Deployment
    from headgate.storage.items import Item
    from headgate.storage.table import Write

_ENVIRONMENTS: Final = Stored(Environment)
Stored(Variable, sparse=True)


def get(fleet_id: str, deployment_id: str) -> Environment:
    """One read; empty if nothing was ever stored."""
    item = table.get(keys.env(fleet_id, deployment_id))
    return _ENVIRONMENTS.read(item) if item else Environment()


def put(group: Deployment, before: Environment, after: Environment) -> None:
    """One transaction. Raises LostRace if the variables were changed since, or the group is gone."""
    transact([table.must_exist(keys.deployment(group.fleet_id, group.id)), _put(group, before, after)])


def put_with_token(
    group: Deployment, owning: Deployment, token: list[Write], before: Environment, after: Environment
) -> None:
    """The same for the first variables, with which the group gets a token of its own."""
    store.replace(group, owning, *token, _put(group, before, after))


def deleting(group: Deployment) -> Write:
    return table.delete(keys.env(group.fleet_id, group.id))


def _put(group: Deployment, before: Environment, after: Environment) -> Write:
    place: Item = {"fleet_id": group.fleet_id, "deployment_id": group.id}
    item = keys.env(group.fleet_id, group.id) | place | _ENVIRONMENTS.item(after)
    if before.revision == 0:
        return table.put_new(item)
    return table.put_if(item, "revision = :revision", {":revision": before.revision})
