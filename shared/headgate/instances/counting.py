"""Fleets with the number of their collectors in each state."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headgate.deployments import service as deployments
from headgate.fleets import service
from headgate.fleets.model import Fleet
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.instances import store
from headgate.instances.model import InstanceState
from headgate.storage.page import Slice

_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class CountedFleet:
    """A fleet, and its collectors by state; a state without any is left out."""

    fleet: Fleet
    instances: Mapping[InstanceState, int]

    @property
    def total(self) -> int:
        return sum(self.instances.values())


def fleets(caller: Caller, limit: int, after: str | None) -> Slice[CountedFleet]:
    """The organization's, newest first; one query, and what `counted` costs."""
    page = service.fleets(caller, limit, after)
    return Slice(counted(page.entries, clock.now()), page.position)


def fleet(caller: Caller, fleet_id: str) -> CountedFleet:
    """One read, and what `counted` costs. Raises FleetNotFound."""
    return counted([service.get(caller, fleet_id)], clock.now())[0]


def counted(fleets: Sequence[Fleet], at: datetime) -> list[CountedFleet]:
    """The fleets with their collectors counted.

    One query for each fleet, several at a time, and one batch read for each hundred groups that collectors reported
    from; the number of collectors does not matter.
    """
    if not fleets:
        return []
    if len(fleets) == 1:
        censuses = [store.census(fleets[0].id)]
    else:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            censuses = list(pool.map(store.census, [fleet.id for fleet in fleets]))
    fleets_and_censuses = list(zip(fleets, censuses, strict=True))
    ids = [(fleet.id, deployment_id) for fleet, census in fleets_and_censuses for deployment_id in census.groups(at)]
    revisions = {group.id: group.assigned_revision for group in deployments.groups(ids).values()}
    return [
        CountedFleet(fleet, census.counts(revisions, at, on_kubernetes=fleet.on_kubernetes))
        for fleet, census in fleets_and_censuses
    ]
