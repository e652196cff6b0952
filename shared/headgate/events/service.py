"""Writing events. `headgate.webhooks.notifications` sends them, and knows the concepts that they are about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from headgate.events import keys, store
from headgate.events.model import About, Event, EventType, event
from headgate.storage.table import TRANSACTION_ITEMS, Write, transact

# A sweep takes so many of a shard; what is more waits for the next one.
_MOST: Final = 2_000


def write(type: EventType, organization_id: str, about: About, at: datetime) -> Write:
    """The event, for the transaction of the change that it tells of: both are stored, or neither.

    It is sent within two minutes (docs/webhooks.md).
    """
    return store.put(event(type, organization_id, about, at))


def put(event: Event) -> Write:
    """An event whose id is known: writing it again changes nothing."""
    return store.put_again(event)


def waiting() -> list[Event]:
    """The oldest events that wait, up to `_MOST` of each shard; a query for each shard."""
    return [event for number in range(keys.SHARDS) for event in store.waiting(number, _MOST)]


def sent(events: Sequence[Event]) -> None:
    """Remove events, in this order; a transaction for each hundred."""
    for start in range(0, len(events), TRANSACTION_ITEMS):
        transact([store.sent(event) for event in events[start : start + TRANSACTION_ITEMS]])
