"""Deployment groups in the fleets table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from headgate.deployments import mapping
from headgate.deployments.model import Deployment, NameTaken
from headgate.fleets import keys
from headgate.fleets.model import FleetNotFound
from headgate.foundation.page import Slice
from headgate.storage import idempotent_create, items
from headgate.storage.retry import LostRace
from headgate.storage.table import Write, transact
from headgate.storage.table import fleets as table


def deployment(fleet_id: str, deployment_id: str) -> Deployment | None:
    """One read. None if there is none."""
    return table.find(keys.deployment(fleet_id, deployment_id), mapping.GROUPS.read)


def deployments(fleet_id: str, limit: int, after: str | None) -> Slice[Deployment]:
    """By name, starting after the name `after`; one query and one batch read of up to 100 groups."""
    page = ids(fleet_id, limit, after)
    listed = groups((fleet_id, deployment_id) for deployment_id in page.entries)
    return Slice(sorted(listed, key=lambda group: group.name.encode()), page.position)


def named(fleet_id: str, name: str) -> Deployment | None:
    """The group of that name; two reads. None if there is none."""
    marker = table.get(keys.name(fleet_id, name))
    return deployment(fleet_id, items.text(marker, "deployment_id")) if marker else None


def ids(fleet_id: str, limit: int, after: str | None = None) -> Slice[str]:
    """The ids of up to `limit` groups by name, starting after the name `after`; one query."""
    return table.page(keys.of_fleet(fleet_id), keys.NAMES, limit, after, lambda item: items.text(item, "deployment_id"))


def groups(ids: Iterable[tuple[str, str]]) -> list[Deployment]:
    """Groups of several fleets, each named by its fleet's id and its own; one batch read for each hundred."""
    item_keys = [keys.deployment(fleet_id, deployment_id) for fleet_id, deployment_id in ids]
    return [mapping.GROUPS.read(item) for item in table.get_all(item_keys)]


def each(fleet_id: str) -> Iterator[Deployment]:
    """All of a fleet, by id; one query for each megabyte."""
    return map(mapping.GROUPS.read, table.each(keys.of_fleet(fleet_id), keys.DEPLOYMENTS))


def writes_of_new(created: Deployment) -> list[Write]:
    """The writes that store a new group; the first one takes its name."""
    return [_take_name(created), table.put_new(mapping.group_item(created))]


def create(created: Deployment, added: Write, *beside: Write) -> None:
    """One transaction, with `beside` in it; `added` is refused if the fleet is gone.

    Raises NameTaken, FleetNotFound, LostRace.
    """
    noted = idempotent_create.writes(f"/fleets/{created.fleet_id}/deployments/{created.id}")
    writes = [added, *writes_of_new(created), *beside, *noted]
    transact(writes, {0: FleetNotFound(), 1: NameTaken(created.name)})


def deleting(group: Deployment) -> list[Write]:
    """The writes that delete a group, unless it is changed meanwhile."""
    unchanged = table.delete(keys.deployment(group.fleet_id, group.id), *table.at_revision(group.revision))
    return [unchanged, table.delete(keys.name(group.fleet_id, group.name))]


def replace(before: Deployment, after: Deployment, *records: Write) -> None:
    """Change a group; one transaction, with `records` of it.

    Raises NameTaken, and LostRace if the group was changed since `before` was read.
    """
    write = changed(before, after)
    if before.name == after.name:
        transact([write, *records])
        return
    renamed = [_take_name(after), table.delete(keys.name(before.fleet_id, before.name))]
    transact([write, *renamed, *records], {1: NameTaken(after.name)})


def changed(before: Deployment, after: Deployment) -> Write:
    """The write that changes a group that keeps its name. Its condition is that nobody changed it since then."""
    return table.put_if(mapping.group_item(after), *table.at_revision(before.revision))


def prove(group: Deployment) -> None:
    """Set `proven_revision`, unless something else is assigned by now, or another host was first."""
    change = table.update(
        keys.deployment(group.fleet_id, group.id),
        "SET #proven_revision = :assigned",
        "#assigned_revision = :assigned AND (attribute_not_exists(#proven_revision) OR #proven_revision <> :assigned)",
        {":assigned": group.assigned_revision},
    )
    # The next message of a host repeats it.
    with suppress(LostRace):
        transact([change])


def unchanged(group: Deployment) -> Write:
    """For another change's transaction, which fails if somebody changed the group since it was read."""
    return table.check(keys.deployment(group.fleet_id, group.id), *table.at_revision(group.revision))


def _take_name(group: Deployment) -> Write:
    return table.put_new(keys.name(group.fleet_id, group.name) | {"deployment_id": group.id})
