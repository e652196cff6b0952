"""A fleet's collector instances: any member of the organization sees them, the fleet service records their messages."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headgate.deployments import service as deployments
from headgate.deployments.versions import Assignment
from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.fleets.model import Fleet
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.page import Slice
from headgate.instances import store
from headgate.instances.counting import admission
from headgate.instances.counting.census import CensusEntry, shard_of
from headgate.instances.desired.model import Desired
from headgate.instances.model import Instance, InstanceNotFound
from headgate.instances.reported import components
from headgate.instances.state.model import NEVER_REFUSED, InstanceState
from headgate.instances.store import Sender
from headgate.instances.timeline import store as timeline_store
from headgate.instances.timeline.model import TimelineEvent
from headgate.storage.table import Write

# A page of a filtered list reads no more: a megabyte of the table.
MOST_READ: Final = 1_000


@dataclass(frozen=True, slots=True)
class SeenInstance:
    """An instance as it stands now; `state_message` is why it failed to apply what is assigned, or that it is cut off.

    `token_current` is whether it last reported with the fleet's present token, None if that was not recorded.
    """

    instance: Instance
    state: InstanceState
    state_message: str | None
    assigned: Assignment | None
    running: Assignment | None
    desired: Desired
    token_current: bool | None


@dataclass(frozen=True, slots=True)
class InstanceFilter:
    """Filter of instances; None matches all. `version` is the running number, `host` a part of the name or host name,
    `label` a key with its value, `drifted` whether something was changed on the host, `old_token` whether it last
    reported with another token than the present one, `component` a type or `kind/type` that its collector has,
    `without_key` whether its host does not sign its messages."""

    state: InstanceState | None = None
    deployment_id: str | None = None
    version: int | None = None
    host: str | None = None
    label: tuple[str, str] | None = None
    drifted: bool | None = None
    old_token: bool | None = None
    component: str | None = None
    without_key: bool | None = None

    def has(self, seen: SeenInstance, with_component: Collection[str]) -> bool:
        """`with_component` are the hashes of the lists of components that have the one that is wanted."""
        instance, host = seen.instance, seen.instance.reported.host
        names = (host.name or "", instance.reported.description.host_name or "")
        return (
            self.state in (None, seen.state)
            and self.deployment_id in (None, instance.deployment_id)
            and (self.version is None or (seen.running is not None and seen.running.version_number == self.version))
            and (self.host is None or any(self.host.lower() in name.lower() for name in names))
            and (self.label is None or instance.labels.get(self.label[0]) == self.label[1])
            and (self.drifted is None or bool(host.drifted) == self.drifted)
            and (self.component is None or instance.reported.components in with_component)
            and self.without_key in (None, instance.identity.key is None)
            and (self.old_token is None or seen.token_current == (not self.old_token))
        )


ANY: Final = InstanceFilter()


def instances(
    caller: Caller, fleet_id: str, limit: int, after: str | None, filters: InstanceFilter = ANY
) -> Slice[SeenInstance]:
    """By id, so those that first started first; four reads. Raises FleetNotFound.

    With `wanted`, up to `MOST_READ` instances are read, and the slice may have fewer than there are: its position says
    whether more may follow.
    """
    fleet = fleets.get(caller, fleet_id)
    at = clock.now()
    size = limit if filters == ANY else MOST_READ
    page = store.instances(fleet_id, size, after)
    with_component = components.having(fleet_id, filters.component) if filters.component else ()
    matching = [seen for seen in _seen(fleet, page.entries, at) if filters.has(seen, with_component)]
    if len(matching) > limit:
        return Slice(matching[:limit], matching[limit - 1].instance.id)
    return Slice(matching, page.position)


def those(fleet: Fleet, matches: Callable[[Instance], bool], at: datetime) -> Sequence[SeenInstance]:
    """Those that are wanted, of a fleet that the caller is known to see; a query for each megabyte of its instances."""
    return _seen(fleet, [instance for instance in store.each(fleet.id) if matches(instance)], at)


def of_group(fleet_id: str, deployment_id: str) -> list[Instance]:
    """The instances that report from a group, as they were stored; a query for each megabyte of the fleet's."""
    return [instance for instance in store.each(fleet_id) if instance.deployment_id == deployment_id]


