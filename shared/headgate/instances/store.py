"""Instances and their counters in the fleets table. One function, one access pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headgate.deployments import mapping as deployments
from headgate.fleets import keys
from headgate.fleets import mapping as fleets
from headgate.instances import mapping
from headgate.instances.census import SHARDS, Census, Shard
from headgate.storage.page import Slice
from headgate.storage.table import fleets as table
from headgate.storage.table import transact

if TYPE_CHECKING:
    from headgate.deployments.model import Deployment
    from headgate.fleets.model import FleetToken
    from headgate.instances.model import Instance
    from headgate.storage.table import Write


@dataclass(frozen=True, slots=True)
class Sender:
    """What the table holds about the sender of a message, read at once."""

    token: FleetToken | None
    group: Deployment | None
    instance: Instance | None


def sender(token_hash: str, fleet_id: str, deployment_id: str, instance_id: str) -> Sender:
    """A token, a group and an instance of the fleet; one batch read."""
    wanted = [
        keys.token(token_hash),
        keys.deployment(fleet_id, deployment_id),
        keys.instance(fleet_id, instance_id),
    ]
    rows = {(item["pk"], item["sk"]): item for item in table.get_all(wanted)}
    token, group, instance = (rows.get((key["pk"], key["sk"])) for key in wanted)
    return Sender(
        token=fleets.token(token) if token else None,
        group=deployments.group(group) if group else None,
        instance=mapping.instance(instance) if instance else None,
    )


def instances(fleet_id: str, limit: int, after: str | None) -> Slice[Instance]:
    """By id, which is by the time of their first start, starting after the id `after`; one query."""
    rows = table.list(keys.of_fleet(fleet_id), keys.INSTANCES, limit, keys.sort_key(keys.INSTANCES, after))
    return Slice([mapping.instance(item) for item in rows.entries], keys.position(keys.INSTANCES, rows.position))


def instance(fleet_id: str, instance_id: str) -> Instance | None:
    """One read."""
    item = table.get(keys.instance(fleet_id, instance_id))
    return mapping.instance(item) if item else None


def census(fleet_id: str) -> Census:
    """One query of at most `SHARDS` small items, however many instances there are."""
    return Census([mapping.shard(item) for item in table.list_all(keys.census_of(fleet_id), keys.SHARDS)])


def census_by_keys(fleet_id: str) -> Census:
    """The same by one batch read: the fleet service has no right to query."""
    rows = table.get_all([keys.census_shard(fleet_id, number) for number in range(SHARDS)])
    return Census([mapping.shard(item) for item in rows])


def shard(fleet_id: str, number: int) -> Shard:
    """One read."""
    item = table.get(keys.census_shard(fleet_id, number))
    return Shard(number) if item is None else mapping.shard(item)


def save(before: Instance | None, after: Instance, counted: Shard, moved: Shard, admission: Write | None) -> None:
    """Write an instance and the shard that counts it, with the write that admits a new one; one transaction.

    Raises LostRace if the instance, the shard or what admits were written since they were read.
    """
    writes = [_put_instance(before, after), _put_shard(after.fleet_id, counted, moved)]
    transact([*writes, admission] if admission else writes)


def _put_instance(before: Instance | None, after: Instance) -> Write:
    revision = before.revision + 1 if before else 1
    item = mapping.instance_item(after) | {"revision": revision}
    if before is None:
        return table.put_new(item)
    return table.put_if(
        item,
        "sequence_num = :sequence_num AND revision = :revision",
        {":sequence_num": before.sequence_num, ":revision": before.revision},
    )


def _put_shard(fleet_id: str, before: Shard, after: Shard) -> Write:
    item = mapping.shard_item(fleet_id, after) | {"revision": before.revision + 1}
    if before.revision == 0:
        return table.put_new(item)
    return table.put_if(item, "revision = :revision", {":revision": before.revision})
