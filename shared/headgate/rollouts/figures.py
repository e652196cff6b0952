"""Figures of instances, beside those before and those of instances that are not due.

One instance counts as one, whatever it reports: nothing that a host says is added to what another one says. Of several
instances the median is taken, and only of at least three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median_low
from typing import Final

from headgate.deployments.running import RunningRollout
from headgate.instances.counting import measuring
from headgate.instances.counting.watch import Sums, Watch
from headgate.instances.reported.host import HostCounters
from headgate.instances.state.intervals import longest
from headgate.rollouts.hosts import RolloutHost
from headgate.rollouts.model import Rates

# Fewer items than these say little.
FEWEST: Final = 10
FEWEST_BEFORE: Final = 100
SECONDS: Final = 60
_FEWEST_OTHERS: Final = 3
# More memory, in MiB, and more of a processor, in percent, than a start, or another way of the same work, may take.
_LITTLE_MEMORY: Final = 100
_LITTLE_CPU: Final = 20


@dataclass(frozen=True, slots=True)
class Others:
    """Medians of the instances that are not due, in percent; None if too few report them.

    `accepted`, `sent` and `delivered` are what is left of their throughput since the step began, at most 100; `memory`
    and `cpu` what these have grown to since, at least 100.
    """

    send_failed: int | None = None
    refused: int | None = None
    queue: int | None = None
    accepted: int = 100
    sent: int = 100
    delivered: Mapping[str, int] = field(default_factory=dict)
    memory: int = 100
    cpu: int = 100

    @classmethod
    def of(cls, rest: Sequence[RolloutHost], then: Rates) -> Others:
        sums = [Sums().plus(counters) for counters in _counted(rest)]
        now = rates(rest)
        return cls(
            send_failed=_median([failed(each) for each in sums]),
            refused=_median([refused(each) for each in sums]),
            queue=_median([each.queue for each in sums]),
            accepted=_left(then.accepted, now.accepted),
            sent=_left(then.sent, now.sent),
            delivered={
                # Where none of them delivers, the signal is not named.
                signal: _left(rate, None if now.sent is None else now.delivered.get(signal, 0))
                for signal, rate in then.delivered.items()
            },
            memory=_grown(then.memory, now.memory),
            cpu=_grown(then.cpu, now.cpu),
        )


def rates(rest: Sequence[RolloutHost]) -> Rates:
    """Those of the instances that are not due, by what they reported last."""
    counted = [counters for counters in _counted(rest) if counters.seconds]
    delivered = {
        signal: _median([1_000 * (each.delivered or {}).get(signal, 0) // each.seconds for each in counted])
        for signal in sorted({signal for each in counted for signal in each.delivered or {}})
    }
    return Rates(
        accepted=_median([1_000 * counters.accepted // counters.seconds for counters in counted]),
        sent=_median([1_000 * counters.sent // counters.seconds for counters in counted]),
        delivered={signal: rate for signal, rate in delivered.items() if rate is not None},
        memory=_median([each.memory and each.memory >> 20 for each in counted]),
        cpu=_median([None if each.cpu is None else 1_000 * each.cpu // each.seconds for each in counted]),
    )


def throughput(host: RolloutHost, others: Others, *, by_delivery: bool) -> Iterator[tuple[str, int, int]]:
    """The rest of an instance's throughput and of the others', in percent, if there is enough to compare.

    `by_delivery`: of what was sent only that counts which was delivered, by signal, if the host reports it.
    """
    before, since, seconds = host.watch.before, host.watch.since, seconds_since(host)
    if before is None or since is None or not host.watch.before_seconds or seconds < SECONDS:
        return
    pairs = [("took in", before.accepted, since.accepted, others.accepted)]
    if by_delivery and before.delivered is not None and since.delivered is not None:
        pairs += [
            (f"delivered of {signal}", count, since.delivered.get(signal, 0), others.delivered.get(signal, 100))
            for signal, count in before.delivered.items()
        ]
    else:
        pairs.append(("sent", before.sent, since.sent, others.sent))
    for what, then, now, elsewhere in pairs:
        if then >= FEWEST_BEFORE:
            yield what, 100 * now * host.watch.before_seconds // (then * seconds), elsewhere


def memory_growth(host: RolloutHost, others: Others, allowed: int) -> str | None:
    """The words about a collector with more memory than is allowed, in percent above what it had."""
    before, since = host.watch.before, host.watch.since
    if before is None or since is None or not before.memory or since.memory - before.memory < _LITTLE_MEMORY:
        return None
    if 100 * 100 * since.memory <= (100 + allowed) * before.memory * others.memory:
        return None
    now, then = f"{since.memory:,} MiB of memory", f"before {before.memory:,} MiB"
    return f"Its collector has {now}, {then}, {_elsewhere(others.memory)}"


def cpu_growth(host: RolloutHost, others: Others, allowed: int) -> str | None:
    """The words about a collector that uses more of a processor than is allowed, in percent above before."""
    before, since, seconds = host.watch.before, host.watch.since, seconds_since(host)
    if before is None or since is None or not before.cpu or not host.watch.before_seconds or seconds < SECONDS:
        return None
    then, now = before.cpu // (10 * host.watch.before_seconds), since.cpu // (10 * seconds)
    if now - then < _LITTLE_CPU or 100 * 100 * now <= (100 + allowed) * then * others.cpu:
        return None
    return f"Its collector uses {now} % of a processor, before {then} %, {_elsewhere(others.cpu)}"


def seconds_since(host: RolloutHost) -> int:
    """For how long the instance was heard in the version; the service's own time."""
    applied_at = host.watch.applied_at
    return 0 if applied_at is None else int((host.instance.contact.last_seen_at - applied_at).total_seconds())


