"""An instance's timeline for people: what happened on it, and what it ran at a time. Any member reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from headgate.deployments.history import NotKnown, require_covered
from headgate.fleets import service as fleets
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.page import Slice
from headgate.instances import details, service, store
from headgate.instances.state.model import InstanceState, mark_of, silent_from, stale
from headgate.instances.timeline import store as timeline_store
from headgate.instances.timeline.model import KEPT, TimelineEvent


@dataclass(frozen=True, slots=True)
class ListedEvent:
    """An event, with the names of the configurations that it names, by id."""

    event: TimelineEvent
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Then:
    """The instance at a time: after the last event until that time, and by when it was heard after it.

    `covered` is False if there were other events between, which were not written.
    """

    at: datetime
    state: InstanceState
    last: ListedEvent

    @property
    def covered(self) -> bool:
        return not self.last.event.is_followed_by_others


def events(caller: Caller, fleet_id: str, instance_id: str, limit: int, after: str | None) -> Slice[ListedEvent]:
    """Newest first; two reads, one of names of configurations, and two more if there are none.

    Raises FleetNotFound, InstanceNotFound.
    """
    fleet = fleets.get(caller, fleet_id)
    at = clock.now()
    page = timeline_store.newest(fleet_id, instance_id, limit, after)
    recent = [event for event in page.entries if event.at > at - KEPT]
    if not recent and after is None:
        service.seen(fleet, instance_id, at)
    return Slice(_listed(caller, recent), page.position if len(recent) == len(page.entries) else None)


def then(caller: Caller, fleet_id: str, instance_id: str, at: datetime) -> Then:
    """Returns the instance's state at that time; three reads, and one of names of configurations.

    Raises FleetNotFound, InstanceNotFound, TimeRefused, NotKnown.
    """
    fleet = fleets.get(caller, fleet_id)
    now = clock.now()
    require_covered(at, now)
    last = timeline_store.last_until(fleet_id, instance_id, at)
    if last is None:
        service.seen(fleet, instance_id, now)
        raise NotKnown
    (listed,) = _listed(caller, [last])
    return Then(at, _state(fleet_id, instance_id, last, at, on_kubernetes=fleet.on_kubernetes), listed)


def _listed(caller: Caller, entries: Sequence[TimelineEvent]) -> list[ListedEvent]:
    moments = [event.running.assignment for event in entries if event.running]
    names = details.names(caller, [*moments, *(event.version for event in entries)])
    return [ListedEvent(event, names) for event in entries]


def _state(fleet_id: str, instance_id: str, last: TimelineEvent, at: datetime, *, on_kubernetes: bool) -> InstanceState:
    """The state after the last event, unless nothing was heard for long. A heartbeat without news makes no event."""
    heard = _heard(fleet_id, instance_id, last)
    if heard is None:
        return "unknown"
    if stale(mark_of(heard), at):
        return "unknown" if on_kubernetes else "stale"
    return last.state if last.state == "stopped" or at <= silent_from(heard) else "silent"


def _heard(fleet_id: str, instance_id: str, last: TimelineEvent) -> datetime | None:
    """The time at which the instance was heard last, before it was silent or stopped; None if unknown by now."""
    if last.event == "silent":
        return last.at - (silent_from(last.at) - last.at)
    if last.state == "stopped":
        return last.at
    stored = store.instance(fleet_id, instance_id)
    return stored.contact.last_seen_at if stored else None
