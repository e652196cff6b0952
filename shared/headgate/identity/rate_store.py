"""Counters of requests by credential and minute, in the identity table."""

from headgate.identity import keys
from headgate.storage import items, table
from headgate.storage.items import Item
from headgate.storage.table import identity


def count_use(credential_id: str, minute: int) -> int:
    """Count a request of the credential in the calendar `minute`, and return the count; one write.

    A minute has an item of its own, so adding needs no condition, and of uses at once each gets a number of its own.
    DynamoDB removes the item some time after its minute.
    """
    change = "ADD used :one SET expires = :expires"
    values: Item = {":one": 1, ":expires": (minute + 1) * 60}
    counted = table.write(identity.update(keys.rate(credential_id, minute), change, values=values), "UPDATED_NEW")
    return items.number(counted, "used")
