"""Attempts at what can be guessed, counted in the identity table."""

import contextlib

from headgate.identity import keys
from headgate.storage import items, table
from headgate.storage.items import Item
from headgate.storage.retry import LostRace
from headgate.storage.table import ConditionFailed, identity


def add(subject: str, window: int, limit: int, expires: int) -> int | None:
    """Count an attempt in the `window`: how many there are now, or None if there were `limit` of them already.

    One conditional update, two at the start of a window. DynamoDB removes the item some time after `expires`, in
    seconds since 1970. Raises LostRace.
    """
    key = keys.attempts(subject)
    values: Item = {":window": window, ":one": 1}
    another = identity.update(
        key, "SET tried = tried + :one", "#window = :window AND tried < :limit", values | {":limit": limit}
    )
    first = identity.update(
        key,
        "SET tried = :one, #window = :window, expires = :expires",
        "attribute_not_exists(#window) OR #window <> :window",
        values | {":expires": expires},
    )
    try:
        return items.number(table.write(another, "UPDATED_NEW"), "tried")
    except ConditionFailed as error:
        if error.item.get("window") == window:
            return None
    try:
        table.write(first)
    except ConditionFailed as error:
        raise LostRace from error
    return 1


def subtract(subject: str) -> None:
    """Count one attempt less, if there is one; one conditional update."""
    fewer = identity.update(
        keys.attempts(subject), "SET tried = tried - :one", "tried > :none", {":one": 1, ":none": 0}
    )
    with contextlib.suppress(ConditionFailed):
        table.write(fewer)


def delete(subject: str) -> None:
    """Count from none again; one delete."""
    table.write(identity.delete(keys.attempts(subject)))
