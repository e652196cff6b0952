"""Counters over time: what hosts report, what two reports add, and how that is spread over buckets.

A host reports what it counted since its supervisor's start, so that a report that is lost, late or repeated changes
nothing: what counts is the difference between two that were stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

NUMBERS: Final = ("accepted", "refused", "sent", "failed", "dropped", "accepted_bytes", "sent_bytes")
"""The numbers of a component, in the order in which hosts report them and buckets hold them."""
ACCEPTED, REFUSED, SENT, FAILED, DROPPED, ACCEPTED_BYTES, SENT_BYTES = range(len(NUMBERS))
QUEUE: Final = len(NUMBERS)
"""After them comes how full a sending queue is, in percent: the highest one counts."""
MINUTE: Final = 60
SLOT: Final = 300
"""A bucket's seconds; it holds each of its minutes."""
HOUR: Final = 3_600
KEPT: Final = {SLOT: 7 * 86_400, HOUR: 90 * 86_400}
"""Retention of buckets by their length, both in seconds."""
HOSTS_KEPT: Final = 86_400
MOST_SPREAD_SLOTS: Final = 36
MOST_SPREAD_HOURS: Final = 24
"""A report of a longer time is spread over so many hours, and over minutes in the last three of them."""
COVERED: Final = ""
"""The key under which a bucket holds for how many seconds hosts have counted: without any, nothing is known."""


@dataclass(frozen=True, slots=True)
class Totals:
    """A host's counters since its supervisor started at `run`, after `milliseconds`.

    `of` has the numbers by `pipeline|pipeline|kind/id`: the pipelines, one or several, that a component is in.
    """

    run: int
    milliseconds: int
    of: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def follows(self, before: Totals, *, starts: bool) -> bool:
        """True if it was counted after `before`; `starts` marks the first message of a process.

        A host's clock may have been set back between two starts.
        """
        if self.run == before.run:
            return self.milliseconds >= before.milliseconds
        return self.run > before.run or starts

    def since(self, before: Totals | None) -> Added:
        """The counts added since `before`, which may be of an earlier run."""
        known = before if before is not None and before.run == self.run else Totals(self.run, 0)
        sums = {key: _added(numbers, known.of.get(key, ())) for key, numbers in self.of.items()}
        return Added(max(0, self.milliseconds - known.milliseconds), sums)


@dataclass(frozen=True, slots=True)
class Added:
    """A host's counts of some time: `of` has the numbers of each component, and the fill of its queue."""

    milliseconds: int
    of: Mapping[str, Sequence[int]]

    @property
    def together(self) -> Sequence[int]:
        """The host's own numbers."""
        return whole(self.of)


def whole(parts: Mapping[str, Sequence[int]]) -> Sequence[int]:
    """The numbers of all components as one: what receivers took, what exporters sent, what was dropped anywhere."""
    sums = [0] * (QUEUE + 1)
    for key, numbers in parts.items():
        kind = kind_of(key)
        sums = plus(sums, as_part(kind, numbers, dropped(kind, numbers)))
    return sums


def as_part(kind: str, numbers: Sequence[int], dropped: int) -> list[int]:
    """The part of a component, which dropped so much, in the sums of a whole."""
    shares = [0] * (QUEUE + 1)
    for place in _PLACES.get(kind, ()):
        shares[place] = numbers[place]
    shares[DROPPED] = dropped
    shares[QUEUE] = numbers[QUEUE]
    return shares


def dropped(kind: str, numbers: Sequence[int]) -> int:
    """The records that a component took and neither passed on nor refused, as far as it counts them.

    Negative for one that passed on more than it took, as what it had taken before; see `settled`.
    """
    if kind == "processor":
        missing = numbers[ACCEPTED] - numbers[SENT]
        return max(numbers[DROPPED], missing) if numbers[DROPPED] else missing
    return numbers[DROPPED]


def settled(missing: Sequence[int]) -> list[int]:
    """The drops in each step, from the missing records: those passed on in a later step were held, not dropped."""
    sums = [*missing]
    open_steps: list[int] = []
    for step, amount in enumerate(sums):
        while amount < 0 and open_steps:
            earlier = open_steps[-1]
            passed_on = min(-amount, sums[earlier])
            sums[earlier] -= passed_on
            amount += passed_on
            if not sums[earlier]:
                open_steps.pop()
        sums[step] = max(0, amount)
        if amount > 0:
            open_steps.append(step)
    return sums


def kind_of(key: str) -> str:
    """The kind of a key's component: `receiver`, `processor`, `exporter` or `connector`."""
    return component_of(key).partition("/")[0]


def component_of(key: str) -> str:
    return key.rpartition("|")[2]


def pipelines_of(key: str) -> list[str]:
    return [name for name in key.split("|")[:-1] if name]


def spread(numbers: Sequence[int], begin: int, end: int, step: int) -> Iterator[tuple[int, list[int]]]:
    """Numbers that were counted from `begin` to `end`, by the beginning of each span of `step` seconds in between.

    Their sums are the numbers. All times are in seconds since 1970.
    """
    so_far = [0] * len(numbers)
    at = begin - begin % step
    length = max(1, end - begin)
    while True:
        until = min(end, at + step)
        ended = until >= end
        share = [number if ended else number * (until - begin) // length for number in numbers]
        yield at, [number - before for number, before in zip(share, so_far, strict=True)]
        if ended:
            return
        so_far, at = share, at + step


def plus(numbers: Sequence[int], others: Sequence[int]) -> list[int]:
    """The sums; of queues the fuller one."""
    sums = [number + addend for number, addend in zip(numbers, others, strict=True)]
    if len(sums) > QUEUE:
        sums[QUEUE] = max(numbers[QUEUE], others[QUEUE])
    return sums


def _added(now: Sequence[int], before: Sequence[int]) -> list[int]:
    """Never negative: a host that counts less than before counts from zero."""
    numbers, known = _padded(now), _padded(before)
    moved = [new - old if new >= old else new for new, old in zip(numbers[:QUEUE], known[:QUEUE], strict=True)]
    return [*moved, numbers[QUEUE]]


def _padded(numbers: Sequence[int]) -> list[int]:
    return [*numbers, *([0] * (QUEUE + 1 - len(numbers)))]


# What counts towards a whole is what its receivers take and its exporters send.
_PLACES: Final = {
    "receiver": (ACCEPTED, REFUSED, ACCEPTED_BYTES),
    "exporter": (SENT, FAILED, SENT_BYTES),
}
