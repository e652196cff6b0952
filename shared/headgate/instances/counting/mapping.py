"""The shards of a fleet's counters as items of the fleets table, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from headgate.fleets import keys
from headgate.instances.counting.census import CensusEntry, Day, Shard
from headgate.storage.stored import Form, Stored

if TYPE_CHECKING:
    from headgate.instances.state.model import InstanceState
    from headgate.storage.items import Item, Value


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


def _heard_items(counted: Mapping[CensusEntry, int]) -> Item:
    """Nested by group, then assignment and state, then mark, so that what entries share is stored once."""
    nested: dict[str, dict[str, dict[str, Value]]] = {}
    for entry, n in counted.items():
        of_group = nested.setdefault(entry.deployment_id, {})
        of_group.setdefault(f"{entry.state_revision}#{entry.state}", {})[str(entry.mark)] = n
    return {**nested}


def _heard(value: Value) -> dict[CensusEntry, int]:
    heard: dict[CensusEntry, int] = {}
    for deployment_id, of_group in _map(value).items():
        for what, marks in _map(of_group).items():
            revision, _, state = what.partition("#")
            for mark, n in _map(marks).items():
                heard[CensusEntry(int(mark), deployment_id, int(revision), cast("InstanceState", state))] = _whole(n)
    return heard


def _days_value(counted: Mapping[Day, int]) -> Item:
    days: dict[str, dict[str, Value]] = {}
    for day, n in counted.items():
        days.setdefault(day.deployment_id, {})[str(day.day)] = n
    return {**days}


def _days(value: Value, _: object) -> dict[Day, int]:
    days: dict[Day, int] = {}
    for group, counted in _map(value).items():
        days |= {Day(group, int(day)): _whole(n) for day, n in _map(counted).items()}
    return days


def _map(value: Value) -> Mapping[str, Value]:
    if not isinstance(value, Mapping):
        raise TypeError("counters are not a map")
    return value


def _whole(value: Value) -> int:
    if not isinstance(value, int):
        raise TypeError("a counter is not a number")
    return value


_DAYS: Final = Form(_days_value, _days)
_SHARDS: Final = Stored(Shard, elsewhere=["heard"], unless_default=["keyed"], forms={"days": _DAYS, "keyed": _DAYS})
