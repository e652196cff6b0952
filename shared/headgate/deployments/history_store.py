"""Events of deployment groups in the fleets table. One function, one access pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from headgate.deployments.events import KEPT, EventKind, GroupEvent
from headgate.deployments.versions import Assignment, NamedVersion
from headgate.fleets import keys
from headgate.foundation import clock
from headgate.storage import items, principals
from headgate.storage.page import Slice
from headgate.storage.table import fleets as table

if TYPE_CHECKING:
    from datetime import datetime

    from headgate.storage.items import Item
    from headgate.storage.table import Write

# Above the sort keys of all events of a time, and below those of the next millisecond.
_LAST_OF_A_TIME: Final = "~"


def put(event: GroupEvent) -> Write:
    """The event as a part of the change's own transaction."""
    return table.put_new(_item(event))


def newest(fleet_id: str, deployment_id: str, limit: int, after: str | None) -> Slice[GroupEvent]:
    """Newest first; one query."""
    prefix = _prefix(deployment_id)
    start = keys.sort_key(prefix, after)
    rows = table.list(keys.history_of(fleet_id), prefix, limit, start, newest_first=True)
    return Slice([_event(item) for item in rows.entries], keys.position(prefix, rows.position))


def last_until(fleet_id: str, deployment_id: str, at: datetime) -> GroupEvent | None:
    """The last event at that time or before; one query."""
    return _one(fleet_id, deployment_id, at, newest_first=True)


def first_after(fleet_id: str, deployment_id: str, at: datetime) -> GroupEvent | None:
    """The first event after that time; one query."""
    return _one(fleet_id, deployment_id, at, newest_first=False)


def _prefix(deployment_id: str) -> str:
    return f"{keys.DEPLOYMENT_EVENTS}{deployment_id}#"


def _one(fleet_id: str, deployment_id: str, at: datetime, *, newest_first: bool) -> GroupEvent | None:
    prefix = _prefix(deployment_id)
    start = f"{prefix}{clock.rfc3339(at)}{_LAST_OF_A_TIME}"
    found = table.list(keys.history_of(fleet_id), prefix, 1, start, newest_first=newest_first).entries
    return _event(found[0]) if found else None


def _item(event: GroupEvent) -> Item:
    at = clock.rfc3339(event.at)
    return keys.deployment_event(event.fleet_id, event.deployment_id, at, event.revision) | {
        "at": at,
        "event": event.kind,
        "fleet_id": event.fleet_id,
        "deployment_id": event.deployment_id,
        "number": event.revision,
        "actor": principals.attribute(event.by),
        "message": event.message,
        "before": _version_item(event.before),
        "before_since": clock.rfc3339(event.before_since) if event.before_since else None,
        "assigned": _version_item(event.assigned),
        "expires": int((event.at + KEPT).timestamp()),
    }


def _event(item: Item) -> GroupEvent:
    since = items.optional_text(item, "before_since")
    return GroupEvent(
        fleet_id=items.text(item, "fleet_id"),
        deployment_id=items.text(item, "deployment_id"),
        revision=items.number(item, "number"),
        at=clock.parse(items.text(item, "at")),
        kind=cast("EventKind", items.text(item, "event")),
        by=principals.read(item, "actor"),
        message=items.optional_text(item, "message"),
        before=_version(item, "before"),
        before_since=clock.parse(since) if since else None,
        assigned=_version(item, "assigned"),
    )


def _version_item(version: NamedVersion | None) -> Item | None:
    if version is None:
        return None
    return {
        "configuration_id": version.assignment.configuration_id,
        "version_number": version.assignment.version_number,
        "configuration_name": version.configuration_name,
    }


def _version(item: Item, name: str) -> NamedVersion | None:
    if item.get(name) is None:
        return None
    value = items.mapping(item, name)
    assignment = Assignment(items.text(value, "configuration_id"), items.number(value, "version_number"))
    return NamedVersion(assignment, items.optional_text(value, "configuration_name"))
