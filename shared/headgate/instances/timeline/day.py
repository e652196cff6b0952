"""How the hosts of a fleet or a group stood over the last day: by state and by version, from their timelines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from headgate.fleets import service as fleets
from headgate.foundation import clock
from headgate.instances import details, service
from headgate.instances.state.model import silent_from
from headgate.instances.timeline import store
from headgate_engine.threads import Threads

if TYPE_CHECKING:
    from headgate.deployments.versions import Assignment
    from headgate.foundation.caller import Caller
    from headgate.instances.service import Seen
    from headgate.instances.state.model import InstanceState
    from headgate.instances.timeline.model import TimelineEvent

MOST_HOSTS: Final = 50
STEP: Final = timedelta(minutes=30)
_STEPS: Final = 48
_MOST_EVENTS: Final = 30
_AT_ONCE: Final = 8
_NOT_HEARD: Final = frozenset({"silent", "stale", "unknown"})


@dataclass(frozen=True, slots=True)
class HostsThen:
    """How many hosts had each state at a time, and ran each version; those of which nothing is known are not counted.

    A host that runs nothing is counted under None.
    """

    at: datetime
    states: Mapping[InstanceState, int]
    versions: Mapping[Assignment | None, int]


@dataclass(frozen=True, slots=True)
class LastDay:
    """Each half an hour. `hosts` is how many were looked at, `left_out` how many were not; `names` has configurations'
    names by their ids."""

    standings: Sequence[HostsThen]
    hosts: int
    left_out: int
    names: Mapping[str, str]


def of_hosts(caller: Caller, fleet_id: str, deployment_id: str | None = None) -> LastDay:
    """Of the fleet's hosts, or of those that are in the group now, the first fifty by id.

    A query for each of them, several at a time, and one for each megabyte of the fleet's instances. Raises
    FleetNotFound.
    """
    fleet, now = fleets.get(caller, fleet_id), clock.now()
    hosts = service.those(fleet, lambda host: deployment_id in (None, host.deployment_id), now)
    chosen = hosts[:MOST_HOSTS]
    with Threads(_AT_ONCE) as pool:
        read = pool.map(lambda seen: store.newest(fleet_id, seen.instance.id, _MOST_EVENTS, None).entries, chosen)
        known = [*zip(chosen, read, strict=True)]
    standings = [_standing(now - STEP * place, known) for place in reversed(range(_STEPS))]
    versions = {version for standing in standings for version in standing.versions}
    return LastDay(standings, len(chosen), len(hosts) - len(chosen), details.names(caller, versions))


def _standing(at: datetime, known: Sequence[tuple[Seen, Sequence[TimelineEvent]]]) -> HostsThen:
    states: Counter[InstanceState] = Counter()
    versions: Counter[Assignment | None] = Counter()
    for seen, newest in known:
        last = next((event for event in newest if event.at <= at), None)
        if last is None:
            continue
        states[_state(seen, last, at)] += 1
        versions[last.running.assignment if last.running else None] += 1
    return HostsThen(at, states, versions)


def _state(seen: Seen, last: TimelineEvent, at: datetime) -> InstanceState:
    """As the event left it, unless the host has been silent since: silence is written when it ends."""
    quiet = seen.state in _NOT_HEARD and at > silent_from(seen.instance.contact.last_seen_at)
    return seen.state if quiet else last.state
