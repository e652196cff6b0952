"""A fleet's collector instances: any member of the organization sees them, the fleet service records their messages."""

from dataclasses import dataclass
from datetime import datetime

from headgate.deployments import service as deployments
from headgate.deployments.model import Assignment
from headgate.fleets import service as fleets
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.instances import admission, store
from headgate.instances.census import Entry, shard_of
from headgate.instances.model import Desired, Instance, InstanceState, day_of, forgotten, mark_of
from headgate.instances.store import Sender
from headgate.storage.page import Slice


@dataclass(frozen=True, slots=True)
class Seen:
    """An instance as it stands now; `state_message` says why it failed to apply what is assigned."""

    instance: Instance
    state: InstanceState
    state_message: str | None
    assigned: Assignment | None
    running: Assignment | None


def instances(caller: Caller, fleet_id: str, limit: int, after: str | None) -> Slice[Seen]:
    """By id, so those that first started first; three reads. Raises FleetNotFound."""
    fleet = fleets.get(caller, fleet_id)
    at = clock.now()
    page = store.instances(fleet_id, limit, after)
    listed = [instance for instance in page.entries if not _forgotten(instance, at)]
    groups = deployments.groups(sorted({(fleet_id, instance.deployment_id) for instance in listed}))
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
    return Slice(seen, page.position)


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
