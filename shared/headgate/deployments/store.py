"""Deployment groups in the fleets table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from headgate.deployments.model import Assignment, Deployment, NameTaken, Role, VolumeMount
from headgate.fleets import keys, table
from headgate.foundation import clock, errors
from headgate.storage import idempotent_create, items
from headgate.storage.items import Item, Value

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


def deployment(fleet_id: str, deployment_id: str) -> Deployment | None:
    """One read. None if there is none."""
    item = table.get(keys.deployment(fleet_id, deployment_id))
    return None if item is None else from_item(item)


def deployments(fleet_id: str, limit: int, after: str | None) -> list[Deployment]:
    """By name, from behind the name `after`; one query and one batch read of up to 100 groups."""
    names = table.query(keys.of_fleet(fleet_id), keys.NAMES, limit, after)
    wanted = [keys.deployment(fleet_id, items.text(item, "deployment_id")) for item in names]
    return sorted(map(from_item, table.read_all(wanted)), key=lambda one: one.name.encode())


def ids(fleet_id: str, limit: int) -> list[str]:
    """The ids of up to `limit` groups; one query."""
    return [items.text(item, "deployment_id") for item in table.query(keys.of_fleet(fleet_id), keys.NAMES, limit, None)]


def writes_of_new(created: Deployment) -> list[TransactWriteItemTypeDef]:
    """The writes that keep a new group, the one that takes its name first."""
    return [_take_name(created), table.put_new(_item(created))]


def create(created: Deployment) -> None:
    """One transaction. Raises NameTaken, LostRace."""
    noted = idempotent_create.writes(f"/fleets/{created.fleet_id}/deployments/{created.id}")
    table.transact([*writes_of_new(created), *noted], {0: NameTaken(created.name)})


def replace(before: Deployment, after: Deployment, *records: TransactWriteItemTypeDef) -> None:
    """Change a group; one transaction, with `records` of it.

    Raises NameTaken, and LostRace when it is no longer what `before` is.
    """
    changed = table.put(_item(after), "revision = :revision", {":revision": before.revision})
    if before.name == after.name:
        table.transact([changed, *records], {})
        return
    refusals: dict[int, errors.HeadgateError] = {1: NameTaken(after.name)}
    renamed = [_take_name(after), table.delete(keys.name(before.fleet_id, before.name))]
    table.transact([changed, *renamed, *records], refusals)


def _take_name(group: Deployment) -> TransactWriteItemTypeDef:
    return table.put_new(keys.name(group.fleet_id, group.name) | {"deployment_id": group.id})


def _item(group: Deployment) -> Item:
    mounts: list[Value] = [{"host_path": one.host_path, "mount_path": one.mount_path} for one in group.volume_mounts]
    return keys.deployment(group.fleet_id, group.id) | {
        "deployment_id": group.id,
        "fleet_id": group.fleet_id,
        "name": group.name,
        "is_default": group.is_default,
        "role": group.role,
        "replicas": group.replicas,
        "namespace": group.namespace,
        "configuration_id": group.assignment.configuration_id if group.assignment else None,
        "version_number": group.assignment.version_number if group.assignment else None,
        "volume_mounts": mounts,
        "created_at": clock.rfc3339(group.created_at),
        "updated_at": clock.rfc3339(group.updated_at),
        "revision": group.revision,
        "assigned_revision": group.assigned_revision,
    }


def from_item(item: Item) -> Deployment:
    configuration_id = items.optional_text(item, "configuration_id")
    mounts = item["volume_mounts"]
    if not isinstance(mounts, list):
        raise TypeError("volume mounts are kept as a list")
    return Deployment(
        id=items.text(item, "deployment_id"),
        fleet_id=items.text(item, "fleet_id"),
        name=items.text(item, "name"),
        is_default=item["is_default"] is True,
        role=cast("Role | None", items.optional_text(item, "role")),
        replicas=items.optional_number(item, "replicas"),
        namespace=items.optional_text(item, "namespace"),
        assignment=Assignment(configuration_id, items.number(item, "version_number")) if configuration_id else None,
        created_at=clock.parse(items.text(item, "created_at")),
        updated_at=clock.parse(items.text(item, "updated_at")),
        volume_mounts=[_mount(mount) for mount in mounts],
        revision=items.number(item, "revision"),
        assigned_revision=items.optional_number(item, "assigned_revision") or 1,
    )


def _mount(value: Value) -> VolumeMount:
    if not isinstance(value, Mapping):
        raise TypeError("a volume mount is kept as a map")
    return VolumeMount(items.text(value, "host_path"), items.text(value, "mount_path"))
