"""A fleet's collector instances: any member of the organization sees them, the fleet service records their messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headgate.deployments import service as deployments
from headgate.deployments.model import Assignment
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.instances import admission, store
from headgate.instances.census import Entry, shard_of
from headgate.instances.model import Desired, Instance, InstanceNotFound, InstanceState, day_of, forgotten, mark_of
from headgate.instances.store import Sender
from headgate.storage.page import Slice

# A page of a filtered list reads no more: a megabyte of the table.
_MOST_READ: Final = 1_000


@dataclass(frozen=True, slots=True)
class Seen:
    """An instance as it stands now; `state_message` says why it failed to apply what is assigned."""

    instance: Instance
    state: InstanceState
    state_message: str | None
    assigned: Assignment | None
    running: Assignment | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which instances to list; None for any. `version` is the number that runs, `host` a part of the name or host name,
    `label` a key with its value, `drifted` whether something was changed on the host."""

    state: InstanceState | None = None
    deployment_id: str | None = None
    version: int | None = None
    host: str | None = None
    label: tuple[str, str] | None = None
    drifted: bool | None = None

    def has(self, seen: Seen) -> bool:
        instance, host = seen.instance, seen.instance.host
        names = (host.name or "", instance.description.host_name or "")
        return (
            self.state in (None, seen.state)
            and self.deployment_id in (None, instance.deployment_id)
            and (self.version is None or (seen.running is not None and seen.running.version_number == self.version))
            and (self.host is None or any(self.host.lower() in name.lower() for name in names))
            and (self.label is None or host.labels.get(self.label[0]) == self.label[1])
            and (self.drifted is None or bool(host.drifted) == self.drifted)
        )


ANY: Final = Wanted()


def instances(caller: Caller, fleet_id: str, limit: int, after: str | None, wanted: Wanted = ANY) -> Slice[Seen]:
    """By id, so those that first started first; three reads. Raises FleetNotFound.

    With `wanted`, up to `_MOST_READ` instances are read, and the slice may have fewer than there are: its position says
    whether more may follow.
    """
    fleet = fleets.get(caller, fleet_id)
    at = clock.now()
    size = limit if wanted == ANY else _MOST_READ
    page = store.instances(fleet_id, size, after)
    matching = [seen for seen in _seen(fleet, page.entries, at) if wanted.has(seen)]
    if len(matching) > limit:
        return Slice(matching[:limit], matching[limit - 1].instance.id)
    return Slice(matching, page.position)


def instance(caller: Caller, fleet_id: str, instance_id: str) -> Seen:
    """One instance; three reads. Raises FleetNotFound, InstanceNotFound."""
    fleet = fleets.get(caller, fleet_id)
    stored = store.instance(fleet_id, instance_id)
    seen = _seen(fleet, [stored] if stored else [], clock.now())
    if not seen:
        raise InstanceNotFound
    return seen[0]


def _seen(fleet: Fleet, listed: Sequence[Instance], at: datetime) -> list[Seen]:
    """The instances that are not forgotten, as they stand at that time; one read for each hundred groups."""
    listed = [instance for instance in listed if not _forgotten(instance, at)]
    groups = deployments.groups(sorted({(fleet.id, instance.deployment_id) for instance in listed}))
    seen = []
    for instance in listed:
        group = groups.get(instance.deployment_id)
        state = instance.shown_state(Desired.of(group) if group else None, at, on_kubernetes=fleet.on_kubernetes)
        seen.append(
            Seen(
                instance=instance,
                state=state,
                state_message=instance.state_message if state == instance.state else None,
                assigned=group.assignment if group else None,
                running=instance.running(),
            )
        )
    return seen


def sender(token_hash: str, fleet_id: str, deployment_id: str, instance_id: str) -> Sender:
    """What is stored about the sender of a message; one batch read."""
    return store.sender(token_hash, fleet_id, deployment_id, instance_id)


def save(before: Instance | None, after: Instance) -> None:
    """Write an instance, and count it as what it is now; one read and one transaction, and a read for a new one.

    Raises FleetFull for a new one, LostRace if another message of the instance, or of its shard, was stored first.
    """
    at = after.last_seen_at
    shard = store.shard(after.fleet_id, shard_of(after.id))
    moved = shard.moved(Entry.of(before) if before else None, Entry.of(after), at)
    admitted = None
    if before is None or _forgotten(before, at):
        admitted = admission.admit(after.fleet_id, at, lambda: store.census_by_keys(after.fleet_id).total(at))
    store.save(before, after, shard, moved, admitted)


def _forgotten(instance: Instance, at: datetime) -> bool:
    return forgotten(day_of(mark_of(instance.last_seen_at)), at)
