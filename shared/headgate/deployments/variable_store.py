"""Stored variables of deployment groups in the fleets table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headgate.deployments import store
from headgate.deployments.environment import Environment, Variable
from headgate.fleets import keys
from headgate.foundation import clock
from headgate.storage import items
from headgate.storage.table import fleets as table
from headgate.storage.table import transact

if TYPE_CHECKING:
    from headgate.deployments.model import Deployment
    from headgate.storage.items import Value
    from headgate.storage.table import Write


def get(fleet_id: str, deployment_id: str) -> Environment:
    """One read; empty if nothing was ever stored."""
    item = table.get(keys.env(fleet_id, deployment_id))
    if item is None:
        return Environment()
    variables = {name: _variable(value) for name, value in items.mapping(item, "variables").items()}
    return Environment(variables, items.number(item, "revision"))


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
    item = keys.env(group.fleet_id, group.id) | {
        "fleet_id": group.fleet_id,
        "deployment_id": group.id,
        "variables": {name: _value(variable) for name, variable in after.variables.items()},
        "revision": after.revision,
    }
    if before.revision == 0:
        return table.put_new(item)
    return table.put_if(item, "revision = :revision", {":revision": before.revision})


def _value(variable: Variable) -> Value:
    kept: dict[str, Value] = {"set_at": clock.rfc3339(variable.set_at)}
    if variable.secret is not None:
        return kept | {"secret": variable.secret}
    return kept | {"value": variable.value or ""}


def _variable(value: Value) -> Variable:
    if not isinstance(value, Mapping):
        raise TypeError("a variable is not a map")
    secret = value.get("secret")
    set_at = clock.parse(items.text(value, "set_at"))
    if isinstance(secret, bytes):
        return Variable(set_at, secret=secret)
    return Variable(set_at, value=items.text(value, "value"))
