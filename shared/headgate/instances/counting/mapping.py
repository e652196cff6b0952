"""The shards of a fleet's counters as items of the fleets table, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final, cast

from headgate.fleets import keys
from headgate.instances import mapping
from headgate.instances.counting.census import CensusEntry, Day, Shard, shard_of
from headgate.instances.state.model import InstanceState
from headgate.storage.items import Item, Value
from headgate.storage.stored import Form, Stored, structured


def shard_item(fleet_id: str, shard: Shard) -> Item:
    """`heard` counts all, `quick` those of them that report quickly."""
    heard: dict[CensusEntry, int] = {}
    for entry, n in shard.heard.items():
        every = replace(entry, quick=False)
        heard[every] = heard.get(every, 0) + n
    counted: Item = {
        "heard": _heard_items(heard),
        "quick": _heard_items({entry: n for entry, n in shard.heard.items() if entry.quick}) or None,
    }
    return keys.census_shard(fleet_id, shard.number) | _SHARDS.item(shard) | counted


def shard(item: Item) -> Shard:
    heard, quick = _heard(item["heard"]), _heard(item.get("quick") or {})
    slow = {entry: n - quick.get(entry, 0) for entry, n in heard.items()}
    fast = {replace(entry, quick=True): n - slow[entry] for entry, n in heard.items()}
    return _SHARDS.read(item, heard={entry: n for entry, n in {**slow, **fast}.items() if n})


def recounted(fleet_id: str, instances: Iterable[Item], at: datetime) -> list[Item]:
    """The items of the shards that count these instances at that time, as if each had been stored once: for an import.

    The same instances and time give the same items, so that an interrupted import can be run again.
    """
    shards: dict[int, Shard] = {}
    for item in instances:
        instance = mapping.INSTANCES.read(item)
        number = shard_of(instance.id)
        shards[number] = shards.get(number, Shard(number)).moved(None, CensusEntry.of(instance), at)
    return [shard_item(fleet_id, shard) | {"revision": 1} for _, shard in sorted(shards.items())]


def _heard_items(counted: Mapping[CensusEntry, int]) -> Item:
    """Nested by group, then assignment and state, then mark, so that what entries share is stored once."""
    nested: dict[str, dict[str, dict[str, Value]]] = {}
    for entry, n in counted.items():
        of_group = nested.setdefault(entry.deployment_id, {})
        of_group.setdefault(f"{entry.state_revision}#{entry.state}", {})[str(entry.mark)] = n
    return {**nested}


def _heard(value: Value) -> dict[CensusEntry, int]:
    heard: dict[CensusEntry, int] = {}
    for deployment_id, of_group in structured(value, dict[str, dict[str, dict[str, int]]]).items():
        for what, marks in of_group.items():
            revision, _, state = what.partition("#")
            for mark, n in marks.items():
                heard[CensusEntry(int(mark), deployment_id, int(revision), cast("InstanceState", state))] = n
    return heard


def _days_value(counted: Mapping[Day, int]) -> Item:
    days: dict[str, dict[str, Value]] = {}
    for day, n in counted.items():
        days.setdefault(day.deployment_id, {})[str(day.day)] = n
    return {**days}


def _days(value: Value, _: object) -> dict[Day, int]:
    days = structured(value, dict[str, dict[str, int]])
    return {Day(group, int(day)): n for group, counted in days.items() for day, n in counted.items()}


_DAYS: Final = Form(_days_value, _days)
_SHARDS: Final = Stored(Shard, elsewhere=["heard"], unless_default=["keyed"], forms={"days": _DAYS, "keyed": _DAYS})
