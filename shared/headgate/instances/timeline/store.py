"""Events of instances in the fleets table. One function, one access pattern."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from headgate.fleets import keys
from headgate.foundation import clock
from headgate.foundation.page import Slice
from headgate.instances.mapping import EVENTS
from headgate.instances.timeline.model import KEPT, TimelineEvent
from headgate.storage.items import Item
from headgate.storage.retry import LostRace
from headgate.storage.table import ConditionFailed, Write, write
from headgate.storage.table import fleets as table

# Above the sort keys of all events of a time, and below those of the next millisecond.
_LAST_OF_A_TIME: Final = "~"
_APART: Final = 99


def put(fleet_id: str, instance_id: str, revision: int, entries: Sequence[TimelineEvent]) -> list[Write]:
    """The events as a part of the change's own transaction; `revision` is that of the instance after it."""
    return [
        table.put_new(_item(fleet_id, instance_id, f"{revision:08d}{n:02d}", entry)) for n, entry in enumerate(entries)
    ]


def append(fleet_id: str, instance_id: str, revision: int, entry: TimelineEvent) -> None:
    """Write an event that changes nothing of the instance; one put. Raises LostRace if it is there for that reason."""
    # After those that were written with this revision.
    place = f"{revision:08d}{_APART}{zlib.crc32(str(entry.reason).encode()):010d}"
    try:
        write(table.put_new(_item(fleet_id, instance_id, place, entry)))
    except ConditionFailed as error:
        raise LostRace from error


def newest(fleet_id: str, instance_id: str, limit: int, after: str | None) -> Slice[TimelineEvent]:
    """Newest first; one query."""
    prefix = f"{keys.INSTANCE_EVENTS}{instance_id}#"
    return table.page(keys.history_of(fleet_id), prefix, limit, after, EVENTS.read, newest_first=True)


def last_until(fleet_id: str, instance_id: str, at: datetime) -> TimelineEvent | None:
    """The last event at that time or before; one query."""
    events = newest(fleet_id, instance_id, 1, f"{clock.rfc3339(at)}{_LAST_OF_A_TIME}").entries
    return events[0] if events else None


def _item(fleet_id: str, instance_id: str, place: str, entry: TimelineEvent) -> Item:
    key = keys.instance_event(fleet_id, instance_id, clock.rfc3339(entry.at), place)
    return key | EVENTS.item(entry) | {"expires": int((entry.at + KEPT).timestamp())}
