"""Charts of the traffic of a group, a fleet or a host over the last day; and a line of it for lists and for Home."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.instances.model import Instance
from headgate.instances.series import service
from headgate.instances.series.model import (
    ACCEPTED,
    ACCEPTED_BYTES,
    DROPPED,
    FAILED,
    HOUR,
    REFUSED,
    SENT,
    SENT_BYTES,
    SLOT,
)
from headgate.instances.series.service import Line, Range, Series
from headgate.instances.timeline import history
from web import charts
from web.charts import ChartPart
from web.html import NOTHING, Html, html
from web.rates import per_minute, summed
from web.table import Column, View, in_order, table

_DAY: Final = timedelta(days=1)
_HOUR: Final = timedelta(hours=1)
# Groups of one page of hosts whose numbers are read: a query and a batch read for each.
_MOST_GROUPS: Final = 8
_SHOWN: Final = (("taken", ACCEPTED), ("sent", SENT), ("failed", FAILED), ("dropped", DROPPED))
_CARD: Final = """\
<div class="card" id="traffic"><h2>What flows through</h2>{chart}{parts}
<p class="soft small last">Reported by {hosts} since {begin}; what is below {resolution} s is spread evenly.
The same with <code>headgate fleet traffic {fleet}</code></p></div>"""
_NOTHING_YET: Final = """\
<div class="card" id="traffic"><h2>What flows through</h2>
<p class="soft last">Nothing was counted in the last day: hosts with a supervisor of this release report what they
take, send and drop.</p></div>"""
_COLUMNS: Final = (
    Column("Pipelines | component", "component", lambda line: line.name),
    Column("Over the day"),
    Column("Taken", "taken", lambda line: line.total(ACCEPTED), kind="number"),
    Column("Sent", "sent", lambda line: line.total(SENT), kind="number"),
    Column("Failed", "failed", lambda line: line.total(FAILED) + line.total(REFUSED), kind="number"),
    Column("Dropped", "dropped", lambda line: line.total(DROPPED), kind="number"),
    Column("Bytes", "bytes", lambda line: _bytes(line), kind="number"),
)
_KINDS: Final = {
    **dict.fromkeys(("applied", "idle"), "good"),
    **dict.fromkeys(("applying", "pending_pickup"), "warn"),
    **dict.fromkeys(("apply_failed", "silent", "stale", "unknown"), "bad"),
}
_MOST_EVENTS: Final = 100


def of_group(caller: Caller, fleet_id: str, deployment_id: str, view: View) -> Html:
    """The card of a group; two reads, and two queries for each megabyte of a day's numbers."""
    asked = Range.of(None, None, None)
    together = service.of_group(caller, fleet_id, deployment_id, asked)
    parts = service.of_group(caller, fleet_id, deployment_id, asked, "component") if together.lines else together
    return _card(together, fleet_id, _rows(parts, view))


def of_fleet(caller: Caller, fleet_id: str) -> Html:
    """The card of a fleet: hours, so that it reads little of each group."""
    return _card(service.of_fleet(caller, fleet_id, _hours()), fleet_id)


def of_host(caller: Caller, fleet_id: str, instance_id: str) -> Html:
    """The card of a host, with its states over the day."""
    series = service.of_host(caller, fleet_id, instance_id, Range.of(None, None, None, of_host=True))
    return html("{card}{states}", card=_card(series, fleet_id), states=_states(caller, fleet_id, instance_id))


def day_of(fleet_ids: Iterable[str]) -> Mapping[str, Series]:
    """The traffic of each fleet in each hour of the last day. The caller is known to see them."""
    return {id: series for id, series in service.of_fleets(fleet_ids, _hours()).items() if series.lines}


def lines_of(day: Mapping[str, Series]) -> Mapping[str, Html]:
    """A line for each fleet: what its collectors took in each hour of the day."""
    return {
        fleet_id: charts.sparkline(per_minute(series, series.lines[0], ACCEPTED), "Records a minute", "/min")
        for fleet_id, series in day.items()
    }


