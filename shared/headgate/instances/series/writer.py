"""Adds what hosts have counted to their groups' buckets: once, however often and in whichever order it is told.

It is told of each change of an instance's item, as it was and as it is. What both of them counted since their
supervisor's start gives what was added in between. A change is known by the time when its instance was first seen and
by the item's revision, and a slot holds, for each host, the last one that was added. That is written with the numbers
in one transaction, so a change that is told again finds itself there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from headgate.instances.series import store
from headgate.instances.series.buckets import Bucket, HostCounts, HostsPart, Order, part_of, parts_for
from headgate.instances.series.model import (
    COVERED,
    HOUR,
    MINUTE,
    MOST_SPREAD_HOURS,
    MOST_SPREAD_SLOTS,
    QUEUE,
    SLOT,
    Added,
    Totals,
    spread,
)
from headgate.instances.series.store import BucketPlace
from headgate.storage import items
from headgate.storage.retry import retried
from headgate.storage.stored import COMPRESSED_JSON, Stored

# A host is stored every three minutes, so the hosts of a minute are a third of all.
_HOSTS_OF_A_MINUTE: Final = 3


@dataclass(frozen=True, slots=True)
class _Counted:
    """The counters of an instance's item, and its place."""

    instance_id: str
    deployment_id: str
    first_seen_at: datetime
    last_seen_at: datetime
    revision: int
    totals: Totals | None = None


_COUNTED: Final = Stored(_Counted, forms={"totals": COMPRESSED_JSON})


@dataclass(frozen=True, slots=True)
class Saved:
    """A change of an instance's item that says what its host counted, in the group that it was in until then.

    `number` is its place in the stream.
    """

    number: int
    deployment_id: str
    instance_id: str
    order: Order
    at: int
    added: Added

    @classmethod
    def of(cls, number: int, old: Mapping[str, object] | None, new: Mapping[str, object]) -> Saved | None:
        """The change of an item between the images of a stream. None if it says nothing of counters.

        Raises TypeError.
        """
        now = _COUNTED.read(items.streamed(new))
        # Counts from before the host was known under this id are not added: after an import, a deletion or another id
        # they may have been added already.
        if now.totals is None or old is None:
            return None
        before = _COUNTED.read(items.streamed(old))
        known = before.totals
        begun = now.last_seen_at - timedelta(milliseconds=now.totals.milliseconds)
        if known is None and begun < before.last_seen_at:
            return None
        if known is not None and (known.run, known.milliseconds) == (now.totals.run, now.totals.milliseconds):
            return None
        return cls(
            number=number,
            deployment_id=before.deployment_id,
            instance_id=now.instance_id,
            order=(int(now.first_seen_at.timestamp()), now.revision),
            at=int(now.last_seen_at.timestamp()),
            added=now.totals.since(known),
        )

    @property
    def slot(self) -> int:
        return self.at - self.at % SLOT

    @property
    def begin(self) -> int:
        """The time at which it began to count what was added."""
        longest = MOST_SPREAD_HOURS * HOUR
        return self.at - min(longest, max(1, round(self.added.milliseconds / 1_000)))

    @property
    def counts(self) -> HostCounts:
        return HostCounts(*self.order, self.begin, self.at, self.added.together)


@retried
def add(changes: Sequence[Saved]) -> None:
    """Add the changes of one group in one slot. One transaction, and up to four batch reads.

    Raises Contention.
    """
    deployment_id, slot = changes[0].deployment_id, changes[0].slot
    parts = _parts(deployment_id, slot, len({change.instance_id for change in changes}))
    new: list[Saved] = []
    touched: set[int] = set()
    for change in sorted(changes, key=lambda each: each.order):
        number = part_of(change.instance_id, len(parts))
        if change.order <= parts[number].order_of(change.instance_id):
            continue
        parts[number] = parts[number].adding(change.instance_id, change.counts)
        touched.add(number)
        new.append(change)
    if not new:
        return
    # The first part says into how many the slot is divided.
    written = [part for part in parts if part.number in touched or (part.number == 0 and part.revision == 0)]
    store.save(deployment_id, written, _with(deployment_id, new))


def by_slot(changes: Iterable[Saved]) -> Mapping[tuple[str, int], list[Saved]]:
    """The changes by what one transaction takes: a group and a slot."""
    together: dict[tuple[str, int], list[Saved]] = {}
    for change in changes:
        together.setdefault((change.deployment_id, change.slot), []).append(change)
    return together


def _parts(deployment_id: str, slot: int, hosts: int) -> list[HostsPart]:
    """The parts of a slot's hosts; for a new one as many as are needed for so many hosts, or for those before it."""
    first = store.hosts_parts(deployment_id, slot, None).get(0)
    if first is None:
        before = store.hosts_parts(deployment_id, slot - SLOT, None).get(0)
        known = len(before.hosts) * before.parts if before else 0
        count = parts_for(max(known, hosts * _HOSTS_OF_A_MINUTE))
        return [HostsPart(slot, number, count) for number in range(count)]
    others = store.hosts_parts(deployment_id, slot, first.parts) if first.parts > 1 else {0: first}
    return [others.get(number) or HostsPart(slot, number, first.parts) for number in range(first.parts)]


def _with(deployment_id: str, changes: Sequence[Saved]) -> Iterable[Bucket]:
    """The group's buckets with the changes added."""
    added: dict[BucketPlace, list[tuple[str, int, Sequence[int], int]]] = {}
    for change in changes:
        span = change.at - change.begin
        for place, key, at, numbers in _pieces(change):
            added.setdefault(place, []).append((key, at, numbers, span))
    buckets = store.buckets(deployment_id, added)
    for place, pieces in added.items():
        for key, at, numbers, span in pieces:
            bucket = buckets[place].adding(key, at, numbers)
            buckets[place] = replace(bucket, span=max(bucket.span, span))
    return buckets.values()


def _pieces(change: Saved) -> Iterator[tuple[BucketPlace, str, int, Sequence[int]]]:
    """Numbers that a change adds to the cells of buckets: by hours, and by minutes in the last three hours."""
    begin, end = change.begin, change.at
    first = end - end % SLOT - (MOST_SPREAD_SLOTS - 1) * SLOT
    for key, numbers in [*change.added.of.items(), (COVERED, [end - begin])]:
        if key != COVERED and not any(numbers):
            continue
        queue = [numbers[QUEUE]] if key != COVERED else []
        counted = numbers[:QUEUE]
        for at, share in spread(counted, begin, end, HOUR):
            yield BucketPlace(at, HOUR), key, at, share + queue
        for at, share in spread(counted, begin, end, MINUTE):
            if at >= first:
                yield BucketPlace(at - at % SLOT, SLOT), key, at, share + queue
