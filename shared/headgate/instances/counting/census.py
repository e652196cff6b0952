"""The number of a fleet's instances in each state, exact at any moment, without reading the instances.

An instance becomes stale by time alone, and an assignment changes the state of a whole group at once; neither writes to
an instance. So an instance is counted by what only a message of its own changes: when it was last heard, its group,
its state, and the assignment that this state belongs to. What it counts as now is computed when the counters are read.
A shard is one item; docs/fleets-explained.md has the reasons and the price.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, NamedTuple

from headgate.foundation.ids import ALPHABET
from headgate.instances.model import Instance
from headgate.instances.state.model import (
    COUNTED_FOR,
    NEVER_REFUSED,
    InstanceState,
    Refusals,
    day_of,
    forgotten,
    mark_of,
    shown,
    stale,
)

SHARDS: Final = 32
"""Fixed, so that one query reads a fleet's counters. Writers of different shards do not wait for each other."""


@dataclass(frozen=True, slots=True)
class CensusEntry:
    """The cell that an instance is counted in. `mark` is when it was last heard, in the units of `mark_of`.

    `quick` is whether its host reports quickly, so that it is silent sooner.
    """

    mark: int
    deployment_id: str
    state_revision: int
    state: InstanceState
    quick: bool = False
    keyed: bool = field(default=False, compare=False)
    """True if its host signs: counted apart, by day."""

    @classmethod
    def of(cls, instance: Instance) -> CensusEntry:
        mark, keyed = mark_of(instance.contact.last_seen_at), instance.identity.key is not None
        standing = instance.standing
        return cls(mark, instance.deployment_id, standing.revision, standing.state, instance.is_quick, keyed)


class Day(NamedTuple):
    """The instances of a group that were last heard on a day, since 1970."""

    deployment_id: str
    day: int


@dataclass(frozen=True, slots=True)
class Shard:
    """Counters of a part of a fleet's instances.

    `heard` counts those of the last quarter of an hour by entry, `days` counts all by group and the day they were last
    heard, and `keyed` those of them whose hosts sign their messages.
    """

    number: int
    heard: Mapping[CensusEntry, int] = field(default_factory=dict)
    days: Mapping[Day, int] = field(default_factory=dict)
    keyed: Mapping[Day, int] = field(default_factory=dict)
    revision: int = 0

    def moved(self, before: CensusEntry | None, after: CensusEntry | None, at: datetime) -> Shard:
        """The shard with one instance counted under `after` instead of `before`, and without those long stale.

        None is an instance that was not known before, or is deleted.
        """
        heard, days, keyed = Counter(self.heard), Counter(self.days), Counter(self.keyed)
        for entry, n in ((before, -1), (after, 1)):
            if entry is not None:
                day = Day(entry.deployment_id, day_of(entry.mark))
                heard[entry] += n
                days[day] += n
                keyed[day] += n if entry.keyed else 0
        return replace(
            self,
            heard={entry: n for entry, n in heard.items() if n > 0 and not stale(entry.mark, at - COUNTED_FOR)},
            days={day: n for day, n in days.items() if n > 0 and not forgotten(day.day, at)},
            keyed={day: n for day, n in keyed.items() if n > 0 and not forgotten(day.day, at)},
        )


@dataclass(frozen=True, slots=True)
class Census:
    """All shards of a fleet. `refused` is when its messages were refused because too many came."""

    shards: Sequence[Shard]
    refused: Refusals = NEVER_REFUSED

    def groups(self, at: datetime) -> set[str]:
        """The groups that have instances: their assignments decide what the entries count as."""
        heard = {entry.deployment_id for shard in self.shards for entry in shard.heard if not stale(entry.mark, at)}
        days = {day.deployment_id for shard in self.shards for day in shard.days if not forgotten(day.day, at)}
        return heard | days

    def total(self, at: datetime) -> int:
        """The number of instances at that time, in whichever state, those of deleted groups among them."""
        return sum(self._totals(at).values())

    def without_key(self, groups: Collection[str], at: datetime) -> int:
        """The number of instances of the groups, and of none, whose hosts do not sign their messages."""
        totals, keyed = self._totals(at), self._totals(at, keyed=True)
        return sum(max(0, totals[group] - keyed[group]) for group in groups)

    def reporting(self, at: datetime) -> Mapping[str, int]:
        """The number of instances of each group that may still run what they were sent: not stopped, and not stale."""
        counts = Counter[str]()
        for shard in self.shards:
            for entry, n in shard.heard.items():
                if not stale(entry.mark, at) and entry.state != "stopped":
                    counts[entry.deployment_id] += n
        return counts

    def counts(
        self, current_revisions: Mapping[str, Collection[int]], at: datetime, *, on_kubernetes: bool
    ) -> dict[InstanceState, int]:
        """The number of instances in each state at that time; `current_revisions` is by group, for those that exist."""
        counts = sum(self.heard(current_revisions, at).values(), Counter[InstanceState]())
        totals = self._totals(at)
        return _with_quiet(counts, sum(totals[group] for group in current_revisions), on_kubernetes=on_kubernetes)

    def counts_of_groups(
        self, current_revisions: Mapping[str, Collection[int]], at: datetime, *, on_kubernetes: bool
    ) -> dict[str, dict[InstanceState, int]]:
        """The same for each of the groups."""
        heard, totals = self.heard(current_revisions, at), self._totals(at)
        return {
            group: _with_quiet(heard[group], totals[group], on_kubernetes=on_kubernetes) for group in current_revisions
        }

    def heard(
        self, current_revisions: Mapping[str, Collection[int]], at: datetime
    ) -> defaultdict[str, Counter[InstanceState]]:
        """The instances that were heard of in the last quarter of an hour, by group and state."""
        counts: defaultdict[str, Counter[InstanceState]] = defaultdict(Counter)
        for shard in self.shards:
            for entry, n in shard.heard.items():
                revisions = current_revisions.get(entry.deployment_id)
                if revisions is not None and not stale(entry.mark, at):
                    current = entry.state_revision in revisions
                    state = shown(entry.state, entry.mark, at, self.refused, current=current, quick=entry.quick)
                    counts[entry.deployment_id][state] += n
        return counts

    def _totals(self, at: datetime, *, keyed: bool = False) -> Counter[str]:
        totals = Counter[str]()
        for shard in self.shards:
            for day, n in (shard.keyed if keyed else shard.days).items():
                if not forgotten(day.day, at):
                    totals[day.deployment_id] += n
        return totals


def _with_quiet(counts: Mapping[InstanceState, int], total: int, *, on_kubernetes: bool) -> dict[InstanceState, int]:
    quiet = max(0, total - sum(counts.values()))
    return {**counts, "unknown" if on_kubernetes else "stale": quiet}


def shard_of(instance_id: str) -> int:
    """By the last five bits of the id, which are random."""
    return ALPHABET.index(instance_id[-1]) % SHARDS
