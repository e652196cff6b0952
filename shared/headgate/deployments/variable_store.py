"""Stored variables of deployment groups in the fleets table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from headgate.deployments import store
from headgate.deployments.environment import Environment
from headgate.deployments.mapping import ENVIRONMENTS
from headgate.deployments.model import Deployment
from headgate.fleets import keys
from headgate.storage.items import Item
from headgate.storage.table import Write, transact
from headgate.storage.table import fleets as table

MOST_UNUSED: Final = 6
"""Revisions that are kept beside those of the group and its healthy versions: a host names its last six offers."""


def get(fleet_id: str, deployment_id: str) -> Environment:
    """One read; empty if nothing was ever stored."""
    return table.find(keys.env(fleet_id, deployment_id), ENVIRONMENTS.read) or Environment()


def revision(fleet_id: str, deployment_id: str, revision: int) -> Environment | None:
    """A revision that hosts were moved to; one read. None if it is not stored."""
    return table.find(keys.env_revision(fleet_id, deployment_id, revision), ENVIRONMENTS.read)


def pinning(group: Deployment, environment: Environment, used: Collection[int]) -> list[Write]:
    """The writes that store a revision for hosts to be moved to, and delete the oldest that are not `used`.

    For the transaction that changes the group; one query. Raises LostRace if it is there already with another content.
    """
    stored = {item.revision: item for item in _revisions(group)}
    key = keys.env_revision(group.fleet_id, group.id, environment.revision)
    if environment.revision in stored:
        writes = [table.must_exist(key)]
    else:
        writes = [table.put_new(key | _place(group) | ENVIRONMENTS.item(environment))]
    unused = sorted(set(stored) - set(used) - {environment.revision})
    return writes + [table.delete(keys.env_revision(group.fleet_id, group.id, n)) for n in unused[:-MOST_UNUSED]]


def put(group: Deployment, before: Environment, after: Environment) -> None:
    """One transaction. Raises LostRace if the variables were changed since, or the group is gone."""
    transact([table.must_exist(keys.deployment(group.fleet_id, group.id)), _put(group, before, after)])


def put_with_token(
    group: Deployment, owning: Deployment, token: list[Write], before: Environment, after: Environment
) -> None:
    """The same for the first variables, with which the group gets a token of its own."""
    store.replace(group, owning, *token, _put(group, before, after))


def deleting(group: Deployment) -> list[Write]:
    """The writes that delete all of a group's variables; one query if it ever had any."""
    revisions = _revisions(group) if group.token_generation else []
    return [
        table.delete(keys.env(group.fleet_id, group.id)),
        *(table.delete(keys.env_revision(group.fleet_id, group.id, each.revision)) for each in revisions),
    ]


def _revisions(group: Deployment) -> list[Environment]:
    stored = table.list_all(keys.of_fleet(group.fleet_id), f"{keys.ENV_REVISIONS}{group.id}#")
    return [ENVIRONMENTS.read(item) for item in stored]


def _put(group: Deployment, before: Environment, after: Environment) -> Write:
    item = keys.env(group.fleet_id, group.id) | _place(group) | ENVIRONMENTS.item(after)
    return table.put_if(item, *table.at_revision(before.revision))


def _place(group: Deployment) -> Item:
    return {"fleet_id": group.fleet_id, "deployment_id": group.id}
