"""Numbers over time as people ask for them: of a group, a fleet or a host, by component or pipeline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from headgate.deployments import service as deployments
from headgate.fleets import service as fleets
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.instances import service as instances
from headgate.instances.series import store
from headgate.instances.series.buckets import HostCounts
from headgate.instances.series.model import (
    ACCEPTED_BYTES,
    DROPPED,
    HOSTS_KEPT,
    HOUR,
    KEPT,
    MINUTE,
    QUEUE,
    SENT_BYTES,
    SLOT,
    as_part,
    component_of,
    dropped,
    kind_of,
    pipelines_of,
    plus,
    settled,
    spread,
)
from headgate_engine.threads import Threads

By = Literal["none", "component", "pipeline", "host"]
_About = tuple[str, tuple[str, ...], bool]
_Names = Callable[[str], Mapping[str, _About]]

MOST_STEPS: Final = 1_500
MOST_POINTS: Final = 10_000
"""The limit for all series of an answer together. Beyond `MOST_SERIES`, the smallest are summed up in one."""
MOST_SERIES: Final = 50
MOST_GROUPS: Final = 100
ALL: Final = "all"
REST: Final = "other"
_DAY: Final = timedelta(days=1)
_AT_ONCE: Final = 8
_MOST_PARTS: Final = 100
_BYTES: Final = (ACCEPTED_BYTES, SENT_BYTES)
_NONE: Final = [0] * (QUEUE + 1)


class BadRange(errors.InvalidAt):
    """The times or the step that was asked for cannot be answered."""

    code = "bad_range"


@dataclass(frozen=True, slots=True)
class Range:
    """From `begin` to `end`, in steps of so many seconds; times in seconds since 1970, at multiples of the step."""

    begin: int
    end: int
    step: int

    @classmethod
    def of(cls, begin: datetime | None, end: datetime | None, step: int | None, *, of_host: bool = False) -> Range:
        """By default the last day, in steps that make a chart of some 300 points. Raises BadRange."""
        now = clock.now()
        until = end or now
        since = begin or until - _DAY
        if since >= until:
            raise BadRange("This must be before `to`, which is now if it is left out", at=("query", "from"))
        if until > now + timedelta(minutes=1):
            raise BadRange("This is in the future", at=("query", "to"))
        least = SLOT if of_host else MINUTE
        length = (until - since).total_seconds()
        chosen = step or max(least, int(-(-length / 300 // least) * least))
        if step is None and not of_host and chosen > SLOT:
            chosen = -(-chosen // HOUR) * HOUR if chosen > 1_800 else -(-chosen // SLOT) * SLOT
        if chosen % least:
            raise BadRange(f"This must be a multiple of {least} seconds", at=("query", "step"))
        retention = HOSTS_KEPT if of_host else KEPT[HOUR] if chosen % HOUR == 0 else KEPT[SLOT]
        if (now - since).total_seconds() > retention + HOUR:
            raise BadRange(_kept_for(of_host=of_host, hours=chosen % HOUR == 0), at=("query", "from"))
        first = int(since.timestamp())
        first -= first % chosen
        if (until.timestamp() - first) / chosen > MOST_STEPS:
            raise BadRange(
                f"That would be more than {MOST_STEPS:,} points; ask for a longer step or a shorter time",
                at=("query", "step"),
            )
        return cls(first, int(until.timestamp()), chosen)

    @property
    def starts(self) -> range:
        return range(self.begin, self.end, self.step)


@dataclass(frozen=True, slots=True)
class Point:
    """The counts of one step from `start` on. `hosts` is how many counted, on average.

    None: nothing is known. Bytes are None where no collector measures them.
    """

    start: int
    numbers: Sequence[int]
    hosts: float

    @property
    def is_known(self) -> bool:
        return self.hosts > 0


@dataclass(frozen=True, slots=True)
class Line:
    """The points of a component, a pipeline, a host or of all. `shared`: it is in several pipelines, not told apart."""

    name: str
    points: Sequence[Point]
    kind: str = ""
    pipelines: Sequence[str] = ()
    shared: bool = False

    def total(self, place: int) -> int:
        return sum(point.numbers[place] for point in self.points)

    @property
    def measures_bytes(self) -> bool:
        return any(self.total(place) for place in _BYTES)


@dataclass(frozen=True, slots=True)
class Series:
    """An answer. `resolution` is the seconds below which a point tells nothing: the step, or the longest report."""

    range: Range
    resolution: int
    lines: Sequence[Line]


@dataclass
class _Sums:
    """Sums by component, or by host, and step while buckets are read."""

    range: Range
    counted: dict[str, dict[int, list[int]]] = field(default_factory=dict)
    covered: dict[tuple[str, int], int] = field(default_factory=dict)
    span: int = 0

    def add(self, at: int, numbers: Mapping[str, Sequence[int]], covered: int, host: str = "") -> None:
        """Add what was counted at that time, by hosts that counted for so many seconds together, or by that one."""
        if not self.range.begin <= at < self.range.end:
            return
        start = at - at % self.range.step
        self.covered[host, start] = self.covered.get((host, start), 0) + covered
        for key, added in numbers.items():
            steps = self.counted.setdefault(key, {})
            steps[start] = plus(steps.get(start, _NONE), added)

    def series(self, names: _Names, *, parts: bool) -> Series:
        """The lines that `names` says each key counts towards, as `parts` by themselves or else as parts of a whole."""
        about: dict[str, _About] = {}
        lines: dict[str, dict[int, list[int]]] = {}
        for key, steps in self.counted.items():
            named = names(key)
            about |= named
            of_key = self._settled(key, steps, parts=parts)
            for name in named:
                line = lines.setdefault(name, {})
                for start, numbers in of_key.items():
                    line[start] = plus(line.get(start, _NONE), numbers)
        return self._chosen(lines, about)

    def _settled(self, key: str, steps: Mapping[int, list[int]], *, parts: bool) -> dict[int, list[int]]:
        """The numbers of a key with what it dropped."""
        starts, kind = sorted(steps), kind_of(key)
        amounts = settled([dropped(kind, steps[start]) for start in starts])
        of_key = {}
        for start, amount in zip(starts, amounts, strict=True):
            numbers = steps[start]
            alone = [*numbers[:DROPPED], amount, *numbers[DROPPED + 1 :]]
            of_key[start] = alone if parts else as_part(kind, numbers, amount)
        return of_key

    def _chosen(self, lines: Mapping[str, Mapping[int, list[int]]], about: Mapping[str, _About]) -> Series:
        """The largest lines, and the others as one."""
        most = min(MOST_SERIES, max(1, MOST_POINTS // len(self.range.starts)))
        names = sorted(lines, key=lambda name: (-sum(sum(numbers[:DROPPED]) for numbers in lines[name].values()), name))
        shown = names if len(names) <= most else names[: most - 1]
        drawn = [self._line(name, lines[name], *about[name]) for name in shown]
        if rest := names[len(shown) :]:
            together: dict[int, list[int]] = {}
            for name in rest:
                for start, numbers in lines[name].items():
                    together[start] = plus(together.get(start, _NONE), numbers)
            drawn.append(self._line(REST, together, *_WHOLE))
        return Series(self.range, max(self.range.step, self.span), drawn)

    def _line(
        self, name: str, numbers: Mapping[int, list[int]], kind: str, pipelines: tuple[str, ...], shared: bool
    ) -> Line:
        points = [
            Point(start, numbers.get(start, _NONE), self._covered(name, start) / self.range.step)
            for start in self.range.starts
        ]
        return Line(name, points, kind, pipelines, shared)

    def _covered(self, name: str, start: int) -> int:
        return self.covered.get((name, start), 0) or self.covered.get(("", start), 0)


def of_group(caller: Caller, fleet_id: str, deployment_id: str, asked: Range, by: By = "none") -> Series:
    """Two reads, and a query for each megabyte of the group's buckets. Raises FleetNotFound, DeploymentNotFound."""
    group = deployments.get(caller, fleet_id, deployment_id)
    return _of_hosts([group.id], asked) if by == "host" else _of_groups([group.id], asked, by)


