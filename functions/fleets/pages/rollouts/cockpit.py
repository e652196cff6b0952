"""The evidence of a rollout's page: where its hosts are by step, when it is judged, and each gate with its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final

from fleets.pages.rollouts.parts import gate_words
from headgate.foundation import clock
from headgate.instances.series import service
from headgate.instances.series.model import ACCEPTED, FAILED, MINUTE, QUEUE, REFUSED, SENT, SLOT
from headgate.instances.series.service import Point, Range, Series
from headgate.rollouts.evidence import GateEvidence, evidence
from headgate.rollouts.hosts import Phase, RolloutHost
from headgate.rollouts.model import Gate, Rollout
from headgate.rollouts.strategy import OnFailure, RolloutStep, Strategy
from web import charts
from web.charts import ChartPart
from web.html import NOTHING, Html, html
from web.parts import counted as in_words
from web.parts import tag, until
from web.table import Cell, table

ON_FAILURE: Final[Mapping[OnFailure, str]] = {
    "roll_back_step": "the step goes back to the version before",
    "roll_back": "the whole rollout goes back",
    "halt": "the rollout halts, and the collectors stay as they are",
}
_UNITS: Final = {
    "left": " collectors may",
    "restarts": " more than before",
    "send_failed": " percent points more than before",
    "refused": " percent points more than before",
    "queue_growth": " percent points more than before",
    "throughput_drop": " percent less than before",
    "memory_growth": " percent more than before",
    "cpu_growth": " percent more than before",
}
_SINGULAR: Final = {"hosts": "host", "times": "time"}
# What the bar calls the phases of hosts, and in which order.
_NAMES: Final[Sequence[tuple[str, str, frozenset[Phase]]]] = (
    ("applied", "good", frozenset({"applied"})),
    ("changing", "busy", frozenset({"pending", "leaving"})),
    ("failed", "bad", frozenset({"failed", "silent", "left"})),
    ("going back", "warn", frozenset({"going_back"})),
    ("waiting", "", frozenset({"waiting"})),
)
# Before it began, and after it ended: what the gates' lines show beside the rollout itself.
_BEFORE: Final = timedelta(minutes=30)
_AFTER: Final = timedelta(minutes=30)
_KEPT: Final = timedelta(hours=24)
# Of these a host's last report is stored alone: a series of them would be two more numbers for each host and minute.
_NOT_STORED: Final[frozenset[Gate]] = frozenset({"memory_growth", "cpu_growth"})
_NO_HISTORY: Final = html('<span class="soft small">no history is stored</span>')
_MOST_HOSTS: Final = 50
_PROGRESS: Final = """\
<div class="card"><h2>Progress</h2>{bar}
<p>{applied} of {total} collectors run it, {failed} failed, {waiting} waiting.</p>{judged}</div>"""
_GATES: Final = """\
<div class="card"><h2>Gates</h2><p>If more than {tolerated} % of the collectors that have it fail a gate,
{on_failure}.</p>{table}
{over_time}{off}<p>{window} {unavailable}</p></div>"""
_OVER_TIME: Final = """\
<p class="soft small">Over time: what the {hosts} with the version counted together, every five minutes from {begin} to
{end} UTC; the rollout began at {began}.</p>"""
_COLUMNS: Final = ("Gate", "Now", "Before", "Limit", "Host", "Over time", "")


def failed_before(rollout: Rollout) -> frozenset[str]:
    """The hosts that the last judgement named, of a rollout that stands or goes back because of them."""
    stands = rollout.status in ("halted", "rolling_back")
    return frozenset(failure.instance_id for failure in rollout.failures) if stands else frozenset()


def progress(rollout: Rollout, hosts: Sequence[RolloutHost]) -> Html:
    """One bar for all hosts, step by step, and when the step is judged; nothing if no host is known any more."""
    counting = [host for host in hosts if host.counts]
    if rollout.hosts is None or rollout.strategy is None or (not counting and not rollout.is_final):
        return NOTHING
    named = failed_before(rollout)
    failed = max(rollout.hosts.failed, len(named))
    applied = rollout.hosts.applied
    return html(
        _PROGRESS,
        bar=charts.stacked(_parts(rollout, rollout.strategy, counting, named), "Collectors by step", "by-step"),
        applied=applied,
        total=rollout.hosts.total,
        failed=failed,
        waiting=max(0, rollout.hosts.total - max(rollout.hosts.due, applied + failed)),
        judged=_judged(rollout, rollout.strategy),
    )


def _parts(
    rollout: Rollout, strategy: Strategy, hosts: Sequence[RolloutHost], named: frozenset[str]
) -> list[ChartPart]:
    """The hosts of each step by how they fare; a host that a halted rollout took back stays failed."""
    counts: Counter[tuple[int, str]] = Counter()
    for at, host in enumerate(hosts):
        planned = _planned(strategy.steps, at, len(hosts))
        step = rollout.progress.step_of(host.place) if host.due else planned
        name = next((name for name, _, phases in _NAMES if host.phase in phases), "waiting")
        counts[step, "failed" if host.instance.id in named else name] += 1
    return [
        ChartPart(f"{name} in step {step}", counts[step, name], kind)
        for step in range(1, len(strategy.steps) + 1)
        for name, kind, _ in _NAMES
        if counts[step, name]
    ]


def _planned(steps: Sequence[RolloutStep], at: int, total: int) -> int:
    """The step in which the host at that place of the order will come, as far as sizes say."""
    for number, step in enumerate(steps, start=1):
        size = step.hosts if step.hosts is not None else max(1, total * step.percent // 100) if step.percent else 0
        if at < size:
            return number
    return len(steps)


def _judged(rollout: Rollout, strategy: Strategy) -> Html:
    """The time at which the step under way is judged, or the reason why that waits."""
    step, since = rollout.progress.step, rollout.progress.soaking_since
    if rollout.status == "halted":
        return html('<p class="last">Halted in step {step}. Nothing changes until somebody decides.</p>', step=step)
    if rollout.status != "in_progress" or not step:
        return NOTHING
    if since is None:
        return html('<p class="last">Step {step} is judged once all its collectors run the version.</p>', step=step)
    ends = since + timedelta(seconds=strategy.steps[step - 1].soak_seconds)
    return html('<p class="last">Step {step} ends {at}, if no gate fails before.</p>', step=step, at=until(ends))


def gates(rollout: Rollout, hosts: Sequence[RolloutHost], collectors: str) -> Html:
    """A row for each gate that is on, those that fail first.

    `collectors` is the path of the list of collectors.
    """
    chosen, strategy = rollout.gates, rollout.strategy
    if chosen is None or strategy is None:
        return NOTHING
    counted = _counted(rollout, hosts)
    window, most = strategy.window, strategy.max_unavailable
    off = [gate_words(name) for name, value in asdict(chosen).items() if value is None or value is False]
    return html(
        _GATES,
        tolerated=chosen.tolerated_percent,
        on_failure=ON_FAILURE[strategy.on_failure],
        table=table(_COLUMNS, [_gate(gate, collectors, counted) for gate in evidence(chosen, hosts, rollout.failures)]),
        over_time=_over_time(rollout, counted) if counted else NOTHING,
        off=html('<p class="soft small">Off: {names}</p>', names=", ".join(off)) if off else NOTHING,
        window=f"Steps begin from {window.start} to {window.end} in {window.time_zone}."
        if window
        else "Steps begin at any time.",
        unavailable=f"At most {most} collectors change at once." if most is not None else "",
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """The counts of hosts that have the version, and the number of these hosts."""

    series: Series
    hosts: int


def _counted(rollout: Rollout, hosts: Sequence[RolloutHost]) -> _Counted | None:
    """From a while before the rollout began until it ended; None if that is not kept any more, or nothing counted."""
    now = clock.now()
    end = min(now, rollout.finished_at + _AFTER) if rollout.finished_at else now
    begin = max(rollout.created_at - _BEFORE, now - _KEPT)
    having = [host.instance.id for host in hosts if host.counts and host.due][:_MOST_HOSTS]
    if not having or begin >= end:
        return None
    asked = Range.of(begin, end, SLOT, of_host=True)
    series = service.together(rollout.deployment_id, having, asked)
    return _Counted(series, len(having)) if series.lines else None


def _over_time(rollout: Rollout, counted: _Counted) -> Html:
    asked = counted.series.range
    return html(
        _OVER_TIME,
        hosts=in_words(counted.hosts, "collector"),
        begin=service.at(asked.begin).strftime("%H:%M"),
        end=service.at(asked.end).strftime("%H:%M"),
        began=rollout.created_at.strftime("%H:%M"),
    )


def _line(gate: Gate, counted: _Counted) -> Html:
    """The gate's figures over time, or a note that they are not stored; empty for gates without figures."""
    if gate in _NOT_STORED:
        return _NO_HISTORY
    if gate not in _OF_POINT:
        return NOTHING
    unit, measure = _OF_POINT[gate]
    values = [measure(point) if point.is_known else None for point in counted.series.lines[0].points]
    return charts.sparkline(values, f"{gate_words(gate)} over time", unit)


