"""Numbers over time in the fleets table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.fleets import keys
from headgate.instances.series.buckets import Bucket, HostsPart, part_of
from headgate.instances.series.model import HOSTS_KEPT, SLOT
from headgate.storage.items import Item
from headgate.storage.stored import COMPRESSED_JSON, Stored
from headgate.storage.table import Key, Write, transact
from headgate.storage.table import fleets as table

_BUCKETS: Final = Stored(Bucket, forms={"cells": COMPRESSED_JSON})
_PARTS: Final = Stored(HostsPart, forms={"hosts": COMPRESSED_JSON})


@dataclass(frozen=True, slots=True)
class BucketPlace:
    """The place of a bucket: its beginning, and its seconds."""

    start: int
    seconds: int


def hosts_parts(deployment_id: str, start: int, count: int | None) -> dict[int, HostsPart]:
    """The parts of a slot's hosts that exist, by number; with None, the first one alone. One read for each hundred."""
    numbers = range(1 if count is None else count)
    rows = table.get_all([_part_key(deployment_id, start, number) for number in numbers])
    return {part.number: part for part in map(_PARTS.read, rows)}


def buckets(deployment_id: str, places: Iterable[BucketPlace]) -> dict[BucketPlace, Bucket]:
    """The buckets, new ones for those that do not exist; one read for each hundred."""
    places = [*places]
    rows = table.get_all([_bucket_key(deployment_id, place) for place in places])
    known = [_BUCKETS.read(row) for row in rows]
    return {place: Bucket(place.start, place.seconds) for place in places} | {
        BucketPlace(bucket.start, bucket.seconds): bucket for bucket in known
    }


def save(deployment_id: str, parts: Iterable[HostsPart], changed: Iterable[Bucket]) -> None:
    """Write parts and buckets as they are after a change; one transaction. Raises LostRace if one was written since."""
    writes = []
    for part in parts:
        item = _PARTS.item(part) | {"expires": part.start + SLOT + HOSTS_KEPT}
        writes.append(_put(_part_key(deployment_id, part.start, part.number), item, part.revision))
    for bucket in changed:
        key = _bucket_key(deployment_id, BucketPlace(bucket.start, bucket.seconds))
        writes.append(_put(key, _BUCKETS.item(bucket) | {"expires": bucket.expires}, bucket.revision))
    transact(writes)


def between(deployment_id: str, seconds: int, begin: int, end: int) -> Iterator[Bucket]:
    """The buckets of so many seconds that begin from `begin` to `end`, in order; one query for each megabyte."""
    first, last = (_bucket_key(deployment_id, BucketPlace(start, seconds)) for start in (begin, end))
    return map(_BUCKETS.read, table.between(str(first["pk"]), str(first["sk"]), str(last["sk"])))


def of_hosts(
    deployment_id: str, instance_ids: Collection[str], begin: int, end: int, most: int | None = None
) -> Iterator[tuple[str, Sequence[int]]]:
    """Read the hosts' parts of the slots that begin in that time, with each host's id, in order.

    One query for each megabyte of the first parts, and one batch read for each hundred other parts: the newest `most`.
    """
    parts = [*first_parts(deployment_id, begin, end)]
    elsewhere = {
        (first.start, number)
        for first in parts
        for number in {part_of(instance_id, first.parts) for instance_id in instance_ids}
        if number
    }
    places = sorted(elsewhere)[-most:] if most else sorted(elsewhere)
    rows = table.get_all([keys.series_hosts_part(deployment_id, *place) for place in places])
    parts += map(_PARTS.read, rows)
    for part in sorted(parts, key=lambda part: part.start):
        for instance_id in instance_ids:
            if instance_id in part.hosts:
                yield instance_id, part.hosts[instance_id]


def first_parts(deployment_id: str, begin: int, end: int) -> Iterator[HostsPart]:
    """The first part of the hosts of each slot that begins in that time; one query for each megabyte."""
    first, last = (keys.series_hosts(deployment_id, start) for start in (begin, end))
    return map(_PARTS.read, table.between(str(first["pk"]), str(first["sk"]), str(last["sk"])))


def _part_key(deployment_id: str, start: int, number: int) -> Key:
    if number:
        return keys.series_hosts_part(deployment_id, start, number)
    return keys.series_hosts(deployment_id, start)


def _bucket_key(deployment_id: str, place: BucketPlace) -> Key:
    key = keys.series_slot if place.seconds == SLOT else keys.series_hour
    return key(deployment_id, place.start)


def _put(key: Key, item: Item, revision: int) -> Write:
    return table.put_if(key | item | {"revision": revision + 1}, *table.at_revision(revision))
