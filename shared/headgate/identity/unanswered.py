"""Requests whose outcome nobody may come to know. Who makes the same one again is let in to what it has done."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from headgate.identity import keys, signing
from headgate.settings import settings
from headgate.storage import aws, items

_KEPT_SECONDS: Final = 3_600


def begin(what: str, at: datetime) -> bool:
    """Note that it is asked for; one put. Whether it was before, and did not come to its end."""
    expires = int(at.timestamp()) + _KEPT_SECONDS
    answer = aws.dynamodb().put_item(
        TableName=settings().identity_table,
        Item=items.marshal({**_key(what), "expires": expires}),
        ReturnValues="ALL_OLD",
    )
    before = items.unmarshal(answer.get("Attributes", {}))
    return bool(before) and items.number(before, "expires") > at.timestamp()


def end(what: str) -> None:
    """Its outcome is known; one delete."""
    aws.dynamodb().delete_item(TableName=settings().identity_table, Key=items.marshal(_key(what)))


def _key(what: str) -> keys.Key:
    # By a key of ours: a plain hash of six digits tells them to whoever reads the table and tries them all.
    return keys.unanswered(signing.sign("unanswered", what.encode()).hex())