def of_fleet(caller: Caller, fleet_id: str, asked: Range, by: By = "none") -> Series:
    """The same for each of up to a hundred groups, several at a time. Raises FleetNotFound."""
    fleets.get(caller, fleet_id)
    groups = deployments.ids(fleet_id, MOST_GROUPS)
    return _of_hosts(groups, asked) if by == "host" else _of_groups(groups, asked, by)


def of_host(caller: Caller, fleet_id: str, instance_id: str, asked: Range) -> Series:
    """Read the series of one host. Raises FleetNotFound, InstanceNotFound."""
    seen = instances.seen(fleets.get(caller, fleet_id), instance_id, clock.now())
    return together(seen.instance.deployment_id, [instance_id], asked)


def together(deployment_id: str, instance_ids: Collection[str], asked: Range) -> Series:
    """Read the series of hosts of a group as one line; empty without counts. The caller is known to see them.

    One query for each megabyte of the group's hosts, and one batch read for each hundred parts of a large group.
    """
    sums = _Sums(asked)
    for instance_id, packed in store.of_hosts(deployment_id, instance_ids, asked.begin - SLOT, asked.end):
        _add_host(sums, HostCounts.of(packed), instance_id, together=True)
    return sums.series(lambda _: {ALL: _HOST}, parts=True)


