"""Judging a step: each of its instances by itself, against its own time before and against those that are not due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.instances.counting.watch import Sums, Watch
from headgate.rollouts import figures
from headgate.rollouts.figures import Others
from headgate.rollouts.hosts import RolloutHost
from headgate.rollouts.model import Gate, HostFailure, Rates
from headgate.rollouts.strategy import Gates

MOST_FAILURES: Final = 10
LONGEST_MESSAGE: Final = 300


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """`reason` says why the rollout cannot go on, in Headgate's own words; None if it can."""

    reason: str | None
    failures: Sequence[HostFailure]
    notes: Sequence[str]


def judge(
    gates: Gates, members: Sequence[RolloutHost], rest: Sequence[RolloutHost], then: Rates, step: int
) -> GateVerdict:
    """Judge the due instances of a rollout; `then` are the rates of the others when the step began.

    Those that are absent are left out.
    """
    members = [host for host in members if host.counts]
    others = Others.of(rest, then)
    leavers = sum(1 for host in members if host.phase == "left")
    if gates.left is None or leavers <= gates.left:
        members = [host for host in members if host.phase != "left"]
    failures = [
        HostFailure(host.instance.id, gate, message[:LONGEST_MESSAGE])
        for host in members
        for gate, message in _problems(host, gates, others)
    ]
    failed = {failure.instance_id for failure in failures}
    tolerated = len(members) * gates.tolerated_percent // 100
    reason = None
    if len(failed) > tolerated:
        counts = Counter(failure.gate for failure in failures)
        listed = ", ".join(f"{gate} ({n})" for gate, n in sorted(counts.items()))
        failing = f"{len(failed)} of {len(members)} collectors failed gates"
        reason = f"Step {step}: {failing}, {tolerated} {'is' if tolerated == 1 else 'are'} tolerated: {listed}"
    return GateVerdict(reason, failures[:MOST_FAILURES], [*_not_judged(members, gates)])


def _problems(host: RolloutHost, gates: Gates, others: Others) -> Iterator[tuple[Gate, str]]:
    if host.phase == "silent":
        if gates.silent:
            yield "silent", host.message
        return
    if host.phase == "left":
        yield "left", host.message
        return
    watch = host.instance.measured.watch
    if host.phase == "failed":
        loops = watch is not None and watch.applied_at is not None
        if gates.crash_loop if loops else gates.apply_failed:
            yield "crash_loop" if loops else "apply_failed", host.message
        return
    if host.phase != "applied" or watch is None:
        return
    if gates.restarts is not None and watch.exits > gates.restarts:
        yield "restarts", f"Its collector ended {watch.exits} times since it ran the version, {gates.restarts} may"
    yield from _telemetry(watch, gates, others)
    yield from _delivery(host, gates, others)
    if gates.memory_growth is not None and (grown := figures.memory_growth(host, others, gates.memory_growth)):
        yield "memory_growth", grown
    if gates.cpu_growth is not None and (grown := figures.cpu_growth(host, others, gates.cpu_growth)):
        yield "cpu_growth", grown


def _telemetry(watch: Watch, gates: Gates, others: Others) -> Iterator[tuple[Gate, str]]:
    if watch.since is None:
        return
    before, since = watch.before or Sums(), watch.since
    failed, refused = "of what it sent failed", "of what it received was refused"
    checks: Sequence[tuple[Gate, int | None, int | None, int | None, int | None, str]] = (
        ("send_failed", gates.send_failed, figures.failed(since), figures.failed(before), others.send_failed, failed),
        ("refused", gates.refused, figures.refused(since), figures.refused(before), others.refused, refused),
        ("queue_growth", gates.queue_growth, since.queue, before.queue, others.queue, "of a sending queue is full"),
    )
    for gate, allowed, now, then, elsewhere, what in checks:
        if allowed is None or now is None:
            continue
        if now > (then or 0) + allowed and (elsewhere is None or now > elsewhere + allowed):
            yield gate, f"{now} % {what}, before {_percent(then)}, elsewhere {_percent(elsewhere)}"


def _delivery(host: RolloutHost, gates: Gates, others: Others) -> Iterator[tuple[Gate, str]]:
    """Signals that do not arrive any more, or whose arrival cannot be seen."""
    before, since = host.watch.before, host.watch.since
    if gates.not_judged and since is None and figures.was_counted(host.watch):
        seconds = figures.seconds_of_reports(host)
        if seconds >= figures.SECONDS:
            yield "not_judged", f"It reported what it takes in and sends before, and has not for {seconds} s since"
    if gates.delivery and before and since and before.delivered and since.delivered is not None:
        delivered = sum(before.delivered.values())
        if delivered >= figures.FEWEST and since.sent >= figures.FEWEST and not any(since.delivered.values()):
            yield (
                "delivery",
                f"What it sends, {since.sent:,} items so far, goes to exporters that deliver nothing; before, "
                f"{delivered:,} items were delivered",
            )
    if gates.throughput_drop is not None:
        for what, left, elsewhere in figures.throughput(host, others, by_delivery=gates.delivery):
            if 100 * left < (100 - gates.throughput_drop) * elsewhere:
                yield "throughput_drop", f"{left} % is left of what it {what} before, elsewhere {elsewhere} %"


def _not_judged(members: Sequence[RolloutHost], gates: Gates) -> Iterator[str]:
    """Notes about gates that could not be judged."""
    if gates.send_failed is gates.refused is gates.queue_growth is gates.throughput_drop is None:
        return
    applied = [host for host in members if host.phase == "applied"]
    without = [host for host in applied if host.instance.reported.host.counters is None]
    few = [host for host in applied if host not in without and (host.watch.since is None or _too_few(host.watch.since))]
    if without:
        yield (
            f"{len(without)} of {len(applied)} instances report no counters, as with older supervisors, so that gates "
            "on telemetry were not judged there"
        )
    if few:
        yield f"{len(few)} of {len(applied)} instances had too little telemetry to be judged by it"


def _too_few(sums: Sums) -> bool:
    return sums.accepted + sums.refused < figures.FEWEST and sums.sent + sums.failed < figures.FEWEST


def _percent(value: int | None) -> str:
    return "unknown" if value is None else f"{value} %"
