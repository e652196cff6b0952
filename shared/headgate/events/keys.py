"""The keys of the outbox, in the events table. docs/data.md lists the attributes."""

from typing import Final

from headgate.foundation.ids import ALPHABET
from headgate.storage.table import Key

SHARDS: Final = 8
"""A partition of DynamoDB takes some 500 writes of transactions a second; all eight as many as there may be messages of
hosts (`ThrottlingRateLimit` in template.yaml)."""


def outbox(number: int) -> str:
    """A partition of events that wait to be sent."""
    return f"outbox#{number}"


def event(event_id: str, at: str) -> Key:
    """By the last three bits of the id, which are random."""
    return {"pk": outbox(ALPHABET.index(event_id[-1]) % SHARDS), "sk": f"{at}#{event_id}"}