def of_each(deployment_id: str, instance_ids: Collection[str], asked: Range) -> Mapping[str, Series]:
    """Counts of each of these hosts of a group that the caller is known to see, without a read for each.

    One query for each megabyte of the group's first hosts, and one batch read; of a large group the newest steps alone.
    """
    sums: dict[str, _Sums] = {}
    stored = store.of_hosts(deployment_id, instance_ids, asked.begin - SLOT, asked.end, _MOST_PARTS)
    for instance_id, packed in stored:
        _add_host(sums.setdefault(instance_id, _Sums(asked)), HostCounts.of(packed), instance_id, together=True)
    return {instance_id: of_host.series(lambda _: {ALL: _HOST}, parts=True) for instance_id, of_host in sums.items()}


def of_fleets(fleet_ids: Iterable[str], asked: Range) -> Mapping[str, Series]:
    """The sums of each fleet that the caller is known to see, several at a time."""
    return _of_each(fleet_ids, lambda fleet_id: deployments.ids(fleet_id, MOST_GROUPS), asked)


def of_groups(deployment_ids: Iterable[str], asked: Range) -> Mapping[str, Series]:
    """The sums of each group that the caller is known to see, several at a time."""
    return _of_each(deployment_ids, lambda deployment_id: [deployment_id], asked)


def _of_each(ids: Iterable[str], groups: Callable[[str], Sequence[str]], asked: Range) -> Mapping[str, Series]:
    ids = [*ids]
    if not ids:
        return {}
    with Threads(_AT_ONCE) as pool:
        return dict(zip(ids, pool.map(lambda each: _of_groups(groups(each), asked, "none"), ids), strict=True))


def _of_groups(groups: Sequence[str], asked: Range, by: By) -> Series:
    sums = _Sums(asked)
    seconds = HOUR if asked.step % HOUR == 0 else SLOT
    for group in groups:
        for bucket in store.between(group, seconds, asked.begin - asked.begin % seconds, asked.end):
            sums.span = max(sums.span, bucket.span)
            places = {place for of_key in bucket.cells.values() for place in of_key}
            for place in sorted(places, key=int):
                at = bucket.start + int(place) * bucket.step
                sums.add(at, bucket.of_cell(place), bucket.covered(place))
    return sums.series(_NAMES[by], parts=by == "component")


def _of_hosts(groups: Sequence[str], asked: Range) -> Series:
    """Read the series by host. A large group shows the hosts in the first part of each slot."""
    sums = _Sums(asked)
    for group in groups:
        for part in store.first_parts(group, asked.begin - SLOT, asked.end):
            for instance_id, packed in part.hosts.items():
                _add_host(sums, HostCounts.of(packed), instance_id)
    return sums.series(lambda name: {name: _HOST}, parts=True)


def _add_host(sums: _Sums, counts: HostCounts, instance_id: str, *, together: bool = False) -> None:
    """Add a host's counts, to the hosts that count in a step `together` or by itself."""
    step = sums.range.step
    queue = counts.numbers[QUEUE]
    host = "" if together else instance_id
    sums.span = max(sums.span, SLOT)
    for at, share in spread([*counts.numbers[:QUEUE], counts.end - counts.begin], counts.begin, counts.end, step):
        sums.add(at, {instance_id: [*share[:QUEUE], queue]}, share[QUEUE], host=host)


def _as_component(key: str) -> Mapping[str, _About]:
    pipelines = tuple(pipelines_of(key))
    name = " | ".join([", ".join(pipelines), component_of(key)])
    return {name: (kind_of(key), pipelines, len(pipelines) > 1)}


def _as_pipelines(key: str) -> Mapping[str, _About]:
    """The lines by pipeline: a receiver feeds each of its pipelines; the sums of others cannot be told apart."""
    pipelines = pipelines_of(key)
    names = pipelines if kind_of(key) == "receiver" else [", ".join(pipelines)]
    return {name: ("pipeline", tuple(name.split(", ")), ", " in name) for name in names if name}


_WHOLE: Final[_About] = ("", (), False)
_HOST: Final[_About] = ("host", (), False)
_NAMES: Final[Mapping[By, _Names]] = {
    "none": lambda _: {ALL: _WHOLE},
    "component": _as_component,
    "pipeline": _as_pipelines,
}


def _kept_for(*, of_host: bool, hours: bool) -> str:
    if of_host:
        return "Numbers of a host are kept for a day; ask for a later time"
    if hours:
        return "Numbers are kept for 90 days; ask for a later time"
    return "Numbers of less than an hour are kept for 7 days; ask for a later time, or for a step of 3600"


def at(start: int) -> datetime:
    return datetime.fromtimestamp(start, UTC)
