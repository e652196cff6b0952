"""Cards of one collector's page: its versions, its health, and each event of its timeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from fleets.pages.parts import state_tag, version
from headgate.foundation.caller import Caller
from headgate.instances.details import KnownInstance
from headgate.instances.reported.health_tree import HealthTree, PartHealth
from headgate.instances.reported.host import HostCounters
from headgate.instances.service import SeenInstance
from headgate.instances.state.model import InstanceState
from headgate.instances.state.truth import LastAttempt
from headgate.instances.timeline.history import ListedEvent, Then
from headgate.instances.timeline.model import InstanceEvent, Moment, TimelineEvent
from web.html import NOTHING, Html, html, separated
from web.parts import empty, reason, second, tag, tags
from web.table import Cell, Column, table

_TRUTH: Final = '<div class="card"><h2>What it runs</h2>{table}</div>'
_TRUTH_COLUMNS: Final = ("", "Version", Column("Since", kind="soft small"))
_WHY: Final = "Why it failed"
_OUTCOMES: Final[Mapping[str, tuple[str, str]]] = {
    "applying": ("applying", ""),
    "applied": ("applied", "good"),
    "failed": ("failed", "bad"),
}
_HEALTH: Final = '<div class="card"><h2>Health</h2><dl>{facts}</dl>{parts}{exporters}</div>'
_PARTS: Final = """\
<details{open}><summary>{summary}</summary>{parts}{cut}</details>"""
_PART: Final = """\
<li><code>{name}</code> {status} <span class="soft small">{at}</span>{error}{below}</li>"""
_CUT: Final = '<p class="soft small">The collector has more parts than are shown.</p>'
_FACT: Final = "<dt>{name}</dt><dd>{value}</dd>"
_NOT_HEARD: Final[frozenset[InstanceState]] = frozenset({"stopped", "silent", "stale", "unknown"})
_EXPORTERS: Final = "<h3>Exporters, in the last {seconds} s</h3>{table}"
_EXPORTER_COLUMNS: Final = (
    Column("Exporter"),
    *(Column(title, kind="number") for title in ("Sent", "Failed", "Queue")),
)
_NO_COUNTERS: Final = """\
The host reports no counters: they come from Headgate's supervisor, from the collector's own metrics."""
_WHAT: Final[Mapping[InstanceEvent, str]] = {
    "first_seen": "Reported for the first time",
    "moved": "Moved to another group",
    "silent": "Was not heard any more",
    "back": "Was heard again",
    "offered": "Was offered",
    "running": "Runs",
    "crash_loop": "Its collector ended again and again with",
    "exited": "Its collector ended by itself",
    "drifted": "Changed on the host",
    "restarted": "Restarted, as ordered",
    "collector_changed": "Its collector is now",
    "configuration_changed": "It reports another configuration",
    "supervisor_changed": "Its supervisor is now",
    "supervisor_kept": "Its supervisor could not be upgraded to",
    "key_registered": "Signs its messages with its host's key from now on",
    "key_replaced": "Another host took its place, as allowed",
    "scope_changed": "Reports with a token of another scope",
    "token_renewed": "Reports with the renewed token",
    "variables_sent": "Was sent variables,",
    "variables_changed": "Its collector runs with the variables of",
    "cut_off": "Was cut off: its messages are refused",
    "let_in": "Was let in again",
    "replaced": "Its host was installed again",
    "replaces": "It took the place of another one",
    "move_allowed": "Another host may take its place",
    "refused": "A message was refused:",
    "capture": "Was asked for a sample of",
    "capture_ended": "The sample was taken:",
    "override": "Is to run, whatever its group runs,",
    "override_ended": "Runs what its group does again",
    "pending_pickup": "Has not taken yet",
    "applying": "Began to apply",
    "applied": "Applied",
    "apply_failed": "Could not apply",
    "idle": "Runs nothing, as assigned",
    "healthy": "Runs, by its own report",
    "unhealthy": "Reports that it is not healthy:",
    "stopped": "Was stopped",
    "flapping": "Changes so often that further events of this hour are only counted",
    "flapping_ended": "Changed more often than is recorded",
}


_RUNS_OWN: Final = dict.fromkeys(("running", "unhealthy"), "a configuration of its own")


def truth_card(caller: Caller, known: KnownInstance) -> Html:
    """The desired, offered, tried and running versions, each with its time."""
    truth, names, attempted = known.truth, known.names, known.truth.attempted
    ended: Html = NOTHING
    if attempted:
        ended = html(
            " {outcome}{reason}",
            outcome=tag(*_OUTCOMES[attempted.outcome]),
            reason=reason(attempted.reason or "", _WHY),
        )
    rows = [
        _row(caller, "To run", truth.desired, names),
        _row(caller, "Offered", truth.offered, names),
        _row(caller, "Tried", attempted, names, ended),
        _row(caller, "Runs", truth.running, names, nothing=_RUNS_OWN.get(known.seen.state, "not known")),
    ]
    return html(_TRUTH, table=table(_TRUTH_COLUMNS, rows))


def health_card(known: KnownInstance) -> Html:
    """The health of the collector by its last report, and of each of its exporters."""
    instance, host = known.seen.instance, known.seen.instance.reported.host
    facts: list[tuple[str, Html | str | list[Html]]] = [
        ("Collector", _health(known.seen)),
        ("Collector version", instance.reported.description.collector_version or "not reported"),
        (
            "System",
            "/".join(part for part in (instance.reported.description.os, instance.reported.description.arch) if part),
        ),
        ("Supervisor", host.supervisor_version or "not Headgate's, or an old one"),
        (
            "Host's key",
            instance.identity.key.fingerprint if instance.identity.key else "none: its messages are not signed",
        ),
        ("Labels", tags(f"{key}={value}" for key, value in sorted(instance.labels.items()))),
        ("Ended by itself since the last apply", "" if host.exits is None else f"{host.exits} times"),
        ("Changed on the host", ", ".join(host.drifted or ())),
    ]
    shown = [html(_FACT, name=name, value=value) for name, value in facts if value]
    counters = host.counters
    exporters = _exporters(counters) if counters else empty(_NO_COUNTERS)
    return html(_HEALTH, facts=shown, parts=_parts(known.health_tree), exporters=exporters)


def _variables(event: TimelineEvent) -> str:
    if event.variables_revision is not None:
        return f"revision {event.variables_revision}"
    return "its install" if event.event == "variables_changed" else ""


def happened(caller: Caller, listed: ListedEvent) -> Html:
    """An event of the timeline, as a sentence, with the texts of the host and of people beside it."""
    event = listed.event
    about = html(" {version}", version=version(caller, event.version, listed.names)) if event.version else NOTHING
    more = [
        f"version {event.program_version}" if event.program_version else "",
        _variables(event),
        ", ".join(event.drifted or ()),
        f"{event.exits} times" if event.exits is not None else "",
        f"group {event.deployment_id}" if event.deployment_id else "",
        html("until {at}", at=second(event.until)) if event.until else "",
        f"by {event.actor.name}" if event.actor else "",
        event.message or "",
        f"{event.left_out} events were not recorded" if event.left_out else "",
    ]
    return html(
        "{what}{about} {more}{reason}",
        what=_WHAT.get(event.event, event.event.replace("_", " ")),
        about=about,
        more=separated("; ", more),
        reason=reason(event.reason or "", _WHY),
    )


def then_shown(caller: Caller, then: Then) -> Html:
    """The state of the collector at a time."""
    running = then.last.event.running
    assignment = running.assignment if running else None
    return html(
        "At {at}: {state}, running {version}{doubt}",
        at=second(then.at),
        state=state_tag(then.state),
        version=version(caller, assignment, then.last.names),
        doubt="" if then.covered else ". It changed too often then for all to be recorded: this may be wrong",
    )


def _row(
    caller: Caller,
    what: str,
    moment: Moment | LastAttempt | None,
    names: Mapping[str, str],
    more: Html = NOTHING,
    nothing: str = "nothing yet",
) -> Sequence[Cell]:
    if moment is None:
        return what, html('<span class="soft">{text}</span>', text=nothing), ""
    shown = version(caller, moment.assignment, names)
    if moment.collector_version:
        shown = html('{shown} <span class="soft">on collector {by}</span>', shown=shown, by=moment.collector_version)
    at = second(moment.at) if moment.at else "not recorded"
    return what, html("{version}{more}", version=shown, more=more), at


def _health(seen: SeenInstance) -> Html:
    health, loop = seen.instance.reported.health, seen.instance.reported.host.crash_loop
    if loop:
        return html("{tag} ended {n} times with one version", tag=tag("crash loop", "bad"), n=loop.exits)
    if health is None:
        return html('<span class="soft">not reported</span>')
    if health.healthy:
        # What was said before it fell silent does not tell how it fares now.
        return tag("healthy when it was last heard") if seen.state in _NOT_HEARD else tag("healthy", "good")
    return html("{tag}{reason}", tag=tag("not healthy", "bad"), reason=reason(health.error, _WHY))


def _parts(tree: HealthTree | None) -> Html:
    """The pipelines and components of the collector as a tree, open if one of them is not healthy."""
    if tree is None or not tree.parts:
        return NOTHING
    ailing = sum(not part.healthy for part in tree.parts)
    within: dict[tuple[str, ...], list[PartHealth]] = defaultdict(list)
    for part in tree.parts:
        within[tuple(part.path[:-1])].append(part)
    summary = f"Pipelines and components: {ailing} of {len(tree.parts)} not healthy"
    return html(
        _PARTS,
        open=html(" open") if ailing else NOTHING,
        summary=summary if ailing else "Pipelines and components",
        parts=_below(within, ()),
        cut=NOTHING if tree.complete else html(_CUT),
    )


def _below(within: Mapping[tuple[str, ...], Sequence[PartHealth]], path: tuple[str, ...]) -> Html:
    """The parts right below a place in the tree as a list, each with the list of those below it."""
    rows = [
        html(
            _PART,
            name=part.path[-1],
            status=_status(part),
            at=second(part.at) if part.at else "",
            error=reason(part.error, _WHY),
            below=_below(within, tuple(part.path)),
        )
        for part in within.get(path, ())
    ]
    return html("<ul>{rows}</ul>", rows=rows) if rows else NOTHING


def _status(part: PartHealth) -> Html:
    words, kind = ("healthy", "good") if part.healthy else ("not healthy", "bad")
    return tag(part.status or words, kind)


def _exporters(counters: HostCounters) -> Html:
    rows = [
        (
            html("<code>{name}</code> {state}", name=name, state=tag("fails", "bad") if exporter.failed else NOTHING),
            f"{exporter.sent:,}",
            f"{exporter.failed:,}",
            f"{100 * exporter.queue:.0f} % full",
        )
        for name, exporter in sorted(counters.exporters.items())
    ]
    if not rows:
        return empty(
            f"In the last {counters.seconds} s: {counters.accepted:,} records accepted, {counters.refused:,} refused, "
            f"{counters.sent:,} sent, {counters.failed:,} failed."
        )
    return html(_EXPORTERS, seconds=counters.seconds, table=table(_EXPORTER_COLUMNS, rows))
