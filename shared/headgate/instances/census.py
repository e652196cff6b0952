"""How many instances a fleet has in each state, exact at any moment, without reading the instances.

An instance becomes stale by time alone, and an assignment changes the state of a whole group at once; neither writes to
an instance. So an instance is counted by what only a message of its own changes: when it was last heard, its group,
its state, and the assignment that this state belongs to. What it counts as now is computed when the counters are read.
A shard is one item; docs/decisions/0015-counting-instances.md has the reasons and the price.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, TypeVar

from headgate.foundation.ids import ALPHABET
from headgate.instances.model import Instance, InstanceState, day_of, forgotten, mark_of, shown, stale

_Key = TypeVar("_Key")

SHARDS: Final = 32
"""Fixed, so that one query reads a fleet's counters. Writers of different shards do not wait for each other."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What an instance is counted under. `mark` is when it was last heard, in the units of `mark_of`."""

    mark: int
    deployment_id: str
    state_revision: int
    state: InstanceState

    @classmethod
    def of(cls, instance: Instance) -> Entry:
        return cls(mark_of(instance.last_seen_at), instance.deployment_id, instance.state_revision, instance.state)


@dataclass(frozen=True, slots=True)
class Shard:
    """Counters of a part of a fleet's instances.

    `heard` counts those of the last quarter of an hour by entry, `days` counts all by the day they were last heard.
    """

    number: int
    heard: Mapping[Entry, int] = field(default_factory=dict)
    days: Mapping[int, int] = field(default_factory=dict)
    revision: int = 0

    def moved(self, before: Entry | None, after: Entry, at: datetime) -> Shard:
        """The shard with one instance counted under `after` instead of `before`, and without those stale by now."""
        heard, days = dict(self.heard), dict(self.days)
        if before is not None:
            _change(heard, before, -1)
            _change(days, day_of(before.mark), -1)
        _change(heard, after, 1)
        _change(days, day_of(after.mark), 1)
        return replace(
            self,
            heard={entry: n for entry, n in heard.items() if n > 0 and not stale(entry.mark, at)},
            days={day: n for day, n in days.items() if n > 0 and not forgotten(day, at)},
        )


@dataclass(frozen=True, slots=True)
class Census:
    """All shards of a fleet."""

    shards: Sequence[Shard]

    def groups(self, at: datetime) -> set[str]:
        """The groups whose assignments decide what the entries count as."""
        return {entry.deployment_id for shard in self.shards for entry in shard.heard if not stale(entry.mark, at)}

    def total(self, at: datetime) -> int:
        """The number of instances at that time, in whichever state."""
        return sum(n for shard in self.shards for day, n in shard.days.items() if not forgotten(day, at))

    def counts(
        self, assigned_revisions: Mapping[str, int], at: datetime, *, on_kubernetes: bool
    ) -> dict[InstanceState, int]:
        """The number of instances in each state at that time; `assigned_revisions` is by group."""
        counts: dict[InstanceState, int] = {}
        for shard in self.shards:
            for entry, n in shard.heard.items():
                if not stale(entry.mark, at):
                    current = assigned_revisions.get(entry.deployment_id) == entry.state_revision
                    state = shown(entry.state, entry.mark, at, current=current)
                    counts[state] = counts.get(state, 0) + n
        # Never negative: an import of an earlier release left instances uncounted until they reported.
        counts["unknown" if on_kubernetes else "stale"] = max(0, self.total(at) - sum(counts.values()))
        return counts


def shard_of(instance_id: str) -> int:
    """By the last five bits of the id, which are random."""
    return ALPHABET.index(instance_id[-1]) % SHARDS


def _change(counts: dict[_Key, int], key: _Key, by: int) -> None:
    counts[key] = counts.get(key, 0) + by
