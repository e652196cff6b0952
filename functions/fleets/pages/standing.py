"""The card of how hosts stood over the last day: by state, and in a group by version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from headgate.foundation.caller import Caller
from headgate.instances.timeline import day
from headgate.instances.timeline.day import HostsThen, LastDay
from web import charts
from web.charts import ChartLine
from web.html import NOTHING, Html, html
from web.parts import counted

_CARD: Final = """\
<div class="card" id="standing"><h2>The last day</h2>{states}{versions}
<p class="soft small last">{hosts}, each half an hour, from the events of their timelines{left_out}.</p></div>"""
_ASK: Final = """\
<p class="small"><a href="{path}?day=yes#standing">Show collectors by state over the last day</a></p>"""
# What is drawn as one line, with the states that it stands for.
_STATES: Final[Mapping[str, str]] = {
    "applied": "well",
    "idle": "well",
    "running": "well",
    "pending_pickup": "changing",
    "applying": "changing",
    "apply_failed": "failing",
    "unhealthy": "failing",
    "stopped": "stopped",
    "silent": "not heard",
    "stale": "not heard",
    "unknown": "not heard",
}
_NOTHING: Final = "nothing"


def card(caller: Caller, path: str, fleet_id: str, deployment_id: str | None = None, *, asked: bool) -> Html:
    """Only if it is `asked` for: it takes a query for each host that changed. The versions are those that ran.

    Empty without hosts; `path` is that of the page.
    """
    if not asked:
        return html(_ASK, path=path)
    known = day.of_group(caller, fleet_id, deployment_id) if deployment_id else day.of_fleet(caller, fleet_id)
    if not any(standing.states for standing in known.standings):
        return NOTHING
    times = [standing.at.strftime("%H:%M UTC") for standing in known.standings]
    states = _lines(map(_by_state, known.standings))
    versions = _lines(_by_version(each, known) for each in known.standings)
    return html(
        _CARD,
        states=charts.area("Collectors by state", states, times),
        versions=charts.area("Collectors by version", versions, times) if deployment_id else NOTHING,
        hosts=counted(known.hosts, "collector"),
        left_out=f"; {known.left_out} more that changed are left out" if known.left_out else "",
    )


def _by_state(standing: HostsThen) -> Iterator[tuple[str, int]]:
    return ((_STATES[state], n) for state, n in standing.states.items())


def _by_version(standing: HostsThen, known: LastDay) -> Iterator[tuple[str, int]]:
    for version, n in standing.versions.items():
        name = known.names.get(version.configuration_id, version.configuration_id) if version else _NOTHING
        yield f"{name} {version.version_number}" if version else name, n


def _lines(standings: Iterable[Iterable[tuple[str, int]]]) -> list[ChartLine]:
    """A line for each name, the most frequent first, and the rest as one; a time of which nothing is known is a gap."""
    times: list[Counter[str]] = []
    for standing in standings:
        times.append(Counter())
        for name, n in standing:
            times[-1][name] += n
    together = sum(times, Counter[str]())
    names = [name for name, _ in together.most_common()]
    shown = names if len(names) <= charts.MOST_LINES else names[: charts.MOST_LINES - 1]
    lines = [ChartLine(name, [float(by_name[name]) if by_name else None for by_name in times]) for name in shown]
    if rest := names[len(shown) :]:
        sums = [float(sum(by_name[name] for name in rest)) if by_name else None for by_name in times]
        lines.append(ChartLine("others", sums))
    return lines