def _share(part: int, rest: int) -> float | None:
    return 100 * part / (part + rest) if part + rest else None


# What is drawn of a gate over time, with its unit.
_OF_POINT: Final[Mapping[Gate, tuple[str, Callable[[Point], float | None]]]] = {
    "send_failed": (" %", lambda point: _share(point.numbers[FAILED], point.numbers[SENT])),
    "refused": (" %", lambda point: _share(point.numbers[REFUSED], point.numbers[ACCEPTED])),
    "queue_growth": (" %", lambda point: float(point.numbers[QUEUE])),
    "throughput_drop": ("/min each", lambda point: point.numbers[ACCEPTED] * MINUTE / (point.hosts * SLOT)),
}


def _gate(gate: GateEvidence, collectors: str, counted: _Counted | None) -> Sequence[Cell]:
    state = tag(f"{gate.failing} failed", "bad") if gate.failing else tag("holds", "good")
    if not gate.failing and not gate.is_counted and gate.measured is None:
        state = tag("not judged yet")
    limit = "0 hosts" if gate.is_counted and not gate.limit else f"{gate.limit}{_UNITS.get(gate.gate, '')}"
    host = gate.host.instance if gate.host and gate.measured else None
    return (
        gate_words(gate.gate),
        _figure(gate.measured, gate.unit) if gate.measured is not None else "",
        _figure(gate.before, gate.unit) if gate.before is not None and not gate.is_counted else "",
        html("{limit}{bullet}", limit=limit, bullet=_bullet(gate)),
        html('<a href="{path}/{id}">{name}</a>', path=collectors, id=host.id, name=host.called) if host else NOTHING,
        _line(gate.gate, counted) if counted else NOTHING,
        state,
    )


def _figure(number: int, unit: str) -> str:
    return f"{number:,} {_SINGULAR.get(unit, unit) if number == 1 else unit}"


def _bullet(evidence: GateEvidence) -> Html:
    """A bar that compares the figure with its limit, for figures in percent."""
    if evidence.measured is None or evidence.unit != "%":
        return NOTHING
    what = f"{gate_words(evidence.gate)} now"
    return charts.bullet(
        evidence.measured, min(100, (evidence.before or 0) + evidence.limit), what, good=not evidence.failing
    )
