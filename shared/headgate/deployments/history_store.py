"""Events of deployment groups in the fleets table. One function, one access pattern."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from headgate.deployments.events import KEPT, GroupEvent
from headgate.deployments.mapping import EVENTS
from headgate.fleets import keys
from headgate.foundation import clock
from headgate.foundation.page import Slice
from headgate.storage.items import Item
from headgate.storage.table import Write
from headgate.storage.table import fleets as table

# Above the sort keys of all events of a time, and below those of the next millisecond.
_LAST_OF_A_TIME: Final = "~"


def put(event: GroupEvent) -> Write:
    """The event as a part of the change's own transaction."""
    return table.put_new(_item(event))


def newest(fleet_id: str, deployment_id: str, limit: int, after: str | None) -> Slice[GroupEvent]:
    """Newest first; one query."""
    return _page(fleet_id, deployment_id, limit, after, newest_first=True)


def last_until(fleet_id: str, deployment_id: str, at: datetime) -> GroupEvent | None:
    """The last event at that time or before; one query."""
    return _next(fleet_id, deployment_id, at, newest_first=True)


def first_after(fleet_id: str, deployment_id: str, at: datetime) -> GroupEvent | None:
    """The first event after that time; one query."""
    return _next(fleet_id, deployment_id, at, newest_first=False)


def _next(fleet_id: str, deployment_id: str, at: datetime, *, newest_first: bool) -> GroupEvent | None:
    start = f"{clock.rfc3339(at)}{_LAST_OF_A_TIME}"
    return next(iter(_page(fleet_id, deployment_id, 1, start, newest_first=newest_first).entries), None)


def _page(fleet_id: str, deployment_id: str, limit: int, after: str | None, *, newest_first: bool) -> Slice[GroupEvent]:
    prefix = f"{keys.DEPLOYMENT_EVENTS}{deployment_id}#"
    return table.page(keys.history_of(fleet_id), prefix, limit, after, EVENTS.read, newest_first=newest_first)


def _item(event: GroupEvent) -> Item:
    at, expires = clock.rfc3339(event.at), Item({"expires": int((event.at + KEPT).timestamp())})
    key = keys.deployment_event(event.fleet_id, event.deployment_id, at, event.revision)
    return key | EVENTS.item(event) | expires
