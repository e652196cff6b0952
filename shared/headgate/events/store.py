"""The outbox: events that wait to be sent, in the events table. One function, one access pattern."""

from __future__ import annotations

from typing import Final

from headgate.events import keys
from headgate.events.model import Event
from headgate.foundation import clock
from headgate.storage.items import Item
from headgate.storage.stored import Stored
from headgate.storage.table import Write
from headgate.storage.table import events as table

_EVENTS: Final = Stored(Event, names={"id": "event_id"}, flat=["about"])


def put(event: Event) -> Write:
    """The event as a part of the transaction of the change that it tells of."""
    return table.put_new(_item(event))


def put_again(event: Event) -> Write:
    """The same for an event that may be there already."""
    return table.put_over(_item(event))


def waiting(number: int, limit: int) -> list[Event]:
    """The oldest events of a shard; one query."""
    return [_EVENTS.read(item) for item in table.list(keys.outbox(number), "", limit).entries]


def sent(event: Event) -> Write:
    """Remove an event."""
    return table.delete(keys.event(event.id, clock.rfc3339(event.at)))


def _item(event: Event) -> Item:
    return keys.event(event.id, clock.rfc3339(event.at)) | _EVENTS.item(event)
