"""Events of instances in the fleets table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from headgate.deployments.versions import Assignment
from headgate.fleets import keys
from headgate.foundation import clock
from headgate.instances.timeline.model import KEPT, InstanceEvent, Moment, TimelineEvent
from headgate.storage import items, principals
from headgate.storage.page import Slice
from headgate.storage.table import fleets as table
from headgate.storage.table import write

if TYPE_CHECKING:
    from datetime import datetime

    from headgate.instances.state.model import InstanceState
    from headgate.storage.items import Item, Value
    from headgate.storage.table import Write

# Above the sort keys of all events of a time, and below those of the next millisecond.
_LAST_OF_A_TIME: Final = "~"
_APART: Final = 99


def put(fleet_id: str, instance_id: str, revision: int, entries: Sequence[TimelineEvent]) -> list[Write]:
    """The events as a part of the change's own transaction; `revision` is that of the instance after it."""
    return [
        table.put_new(_item(fleet_id, instance_id, f"{revision:08d}{n:02d}", entry)) for n, entry in enumerate(entries)
    ]


def append(fleet_id: str, instance_id: str, revision: int, entry: TimelineEvent) -> None:
    """Write an event that changes nothing of the instance; one put. Raises LostRace if there is one of that time."""
    # After those that were written with this revision.
    write(table.put_new(_item(fleet_id, instance_id, f"{revision:08d}{_APART}", entry)))


def newest(fleet_id: str, instance_id: str, limit: int, after: str | None) -> Slice[TimelineEvent]:
    """Newest first; one query."""
    prefix = _prefix(instance_id)
    start = keys.sort_key(prefix, after)
    rows = table.list(keys.history_of(fleet_id), prefix, limit, start, newest_first=True)
    return Slice([_entry(item) for item in rows.entries], keys.position(prefix, rows.position))


def last_until(fleet_id: str, instance_id: str, at: datetime) -> TimelineEvent | None:
    """The last event at that time or before; one query."""
    prefix = _prefix(instance_id)
    start = f"{prefix}{clock.rfc3339(at)}{_LAST_OF_A_TIME}"
    found = table.list(keys.history_of(fleet_id), prefix, 1, start, newest_first=True).entries
    return _entry(found[0]) if found else None


def _prefix(instance_id: str) -> str:
    return f"{keys.INSTANCE_EVENTS}{instance_id}#"


def _item(fleet_id: str, instance_id: str, place: str, entry: TimelineEvent) -> Item:
    at = clock.rfc3339(entry.at)
    drifted: list[Value] | None = None if entry.drifted is None else list(entry.drifted)
    return keys.instance_event(fleet_id, instance_id, at, place) | {
        "at": at,
        "event": entry.event,
        "state": entry.state,
        "running": _moment_item(entry.running),
        "version": _version_item(entry.version),
        "reason": entry.reason,
        "drifted": drifted,
        "exits": entry.exits,
        "deployment_id": entry.deployment_id,
        "until": clock.rfc3339(entry.until) if entry.until else None,
        "actor": principals.attribute(entry.actor) if entry.actor else None,
        "message": entry.message,
        "left_out": entry.left_out,
        "program_version": entry.program_version,
        "expires": int((entry.at + KEPT).timestamp()),
    }


def _entry(item: Item) -> TimelineEvent:
    drifted, until = item.get("drifted"), items.optional_text(item, "until")
    return TimelineEvent(
        at=clock.parse(items.text(item, "at")),
        event=cast("InstanceEvent", items.text(item, "event")),
        state=cast("InstanceState", items.text(item, "state")),
        running=_moment(item),
        version=_version(items.mapping(item, "version")) if "version" in item else None,
        reason=items.optional_text(item, "reason"),
        drifted=None if drifted is None else tuple(cast("Sequence[str]", drifted)),
        exits=items.optional_number(item, "exits"),
        deployment_id=items.optional_text(item, "deployment_id"),
        until=clock.parse(until) if until else None,
        actor=principals.read(item, "actor") if "actor" in item else None,
        message=items.optional_text(item, "message"),
        left_out=items.optional_number(item, "left_out"),
        program_version=items.optional_text(item, "program_version"),
    )


def _moment_item(moment: Moment | None) -> Item | None:
    if moment is None or moment.at is None:
        return None
    since: Item = {"at": clock.rfc3339(moment.at), "collector": moment.collector_version}
    return since | (_version_item(moment.assignment) or {})


def _moment(item: Item) -> Moment | None:
    if "running" not in item:
        return None
    running = items.mapping(item, "running")
    version = _version(running) if "configuration_id" in running else None
    return Moment(version, clock.parse(items.text(running, "at")), items.optional_text(running, "collector"))


def _version_item(version: Assignment | None) -> Item | None:
    if version is None:
        return None
    return {"configuration_id": version.configuration_id, "version_number": version.version_number}


def _version(item: Mapping[str, Value]) -> Assignment:
    return Assignment(items.text(item, "configuration_id"), items.number(item, "version_number"))
