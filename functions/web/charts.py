"""Charts as SVG in the first response: sparkline, stacked bar, area, state strip and bullet.

Each has its numbers as a table beside it, for screen readers and for whoever wants to read them. Colours are classes of
the style sheet, and nothing is told by a colour alone: lines have their own dashes, states their own heights, and what
is bad is hatched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from web.html import NOTHING, Html, html
from web.table import Column, table

MOST_LINES: Final = 8
"""Lines of one chart: what has more is summed by its caller."""

_SPARK_WIDTH: Final = 120
_SPARK_HEIGHT: Final = 24
_WIDTH: Final = 720
_HEIGHT: Final = 140
_STRIP_HEIGHT: Final = 20
# A strip's segment reaches so far up, of its height.
_HEIGHTS: Final = {"good": 0.4, "": 0.4, "warn": 0.7, "bad": 1.0}
_HATCH: Final = 4
_THOUSAND: Final = 1_000
_UNITS: Final = ("", " K", " M", " G", " T", " P")
_ROWS: Final = 60
"""Rows of a chart's table: of more points, equal numbers of neighbours are one row."""

_SPARK: Final = """\
<span class="spark"><svg class="chart" viewBox="0 0 {width} 24" width="{width}" height="24" role="img"\
 aria-label="{label}">\
{lines}</svg>{last}</span>"""
_LINE: Final = '<path class="line of-{n}" d="{path}"></path>'
_FILL: Final = '<path class="area of-{n}" d="{path}"></path>'
_SEGMENT: Final = '<rect class="{kind}" x="{x}%" width="{width}%" height="100%"></rect>'
_HATCHED: Final = '<path class="hatch" d="{path}"></path>'
_STACKED: Final = """\
<figure class="figure"><svg class="chart stacked" height="16" width="100%" role="img" aria-label="{label}">\
<defs><pattern id="{id}" width="6" height="6" patternUnits="userSpaceOnUse"><path class="hatch" d="M0 6L6 0"></path>\
</pattern></defs>{segments}</svg><figcaption>{legend}</figcaption></figure>"""
_OVER: Final = '<rect fill="url(#{id})" x="{x}%" width="{width}%" height="100%"></rect>'
_ENTRY: Final = '<span class="entry"><i class="{kind}"></i>{text}</span> '
_CHART: Final = """\
<figure class="figure"><figcaption>{title} {legend}</figcaption>
<svg class="chart wide" viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img" aria-label="{label}">\
{marks}</svg>
<p class="soft small ends"><span>{begin}</span><span>{scale}</span><span>{end}</span></p>{table}</figure>"""
_TABLE: Final = """\
<details class="numbers"><summary>{title} as a table</summary><div class="scrolls">{table}</div></details>"""
_OUTCOMES: Final = """\
<svg class="chart" viewBox="0 0 {width} 16" width="{width}" height="16" role="img" aria-label="{label}">{marks}</svg>"""
_OUTCOME_WIDTH: Final = 8
_BULLET: Final = """\
<svg class="chart bullet" height="14" width="100%" role="img" aria-label="{label}">\
<rect class="whole" width="100%" height="100%"></rect><rect class="{kind}" y="4" width="{value}%" height="6"></rect>\
<rect class="target" x="{target}%" width="2" height="100%"></rect></svg>"""


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line of a chart. None is a time of which nothing is known: it is a gap, and not zero."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class ChartPart:
    """A part of a whole, or a time in a state. `kind` is empty, `good`, `warn` or `bad`."""

    name: str
    size: float
    kind: str = ""


def sparkline(values: Sequence[float | None], what: str, unit: str = "", *, small: bool = False) -> Html:
    """A line as high as text, with its last value: for a row of a table, or a tile. A `small` one is half as wide."""
    known = [value for value in values if value is not None]
    if not known:
        return html('<span class="soft small">no numbers yet</span>')
    last, most = short(known[-1]), short(max(known))
    label = f"{what}: last {last}{unit}, at most {most}{unit}, at least {short(min(known))}{unit}"
    width = _SPARK_WIDTH // 2 if small else _SPARK_WIDTH
    lines = [_line(0, values, max(known), width, _SPARK_HEIGHT)]
    shown = NOTHING if small else html(" {last}{unit}", last=last, unit=unit)
    return html(_SPARK, label=label, width=width, lines=lines, last=shown)


