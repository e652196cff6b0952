"""How many instances a fleet may have, and how many new ones in a minute; those that are known never ask.

One item of a fleet counts whoever joins. It never knows of fewer than there are. It may know of more, for nothing is
written when an instance is forgotten; so when the fleet seems full, the counters of its shards say how many there are.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from headgate.fleets import keys, table
from headgate.foundation import errors
from headgate.settings import settings
from headgate.storage import items

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_MINUTE: Final = 60
# Instances are forgotten by days, so a fleet that is full is not counted again at each knock.
_COUNTED_EVERY: Final = 60


class FleetFull(errors.Unavailable):
    """The fleet takes no new instance now. The supervisor asks again after `retry_after` seconds."""

    code = "fleet_full"
    no_fault = True

    def __init__(self, detail: str, retry_after: int) -> None:
        super().__init__(detail)
        # A fleet that waits shall not come back in one second.
        self.retry_after = retry_after + random.randint(0, 20)  # noqa: S311  spreads retries, guards nothing


@dataclass(frozen=True, slots=True)
class Room:
    """`total` instances at most, counted at the second `counted_at` since 1970; `joined` of them in the `minute`."""

    total: int
    minute: int
    joined: int
    counted_at: int
    revision: int


def admit(fleet_id: str, at: datetime, count: Callable[[], int]) -> TransactWriteItemTypeDef:
    """The write that lets one more instance in, to go with the one that keeps it; one read, and `count` if it is full.

    `count` gives how many there are. Raises FleetFull; the write loses its race when others joined first.
    """
    limit, rate = settings().instance_limit, settings().new_instances_per_minute
    second = int(at.timestamp())
    minute = second // _MINUTE
    room = _room(fleet_id)
    counted = room is None or (room.total >= limit and second - room.counted_at >= _COUNTED_EVERY)
    total = room.total if room and not counted else count()
    joined = room.joined if room and room.minute == minute else 0
    now = Room(
        total=total,
        minute=minute,
        joined=joined,
        counted_at=second if counted or room is None else room.counted_at,
        revision=room.revision if room else 0,
    )
    if total >= limit:
        if counted:
            # Who asks next need not count again.
            table.try_to(_put(fleet_id, now, joins=0))
        raise FleetFull(f"The fleet has {limit:,} instances, as many as it may have", _MINUTE)
    if joined >= rate:
        wait = (minute + 1) * _MINUTE - second
        raise FleetFull(f"{rate:,} instances joined the fleet in this minute, as many as may", wait)
    if counted or joined == 0:
        return _put(fleet_id, now, joins=1)
    return _add(fleet_id, minute, limit, rate)


def _room(fleet_id: str) -> Room | None:
    item = table.get(keys.room(fleet_id))
    if item is None:
        return None
    total, minute, joined, counted_at, revision = (
        items.number(item, name) for name in ("total", "minute", "joined", "counted_at", "revision")
    )
    return Room(total, minute, joined, counted_at, revision)


def _put(fleet_id: str, room: Room, *, joins: int) -> TransactWriteItemTypeDef:
    """On the condition that nobody joined since it was read: what was counted meanwhile is then exact."""
    item = keys.room(fleet_id) | {
        "total": room.total + joins,
        "minute": room.minute,
        "joined": room.joined + joins,
        "counted_at": room.counted_at,
        "revision": room.revision + 1,
    }
    if room.revision == 0:
        return table.put_new(item)
    return table.put(item, "revision = :revision", {":revision": room.revision})


def _add(fleet_id: str, minute: int, limit: int, rate: int) -> TransactWriteItemTypeDef:
    """One more in the same minute; several at once do not wait for each other."""
    return {
        "Update": {
            "TableName": settings().fleets_table,
            "Key": items.marshal(keys.room(fleet_id)),
            "UpdateExpression": "ADD #total :one, joined :one, revision :one",
            "ConditionExpression": "#minute = :minute AND #total < :limit AND joined < :rate",
            "ExpressionAttributeNames": {"#total": "total", "#minute": "minute"},
            "ExpressionAttributeValues": items.marshal({":one": 1, ":minute": minute, ":limit": limit, ":rate": rate}),
        }
    }
