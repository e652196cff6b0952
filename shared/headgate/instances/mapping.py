"""Instances and the shards of their counters as items of the fleets table, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal, cast

from headgate.deployments.model import Assignment
from headgate.fleets import keys
from headgate.foundation import clock
from headgate.instances.census import Entry, Shard
from headgate.instances.host import UNKNOWN, Counters, Exporter, Host
from headgate.instances.model import (
    Description,
    Health,
    Instance,
    InstanceState,
    Outcome,
    ReportedConfig,
    Status,
    day_of,
    expires,
    mark_of,
)
from headgate.storage import items
from headgate.storage.items import Item, Value


def instance_item(instance: Instance) -> Item:
    outcomes: list[Value] = [_outcome_item(outcome) for outcome in instance.outcomes]
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
        "outcomes": outcomes,
        "state": instance.state,
        "state_message": instance.state_message,
        "judged": instance.state_revision,
        "stopped": instance.stopped or None,
        "host": _host_item(instance.host),
        "conflicts": instance.conflicts or None,
        "told_seconds": instance.told_seconds,
        # Counted by its last day, so that counters and time to live agree.
        "expires": expires(day_of(mark_of(instance.last_seen_at))),
    }


def instance(item: Item) -> Instance:
    healthy = item.get("healthy")
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
        health=None if healthy is None else Health(healthy is True, items.optional_text(item, "health_error") or ""),
        reported=ReportedConfig(
            items.optional_text(item, "reported_hash") or "",
            cast("Status", items.text(item, "reported_status")),
            items.optional_text(item, "reported_message") or "",
        ),
        outcomes=tuple(_outcome(outcome) for outcome in outcomes),
        state=cast("InstanceState", items.text(item, "state")),
        state_message=items.optional_text(item, "state_message"),
        state_revision=items.number(item, "judged"),
        stopped=item.get("stopped") is True,
        host=_host(item.get("host")),
        conflicts=items.optional_number(item, "conflicts") or 0,
        told_seconds=items.number(item, "told_seconds"),
        revision=items.number(item, "revision"),
    )


def _host_item(known: Host) -> Item | None:
    """None for a host whose supervisor reports nothing of it."""
    if known == UNKNOWN and known.counters is None:
        return None
    counters = known.counters
    return {
        "supervisor_version": known.supervisor_version,
        "name": known.name,
        "labels": dict(known.labels),
        "text_hash": known.text_hash,
        "drifted": None if known.drifted is None else list(known.drifted),
        "exits": known.exits,
        "last_exits": list(known.last_exits),
        # As text: the table has no floating point numbers.
        "counters": json.dumps(asdict(counters)) if counters else None,
    }


def _host(value: Value) -> Host:
    if not isinstance(value, Mapping):
        return UNKNOWN
    drifted, counted = value.get("drifted"), items.optional_text(value, "counters")
    return Host(
        supervisor_version=items.optional_text(value, "supervisor_version"),
        name=items.optional_text(value, "name"),
        labels=cast("Mapping[str, str]", value["labels"]),
        text_hash=items.optional_text(value, "text_hash"),
        drifted=None if drifted is None else tuple(cast("list[str]", drifted)),
        exits=items.optional_number(value, "exits"),
        last_exits=tuple(cast("list[str]", value["last_exits"])),
        counters=_counters(json.loads(counted)) if counted else None,
    )


def _counters(value: dict[str, Any]) -> Counters:
    exporters = {name: Exporter(**one) for name, one in value["exporters"].items()}
    return Counters(**{**value, "exporters": exporters})


def _outcome_item(outcome: Outcome) -> Item:
    item: Item = {"hash": outcome.config_hash, "revision": outcome.revision, "status": outcome.status}
    if outcome.message:
        item["message"] = outcome.message
    if outcome.assignment:
        item["configuration_id"] = outcome.assignment.configuration_id
        item["version_number"] = outcome.assignment.version_number
    return item


def _outcome(value: Value) -> Outcome:
    if not isinstance(value, Mapping):
        raise TypeError("an outcome is not a map")
    configuration_id = items.optional_text(value, "configuration_id")
    return Outcome(
        config_hash=items.text(value, "hash"),
        assignment=Assignment(configuration_id, items.number(value, "version_number")) if configuration_id else None,
        revision=items.number(value, "revision"),
        status=cast("Literal['offered', 'applied', 'failed']", items.text(value, "status")),
        message=items.optional_text(value, "message") or "",
    )


def shard_item(fleet_id: str, shard: Shard) -> Item:
    """`heard` is nested by group, then assignment and state, then mark, so that what entries share is stored once."""
    heard: dict[str, dict[str, dict[str, Value]]] = {}
    for entry, n in shard.heard.items():
        of_group = heard.setdefault(entry.deployment_id, {})
        of_group.setdefault(f"{entry.state_revision}#{entry.state}", {})[str(entry.mark)] = n
    days: dict[str, Value] = {str(day): n for day, n in shard.days.items()}
    return keys.census_shard(fleet_id, shard.number) | {"number": shard.number, "heard": heard, "days": days}


def shard(item: Item) -> Shard:
    heard: dict[Entry, int] = {}
    for deployment_id, of_group in _map(item["heard"]).items():
        for what, marks in _map(of_group).items():
            revision, _, state = what.partition("#")
            for mark, n in _map(marks).items():
                entry = Entry(int(mark), deployment_id, int(revision), cast("InstanceState", state))
                heard[entry] = _whole(n)
    return Shard(
        number=items.number(item, "number"),
        heard=heard,
        days={int(day): _whole(n) for day, n in _map(item["days"]).items()},
        revision=items.number(item, "revision"),
    )


def _map(value: Value) -> Mapping[str, Value]:
    if not isinstance(value, Mapping):
        raise TypeError("counters are not a map")
    return value


def _whole(value: Value) -> int:
    if not isinstance(value, int):
        raise TypeError("a counter is not a number")
    return value
