"""Events of deployment groups in the fleets table. One function, one access pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from headgate.deployments.events import KEPT, GroupEvent
from headgate.deployments.versions import NamedVersion
from headgate.fleets import keys
from headgate.foundation import clock
from headgate.storage.items import Item
from headgate.storage.page import Slice
from headgate.storage.stored import Stored
from headgate.storage.table import fleets as table

if TYPE_CHECKING:
    from datetime import datetime

    from headgate.storage.table import Write

_EVENTS: Final = Stored(
    GroupEvent,
    names={"kind": "event", "revision": "number", "by": "actor"},
    absent={"variables_revision": None},
)
Stored(NamedVersion, flat=["assignment"])
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
    return Slice([_EVENTS.read(item) for item in rows.entries], keys.position(prefix, rows.position))


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
    rows = table.list(keys.history_of(fleet_id), prefix, 1, start, newest_first=newest_first).entries
    return _EVENTS.read(rows[0]) if rows else None


def _item(event: GroupEvent) -> Item:
    at, expires = clock.rfc3339(event.at), Item({"expires": int((event.at + KEPT).timestamp())})
    key = keys.deployment_event(event.fleet_id, event.deployment_id, at, event.revision)
    return key | _EVENTS.item(event) | expires
