"""Limits on a fleet's instances, and on those that join it in a minute; known instances are not limited.

One item of a fleet counts the instances that join. Its total is never too low. It may be too high, because nothing is
written when an instance is forgotten; so when the fleet seems full, the shards of its counters give the real total.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from headgate.fleets import keys
from headgate.foundation import errors
from headgate.foundation.settings import settings
from headgate.storage.retry import LostRace
from headgate.storage.stored import Stored
from headgate.storage.table import Write, transact
from headgate.storage.table import fleets as table

_MINUTE: Final = 60
# Seconds. Instances are forgotten by days, so a full fleet need not be counted for each one that asks.
_COUNTED_EVERY: Final = 60


class FleetFull(errors.Unavailable):
    """The fleet admits no new instance now. The supervisor asks again after `retry_after` seconds."""

    code = "fleet_full"
    no_fault = True

    def __init__(self, detail: str, retry_after: int) -> None:
        super().__init__(detail)
        # So that the hosts that wait do not all come back in one second.
        self.retry_after = retry_after + random.randint(0, 20)  # noqa: S311  not a secret


@dataclass(frozen=True, slots=True)
class Room:
    """At most `total` instances; `joined` of them in the `minute`. `counted_at` is when the shards were last added up.

    Times are since 1970, in minutes and in seconds.
    """

    total: int
    minute: int
    joined: int
    counted_at: int
    revision: int


_ROOMS: Final = Stored(Room)


def most_instances() -> int:
    """The most instances of a fleet."""
    return settings().instance_limit


def admit(fleet_id: str, at: datetime, count: Callable[[], int]) -> Write:
    """The write that admits one more instance, for the transaction that stores it; one read, and `count` if needed.

    `count` gives the real total. Raises FleetFull; the transaction raises LostRace if others joined first.
    """
    limit, rate = most_instances(), settings().new_instances_per_minute
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
            # So that the next one that asks need not count again.
            with suppress(LostRace):
                transact([_put(fleet_id, now, joins=0)])
        raise FleetFull(f"The fleet has reached its limit of {limit:,} instances", _MINUTE)
    if joined >= rate:
        wait = (minute + 1) * _MINUTE - second
        raise FleetFull(f"The fleet has reached its limit of {rate:,} new instances a minute", wait)
    if counted or joined == 0:
        return _put(fleet_id, now, joins=1)
    return _add(fleet_id, minute, limit, rate)


def nobody_joined(fleet_id: str) -> Write:
    """For a transaction that must fail if an instance joins the fleet from now on; one read."""
    room = _room(fleet_id)
    return table.check(keys.room(fleet_id), *table.at_revision(room.revision if room else 0))


def removal(fleet_id: str) -> Write:
    """The same, and the room is deleted."""
    room = _room(fleet_id)
    if room is None:
        return table.check(keys.room(fleet_id), *table.at_revision(0))
    return table.delete(keys.room(fleet_id), *table.at_revision(room.revision))


def _room(fleet_id: str) -> Room | None:
    return table.find(keys.room(fleet_id), _ROOMS.read)


def _put(fleet_id: str, room: Room, *, joins: int) -> Write:
    """Its condition is that nobody joined since the read, so that the total that was counted meanwhile is exact."""
    after = replace(room, total=room.total + joins, joined=room.joined + joins, revision=room.revision + 1)
    return table.put_if(keys.room(fleet_id) | _ROOMS.item(after), *table.at_revision(room.revision))


def _add(fleet_id: str, minute: int, limit: int, rate: int) -> Write:
    """One more in the same minute, without a race: several may join at once."""
    return table.update(
        keys.room(fleet_id),
        "ADD #total :one, joined :one, revision :one",
        "#minute = :minute AND #total < :limit AND joined < :rate",
        {":one": 1, ":minute": minute, ":limit": limit, ":rate": rate},
    )