def lines_of_hosts(hosts: Iterable[Instance]) -> Mapping[str, Html]:
    """A short line for each host: what it took in over the last hour, in steps of five minutes."""
    ids: dict[str, list[str]] = {}
    for host in hosts:
        ids.setdefault(host.deployment_id, []).append(host.id)
    now = clock.now()
    asked = Range.of(now - _HOUR, now, SLOT, of_host=True)
    lines = {}
    for deployment_id, instance_ids in [*ids.items()][:_MOST_GROUPS]:
        for instance_id, series in service.of_each(deployment_id, instance_ids, asked).items():
            values = per_minute(series, series.lines[0], ACCEPTED)
            if any(values):
                lines[instance_id] = charts.sparkline(values, "Records a minute", "/min", small=True)
    return lines


def together(day: Mapping[str, Series]) -> tuple[Html, Html]:
    """A line of all fleets for what was taken, and one for what failed to be sent."""
    known = [(series, series.lines[0]) for series in day.values()]
    accepted, failed = ([per_minute(series, line, place) for series, line in known] for place in (ACCEPTED, FAILED))
    return (
        charts.sparkline(summed(accepted), "Records a minute", "/min"),
        charts.sparkline(summed(failed), "Records a minute that failed to be sent", "/min"),
    )


def _hours() -> Range:
    now = clock.now()
    return Range.of(now - _DAY, now, HOUR)


def _card(series: Series, fleet_id: str, parts: Html = NOTHING) -> Html:
    if not series.lines:
        return Html(_NOTHING_YET)
    (line,) = series.lines
    chart = charts.area(
        "Records a minute",
        [
            charts.ChartLine(name, per_minute(series, line, place))
            for name, place in _SHOWN
            if line.total(place) or place == ACCEPTED
        ],
        [service.at(start).strftime("%H:%M UTC") for start in series.range.starts],
        "/min",
    )
    hosts = max(point.hosts for point in line.points)
    return html(
        _CARD,
        chart=chart,
        parts=parts,
        hosts="1 host" if round(hosts) == 1 else f"up to {hosts:.0f} hosts",
        begin=service.at(series.range.begin).strftime("%Y-%m-%d %H:%M UTC"),
        resolution=series.resolution,
        fleet=fleet_id,
    )


def _rows(series: Series, view: View) -> Html:
    rows = [
        (
            html("<code>{name}</code>", name=line.name),
            charts.sparkline(
                per_minute(series, line, SENT if line.kind == "exporter" else ACCEPTED), line.name, "/min"
            ),
            "" if line.kind == "exporter" else charts.short(line.total(ACCEPTED)),
            "" if line.kind == "receiver" else charts.short(line.total(SENT)),
            charts.short(line.total(FAILED) + line.total(REFUSED)),
            charts.short(line.total(DROPPED)),
            charts.short(_bytes(line)) if line.measures_bytes else "not measured",
        )
        for line in in_order(view, series.lines, _COLUMNS)
    ]
    return table(_COLUMNS, rows, view=view, anchor="traffic") if rows else NOTHING


def _bytes(line: Line) -> int:
    return max(line.total(ACCEPTED_BYTES), line.total(SENT_BYTES))


def _states(caller: Caller, fleet_id: str, instance_id: str) -> Html:
    """The states of the last day as the host's timeline has them; a host that is silent writes none."""
    now = clock.now()
    since = now - _DAY
    newest = history.events(caller, fleet_id, instance_id, _MOST_EVENTS, None).entries
    changes: list[tuple[datetime, str]] = [(listed.event.at, listed.event.state) for listed in reversed(newest)]
    if not changes:
        return NOTHING
    ends = [*changes[1:], (now, "")]
    parts = [
        ChartPart(
            state.replace("_", " "),
            (until - max(since, at)).total_seconds(),
            _KINDS.get(state, ""),
        )
        for (at, state), (until, _) in zip(changes, ends, strict=True)
        if until > since
    ]
    begin = max(since, changes[0][0])
    drawn = charts.strip("States", _joined(parts), begin, now)
    return html('<div class="card"><h2>Its last day</h2>{drawn}</div>', drawn=drawn)


def _joined(parts: list[ChartPart]) -> list[ChartPart]:
    """Neighbours of one state as one."""
    joined = parts[:1]
    for before, part in pairwise(parts):
        if part.name == before.name:
            joined[-1] = ChartPart(part.name, joined[-1].size + part.size, part.kind)
        else:
            joined.append(part)
    return joined
