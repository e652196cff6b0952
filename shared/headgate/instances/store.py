"""Instances and their counters in the fleets table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from headgate.deployments import mapping as deployments
from headgate.deployments.model import Deployment
from headgate.fleets import keys
from headgate.fleets import mapping as fleets
from headgate.fleets.model import FleetToken
from headgate.foundation.page import Slice
from headgate.instances import mapping
from headgate.instances.counting import mapping as counters
from headgate.instances.counting.census import SHARDS, Census, Shard
from headgate.instances.model import Instance
from headgate.instances.orders.model import PendingOrder
from headgate.instances.reported import health_tree
from headgate.instances.state.intervals import quiet_after
from headgate.instances.state.model import NEVER_REFUSED, Refusals
from headgate.storage import idempotent_create
from headgate.storage.items import Item
from headgate.storage.retry import LostRace
from headgate.storage.stored import Stored
from headgate.storage.table import Write, transact
from headgate.storage.table import fleets as table

_REFUSALS: Final = Stored(Refusals)
_REFUSALS_LAST: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Sender:
    """The items about the sender of a message, read at once."""

    token: FleetToken | None
    group: Deployment | None
    instance: Instance | None
    hinted: Deployment | None = None


def sender(token_hash: str, fleet_id: str, deployment_id: str, instance_id: str, hinted: str | None = None) -> Sender:
    """A token, a group and an instance of the fleet, and a group that it may belong to instead; one batch read."""
    groups = [deployment_id] if hinted in (None, deployment_id) else [deployment_id, hinted]
    item_keys = [
        keys.token(token_hash),
        keys.instance(fleet_id, instance_id),
        *(keys.deployment(fleet_id, group) for group in groups),
    ]
    rows = {(item["pk"], item["sk"]): item for item in table.get_all(item_keys)}
    token, instance, group, *others = (rows.get((key["pk"], key["sk"])) for key in item_keys)
    second = others[0] if others else None
    return Sender(
        token=fleets.TOKENS.read(token) if token else None,
        group=deployments.GROUPS.read(group) if group else None,
        instance=mapping.INSTANCES.read(instance) if instance else None,
        hinted=deployments.GROUPS.read(second) if second else None,
    )


def instances(fleet_id: str, limit: int, after: str | None) -> Slice[Instance]:
    """By id, which is by the time of their first start, starting after the id `after`; one query."""
    return table.page(keys.of_fleet(fleet_id), keys.INSTANCES, limit, after, mapping.INSTANCES.read)


def each(fleet_id: str) -> Iterator[Instance]:
    """All of them, by id; one query for each megabyte."""
    return map(mapping.INSTANCES.read, table.each(keys.of_fleet(fleet_id), keys.INSTANCES))


def overridden(fleet_id: str, configuration_id: str) -> Iterator[Instance]:
    """Those with an override of the configuration, also one whose time is over; one query for each megabyte of all."""
    condition = "#override.#configuration_id = :configuration_id"
    values: Item = {":configuration_id": configuration_id}
    return map(mapping.INSTANCES.read, table.each(keys.of_fleet(fleet_id), keys.INSTANCES, condition, values))


def instance(fleet_id: str, instance_id: str) -> Instance | None:
    """One read."""
    return table.find(keys.instance(fleet_id, instance_id), mapping.INSTANCES.read)


def census(fleet_id: str) -> Census:
    """One query of some more than `SHARDS` small items, however many instances there are."""
    items = {item["sk"]: item for item in table.list_all(keys.census_of(fleet_id))}
    refused = items.get(keys.refusals(fleet_id)["sk"])
    shards = [counters.shard(item) for sk, item in items.items() if str(sk).startswith(keys.SHARDS)]
    return Census(shards, _REFUSALS.read(refused) if refused else NEVER_REFUSED)


def census_by_keys(fleet_id: str) -> Census:
    """The same by one batch read: the fleet service has no right to query."""
    rows = table.get_all([keys.census_shard(fleet_id, number) for number in range(SHARDS)])
    return Census([counters.shard(item) for item in rows])


def refusals(fleet_id: str) -> Refusals:
    """The time in which messages of the fleet were last refused because too many came; one read."""
    return table.find(keys.refusals(fleet_id), _REFUSALS.read) or NEVER_REFUSED


def note_refusals(fleet_id: str, at: datetime, until: datetime) -> None:
    """Note that messages are refused now, and sent again `until` then; one read and one put."""
    known = refusals(fleet_id)
    pause = timedelta(seconds=quiet_after(quick=False))
    since = known.since if at <= known.until + pause else at
    item = keys.refusals(fleet_id) | _REFUSALS.item(Refusals(since, until))
    item["expires"] = int((until + _REFUSALS_LAST).timestamp())
    # Another process may have told a host to come back later.
    with suppress(LostRace):
        write = table.put_if(item, "attribute_not_exists(pk) OR #until < :until", {":until": item["until"]})
        transact([write])


def shard(fleet_id: str, number: int) -> Shard:
    """One read."""
    item = table.get(keys.census_shard(fleet_id, number))
    return Shard(number) if item is None else counters.shard(item)


def save(before: Instance | None, after: Instance, counted: Shard, moved: Shard, beside: Sequence[Write]) -> None:
    """Write an instance and the shard that counts it, with the writes `beside`; one transaction.

    Raises LostRace if the instance, the shard or what one of `beside` depends on were written since they were read.
    """
    writes = [_put_instance(before, after), _put_shard(after.fleet_id, counted, moved), *beside]
    if before is None or before.deployment_id != after.deployment_id:
        # So that nothing joins a group while it is deleted.
        writes.append(table.must_exist(keys.deployment(after.fleet_id, after.deployment_id)))
    transact(writes)


def delete(instance: Instance, counted: Shard, moved: Shard) -> None:
    """Delete an instance and count it no longer; one transaction. Raises LostRace if either was written since."""
    transact([*_delete_instance(instance), _put_shard(instance.fleet_id, counted, moved)])


def replace(
    gone: Instance,
    before: Instance,
    after: Instance,
    shards: Sequence[tuple[Shard, Shard]],
    beside: Sequence[Write],
) -> None:
    """Delete an instance and write another one, with the shards that count them; one transaction. Raises LostRace."""
    counted = [_put_shard(gone.fleet_id, counted, moved) for counted, moved in shards]
    transact([*_delete_instance(gone), _put_instance(before, after), *counted, *beside])


def shards_deleted(fleet_id: str) -> list[Write]:
    """The writes that delete the counters of a fleet."""
    return [table.delete(keys.census_shard(fleet_id, number)) for number in range(SHARDS)]


def put_orders(before: Instance, orders: Sequence[PendingOrder], path: str) -> None:
    """Store an instance's orders, the last of which is new and is read at `path`; one transaction.

    Raises LostRace if the instance was written since it was read.
    """
    change = "SET #orders = :orders ADD #revision :one"
    values: Item = {":orders": mapping.order_items(orders), ":one": 1, ":revision": before.revision}
    changed = table.update(keys.instance(before.fleet_id, before.id), change, "#revision = :revision", values)
    transact([changed, *idempotent_create.writes(path)])


def _put_instance(before: Instance | None, after: Instance) -> Write:
    if before is None:
        return table.put_new(mapping.instance_item(after) | {"revision": 1})
    return table.put_if(mapping.instance_item(after) | {"revision": before.revision + 1}, *_unchanged(before))


def _delete_instance(instance: Instance) -> list[Write]:
    deleted = table.delete(keys.instance(instance.fleet_id, instance.id), *_unchanged(instance))
    return [deleted, health_tree.removal(instance.fleet_id, instance.id)]


def _unchanged(instance: Instance) -> tuple[str, Item]:
    values: Item = {":sequence_num": instance.contact.sequence_num, ":revision": instance.revision}
    return "sequence_num = :sequence_num AND revision = :revision", values


def _put_shard(fleet_id: str, before: Shard, after: Shard) -> Write:
    item = counters.shard_item(fleet_id, after) | {"revision": before.revision + 1}
    return table.put_if(item, *table.at_revision(before.revision))