def seconds_of_reports(host: RolloutHost) -> int:
    """For how long the instance could report its counts in the version, without what was before an interruption."""
    applied_at, heard_at = host.watch.applied_at, host.instance.contact.last_seen_at
    return 0 if applied_at is None else int((heard_at - max(applied_at, host.awake_since)).total_seconds())


def was_counted(watch: Watch) -> bool:
    """True if the host reported enough before to be judged by its telemetry."""
    before = watch.before
    return before is not None and before.accepted + before.refused + before.sent + before.failed >= FEWEST


def unmeasured(listed: Sequence[RolloutHost], running: RunningRollout) -> int:
    """The number that count their traffic, and have not reported enough of it for a comparison.

    Little is enough of an instance that told it for an interval.
    """
    instances = [host.instance for host in listed if host.instance.reported.host.counters is not None]
    watches = [each.measured.watch_of(running) or measuring.begun(each, running) for each in instances]
    return sum(1 for watch in watches if not was_counted(watch) and 2 * watch.before_seconds < longest(quick=False))


def unjudged(listed: Sequence[RolloutHost]) -> int:
    """The number on the version that reported enough before, and may still report their counts in it."""
    applied = [host for host in listed if host.phase == "applied" and host.instance.measured.watch is not None]
    return sum(
        1
        for host in applied
        if host.watch.since is None and was_counted(host.watch) and seconds_of_reports(host) < SECONDS
    )


def failed(sums: Sums) -> int | None:
    return _share(sums.failed, sums.sent + sums.failed)


def refused(sums: Sums) -> int | None:
    return _share(sums.refused, sums.accepted + sums.refused)


def _share(part: int, whole: int) -> int | None:
    return None if whole < FEWEST else 100 * part // whole


def _counted(rest: Sequence[RolloutHost]) -> list[HostCounters]:
    """The last report of each instance that waits for its turn."""
    counted = (host.instance.reported.host.counters for host in rest if host.phase == "waiting")
    return [counters for counters in counted if counters]


def _left(then: int | None, now: int | None) -> int:
    return 100 if not then or now is None else min(100, 100 * now // then)


def _grown(then: int | None, now: int | None) -> int:
    return 100 if not then or now is None else max(100, 100 * now // then)


def _median(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return median_low(known) if len(known) >= _FEWEST_OTHERS else None


def _elsewhere(grown: int) -> str:
    return f"elsewhere {grown} % of what it was" if grown > 100 else "elsewhere as it was"
