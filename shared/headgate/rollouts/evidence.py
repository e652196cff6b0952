"""Evidence of a rollout's gates: for each, the worst host with the version, beside its figure before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.instances.counting.watch import Sums, Watch
from headgate.rollouts import figures
from headgate.rollouts.figures import Others
from headgate.rollouts.hosts import RolloutHost
from headgate.rollouts.model import Gate, HostFailure
from headgate.rollouts.strategy import Gates

_COUNTED: Final[Sequence[Gate]] = ("apply_failed", "crash_loop", "silent", "left", "delivery", "not_judged")


@dataclass(frozen=True, slots=True)
class GateEvidence:
    """One gate that is on. `measured` and `before` are of `host`, the worst one; None if nothing is measured yet.

    `limit` is how much more than `before` a host may have, or how many hosts there may be for a gate that counts them.
    `failing` is how many hosts the judgement named.
    """

    gate: Gate
    unit: str
    limit: int
    measured: int | None
    before: int | None
    host: RolloutHost | None
    failing: int

    @property
    def is_counted(self) -> bool:
        """True if the gate counts hosts, and compares nothing with a time before."""
        return self.gate in _COUNTED


def evidence(gates: Gates, listed: Sequence[RolloutHost], failures: Sequence[HostFailure]) -> list[GateEvidence]:
    """The evidence of each gate that is on, in the order of the gates."""
    having = [host for host in listed if host.counts and host.due and host.instance.measured.watch is not None]
    evidence = [*_counts(gates, failures), *_compared(gates, having, failures)]
    return sorted(evidence, key=lambda each: not each.failing)


def _counts(gates: Gates, failures: Sequence[HostFailure]) -> Iterator[GateEvidence]:
    for gate in _COUNTED:
        allowed = getattr(gates, gate)
        if allowed is None or allowed is False:
            continue
        failing = _failing(gate, failures)
        yield GateEvidence(gate, "hosts", 0 if allowed is True else int(allowed), failing, None, None, failing)


def _compared(gates: Gates, having: Sequence[RolloutHost], failures: Sequence[HostFailure]) -> Iterator[GateEvidence]:
    rows: Sequence[tuple[Gate, str, int | None, Callable[[RolloutHost], tuple[int | None, int | None]]]] = (
        ("restarts", "times", gates.restarts, lambda host: (host.watch.exits, 0)),
        ("send_failed", "%", gates.send_failed, lambda host: _shares(host.watch, figures.failed)),
        ("refused", "%", gates.refused, lambda host: _shares(host.watch, figures.refused)),
        ("queue_growth", "%", gates.queue_growth, lambda host: _shares(host.watch, lambda sums: sums.queue)),
        ("throughput_drop", "% less", gates.throughput_drop, _dropped),
        ("memory_growth", "MiB", gates.memory_growth, lambda host: _shares(host.watch, lambda sums: sums.memory)),
        ("cpu_growth", "% of a processor", gates.cpu_growth, _processor),
    )
    for gate, unit, limit, measure in rows:
        if limit is None:
            continue
        measured = [(host, *measure(host)) for host in having]
        known = [(host, now, before or 0) for host, now, before in measured if now is not None]
        host, now, before = max(known, key=lambda each: each[1] - each[2], default=(None, None, None))
        yield GateEvidence(gate, unit, limit, now, before, host, _failing(gate, failures))


def _failing(gate: Gate, failures: Sequence[HostFailure]) -> int:
    return len({failure.instance_id for failure in failures if failure.gate == gate})


def _shares(watch: Watch, figure: Callable[[Sums], int | None]) -> tuple[int | None, int | None]:
    """The figure since the version runs, and before."""
    return (figure(watch.since) if watch.since else None), (figure(watch.before) if watch.before else None)


def _dropped(host: RolloutHost) -> tuple[int | None, int | None]:
    """By how much the throughput fell, at its worst: of what came in, of what was sent, or of one signal."""
    left = [share for _, share, _ in figures.throughput(host, Others(), by_delivery=True)]
    return (max(0, 100 - min(left)), 0) if left else (None, None)


def _processor(host: RolloutHost) -> tuple[int | None, int | None]:
    before, since, seconds = host.watch.before, host.watch.since, figures.seconds_since(host)
    if since is None or seconds < figures.SECONDS:
        return None, None
    then = before.cpu // (10 * host.watch.before_seconds) if before and host.watch.before_seconds else None
    return since.cpu // (10 * seconds), then
