"""Instances and the shards of their counters as items of the fleets table, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, Final, Literal, cast

from headgate.deployments.mapping import healthy, healthy_items, program, program_item
from headgate.deployments.versions import Assignment
from headgate.fleets import keys
from headgate.foundation import clock
from headgate.instances.counting.census import Day, Entry, Shard
from headgate.instances.counting.watch import Departure, Sums, Watch
from headgate.instances.desired.model import Outcome
from headgate.instances.model import Instance
from headgate.instances.orders.captured import OpenCapture
from headgate.instances.orders.model import Override, PendingOrder
from headgate.instances.reported.host import UNKNOWN, Ability, Counters, CrashLoop, Exporter, Host, Order, Platform
from headgate.instances.reported.host_key import HostKey
from headgate.instances.reported.model import Description, Health, ReportedConfig, Status
from headgate.instances.state.model import InstanceState, day_of, expires, mark_of
from headgate.instances.timeline.model import NOTHING_NOTED, Noted
from headgate.storage import items, principals
from headgate.storage.items import Item, Value

# A key of a map cannot be empty.
_BY_DAY_ALONE: Final = "any"


def instance_item(instance: Instance) -> Item:
    # Only the time of the last offer is needed.
    last = instance.last_offered()
    outcomes: list[Value] = [_outcome_item(outcome, offered=outcome is last) for outcome in instance.outcomes]
    return keys.instance(instance.fleet_id, instance.id) | {
        "instance_id": instance.id,
        "fleet_id": instance.fleet_id,
        "deployment_id": instance.deployment_id,
        "sequence_num": instance.sequence_num,
        "first_seen_at": clock.rfc3339(instance.first_seen_at),
        "last_seen_at": clock.rfc3339(instance.last_seen_at),
        "full_state_at": clock.rfc3339(instance.full_state_at),
        "host_name": instance.description.host_name,
        "os": instance.description.os,
        "arch": instance.description.arch,
        "collector_version": instance.description.collector_version,
        "accepts_config": instance.accepts_config,
        "healthy": instance.health.healthy if instance.health else None,
        "health_error": instance.health.error or None if instance.health else None,
        "reported_hash": instance.reported.config_hash or None,
        "reported_status": instance.reported.status,
        "reported_message": instance.reported.message or None,
        "applying_since": _time_item(instance.applying_since),
        "outcomes": outcomes,
        "state": instance.state,
        "state_message": instance.state_message,
        "judged": instance.state_revision,
        "stopped": instance.stopped or None,
        "uninstalled": instance.uninstalled or None,
        "host": _host_item(instance.host),
        "noted": _noted_item(instance.noted),
        "orders": order_items(instance.orders) or None,
        "override": _override_item(instance.override),
        "capture": _capture_item(instance.capture) if instance.capture else None,
        "conflicts": instance.conflicts or None,
        "told_seconds": instance.told_seconds,
        "healthy_versions": healthy_items(instance.healthy) or None,
        "well_since": _time_item(instance.well_since),
        "token_id": instance.token_id,
        "scope": instance.scope,
        "key": _key_item(instance.key) if instance.key else None,
        "move_until": _time_item(instance.move_until),
        "watch": _watch_item(instance.watch) if instance.watch else None,
        "departures": [_departure_item(departure) for departure in instance.departures] or None,
        # Counted by its last day, so that counters and time to live agree.
        "expires": expires(day_of(mark_of(instance.last_seen_at))),
    }


def instance(item: Item) -> Instance:
    well = item.get("healthy")
    outcomes = item["outcomes"]
    if not isinstance(outcomes, list):
        raise TypeError("the attribute outcomes is not a list")
    return Instance(
        id=items.text(item, "instance_id"),
        fleet_id=items.text(item, "fleet_id"),
        deployment_id=items.text(item, "deployment_id"),
        sequence_num=items.number(item, "sequence_num"),
        first_seen_at=clock.parse(items.text(item, "first_seen_at")),
        last_seen_at=clock.parse(items.text(item, "last_seen_at")),
        full_state_at=clock.parse(items.text(item, "full_state_at")),
        description=Description(
            host_name=items.optional_text(item, "host_name"),
            os=items.optional_text(item, "os"),
            arch=items.optional_text(item, "arch"),
            collector_version=items.optional_text(item, "collector_version"),
        ),
        accepts_config=item["accepts_config"] is True,
        health=None if well is None else Health(well is True, items.optional_text(item, "health_error") or ""),
        reported=ReportedConfig(
            items.optional_text(item, "reported_hash") or "",
            cast("Status", items.text(item, "reported_status")),
            items.optional_text(item, "reported_message") or "",
        ),
        applying_since=_time(item, "applying_since"),
        outcomes=tuple(_outcome(outcome) for outcome in outcomes),
        state=cast("InstanceState", items.text(item, "state")),
        state_message=items.optional_text(item, "state_message"),
        state_revision=items.number(item, "judged"),
        stopped=item.get("stopped") is True,
        uninstalled=item.get("uninstalled") is True,
        host=_host(item.get("host")),
        noted=_noted(item.get("noted")),
        orders=tuple(_order(order) for order in cast("list[Item]", item.get("orders") or ())),
        override=_override(items.mapping(item, "override")) if "override" in item else None,
        capture=_capture(items.mapping(item, "capture")) if item.get("capture") else None,
        conflicts=items.optional_number(item, "conflicts") or 0,
        told_seconds=items.number(item, "told_seconds"),
        healthy=healthy(item),
        well_since=_time(item, "well_since"),
        token_id=items.optional_text(item, "token_id"),
        scope=items.optional_text(item, "scope"),
        key=_key(items.mapping(item, "key")) if item.get("key") else None,
        move_until=_time(item, "move_until"),
        watch=_watch(items.mapping(item, "watch")) if item.get("watch") else None,
        departures=tuple(_departure(one) for one in cast("list[Item]", item.get("departures") or ())),
        revision=items.number(item, "revision"),
    )


def _key_item(key: HostKey) -> Item:
    return {"public": key.public, "start": key.start, "number": key.number}


def _key(value: Mapping[str, Value]) -> HostKey:
    public = value["public"]
    if not isinstance(public, bytes):
        raise TypeError("a host's key is not bytes")
    return HostKey(public, items.number(value, "start"), items.number(value, "number"))


def _host_item(known: Host) -> Item | None:
    """None for a host whose supervisor reports nothing of it."""
    if known == UNKNOWN and known.counters is None:
        return None
    counters, loop = known.counters, known.crash_loop
    return {
        "supervisor_version": known.supervisor_version,
        "name": known.name,
        "labels": dict(known.labels),
        "text_hash": known.text_hash,
        "drifted": None if known.drifted is None else list(known.drifted),
        "exits": known.exits,
        "last_exits": list(known.last_exits),
        "crash_loop": {"text_hash": loop.text_hash, "exits": loop.exits} if loop else None,
        "can": list(known.can) or None,
        "platform": known.platform,
        "components": known.components,
        # As text: the table has no floating point numbers.
        "counters": json.dumps(asdict(counters)) if counters else None,
    }


def _host(value: Value) -> Host:
    if not isinstance(value, Mapping):
        return UNKNOWN
    drifted, counted, loop = value.get("drifted"), items.optional_text(value, "counters"), value.get("crash_loop")
    return Host(
        supervisor_version=items.optional_text(value, "supervisor_version"),
        name=items.optional_text(value, "name"),
        labels=cast("Mapping[str, str]", value["labels"]),
        text_hash=items.optional_text(value, "text_hash"),
        drifted=None if drifted is None else tuple(cast("list[str]", drifted)),
        exits=items.optional_number(value, "exits"),
        last_exits=tuple(cast("list[str]", value["last_exits"])),
        crash_loop=CrashLoop(**cast("dict[str, Any]", loop)) if loop else None,
        can=tuple(cast("list[Ability]", value.get("can") or ())),
        platform=cast("Platform | None", items.optional_text(value, "platform")),
        components=items.optional_text(value, "components"),
        counters=_counters(json.loads(counted)) if counted else None,
    )


def _counters(value: dict[str, Any]) -> Counters:
    exporters = {name: Exporter(**one) for name, one in value["exporters"].items()}
    return Counters(**{**value, "exporters": exporters})


def _watch_item(watch: Watch) -> Item:
    return {
        "rollout_id": watch.rollout_id,
        "revision": watch.revision,
        "waiting_since": clock.rfc3339(watch.waiting_since) if watch.waiting_since else None,
        "applied_at": clock.rfc3339(watch.applied_at) if watch.applied_at else None,
        "before": asdict(watch.before) if watch.before else None,
        "before_seconds": watch.before_seconds,
        "since": asdict(watch.since) if watch.since else None,
        "exits": watch.exits,
        "taken_back": watch.taken_back or None,
    }


def _watch(item: Mapping[str, Value]) -> Watch:
    waiting, applied = (items.optional_text(item, name) for name in ("waiting_since", "applied_at"))
    return Watch(
        rollout_id=items.text(item, "rollout_id"),
        revision=items.number(item, "revision"),
        waiting_since=clock.parse(waiting) if waiting else None,
        applied_at=clock.parse(applied) if applied else None,
        before=_sums(item, "before"),
        before_seconds=items.number(item, "before_seconds"),
        since=_sums(item, "since"),
        exits=items.number(item, "exits"),
        taken_back=item.get("taken_back") is True,
    )


def _departure_item(departure: Departure) -> Item:
    return {
        "rollout_id": departure.rollout_id,
        "revision": departure.revision,
        "at": clock.rfc3339(departure.at),
        "well_since": _time_item(departure.well_since),
        "relabelled": departure.relabelled,
    }


def _departure(item: Item) -> Departure:
    return Departure(
        rollout_id=items.text(item, "rollout_id"),
        revision=items.number(item, "revision"),
        at=clock.parse(items.text(item, "at")),
        well_since=_time(item, "well_since"),
        relabelled=item["relabelled"] is True,
    )


def _sums(item: Mapping[str, Value], name: str) -> Sums | None:
    return None if item.get(name) is None else Sums(**cast("dict[str, Any]", items.mapping(item, name)))


def _outcome_item(outcome: Outcome, *, offered: bool) -> Item:
    item: Item = {"hash": outcome.config_hash, "revision": outcome.revision, "status": outcome.status}
    if outcome.message:
        item["message"] = outcome.message
    if outcome.text_hash is not None:
        item["text"] = bytes.fromhex(outcome.text_hash)
    if outcome.offered_at is not None and offered:
        item["offered_at"] = clock.rfc3339(outcome.offered_at)
    if outcome.at is not None:
        item["at"] = clock.rfc3339(outcome.at)
    if outcome.returns:
        item["returns"] = outcome.returns
    if outcome.collector:
        item["collector"] = outcome.collector
    if outcome.unclear_since is not None:
        item["unclear_since"] = clock.rfc3339(outcome.unclear_since)
    if outcome.assignment:
        item["configuration_id"] = outcome.assignment.configuration_id
        item["version_number"] = outcome.assignment.version_number
    return item


def _outcome(value: Value) -> Outcome:
    if not isinstance(value, Mapping):
        raise TypeError("an outcome is not a map")
    configuration_id, text = items.optional_text(value, "configuration_id"), value.get("text")
    return Outcome(
        config_hash=items.text(value, "hash"),
        assignment=Assignment(configuration_id, items.number(value, "version_number")) if configuration_id else None,
        revision=items.number(value, "revision"),
        status=cast("Literal['offered', 'applied', 'failed']", items.text(value, "status")),
        message=items.optional_text(value, "message") or "",
        text_hash=text.hex() if isinstance(text, bytes) else None,
        offered_at=_time(value, "offered_at"),
        at=_time(value, "at"),
        returns=items.optional_number(value, "returns") or 0,
        collector=items.optional_text(value, "collector"),
        unclear_since=_time(value, "unclear_since"),
    )


def _noted_item(noted: Noted) -> Item | None:
    return None if noted == NOTHING_NOTED else asdict(noted)


def _noted(value: Value) -> Noted:
    if not isinstance(value, Mapping):
        return NOTHING_NOTED
    noted = cast("dict[str, Any]", value)
    return Noted(**{**noted, "once": tuple(noted.get("once", ()))})


def order_items(orders: Sequence[PendingOrder]) -> list[Value]:
    return [
        {
            "id": order.id,
            "do": order.do,
            "at": clock.rfc3339(order.at),
            "seen_at": _time_item(order.seen_at),
            "done_at": _time_item(order.done_at),
            "program": program_item(order.program),
            "failed": order.failed,
        }
        for order in orders
    ]


def _order(value: Item) -> PendingOrder:
    return PendingOrder(
        id=items.text(value, "id"),
        do=cast("Order", items.text(value, "do")),
        at=clock.parse(items.text(value, "at")),
        seen_at=_time(value, "seen_at"),
        done_at=_time(value, "done_at"),
        program=program(value, "program"),
        failed=items.optional_text(value, "failed"),
    )


def _override_item(override: Override | None) -> Item | None:
    if override is None:
        return None
    return {
        "configuration_id": override.assignment.configuration_id,
        "version_number": override.assignment.version_number,
        "until": clock.rfc3339(override.until),
        "at": clock.rfc3339(override.at),
        "actor": principals.attribute(override.actor),
        "message": override.message,
    }


def _override(value: Mapping[str, Value]) -> Override:
    return Override(
        assignment=Assignment(items.text(value, "configuration_id"), items.number(value, "version_number")),
        until=clock.parse(items.text(value, "until")),
        at=clock.parse(items.text(value, "at")),
        actor=principals.read(value, "actor"),
        message=items.optional_text(value, "message"),
    )


def _capture_item(capture: OpenCapture) -> Item:
    return {
        "capture_id": capture.id,
        "begins_by": clock.rfc3339(capture.begins_by),
        "until": clock.rfc3339(capture.until),
        "running": capture.running,
        "stop": capture.stop,
    }


def _capture(value: Mapping[str, Value]) -> OpenCapture:
    return OpenCapture(
        id=items.text(value, "capture_id"),
        begins_by=clock.parse(items.text(value, "begins_by")),
        until=clock.parse(items.text(value, "until")),
        running=value["running"] is True,
        stop=value["stop"] is True,
    )


def _time_item(at: datetime | None) -> str | None:
    return clock.rfc3339(at) if at else None


def _time(item: Mapping[str, Value], name: str) -> datetime | None:
    at = items.optional_text(item, name)
    return clock.parse(at) if at else None


def shard_item(fleet_id: str, shard: Shard) -> Item:
    """`heard` counts all, `quick` those of them that report quickly."""
    heard: dict[Entry, int] = {}
    for entry, n in shard.heard.items():
        every = replace(entry, quick=False)
        heard[every] = heard.get(every, 0) + n
    return keys.census_shard(fleet_id, shard.number) | {
        "number": shard.number,
        "heard": _heard_items(heard),
        "quick": _heard_items({entry: n for entry, n in shard.heard.items() if entry.quick}) or None,
        "days": _day_items(shard.days),
        "keyed": _day_items(shard.keyed) or None,
    }


def _heard_items(counted: Mapping[Entry, int]) -> Item:
    """Nested by group, then assignment and state, then mark, so that what entries share is stored once."""
    nested: dict[str, dict[str, dict[str, Value]]] = {}
    for entry, n in counted.items():
        of_group = nested.setdefault(entry.deployment_id, {})
        of_group.setdefault(f"{entry.state_revision}#{entry.state}", {})[str(entry.mark)] = n
    return {**nested}


def _day_items(counted: Mapping[Day, int]) -> Item:
    days: dict[str, dict[str, Value]] = {}
    for day, n in counted.items():
        days.setdefault(day.deployment_id or _BY_DAY_ALONE, {})[str(day.day)] = n
    return {**days}


def shard(item: Item) -> Shard:
    heard, quick = _heard(item["heard"]), _heard(item.get("quick") or {})
    # Never negative: a release that did not tell them apart may have written in between.
    slow = {entry: n - min(n, quick.get(entry, 0)) for entry, n in heard.items()}
    fast = {replace(entry, quick=True): n - slow[entry] for entry, n in heard.items()}
    return Shard(
        number=items.number(item, "number"),
        heard={entry: n for entry, n in {**slow, **fast}.items() if n},
        days=_days(_map(item["days"])),
        keyed=_days(_map(item.get("keyed") or {})),
        revision=items.number(item, "revision"),
    )


def _heard(value: Value) -> dict[Entry, int]:
    heard: dict[Entry, int] = {}
    for deployment_id, of_group in _map(value).items():
        for what, marks in _map(of_group).items():
            revision, _, state = what.partition("#")
            for mark, n in _map(marks).items():
                heard[Entry(int(mark), deployment_id, int(revision), cast("InstanceState", state))] = _whole(n)
    return heard


def _days(value: Mapping[str, Value]) -> dict[Day, int]:
    days: dict[Day, int] = {}
    for key, counted in value.items():
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
