"""Instances and their counters in the fleets table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast

from headgate.deployments import store as deployments
from headgate.deployments.model import Assignment, Deployment
from headgate.fleets import keys, table
from headgate.fleets.model import InstanceState
from headgate.foundation import clock
from headgate.instances.admission import admit
from headgate.instances.census import SHARDS, Census, Entry, Shard, shard_of
from headgate.instances.model import (
    Description,
    Health,
    Instance,
    Outcome,
    ReportedConfig,
    Status,
    day_of,
    expires,
    forgotten,
    mark_of,
)
from headgate.storage import items
from headgate.storage.items import Item, Value

if TYPE_CHECKING:
    from datetime import datetime

    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_NEW: Final = "attribute_not_exists(pk)"


@dataclass(frozen=True, slots=True)
class FleetToken:
    """Whom a presented token stands for. `expires_at` is None for one that does not expire."""

    fleet_id: str
    organization_id: str
    expires_at: str | None


@dataclass(frozen=True, slots=True)
class Known:
    """What the table holds about the sender of a message, read at once."""

    token: FleetToken | None
    group: Deployment | None
    instance: Instance | None


def token(value_hash: str) -> FleetToken | None:
    """One read. None if it was deleted or never issued."""
    item = table.get(keys.token(value_hash))
    return None if item is None else _token(item)


def known(value_hash: str, fleet_id: str, deployment_id: str, instance_id: str) -> Known:
    """A token, a group and an instance of the fleet; one batch read."""
    wanted = [
        keys.token(value_hash),
        keys.deployment(fleet_id, deployment_id),
        keys.instance(fleet_id, instance_id),
    ]
    found = {(str(item["pk"]), str(item["sk"])): item for item in table.read_all(wanted)}
    rows = [found.get((str(key["pk"]), str(key["sk"]))) for key in wanted]
    return Known(
        token=_token(rows[0]) if rows[0] else None,
        group=deployments.from_item(rows[1]) if rows[1] else None,
        instance=_instance(rows[2]) if rows[2] else None,
    )


def instances(fleet_id: str, limit: int, after: str | None) -> list[Instance]:
    """By id, which is by the time of their first start, from behind the id `after`; one query."""
    return [_instance(item) for item in table.query(keys.of_fleet(fleet_id), keys.INSTANCES, limit, after)]


def census(fleet_id: str) -> Census:
    """One query of at most `SHARDS` small items, however many instances there are."""
    return Census([_shard(item) for item in table.query(keys.census_of(fleet_id), keys.SHARDS, SHARDS, None)])


def groups(wanted: Sequence[tuple[str, str]]) -> dict[str, Deployment]:
    """Groups by id, of pairs of a fleet's id and a group's; one batch read for each hundred."""
    rows = table.read_all([keys.deployment(fleet_id, deployment_id) for fleet_id, deployment_id in wanted])
    found = [deployments.from_item(item) for item in rows]
    return {group.id: group for group in found}


def keep(before: Instance | None, after: Instance) -> None:
    """Write an instance, and count it as what it is now; one read and one transaction, and a read for one that joins.

    Raises FleetFull for one that joins, LostRace when another message of the instance, or one of its shard, was first.
    """
    number = shard_of(after.id)
    item = table.get(keys.census_shard(after.fleet_id, number))
    shard = Shard(number) if item is None else _shard(item)
    moved = shard.moved(Entry.of(before) if before else None, Entry.of(after), after.last_seen_at)
    writes = [_put_instance(before, after), _put_shard(after.fleet_id, shard, moved)]
    at = after.last_seen_at
    if before is None or forgotten(day_of(mark_of(before.last_seen_at)), at):
        writes.append(admit(after.fleet_id, at, lambda: _total(after.fleet_id, at)))
    table.transact(writes, {})


def _total(fleet_id: str, at: datetime) -> int:
    """How many instances the fleet has; one batch read, for which the fleet service has the right."""
    rows = table.read_all([keys.census_shard(fleet_id, number) for number in range(SHARDS)])
    return Census([_shard(item) for item in rows]).total(at)


def _put_instance(before: Instance | None, after: Instance) -> TransactWriteItemTypeDef:
    revision = before.revision + 1 if before else 1
    item = _instance_item(after) | {"revision": revision}
    if before is None:
        return table.put(item, _NEW)
    return table.put(
        item,
        "sequence_num = :sequence_num AND revision = :revision",
        {":sequence_num": before.sequence_num, ":revision": before.revision},
    )


def _put_shard(fleet_id: str, before: Shard, after: Shard) -> TransactWriteItemTypeDef:
    item = _shard_item(fleet_id, after) | {"revision": before.revision + 1}
    if before.revision == 0:
        return table.put(item, _NEW)
    return table.put(item, "revision = :revision", {":revision": before.revision})


def _token(item: Item) -> FleetToken:
    return FleetToken(
        fleet_id=items.text(item, "fleet_id"),
        organization_id=items.text(item, "organization_id"),
        expires_at=items.optional_text(item, "expires_at"),
    )


def _instance_item(one: Instance) -> Item:
    outcomes: list[Value] = [_outcome_item(outcome) for outcome in one.outcomes]
    return keys.instance(one.fleet_id, one.id) | {
        "instance_id": one.id,
        "fleet_id": one.fleet_id,
        "deployment_id": one.deployment_id,
        "sequence_num": one.sequence_num,
        "first_seen_at": clock.rfc3339(one.first_seen_at),
        "last_seen_at": clock.rfc3339(one.last_seen_at),
        "full_state_at": clock.rfc3339(one.full_state_at),
        "host_name": one.description.host_name,
        "os": one.description.os,
        "arch": one.description.arch,
        "collector_version": one.description.collector_version,
        "accepts_config": one.accepts_config,
        "healthy": one.health.healthy if one.health else None,
        "health_error": one.health.error or None if one.health else None,
        "reported_hash": one.reported.config_hash or None,
        "reported_status": one.reported.status,
        "reported_message": one.reported.message or None,
        "outcomes": outcomes,
        "state": one.state,
        "state_message": one.state_message,
        "judged": one.judged,
        "idle": one.idle or None,
        "stopped": one.stopped or None,
        "conflicts": one.conflicts or None,
        "told_seconds": one.told_seconds,
        # Counted by its last day, so that counters and time to live agree.
        "expires": expires(day_of(mark_of(one.last_seen_at))),
    }


def _instance(item: Item) -> Instance:
    healthy = item.get("healthy")
    outcomes = item["outcomes"]
    if not isinstance(outcomes, list):
        raise TypeError("outcomes are kept as a list")
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
        judged=items.number(item, "judged"),
        idle=item.get("idle") is True,
        stopped=item.get("stopped") is True,
        conflicts=items.optional_number(item, "conflicts") or 0,
        told_seconds=items.number(item, "told_seconds"),
        revision=items.number(item, "revision"),
    )


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
        raise TypeError("an outcome is kept as a map")
    configuration_id = items.optional_text(value, "configuration_id")
    return Outcome(
        config_hash=items.text(value, "hash"),
        assignment=Assignment(configuration_id, items.number(value, "version_number")) if configuration_id else None,
        revision=items.number(value, "revision"),
        status=cast("Literal['offered', 'applied', 'failed']", items.text(value, "status")),
        message=items.optional_text(value, "message") or "",
    )


def _shard_item(fleet_id: str, shard: Shard) -> Item:
    """`heard` by group, then assignment and state, then mark: what many entries share stands in it once."""
    heard: dict[str, dict[str, dict[str, Value]]] = {}
    for entry, n in shard.heard.items():
        of_group = heard.setdefault(entry.deployment_id, {})
        of_group.setdefault(f"{entry.judged}#{entry.state}", {})[str(entry.mark)] = n
    days: dict[str, Value] = {str(day): n for day, n in shard.days.items()}
    return keys.census_shard(fleet_id, shard.number) | {"number": shard.number, "heard": heard, "days": days}


def _shard(item: Item) -> Shard:
    heard: dict[Entry, int] = {}
    for deployment_id, of_group in _map(item["heard"]).items():
        for what, marks in _map(of_group).items():
            judged, _, state = what.partition("#")
            for mark, n in _map(marks).items():
                entry = Entry(int(mark), deployment_id, int(judged), cast("InstanceState", state))
                heard[entry] = _whole(n)
    return Shard(
        number=items.number(item, "number"),
        heard=heard,
        days={int(day): _whole(n) for day, n in _map(item["days"]).items()},
        revision=items.number(item, "revision"),
    )


def _map(value: Value) -> Mapping[str, Value]:
    if not isinstance(value, Mapping):
        raise TypeError("counters are kept as maps")
    return value


def _whole(value: Value) -> int:
    if not isinstance(value, int):
        raise TypeError("counters are numbers")
    return value
