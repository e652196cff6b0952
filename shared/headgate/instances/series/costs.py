"""Costs of sending by day: the exporters' counts, at the organization's prices of their destinations.

Where an exporter sends to is what the versions say that the group was assigned in that hour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from headgate.configurations import service as configurations
from headgate.configurations.model import ConfigurationNotFound, VersionNotFound
from headgate.deployments import history, variables
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.deployments.running import RunningRollout
from headgate.deployments.versions import Assignment
from headgate.fleets import prices as pricing
from headgate.fleets import service as fleets
from headgate.fleets.prices import Price, PriceList
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.instances.series import destinations, store
from headgate.instances.series.model import HOUR, SENT, SENT_BYTES, component_of, kind_of, pipelines_of
from headgate_engine.threads import Threads

Unpriced = Literal["no_price", "bytes_not_measured"]
DAY: Final = 86_400
MOST_DAYS: Final = 31
MOST_GROUPS: Final = 20
MOST_LINES: Final = 100
_MOST_EVENTS: Final = 100
_MOST_VERSIONS: Final = 10
_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class ExportDay:
    """The traffic of a day that begins at `start`. `cost` is None where it is not known."""

    start: int
    records: int
    bytes: int
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Export:
    """An exporter's traffic to a host, None if no version names it; by day, with its cost.

    `pipelines` are those that share it. `unpriced` is why days have no known cost.
    """

    pipelines: Sequence[str]
    component: str
    host: str | None
    days: Sequence[ExportDay]
    prices: Sequence[Price] = ()
    unpriced: Unpriced | None = None

    @property
    def exporter(self) -> str:
        """Its type."""
        return self.component.partition("/")[0]

    @property
    def cost(self) -> Decimal | None:
        """The sum of all days whose cost is known; None if there are none."""
        known = [day.cost for day in self.days if day.cost is not None]
        return sum(known, Decimal(0)) if known else None

    def priced(self, prices: PriceList) -> Export:
        """At these prices. Bytes that no collector measured cost an unknown sum, and not nothing."""
        chosen = prices.at(self.exporter, self.host)
        if not chosen:
            return replace(self, unpriced="no_price")
        days = [replace(day, cost=_cost(chosen, day)) for day in self.days]
        lacking: Unpriced | None = "bytes_not_measured" if any(day.cost is None for day in days) else None
        return replace(self, prices=chosen, days=days, unpriced=lacking)


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs in days of UTC from `begin` to `end`, of which the last is not over. Without prices there are none.

    `left_out` is how many groups and exporters were too many.
    """

    prices: PriceList
    begin: int
    end: int
    exports: Sequence[Export] = ()
    left_out: int = 0

    @property
    def starts(self) -> range:
        return range(self.begin, self.end, DAY)

    @property
    def total(self) -> Decimal:
        """The sum of everything that has a known cost."""
        return sum((export.cost or Decimal(0) for export in self.exports), Decimal(0))


_Place: TypeAlias = tuple[tuple[str, ...], str, str | None]
_Sums: TypeAlias = dict[_Place, dict[int, tuple[int, int]]]


@dataclass
class _Destinations:
    """The hosts of a group's exporters by what it was assigned: since when, newest first, and the texts' hosts.

    Hosts that a rollout under way has reached run another version.
    """

    since: Sequence[tuple[float, Assignment | None]]
    rollout: RunningRollout | None = None
    hosts: Mapping[Assignment, Mapping[str, str | None]] = field(default_factory=dict)

    def host(self, component: str, hour: int) -> str | None:
        """The destination in that hour; None if two versions of the hour disagree, or one of them was not read.

        Of a component that only another version has, as during a rollout, that one says it.
        """
        assigned = self._assigned(hour)
        if any(version not in self.hosts for version in assigned):
            return None
        named = self._named(component, assigned) or self._named(component, self.hosts)
        return next(iter(named)) if len(named) == 1 else None

    def _named(self, component: str, versions: Iterable[Assignment]) -> set[str | None]:
        of_versions = [self.hosts.get(version, {}) for version in versions]
        return {of_version[component] for of_version in of_versions if component in of_version}

    def _assigned(self, hour: int) -> list[Assignment]:
        rollout = self.rollout
        assigned = [rollout.to] if rollout and rollout.started_at.timestamp() < hour + HOUR else []
        for since, version in self.since:
            if since < hour + HOUR and version is not None:
                assigned.append(version)
            if since <= hour:
                break
        return assigned


