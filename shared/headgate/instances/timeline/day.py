"""Hosts of a fleet or a group over the last day: by state and by version, from their timelines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from headgate.deployments import service as deployments
from headgate.deployments.versions import Assignment
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.instances import details, service
from headgate.instances.service import SeenInstance
from headgate.instances.state.model import InstanceState, silent_from
from headgate.instances.timeline import events, store
from headgate.instances.timeline.model import TimelineEvent
from headgate_engine.threads import Threads

MOST_CHANGED: Final = 50
"""Hosts whose timelines are read, a query each. The last event of every other host is older than the day."""
STEP: Final = timedelta(minutes=30)
STEPS: Final = 48
_MOST_EVENTS: Final = 30
_AT_ONCE: Final = 8
_HOUR: Final = 3_600
_NOT_HEARD: Final = frozenset({"silent", "stale", "unknown"})


@dataclass(frozen=True, slots=True)
class HostsThen:
    """The number of hosts by state and by version at a time; unknown ones are not counted.

    A host that runs nothing is counted under None.
    """

    at: datetime
    states: Mapping[InstanceState, int]
    versions: Mapping[Assignment | None, int]


@dataclass(frozen=True, slots=True)
class LastDay:
    """Each half an hour. `hosts` is how many are counted, `left_out` how many changed and are not; `names` has the
    configurations' names by their ids."""

    standings: Sequence[HostsThen]
    hosts: int
    left_out: int
    names: Mapping[str, str]


def of_fleet(caller: Caller, fleet_id: str) -> LastDay:
    """The day of the fleet's hosts.

    One query for each megabyte of the fleet's instances, and one for each host that changed in that time, for the first
    fifty of these by id, several at a time. Raises FleetNotFound.
    """
    return _of_hosts(caller, fleets.get(caller, fleet_id), None)


def of_group(caller: Caller, fleet_id: str, deployment_id: str) -> LastDay:
    """The same of the hosts that are in the group now; one read more. Raises FleetNotFound, DeploymentNotFound."""
    fleet = fleets.get(caller, fleet_id)
    return _of_hosts(caller, fleet, deployments.of_fleet(fleet_id, deployment_id).id)


def _of_hosts(caller: Caller, fleet: Fleet, deployment_id: str | None) -> LastDay:
    now = clock.now()
    begin = now - STEP * (STEPS - 1)
    hosts = service.those(fleet, lambda host: deployment_id in (None, host.deployment_id), now)
    changed = [seen for seen in hosts if _changed(seen, begin)]
    read = changed[:MOST_CHANGED]
    with Threads(_AT_ONCE) as pool:
        newest = pool.map(lambda seen: store.newest(fleet.id, seen.instance.id, _MOST_EVENTS, None).entries, read)
        known = [*zip(read, newest, strict=True)]
    known += [(seen, [_as_always(seen)]) for seen in hosts if not _changed(seen, begin)]
    standings = [_standing(now - STEP * place, known) for place in reversed(range(STEPS))]
    versions = {version for standing in standings for version in standing.versions}
    return LastDay(standings, len(known), len(changed) - len(read), details.names(caller, versions))


def _changed(seen: SeenInstance, begin: datetime) -> bool:
    """True if its timeline may have an event since that time: the hour of the last one is noted."""
    return (seen.instance.noted.hour + 1) * _HOUR > begin.timestamp() or not seen.instance.noted.hour


def _as_always(seen: SeenInstance) -> TimelineEvent:
    """The event that the host's stored item follows from, which is older than the day."""
    return events.entry(seen.instance, "first_seen", seen.instance.contact.first_seen_at)


def _standing(at: datetime, known: Sequence[tuple[SeenInstance, Sequence[TimelineEvent]]]) -> HostsThen:
    states: Counter[InstanceState] = Counter()
    versions: Counter[Assignment | None] = Counter()
    for seen, newest in known:
        last = next((event for event in newest if event.at <= at), None)
        if last is None:
            continue
        states[_state(seen, last, at)] += 1
        versions[last.running.assignment if last.running else None] += 1
    return HostsThen(at, states, versions)


def _state(seen: SeenInstance, last: TimelineEvent, at: datetime) -> InstanceState:
    """The state after the event, unless the host has been silent since: silence is written when it ends."""
    quiet = seen.state in _NOT_HEARD and at > silent_from(seen.instance.contact.last_seen_at)
    return seen.state if quiet else last.state
