"""Fleets with the number of their collectors in each state."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headgate.configurations import service as configurations
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.fleets import service
from headgate.fleets.model import Fleet
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.page import Slice
from headgate.instances import store
from headgate.instances.counting.census import Census
from headgate.instances.state.model import InstanceState
from headgate_engine.threads import Threads

_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class CountedGroup:
    """A deployment group, and its collectors by state; a state without any is left out.

    `configuration_name` is that of the assigned configuration, None if nothing is assigned or it is not known.
    """

    group: Deployment
    instances: Mapping[InstanceState, int]
    configuration_name: str | None


@dataclass(frozen=True, slots=True)
class CountedFleet:
    """A fleet, its collectors by state (a state without any is left out), and the groups that have collectors.

    `without_key` is how many collectors have hosts that do not sign their messages.
    """

    fleet: Fleet
    instances: Mapping[InstanceState, int]
    groups: Sequence[Deployment] = ()
    without_key: int = 0

    @property
    def total(self) -> int:
        return sum(self.instances.values())


def fleets(caller: Caller, limit: int, after: str | None, label: str | None = None) -> Slice[CountedFleet]:
    """List fleets with their counts; reads as `headgate.fleets.service.fleets`, and those of `counted`."""
    page = service.fleets(caller, limit, after, label)
    return Slice(counted(page.entries, clock.now()), page.position)


def fleet(caller: Caller, fleet_id: str) -> CountedFleet:
    """One read, and what `counted` costs. Raises FleetNotFound."""
    return counted([service.get(caller, fleet_id)], clock.now())[0]


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters of a fleet as they were read, with names of configurations by id.

    Who changes a group reads them before: a fault must not hide that.
    """

    fleet: Fleet
    census: Census
    at: datetime
    names: Mapping[str, str]

    def counted(self, group: Deployment) -> CountedGroup:
        """The group with its collectors by state, as it is given here."""
        revisions = {group.id: group.current_revisions}
        counts = self.census.counts_of_groups(revisions, self.at, on_kubernetes=self.fleet.on_kubernetes)
        name = self.names.get(group.assignment.configuration_id) if group.assignment else None
        return CountedGroup(group, counts[group.id], name)


def counters(caller: Caller, fleet_id: str, groups: Iterable[Deployment], configuration_id: object = None) -> Counters:
    """With the names of what the groups run, and of the configuration that is about to be assigned, if there is one.

    One read, one query, and one batch read for each hundred configurations. Raises FleetNotFound.
    """
    fleet, census = service.get(caller, fleet_id), store.census(fleet_id)
    ids = {group.assignment.configuration_id for group in groups if group.assignment}
    ids |= {configuration_id} if isinstance(configuration_id, str) else set()
    return Counters(fleet, census, clock.now(), configurations.names(caller.organization_id, ids))


def before_change(caller: Caller, fleet_id: str, deployment_id: str, configuration_id: object = None) -> Counters:
    """The counters for a group that is about to change, if there is such a group; one read more than `counters`.

    Raises FleetNotFound.
    """
    groups = deployments.groups([(fleet_id, deployment_id)])
    return counters(caller, fleet_id, groups.values(), configuration_id)


def group(caller: Caller, fleet_id: str, deployment_id: str) -> CountedGroup:
    """One read more than `counters`. Raises FleetNotFound, DeploymentNotFound."""
    service.get(caller, fleet_id)
    group = deployments.of_fleet(fleet_id, deployment_id)
    return counters(caller, fleet_id, [group]).counted(group)


def under(
    fleet_id: str, revisions: Collection[tuple[str, int]]
) -> Mapping[tuple[str, int], Mapping[InstanceState, int]]:
    """The collectors of each group, named with one of its assignments, that were last offered what it names, by state.

    Those that were heard of in the last quarter of an hour; one query.
    """
    census, at = store.census(fleet_id), clock.now()
    counts: dict[tuple[str, int], Mapping[InstanceState, int]] = {}
    for group, revision in revisions:
        heard = census.heard({group: [revision]}, at)[group]
        counts[group, revision] = {state: n for state, n in heard.items() if state != "pending_pickup"}
    return counts


def groups(
    caller: Caller, fleet_id: str, limit: int, after: str | None, name: str | None = None
) -> Slice[CountedGroup]:
    """List groups with their counts; reads as `headgate.deployments.service.deployments`. Raises FleetNotFound."""
    page = deployments.deployments(caller, fleet_id, limit, after, name)
    if not page.entries:
        return Slice([], page.position)
    return Slice([*map(counters(caller, fleet_id, page.entries).counted, page.entries)], page.position)


def counted(fleets: Sequence[Fleet], at: datetime) -> list[CountedFleet]:
    """The fleets with their collectors counted.

    One query for each fleet, several at a time, and one batch read for each hundred groups that collectors reported
    from in a month; the number of collectors does not matter.
    """
    if not fleets:
        return []
    if len(fleets) == 1:
        censuses = [store.census(fleets[0].id)]
    else:
        with Threads(_AT_ONCE) as pool:
            censuses = list(pool.map(store.census, [fleet.id for fleet in fleets]))
    fleets_and_censuses = list(zip(fleets, censuses, strict=True))
    ids = [(fleet.id, deployment_id) for fleet, census in fleets_and_censuses for deployment_id in census.groups(at)]
    groups = deployments.groups(ids)
    revisions = {group.id: group.current_revisions for group in groups.values()}
    return [
        CountedFleet(
            fleet,
            census.counts(revisions, at, on_kubernetes=fleet.on_kubernetes),
            [group for group in groups.values() if group.fleet_id == fleet.id],
            census.without_key(revisions, at),
        )
        for fleet, census in fleets_and_censuses
    ]
