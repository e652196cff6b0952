"""Deployment groups as items of the fleets table, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from headgate.deployments.model import Deployment, Role, VolumeMount
from headgate.deployments.programs import Program, ProgramFile
from headgate.deployments.running import Place, RunningRollout
from headgate.deployments.versions import Assignment, HealthyVersion
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
        "rollout": _rollout_item(group.rollout) if group.rollout else None,
        "assigned_at": clock.rfc3339(group.assigned_at) if group.assigned_at else None,
        "selector": dict(group.selector) or None,
        "token_generation": group.token_generation or None,
        "token_expires_at": clock.rfc3339(group.token_expires_at) if group.token_expires_at else None,
        "collector": program_item(group.collector),
        "captures_allowed": group.captures_allowed or None,
        "proven_revision": group.proven_revision,
        "healthy_versions": healthy_items(group.healthy) or None,
        "taken_back": healthy_items(group.taken_back) or None,
        "cleared_revision": group.cleared_revision or None,
        "managed_by": group.managed_by,
    }


def group(item: Item) -> Deployment:
    configuration_id = items.optional_text(item, "configuration_id")
    assigned_at = items.optional_text(item, "assigned_at")
    token_expires_at = items.optional_text(item, "token_expires_at")
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
        rollout=_rollout(items.mapping(item, "rollout")) if item.get("rollout") else None,
        assigned_at=clock.parse(assigned_at) if assigned_at else None,
        selector=_labels(items.mapping(item, "selector")) if item.get("selector") else {},
        token_generation=items.optional_number(item, "token_generation") or 0,
        token_expires_at=clock.parse(token_expires_at) if token_expires_at else None,
        collector=program(item),
        captures_allowed=item.get("captures_allowed") is True,
        proven_revision=items.optional_number(item, "proven_revision"),
        healthy=healthy(item),
        taken_back=healthy(item, "taken_back"),
        cleared_revision=items.optional_number(item, "cleared_revision") or 0,
        managed_by=items.optional_text(item, "managed_by"),
    )


def _rollout_item(rollout: RunningRollout) -> Item:
    return {
        "rollout_id": rollout.id,
        "configuration_id": rollout.to.configuration_id,
        "version_number": rollout.to.version_number,
        "revision": rollout.revision,
        "started_at": clock.rfc3339(rollout.started_at),
        "cut": place_item(rollout.cut),
        "watched": place_item(rollout.watched),
        "canaries": dict(rollout.canaries),
        "collector": program_item(rollout.collector),
    }


def _rollout(item: Mapping[str, Value]) -> RunningRollout:
    return RunningRollout(
        id=items.text(item, "rollout_id"),
        to=Assignment(items.text(item, "configuration_id"), items.number(item, "version_number")),
        revision=items.number(item, "revision"),
        started_at=clock.parse(items.text(item, "started_at")),
        cut=place(items.mapping(item, "cut")),
        watched=place(items.mapping(item, "watched")),
        canaries=cast("Mapping[str, str]", items.mapping(item, "canaries")),
        collector=program(item),
    )


def healthy_items(versions: Sequence[HealthyVersion]) -> list[Value]:
    return [
        {
            "configuration_id": version.assignment.configuration_id,
            "version_number": version.assignment.version_number,
            "collector": version.collector,
            "revision": version.revision,
        }
        for version in versions
    ]


def healthy(item: Mapping[str, Value], name: str = "healthy_versions") -> Sequence[HealthyVersion]:
    """The versions in that attribute; none in an item of an earlier release."""
    return tuple(
        HealthyVersion(
            Assignment(items.text(version, "configuration_id"), items.number(version, "version_number")),
            items.optional_text(version, "collector"),
            items.number(version, "revision"),
        )
        for version in cast("list[Item]", item.get(name) or ())
    )


def program_item(pinned: Program | None) -> Item | None:
    """A program as an attribute; None for none."""
    if pinned is None:
        return None
    return {"version": pinned.version, "files": {arch: asdict(file) for arch, file in pinned.files.items()}}


def program(item: Mapping[str, Value], name: str = "collector") -> Program | None:
    """The program in that attribute."""
    if not item.get(name):
        return None
    pinned = items.mapping(item, name)
    files = cast("Mapping[str, Mapping[str, Any]]", items.mapping(pinned, "files"))
    return Program(items.text(pinned, "version"), {arch: ProgramFile(**file) for arch, file in files.items()})


def place_item(place: Place) -> Item:
    return {"tier": place.tier, "rank": place.rank}


def place(item: Mapping[str, Value]) -> Place:
    return Place(items.number(item, "tier"), items.text(item, "rank"))


def _labels(value: Mapping[str, Value]) -> dict[str, str]:
    return {label: items.text(value, label) for label in value}


def _mount(value: Value) -> VolumeMount:
    if not isinstance(value, Mapping):
        raise TypeError("a volume mount is not a map")
    return VolumeMount(items.text(value, "host_path"), items.text(value, "mount_path"))
