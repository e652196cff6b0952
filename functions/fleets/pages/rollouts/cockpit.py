"""The evidence of a rollout's page: where its hosts are by step, when it is judged, and each gate with its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Final

from fleets.pages.rollouts.parts import gate_words
from headgate.rollouts.evidence import Evidence, evidence
from headgate.rollouts.hosts import Host, Phase
from headgate.rollouts.model import Rollout
from headgate.rollouts.strategy import OnFailure, Step, Strategy
from web import charts
from web.charts import Part
from web.html import NOTHING, Html, html
from web.parts import tag, until

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
# What the bar calls the phases of hosts, and in which order.
_NAMES: Final[Sequence[tuple[str, str, frozenset[Phase]]]] = (
    ("applied", "good", frozenset({"applied"})),
    ("changing", "busy", frozenset({"pending", "leaving"})),
    ("failed", "bad", frozenset({"failed", "silent", "left"})),
    ("going back", "warn", frozenset({"going_back"})),
    ("waiting", "", frozenset({"waiting"})),
)
_PROGRESS: Final = """\
<div class="card"><h2>Progress</h2>{bar}
<p>{applied} of {total} collectors run it, {failed} failed, {waiting} waiting.</p>{judged}</div>"""
_GATES: Final = """\
<div class="card"><h2>Gates</h2><p>If more than {tolerated} % of the collectors that have it fail a gate,
{on_failure}.</p><table><thead><tr><th scope="col">Gate</th><th scope="col">Now</th><th scope="col">Before</th>
<th scope="col">Limit</th><th scope="col">Host</th><td></td></tr></thead><tbody>{rows}</tbody></table>
{off}<p class="last">{window} {unavailable}</p></div>"""
_GATE: Final = """\
<tr><th scope="row">{name}</th><td data-label="Now">{now}</td><td data-label="Before">{before}</td>
<td data-label="Limit">{limit}{bullet}</td><td data-label="Host">{host}</td><td>{state}</td></tr>"""


def failed_before(rollout: Rollout) -> frozenset[str]:
    """The hosts that the last judgement named, of a rollout that stands or goes back because of them."""
    stands = rollout.status in ("halted", "rolling_back")
    return frozenset(failure.instance_id for failure in rollout.failures) if stands else frozenset()


def progress(rollout: Rollout, hosts: Sequence[Host]) -> Html:
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


def _parts(rollout: Rollout, strategy: Strategy, hosts: Sequence[Host], named: frozenset[str]) -> list[Part]:
    """The hosts of each step by how they fare; a host that a halted rollout took back stays failed."""
    counts: Counter[tuple[int, str]] = Counter()
    for at, host in enumerate(hosts):
        planned = _planned(strategy.steps, at, len(hosts))
        step = rollout.progress.step_of(host.place) if host.due else planned
        name = next((name for name, _, phases in _NAMES if host.phase in phases), "waiting")
        counts[step, "failed" if host.instance.id in named else name] += 1
    return [
        Part(f"{name} in step {step}", counts[step, name], kind)
        for step in range(1, len(strategy.steps) + 1)
        for name, kind, _ in _NAMES
        if counts[step, name]
    ]


def _planned(steps: Sequence[Step], at: int, total: int) -> int:
    """The step in which the host at that place of the order will come, as far as sizes say."""
    for number, step in enumerate(steps, start=1):
        size = step.hosts if step.hosts is not None else max(1, total * step.percent // 100) if step.percent else 0
        if at < size:
            return number
    return len(steps)


def _judged(rollout: Rollout, strategy: Strategy) -> Html:
    """When the step under way is judged, or what that waits for."""
    step, since = rollout.progress.step, rollout.progress.soaking_since
    if rollout.status == "halted":
        return html('<p class="last">Halted in step {step}. Nothing changes until somebody decides.</p>', step=step)
    if rollout.status != "in_progress" or not step:
        return NOTHING
    if since is None:
        return html('<p class="last">Step {step} is judged once all its collectors run the version.</p>', step=step)
    ends = since + timedelta(seconds=strategy.steps[step - 1].soak_seconds)
    return html('<p class="last">Step {step} ends {at}, if no gate fails before.</p>', step=step, at=until(ends))


def gates(rollout: Rollout, hosts: Sequence[Host], collectors: str) -> Html:
    """A row for each gate that is on, those that fail first; `collectors` is the path of the list of collectors."""
    chosen, strategy = rollout.gates, rollout.strategy
    if chosen is None or strategy is None:
        return NOTHING
    window, most = strategy.window, strategy.max_unavailable
    off = [gate_words(name) for name, value in asdict(chosen).items() if value is None or value is False]
    return html(
        _GATES,
        tolerated=chosen.tolerated_percent,
        on_failure=ON_FAILURE[strategy.on_failure],
        rows=[_gate(one, collectors) for one in evidence(chosen, hosts, rollout.failures)],
        off=html('<p class="soft small">Off: {names}</p>', names=", ".join(off)) if off else NOTHING,
        window=f"Steps begin from {window.start} to {window.end} in {window.time_zone}."
        if window
        else "Steps begin at any time.",
        unavailable=f"At most {most} collectors change at once." if most is not None else "",
    )


def _gate(one: Evidence, collectors: str) -> Html:
    state = tag(f"{one.failing} failed", "bad") if one.failing else tag("holds", "good")
    if not one.failing and not one.is_counted and one.measured is None:
        state = tag("not judged yet")
    limit = "0 hosts" if one.is_counted and not one.limit else f"{one.limit}{_UNITS.get(one.gate, '')}"
    host = one.host.instance if one.host and one.measured else None
    return html(
        _GATE,
        name=gate_words(one.gate),
        now=f"{one.measured:,} {one.unit}" if one.measured is not None else "",
        before=f"{one.before:,} {one.unit}" if one.before is not None and not one.is_counted else "",
        limit=limit,
        bullet=_bullet(one),
        host=html('<a href="{path}/{id}">{name}</a>', path=collectors, id=host.id, name=host.called)
        if host
        else NOTHING,
        state=state,
    )


def _bullet(one: Evidence) -> Html:
    """How near the figure is to its limit, for figures in percent."""
    if one.measured is None or one.unit != "%":
        return NOTHING
    what = f"{gate_words(one.gate)} now"
    return charts.bullet(one.measured, min(100, (one.before or 0) + one.limit), what, good=not one.failing)
