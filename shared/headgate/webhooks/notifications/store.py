"""Notes of the sweep for its next call. One function, one access pattern."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from headgate.foundation import clock
from headgate.storage import items
from headgate.storage.items import Item
from headgate.storage.table import TRANSACTION_ITEMS, ConditionFailed, Write, transact, write
from headgate.storage.table import events as table
from headgate.webhooks.notifications import keys

_LEASE: Final = timedelta(minutes=5)
"""Longer than a sweep may take."""


def begin(at: datetime) -> datetime | None:
    """Begin a sweep; one conditional update. Returns until when the last one looked, None if another is under way.

    The first sweep of all looks back a minute.
    """
    values: Item = {":now": clock.rfc3339(at), ":until": clock.rfc3339(at + _LEASE)}
    free = "attribute_not_exists(held_until) OR held_until <= :now"
    try:
        item = write(table.update(keys.sweep(), "SET held_until = :until", free, values), "ALL_NEW")
    except ConditionFailed:
        return None
    looked = items.optional_text(item, "looked_until")
    return clock.parse(looked) if looked else at - timedelta(minutes=1)


def looked(until: datetime) -> None:
    """Note until when a sweep has looked for what only time brings; one update."""
    write(table.update(keys.sweep(), "SET looked_until = :until", "", {":until": clock.rfc3339(until)}))


def end() -> None:
    """End a sweep; one update."""
    write(table.update(keys.sweep(), "REMOVE held_until"))


def near_limits() -> set[str]:
    """Returns the limits that were reported as nearly reached; one query."""
    return {items.text(item, "sk") for item in table.list_all(keys.NEAR)}


def put_all(writes: list[Write]) -> None:
    """Several writes, a hundred in a transaction."""
    for start in range(0, len(writes), TRANSACTION_ITEMS):
        transact(writes[start : start + TRANSACTION_ITEMS])


def is_near(subject: str, event: Write) -> None:
    """Note that a limit is nearly reached, with the event; one transaction, and nothing if it is noted already."""
    transact([table.put_new(keys.near(subject)), event])


def is_far(subject: str) -> None:
    """One delete."""
    write(table.delete(keys.near(subject)))
