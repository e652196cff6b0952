"""Judging a step: each of its instances by itself, against its own time before and against those that are not due.

One instance counts as one, whatever it reports: nothing that a host says is added to what another one says. Against the
others, the median is taken, and only of at least three.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Final

from headgate.instances.counting.watch import Sums, Watch
from headgate.instances.reported.host import Counters
from headgate.rollouts.hosts import Host
from headgate.rollouts.model import Failure, Gate, Rates
from headgate.rollouts.strategy import Gates

_MOST_FAILURES: Final = 10
_LONGEST_MESSAGE: Final = 300
_FEWEST_OTHERS: Final = 3
# Fewer items than these say little.
_FEWEST: Final = 10
_FEWEST_BEFORE: Final = 100
_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` says why the rollout cannot go on, in Headgate's own words; None if it can."""

    reason: str | None
    failures: Sequence[Failure]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Others:
    """Medians of the instances that are not due, in percent; None if too few report them.

    `accepted` and `sent` are what is left of their throughput since the step began, at most 100.
    """

    send_failed: int | None = None
    refused: int | None = None
    queue: int | None = None
    accepted: int = 100
    sent: int = 100

    @classmethod
    def of(cls, rest: Sequence[Host], then: Rates) -> Others:
        sums = [Sums().plus(counters) for counters in _counted(rest)]
        now = rates(rest)
        return cls(
            send_failed=_median([_failed(one) for one in sums]),
            refused=_median([_refused(one) for one in sums]),
            queue=_median([one.queue for one in sums]),
            accepted=_left(then.accepted, now.accepted),
            sent=_left(then.sent, now.sent),
        )


