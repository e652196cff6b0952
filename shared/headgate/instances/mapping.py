"""Instances and the shards of their counters as items of the fleets table, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from headgate.deployments.mapping import HEALTHY_VERSIONS
from headgate.fleets import keys
from headgate.instances.counting.census import Day, Entry, Shard
from headgate.instances.counting.watch import Watch
from headgate.instances.desired.model import Outcome
from headgate.instances.model import Instance
from headgate.instances.orders.captured import OpenCapture
from headgate.instances.orders.model import Override, PendingOrder
from headgate.instances.reported.host import Host
from headgate.instances.reported.model import Health, ReportedConfig
from headgate.instances.state.model import InstanceState, day_of, expires, mark_of
from headgate.storage.items import Item, Value
from headgate.storage.stored import HEX, JSON, Form, Stored

INSTANCES: Final = Stored(
    Instance,
    names={"id": "instance_id", "state_revision": "judged", "healthy": "healthy_versions"},
    flat=["description", "health", "reported"],
    unless_default=["stopped", "uninstalled", "host", "noted", "orders", "conflicts", "healthy", "departures"],
    parts=[HEALTHY_VERSIONS],
)
Stored(Health, names={"error": "health_error"}, unless_default=["error"])
Stored(
    ReportedConfig,
    names={"config_hash": "reported_hash", "status": "reported_status", "message": "reported_message"},
    unless_default=["config_hash", "message"],
    absent={"reported_hash": ""},
)
Stored(
    Outcome,
    names={"config_hash": "hash", "text_hash": "text"},
    flat=["assignment"],
    sparse=True,
    forms={"text_hash": HEX},
)
# As text: the table has no floating point numbers.
Stored(Host, unless_default=["can"], forms={"counters": JSON})
Stored(Watch, unless_default=["taken_back"])
Stored(Override, flat=["assignment"])
Stored(OpenCapture, names={"id": "capture_id"})
_ORDERS: Final = Stored(PendingOrder)


def instance_item(instance: Instance) -> Item:
    # Only the time of the last offer is needed.
    last = instance.last_offered()
    outcomes = tuple(each if each is last else replace(each, offered_at=None) for each in instance.outcomes)
    # Counted by its last day, so that counters and time to live agree.
    ends: Item = {"expires": expires(day_of(mark_of(instance.last_seen_at)))}
    return keys.instance(instance.fleet_id, instance.id) | INSTANCES.item(replace(instance, outcomes=outcomes)) | ends


def order_items(orders: Sequence[PendingOrder]) -> list[Value]:
    return [_ORDERS.item(order) for order in orders]


def shard_item(fleet_id: str, shard: Shard) -> Item:
    """`heard` counts all, `quick` those of them that report quickly."""
    heard: dict[Entry, int] = {}
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
    # Never negative: a release that did not tell them apart may have written in between.
    slow = {entry: n - min(n, quick.get(entry, 0)) for entry, n in heard.items()}
    fast = {replace(entry, quick=True): n - slow[entry] for entry, n in heard.items()}
    return _SHARDS.read(item, heard={entry: n for entry, n in {**slow, **fast}.items() if n})


def _heard_items(counted: Mapping[Entry, int]) -> Item:
    """Nested by group, then assignment and state, then mark, so that what entries share is stored once."""
    nested: dict[str, dict[str, dict[str, Value]]] = {}
    for entry, n in counted.items():
        of_group = nested.setdefault(entry.deployment_id, {})
        of_group.setdefault(f"{entry.state_revision}#{entry.state}", {})[str(entry.mark)] = n
    return {**nested}


def _heard(value: Value) -> dict[Entry, int]:
    heard: dict[Entry, int] = {}
    for deployment_id, of_group in _map(value).items():
        for what, marks in _map(of_group).items():
            revision, _, state = what.partition("#")
            for mark, n in _map(marks).items():
                heard[Entry(int(mark), deployment_id, int(revision), cast("InstanceState", state))] = _whole(n)
    return heard


def _days_value(counted: Mapping[Day, int]) -> Item:
    days: dict[str, dict[str, Value]] = {}
    for day, n in counted.items():
        days.setdefault(day.deployment_id or _BY_DAY_ALONE, {})[str(day.day)] = n
    return {**days}


def _days(value: Value, _: object) -> dict[Day, int]:
    days: dict[Day, int] = {}
    for key, counted in _map(value).items():
        if isinstance(counted, Mapping):
            group = "" if key == _BY_DAY_ALONE else key
            days |= {Day(group, int(day)): _whole(n) for day, n in counted.items()}
        else:
            # As earlier releases wrote it.
            days[Day("", int(key))] = _whole(counted)
    return days


def _map(value: Value) -> Mapping[str, Value]:
    if not isinstance(value, Mapping):
        raise TypeError("counters are not a map")
    return value


def _whole(value: Value) -> int:
    if not isinstance(value, int):
        raise TypeError("a counter is not a number")
    return value


# A key of a map cannot be empty.
_BY_DAY_ALONE: Final = "any"
_DAYS: Final = Form(_days_value, _days)
_SHARDS: Final = Stored(Shard, elsewhere=["heard"], unless_default=["keyed"], forms={"days": _DAYS, "keyed": _DAYS})