def stacked(parts: Sequence[ChartPart], what: str, id: str) -> Html:
    """A bar of the parts of a whole, with their names and sizes below. `id` is of no other bar of the page."""
    whole = sum(part.size for part in parts)
    parts = [part for part in parts if part.size > 0]
    if not parts:
        return NOTHING
    segments: list[Html] = []
    x = 0.0
    for part in parts:
        width = 100 * part.size / whole
        place = {"x": f"{x:.2f}", "width": f"{width:.2f}"}
        segments.append(html(_SEGMENT, kind=f"part {part.kind}", **place))
        if part.kind == "bad":
            segments.append(html(_OVER, id=id, **place))
        x += width
    words = [f"{short(part.size)} {part.name}" for part in parts]
    legend = [_entry(f"part {part.kind}", text) for part, text in zip(parts, words, strict=True)]
    return html(_STACKED, label=f"{what}: {', '.join(words)}", id=id, segments=segments, legend=legend)


def area(title: str, lines: Sequence[ChartLine], times: Sequence[str], unit: str = "") -> Html:
    """Lines over time on one scale, the first one filled, each with its own dashes; and their numbers as a table."""
    lines = [line for line in lines if any(value is not None for value in line.values)][:MOST_LINES]
    if not lines or not times:
        return html('<p class="soft">{title}: no numbers yet.</p>', title=title)
    most = max(value for line in lines for value in line.values if value is not None)
    marks = [html(_FILL, n=0, path=path) for path in _filled(lines[0].values, most)]
    marks += [_line(n, line.values, most, _WIDTH, _HEIGHT) for n, line in enumerate(lines)]
    return html(
        _CHART,
        title=html("<strong>{title}</strong>", title=title),
        label=f"{title}: {'; '.join(map(_words, lines))}",
        width=_WIDTH,
        height=_HEIGHT,
        marks=marks,
        legend=[_entry(f"of-{n}", line.name) for n, line in enumerate(lines)],
        begin=times[0],
        scale=f"up to {short(most)}{unit}",
        end=times[-1],
        table=_table(title, lines, times),
    )


def strip(title: str, parts: Sequence[ChartPart], begin: datetime, end: datetime) -> Html:
    """The states of a span of time, one after the other: what is worse is higher, and what is bad is hatched."""
    whole = sum(part.size for part in parts)
    if not whole:
        return html('<p class="soft">{title}: nothing is known yet.</p>', title=title)
    marks: list[Html] = []
    rows: list[tuple[str, str, str]] = []
    at = 0.0
    for part in parts:
        since = _time(begin + (end - begin) * (at / whole))
        rows.append((since, part.name, f"{100 * part.size / whole:.1f} %"))
        x, width = at / whole * _WIDTH, part.size / whole * _WIDTH
        height = _STRIP_HEIGHT * _HEIGHTS.get(part.kind, 1.0)
        path = f"M{x:.1f} {_STRIP_HEIGHT}V{_STRIP_HEIGHT - height:.1f}H{x + width:.1f}V{_STRIP_HEIGHT}Z"
        marks.append(html('<path class="part {kind}" d="{path}"></path>', kind=part.kind, path=path))
        if part.kind == "bad":
            marks.append(html(_HATCHED, path="".join(_hatches(x, width))))
        at += part.size
    shares: dict[tuple[str, str], float] = {}
    for part in parts:
        shares[part.name, part.kind] = shares.get((part.name, part.kind), 0) + part.size
    words = {name: f"{name} {100 * size / whole:.0f} %" for (name, _), size in shares.items()}
    return html(
        _CHART,
        title=html("<strong>{title}</strong>", title=title),
        label=f"{title}: {', '.join(words.values())}",
        width=_WIDTH,
        height=_STRIP_HEIGHT,
        marks=marks,
        legend=[_entry(f"part {kind}", words[name]) for name, kind in shares],
        begin=_time(begin),
        scale="",
        end=_time(end),
        table=html(_TABLE, title=title, table=table(("From", "State", "Share of the time"), rows[-_ROWS:])),
    )