def of_rollout(fleet_id: str, deployment_id: str, rollout_id: str) -> list[Instance]:
    """Those of the group, and those that left the rollout for another one of the fleet; the same queries."""
    return [
        instance
        for instance in store.each(fleet_id)
        if instance.deployment_id == deployment_id
        or any(departure.rollout_id == rollout_id for departure in instance.measured.departures)
    ]


def overridden(fleet_id: str, configuration_id: str, at: datetime) -> list[Instance]:
    """The instances that an override makes run the configuration at that time; a query for each megabyte of all."""
    overridden = store.overridden(fleet_id, configuration_id)
    return [
        each
        for each in overridden
        if each.orders.override and each.orders.override.until > at and not each.is_forgotten(at)
    ]


def seen(fleet: Fleet, instance_id: str, at: datetime) -> SeenInstance:
    """One instance of a fleet that the caller is known to see; three reads. Raises InstanceNotFound."""
    stored = store.instance(fleet.id, instance_id)
    seen = _seen(fleet, [stored] if stored else [], at)
    if not seen:
        raise InstanceNotFound
    return seen[0]


def _seen(fleet: Fleet, listed: Sequence[Instance], at: datetime) -> list[SeenInstance]:
    """The instances as they stand at that time, without those that are forgotten or whose group was deleted.

    One read, and one for each hundred groups.
    """
    listed = [instance for instance in listed if not instance.is_forgotten(at)]
    groups = deployments.groups(sorted({(fleet.id, instance.deployment_id) for instance in listed}))
    refused = store.refusals(fleet.id) if listed else NEVER_REFUSED
    current = {group.id: tokens.current_id(*group.token_of(fleet)) for group in groups.values()}
    seen = []
    for instance in listed:
        group = groups.get(instance.deployment_id)
        if group is None:
            continue
        desired = instance.desired(group, at)
        state = instance.shown_state(desired, at, refused, on_kubernetes=fleet.on_kubernetes)
        running = instance.running()
        seen.append(
            SeenInstance(
                instance=instance,
                state=state,
                state_message=_message(instance, state),
                assigned=desired.assignment,
                running=running.assignment if running else None,
                desired=desired,
                token_current=None
                if instance.identity.token_id is None
                else instance.identity.token_id == current[group.id],
            )
        )
    return seen


def _message(instance: Instance, state: InstanceState) -> str | None:
    if instance.orders.cut_off_at is not None:
        return "A person has cut this host off: its messages are refused"
    return instance.standing.message if state == instance.standing.state else None


def sender(token_hash: str, fleet_id: str, deployment_id: str, instance_id: str, hinted: str | None = None) -> Sender:
    """Read the items about the sender of a message; one batch read."""
    return store.sender(token_hash, fleet_id, deployment_id, instance_id, hinted)


refusals = store.refusals
note_refusals = store.note_refusals


def save(before: Instance | None, after: Instance, entries: Sequence[TimelineEvent] = (), *beside: Write) -> None:
    """Write an instance, and count it as what it is now; one read and one transaction, and a read for a new one.

    Its events and `beside` are written in the same transaction.
    Raises FleetFull for a new one, LostRace if another message of the instance, or of its shard, was stored first.
    """
    at = after.contact.last_seen_at
    shard = store.shard(after.fleet_id, shard_of(after.id))
    moved = shard.moved(CensusEntry.of(before) if before else None, CensusEntry.of(after), at)
    admitted = None
    if before is None or before.is_forgotten(at):
        admitted = admission.admit(after.fleet_id, at, lambda: store.census_by_keys(after.fleet_id).total(at))
    events = timeline_store.put(after.fleet_id, after.id, before.revision + 1 if before else 1, entries)
    store.save(before, after, shard, moved, [*([admitted] if admitted else []), *events, *beside])


def note(instance: Instance, entry: TimelineEvent) -> None:
    """Write an event that changes nothing of the instance; one put. Raises LostRace if there is one of that time."""
    timeline_store.append(instance.fleet_id, instance.id, instance.revision, entry)
