"""The card of how hosts stood over the last day: by state, and in a group by version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from headgate.foundation.caller import Caller
from headgate.instances.timeline import day
from headgate.instances.timeline.day import LastDay
from web import charts
from web.charts import ChartLine
from web.html import NOTHING, Html, html

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
    return html(
        _CARD,
        states=charts.area("Collectors by state", _lines(_by_state(known)), times),
        versions=charts.area("Collectors by version", _lines(_by_version(known)), times) if deployment_id else NOTHING,
        hosts="1 collector" if known.hosts == 1 else f"{known.hosts} collectors",
        left_out=f"; {known.left_out} more that changed are left out" if known.left_out else "",
    )


def _by_state(known: LastDay) -> list[Counter[str]]:
    counted = []
    for standing in known.standings:
        by_word: Counter[str] = Counter()
        for state, n in standing.states.items():
            by_word[_STATES[state]] += n
        counted.append(by_word)
    return counted


def _by_version(known: LastDay) -> list[Counter[str]]:
    counted = []
    for standing in known.standings:
        by_name: Counter[str] = Counter()
        for version, n in standing.versions.items():
            name = known.names.get(version.configuration_id, version.configuration_id) if version else _NOTHING
            by_name[f"{name} {version.version_number}" if version else name] += n
        counted.append(by_name)
    return counted


def _lines(counted: Sequence[Counter[str]]) -> list[ChartLine]:
    """A line for each name, the most frequent first, and the rest as one; a time of which nothing is known is a gap."""
    together: Counter[str] = Counter()
    for by_name in counted:
        together += by_name
    names = [name for name, _ in together.most_common()]
    shown = names if len(names) <= charts.MOST_LINES else names[: charts.MOST_LINES - 1]
    lines = [ChartLine(name, [float(by_name[name]) if by_name else None for by_name in counted]) for name in shown]
    if rest := names[len(shown) :]:
        sums = [float(sum(by_name[name] for name in rest)) if by_name else None for by_name in counted]
        lines.append(ChartLine("others", sums))
    return lines