def outcomes(values: Sequence[ChartPart], what: str) -> Html:
    """A chart of repeated outcomes, the newest at the end: bad ones are twice as high, and hatched."""
    if not values:
        return NOTHING
    marks: list[Html] = []
    for place, value in enumerate(values):
        x, width = place * _OUTCOME_WIDTH, _OUTCOME_WIDTH - 2
        path = f"M{x} 16V{8 if value.kind == 'good' else 0}H{x + width}V16Z"
        marks.append(html('<path class="part {kind}" d="{path}"></path>', kind=value.kind, path=path))
        if value.kind == "bad":
            marks.append(html(_HATCHED, path=f"M{x} 16L{x + width} 8M{x} 8L{x + width} 0"))
    label = f"{what}, the newest last: {', '.join(value.name for value in values)}"
    return html(_OUTCOMES, width=len(values) * _OUTCOME_WIDTH, label=label, marks=marks)


def bullet(value: float, target: float, what: str, *, good: bool) -> Html:
    """A bar of a value beside its target, both of 100; `good` is whether that is well."""
    words = f"{what}: {value:.0f} %, target {target:.0f} %"
    kind = "part good" if good else "part bad"
    place = {name: f"{min(100.0, max(0.0, number)):.1f}" for name, number in (("value", value), ("target", target))}
    return html(_BULLET, label=words, kind=kind, **place)


def short(number: float) -> str:
    """A number as people say it: 950, 1.2 K, 34 M."""
    size, power = abs(number), 0
    while size >= _THOUSAND and power < len(_UNITS) - 1:
        size, power = size / _THOUSAND, power + 1
    text = f"{size:.0f}" if size >= 100 or size == int(size) else f"{size:.1f}" if size >= 1 else f"{size:.2g}"
    return f"{'-' if number < 0 else ''}{text}{_UNITS[power]}"


def _line(n: int, values: Sequence[float | None], most: float, width: float, height: float) -> Html:
    path = "".join("M" + "L".join(run) for run in _runs(values, most, width, height))
    return html(_LINE, n=n, path=path)


def _filled(values: Sequence[float | None], most: float) -> Iterator[str]:
    for run in _runs(values, most, _WIDTH, _HEIGHT):
        begin, end = run[0].split()[0], run[-1].split()[0]
        yield f"M{begin} {_HEIGHT}L{'L'.join(run)}L{end} {_HEIGHT}Z"


def _runs(values: Sequence[float | None], most: float, width: float, height: float) -> Iterator[list[str]]:
    """The points of each span without a gap. A point alone is drawn as a short line."""
    across = width / max(1, len(values) - 1)
    run: list[str] = []
    for place, value in enumerate([*values, None]):
        if value is not None:
            up = value / most if most > 0 else 0
            run.append(f"{place * across:.1f} {1 + (height - 2) * (1 - up):.1f}")
        elif run:
            x, _, y = run[-1].partition(" ")
            yield run if len(run) > 1 else [run[0], f"{float(x) + 1:.1f} {y}"]
            run = []


def _hatches(x: float, width: float) -> Iterator[str]:
    place = x
    while place < x + width:
        yield f"M{place:.1f} {_STRIP_HEIGHT}V0"
        place += _HATCH


def _time(at: datetime) -> str:
    return at.strftime("%H:%M UTC")


def _words(line: ChartLine) -> str:
    known = [value for value in line.values if value is not None]
    return f"{line.name} last {short(known[-1])}, at most {short(max(known))}"


def _entry(kind: str, text: str) -> Html:
    return html(_ENTRY, kind=kind, text=text)


def _table(title: str, lines: Sequence[ChartLine], times: Sequence[str]) -> Html:
    """The numbers, or the means of neighbours where there are many."""
    together = -(-len(times) // _ROWS)
    rows = [
        (times[place], *(_mean(line.values[place : place + together]) for line in lines))
        for place in range(0, len(times), together)
    ]
    columns = (Column("From"), *(Column(line.name, kind="number") for line in lines))
    return html(_TABLE, title=title, table=table(columns, rows))


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return short(sum(known) / len(known)) if known else "–"