def of_group(caller: Caller, fleet_id: str, deployment_id: str, days: int) -> Costs:
    """One read without prices; else five, one for each version, and a query for each megabyte of its hours.

    Raises FleetNotFound, DeploymentNotFound.
    """
    group = deployments.get(caller, fleet_id, deployment_id)
    return _of_groups(caller, lambda: [group], days)


def of_fleet(caller: Caller, fleet_id: str, days: int) -> Costs:
    """The same for each of up to twenty groups, several at a time. Raises FleetNotFound."""
    fleets.get(caller, fleet_id)
    return _of_groups(caller, lambda: [*deployments.each(fleet_id)], days)


def of_groups(caller: Caller, groups: Iterable[tuple[str, str]], days: int) -> Costs:
    """The same for groups that the caller is known to see, each named by its fleet's id and its own."""
    return _of_groups(caller, lambda: [*deployments.groups(groups).values()], days)


def _of_groups(caller: Caller, read: Callable[[], Sequence[Deployment]], days: int) -> Costs:
    prices = pricing.get(caller)
    now = int(clock.now().timestamp())
    end = now - now % DAY + DAY
    costs = Costs(prices, end - days * DAY, end)
    if not prices.prices:
        return costs
    groups, sums = read(), _Sums()
    with Threads(_AT_ONCE) as pool:
        for of_group in pool.map(lambda group: _sent(caller, group, costs), groups[:MOST_GROUPS]):
            for place, by_day in of_group.items():
                together = sums.setdefault(place, {})
                for start, (records, size) in by_day.items():
                    before = together.get(start, (0, 0))
                    together[start] = before[0] + records, before[1] + size
    exports = [
        Export(*place, [ExportDay(start, *counted) for start, counted in sorted(by_day.items())]).priced(prices)
        for place, by_day in sums.items()
    ]
    exports.sort(key=lambda export: (-(export.cost or Decimal(0)), export.component, export.pipelines))
    left_out = max(0, len(groups) - MOST_GROUPS) + max(0, len(exports) - MOST_LINES)
    return replace(costs, exports=exports[:MOST_LINES], left_out=left_out)


def _sent(caller: Caller, group: Deployment, costs: Costs) -> _Sums:
    """The traffic of the group's exporters, by day."""
    places = _destinations(caller, group, costs.begin)
    sums: _Sums = {}
    for bucket in store.between(group.id, HOUR, costs.begin, costs.end):
        day = bucket.start - bucket.start % DAY
        for key, of_key in bucket.cells.items():
            if kind_of(key) != "exporter":
                continue
            component = component_of(key).removeprefix("exporter/")
            place = tuple(pipelines_of(key)), component, places.host(component, bucket.start)
            of_place = sums.setdefault(place, {})
            records, size = of_place.get(day, (0, 0))
            records += sum(numbers[SENT] for numbers in of_key.values())
            of_place[day] = records, size + sum(numbers[SENT_BYTES] for numbers in of_key.values())
    return sums


def _destinations(caller: Caller, group: Deployment, begin: int) -> _Destinations:
    events = history.events(caller, group.fleet_id, group.id, _MOST_EVENTS, None).entries
    since: list[tuple[float, Assignment | None]] = []
    for event in events:
        since.append((event.at.timestamp(), event.assigned.assignment if event.assigned else None))
        if event.at.timestamp() <= begin:
            break
    else:
        oldest = events[-1] if events else None
        if oldest is None:
            since.append((0, group.assignment))
        elif oldest.before is not None and len(events) < _MOST_EVENTS:
            since.append((oldest.before_since.timestamp() if oldest.before_since else 0, oldest.before.assignment))
    known = variables.of_group(group).plain
    under_way = [group.rollout.to] if group.rollout else []
    versions = dict.fromkeys([*under_way, *(version for _, version in since if version is not None)])
    texts = {version: _text(caller, version) for version in [*versions][:_MOST_VERSIONS]}
    hosts = {version: destinations.hosts(text, known) for version, text in texts.items()}
    return _Destinations(since, group.rollout, hosts)


def _text(caller: Caller, version: Assignment) -> str:
    """Empty if the version is gone."""
    try:
        return configurations.get_version(caller, version.configuration_id, version.version_number).yaml or ""
    except (ConfigurationNotFound, VersionNotFound):
        return ""


def _cost(prices: Sequence[Price], day: ExportDay) -> Decimal | None:
    """At all of the prices; None if one is by size, and no collector measured it."""
    if day.records and not day.bytes and any(price.per == "gigabyte" for price in prices):
        return None
    costs = [price.cost(day.bytes if price.per == "gigabyte" else day.records) for price in prices]
    return sum(costs, Decimal(0))
