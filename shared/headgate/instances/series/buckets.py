"""Buckets: the items that hold a group's numbers, and which host has been added to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from headgate.instances.series.model import COVERED, HOUR, KEPT, MINUTE, SLOT, plus

Order = tuple[int, int]
"""The place of a host's report among all of that host: when it was first seen, in seconds, and its item's revision."""

_LARGEST_PART: Final = 150
MOST_PARTS: Final = 32


@dataclass(frozen=True, slots=True)
class Bucket:
    """A group's numbers of `seconds` from `start` on: by key, then by the place of the minute, or the hour, in it.

    `span` is the time in seconds that the longest report covers which was spread over it.
    """

    start: int
    seconds: int
    cells: Mapping[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)
    span: int = 0
    revision: int = 0

    @property
    def step(self) -> int:
        """The seconds of each of its cells."""
        return MINUTE if self.seconds == SLOT else HOUR

    @property
    def expires(self) -> int:
        return self.start + self.seconds + KEPT[self.seconds]

    def adding(self, key: str, at: int, numbers: Sequence[int]) -> Bucket:
        """With numbers that were counted in the cell that begins at that time."""
        place = str((at - self.start) // self.step)
        of_key = dict(self.cells.get(key, {}))
        of_key[place] = plus(of_key.get(place, [0] * len(numbers)), numbers)
        return replace(self, cells={**self.cells, key: of_key})

    def of_cell(self, place: str) -> Mapping[str, Sequence[int]]:
        """The numbers of one cell by key, without how long hosts counted."""
        return {key: of_key[place] for key, of_key in self.cells.items() if key != COVERED and place in of_key}

    def covered(self, place: str) -> int:
        """For how many seconds hosts counted in the cell, all hosts together."""
        return next(iter(self.cells.get(COVERED, {}).get(place, [0])), 0)


@dataclass(frozen=True, slots=True)
class HostCounts:
    """One host's counts in the reports of a slot, from `begin` to `end`, and the place of the last report."""

    first_seen: int
    revision: int
    begin: int
    end: int
    numbers: Sequence[int]

    @property
    def order(self) -> Order:
        return self.first_seen, self.revision

    def packed(self) -> list[int]:
        return [self.first_seen, self.revision, self.begin, self.end, *self.numbers]

    @classmethod
    def of(cls, packed: Sequence[int]) -> HostCounts:
        first_seen, revision, begin, end, *numbers = packed
        return cls(first_seen, revision, begin, end, numbers)

    def then(self, later: HostCounts) -> HostCounts:
        """With a later report of the same slot."""
        return replace(later, begin=min(self.begin, later.begin), numbers=plus(self.numbers, later.numbers))


@dataclass(frozen=True, slots=True)
class HostsPart:
    """A part of the hosts of a slot. `parts` is into how many they are divided; the slot's first write settles it."""

    start: int
    number: int
    parts: int
    hosts: Mapping[str, Sequence[int]] = field(default_factory=dict)
    revision: int = 0

    def order_of(self, instance_id: str) -> Order:
        """The last report of the host that was added in the slot."""
        packed = self.hosts.get(instance_id)
        return HostCounts.of(packed).order if packed else (0, 0)

    def adding(self, instance_id: str, counts: HostCounts) -> HostsPart:
        packed = self.hosts.get(instance_id)
        counts = HostCounts.of(packed).then(counts) if packed else counts
        return replace(self, hosts={**self.hosts, instance_id: counts.packed()})


def parts_for(hosts: int) -> int:
    """Into how many parts to divide so many hosts: a power of two, so that an item stays under some kilobytes."""
    parts = 1
    while parts < MOST_PARTS and hosts > parts * _LARGEST_PART:
        parts *= 2
    return parts


def part_of(instance_id: str, parts: int) -> int:
    """The number of a host's part: by the end of its id, which is random."""
    return sum(map(ord, instance_id[-4:])) % parts