def rates(rest: Sequence[Host]) -> Rates:
    """Those of the instances that are not due, by what they reported last."""
    counted = [counters for counters in _counted(rest) if counters.seconds]
    return Rates(
        accepted=_median([1_000 * counters.accepted // counters.seconds for counters in counted]),
        sent=_median([1_000 * counters.sent // counters.seconds for counters in counted]),
    )


def judge(gates: Gates, members: Sequence[Host], rest: Sequence[Host], then: Rates, step: int) -> Verdict:
    """What the due instances of a rollout come to; `then` are the rates of the others when the step began.

    Those that are absent are left out.
    """
    members = [host for host in members if host.counts]
    others = Others.of(rest, then)
    leavers = sum(1 for host in members if host.phase == "left")
    if gates.left is None or leavers <= gates.left:
        members = [host for host in members if host.phase != "left"]
    failures = [failure for host in members for failure in _failures(host, gates, others)]
    failed = {failure.instance_id for failure in failures}
    tolerated = len(members) * gates.tolerated_percent // 100
    reason = None
    if len(failed) > tolerated:
        counts = Counter(failure.gate for failure in failures)
        listed = ", ".join(f"{gate} ({n})" for gate, n in sorted(counts.items()))
        reason = f"Step {step}: {len(failed)} of {len(members)} instances failed gates, {tolerated} may: {listed}"
    return Verdict(reason, failures[:_MOST_FAILURES], [*_not_judged(members, gates)])


def _failures(host: Host, gates: Gates, others: Others) -> Iterator[Failure]:
    for gate, message in _problems(host, gates, others):
        yield Failure(host.instance.id, gate, message[:_LONGEST_MESSAGE])


def _problems(host: Host, gates: Gates, others: Others) -> Iterator[tuple[Gate, str]]:
    if host.phase == "silent":
        if gates.silent:
            yield "silent", host.message
        return
    if host.phase == "left":
        yield "left", host.message
        return
    if host.phase == "failed":
        watch = host.instance.watch
        loops = watch is not None and watch.applied_at is not None
        if gates.crash_loop if loops else gates.apply_failed:
            yield "crash_loop" if loops else "apply_failed", host.message
        return
    watch = host.instance.watch
    if host.phase != "applied" or watch is None:
        return
    if gates.restarts is not None and watch.exits > gates.restarts:
        yield "restarts", f"Its collector ended {watch.exits} times since it ran the version, {gates.restarts} may"
    yield from _telemetry(watch, gates, others)
    if gates.throughput_drop is not None:
        for what, left, elsewhere in _throughput(host, others):
            if 100 * left < (100 - gates.throughput_drop) * elsewhere:
                yield "throughput_drop", f"{left} % is left of what it {what} before, elsewhere {elsewhere} %"


def _telemetry(watch: Watch, gates: Gates, others: Others) -> Iterator[tuple[Gate, str]]:
    if watch.since is None:
        return
    before, since = watch.before or Sums(), watch.since
    failed, refused = "of what it sent failed", "of what it received was refused"
    checks: Sequence[tuple[Gate, int | None, int | None, int | None, int | None, str]] = (
        ("send_failed", gates.send_failed, _failed(since), _failed(before), others.send_failed, failed),
        ("refused", gates.refused, _refused(since), _refused(before), others.refused, refused),
        ("queue_growth", gates.queue_growth, since.queue, before.queue, others.queue, "of a sending queue is full"),
    )
    for gate, allowed, now, then, elsewhere, what in checks:
        if allowed is None or now is None:
            continue
        if now > (then or 0) + allowed and (elsewhere is None or now > elsewhere + allowed):
            yield gate, f"{now} % {what}, before {_percent(then)}, elsewhere {_percent(elsewhere)}"


def _throughput(host: Host, others: Others) -> Iterator[tuple[str, int, int]]:
    """What is left of an instance's throughput and of that of the others, in percent, where there is enough to say.

    Time is the service's own, of the time before partly the host's word.
    """
    watch = host.watch
    if watch.before is None or watch.since is None or watch.applied_at is None or not watch.before_seconds:
        return
    seconds = int((host.instance.last_seen_at - watch.applied_at).total_seconds())
    if seconds < _SECONDS:
        return
    pairs = (
        ("took in", watch.before.accepted, watch.since.accepted, others.accepted),
        ("sent", watch.before.sent, watch.since.sent, others.sent),
    )
    for what, before, since, elsewhere in pairs:
        if before >= _FEWEST_BEFORE:
            yield what, 100 * since * watch.before_seconds // (before * seconds), elsewhere


def _not_judged(members: Sequence[Host], gates: Gates) -> Iterator[str]:
    """What the rollout has to say of gates that could not be judged."""
    if gates.send_failed is gates.refused is gates.queue_growth is gates.throughput_drop is None:
        return
    applied = [host for host in members if host.phase == "applied"]
    without = [host for host in applied if host.instance.host.counters is None]
    few = [host for host in applied if host not in without and (host.watch.since is None or _too_few(host.watch.since))]
    if without:
        yield (
            f"{len(without)} of {len(applied)} instances report no counters, as with older supervisors, so that gates "
            "on telemetry were not judged there"
        )
    if few:
        yield f"{len(few)} of {len(applied)} instances had too little telemetry to be judged by it"


def _too_few(sums: Sums) -> bool:
    return sums.accepted + sums.refused < _FEWEST and sums.sent + sums.failed < _FEWEST


def _failed(sums: Sums) -> int | None:
    return _share(sums.failed, sums.sent + sums.failed)


def _refused(sums: Sums) -> int | None:
    return _share(sums.refused, sums.accepted + sums.refused)


def _share(part: int, whole: int) -> int | None:
    return None if whole < _FEWEST else 100 * part // whole


def _counted(rest: Sequence[Host]) -> list[Counters]:
    """The last report of each instance that waits for its turn."""
    return [host.instance.host.counters for host in rest if host.phase == "waiting" and host.instance.host.counters]


def _left(then: int | None, now: int | None) -> int:
    return 100 if not then or now is None else min(100, 100 * now // then)


def _median(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return median_low(known) if len(known) >= _FEWEST_OTHERS else None


def _percent(value: int | None) -> str:
    return "unknown" if value is None else f"{value} %"
