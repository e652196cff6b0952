"""Deployment groups as items of the fleets table, and back."""

from collections.abc import Mapping
from typing import cast

from headgate.deployments.model import Assignment, Deployment, Role, VolumeMount
from headgate.fleets import keys
from headgate.foundation import clock
from headgate.storage import items
from headgate.storage.items import Item, Value


def group_item(group: Deployment) -> Item:
    mounts: list[Value] = [
        {"host_path": mount.host_path, "mount_path": mount.mount_path} for mount in group.volume_mounts
    ]
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


def group(item: Item) -> Deployment:
    configuration_id = items.optional_text(item, "configuration_id")
    mounts = item["volume_mounts"]
    if not isinstance(mounts, list):
        raise TypeError("the attribute volume_mounts is not a list")
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
        raise TypeError("a volume mount is not a map")
    return VolumeMount(items.text(value, "host_path"), items.text(value, "mount_path"))
