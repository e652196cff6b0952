"""The counters of a fleet's instances, computed from the instances: for an import, whose file has no counters."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from headgate.instances import mapping
from headgate.instances.counting.census import CensusEntry, Shard, shard_of
from headgate.instances.counting.mapping import shard_item
from headgate.storage.items import Item


def counters(fleet_id: str, instances: Iterable[Item], at: datetime) -> list[Item]:
    """The items of the shards that count these instances at that time, as if each had been stored once.

    The same instances and time give the same items, so that an interrupted import can be run again.
    """
    shards: dict[int, Shard] = {}
    for item in instances:
        instance = mapping.INSTANCES.read(item)
        number = shard_of(instance.id)
        shards[number] = shards.get(number, Shard(number)).moved(None, CensusEntry.of(instance), at)
    return [shard_item(fleet_id, shard) | {"revision": 1} for _, shard in sorted(shards.items())]
