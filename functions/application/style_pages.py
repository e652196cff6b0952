"""The parts that pages are built from, in their states, to build a new page of and to see a change of style on."""

from datetime import UTC, datetime, timedelta
from typing import Final

from fastapi import Response

from web import charts
from web.charts import ChartLine, ChartPart
from web.html import Html, html, joined
from web.layout import page
from web.pages import Visit, frame, page_router
from web.parts import Fields, nothing_yet, tag
from web.table import END, table

router = page_router()

_INKS: Final = ("ink", "soft", "accent", "good", "busy", "warn", "bad", "silent")
_SURFACES: Final = (
    *("paper", "ground", "side", "hover", "selection"),
    *("good-ground", "busy-ground", "warn-ground", "bad-ground", "silent-ground"),
)
# Each colour of a state has this one meaning on every page.
_MEANINGS: Final = (
    ("applied, passed, done", "good"),
    ("changing, under way", "busy"),
    ("waits for somebody, may be wrong", "warn"),
    ("failed, refused", "bad"),
    ("not heard", "silent"),
    ("of no state", ""),
)
_SIZES: Final = ("small", "soft", "", "part", "card", "page", "figure")
_SPACES: Final = range(1, 7)
_COLOURS: Final = '<ul class="swatches">{entries}</ul>'
_INK: Final = '<li class="swatch ink-{name}">--{name}</li>'
_SURFACE: Final = '<li class="swatch surface-{name}">--{name}</li>'
_TYPE: Final = """\
<div class="card"><h2>Text</h2>{sizes}<h1>Heading of a page</h1><h2>Heading of a card</h2><h3>Heading of a part</h3>
<p>Text with <a href="/style">a link</a>, <code>code</code> and <strong>weight</strong>.</p>
<p class="soft">Soft text</p><p class="small">Small text</p><p class="hint">A hint</p>
<pre tabindex="0" aria-label="Code">receivers:
  otlp:</pre></div>"""
_STATES: Final = """\
<div class="card"><h2>States</h2><p>{tags}</p>
<div class="notice" role="status">Something was done.</div><div class="notice bad" role="alert">Something failed.</div>
<ul class="problems"><li><button type="button" class="problem"><span class="severity error">✕ Error</span>
<span>What is wrong</span><span class="soft small">line 3 · receivers::otlp</span></button></li>
<li><div class="problem"><span class="severity warning">! Warning</span><span>What may be wrong</span></div></li>
<li><div class="problem"><span class="severity info">i Info</span><span>What is good to know</span></div></li></ul>
{empty}</div>"""
_BUTTONS: Final = """\
<div class="card"><h2>Buttons</h2><div class="buttons"><button type="button">Main</button>
<button type="button" class="plain">Other</button><button type="button" class="danger">Dangerous</button>
<button type="button" disabled>Not possible</button><button type="button" class="plain small">Small</button>
<button type="button" class="link">As a link</button><a class="button" href="/style">A link</a></div>
<details class="confirm"><summary>Delete …</summary><p class="small">What is lost.</p>
<button type="button" class="danger small">Delete</button></details></div>"""
_FIELDS: Final = '<div class="card"><h2>Fields</h2><form method="get" action="/style">{fields}</form></div>'
_TABLE: Final = """\
<div class="card"><h2>Tables</h2>{table}</div>"""
_OTHERS: Final = """\
<div class="card"><h2>Tabs, keys and progress</h2><div class="tabbed"><div role="tablist" aria-label="Parts">
<button type="button" role="tab" aria-selected="true" aria-controls="shown">Chosen</button>
<button type="button" role="tab" aria-selected="false" aria-controls="shown" tabindex="-1">Other</button></div>
<div role="tabpanel" id="shown" aria-label="Chosen"><p>What the chosen tab shows. <kbd>Ctrl-S</kbd> saves.</p>
<progress max="10" value="4" aria-label="A run"></progress>
<p><span class="verdict good">✓ Valid</span> <span class="verdict bad">✕ Not valid</span></p></div></div>
<ul class="choices" role="listbox" aria-label="Choices"><li role="option" aria-selected="true">The one that Enter takes
<span class="soft small">exporters, line 7</span></li>
<li role="option" aria-selected="false">Another one</li></ul></div>"""
_STEPS: Final = """\
<div class="card"><h2>Steps</h2><div class="scrolls" tabindex="0" role="group" aria-label="Steps"><table class="matrix">
<thead><tr><th scope="col">Record</th><th scope="col">2. transform</th><th scope="col">3. filter</th></tr></thead>
<tbody>
<tr><th scope="row">Record 1 <code>a line</code></th><td><span class="outcome changed">~ changed 1</span></td>
<td><span class="outcome unchanged">= unchanged</span></td></tr>
<tr><th scope="row">Record 2 <code>noise</code></th><td><span class="outcome created">+ created</span></td>
<td><span class="outcome dropped">✕ dropped</span><div class="soft small">by IsMatch(body, "noise")</div></td></tr>
</tbody></table></div>
<ul class="names"><li class="change changed"><strong>~ changed</strong><code>attributes["a"]</code>
<del>before</del><ins>after</ins></li></ul></div>"""
_SHARES: Final = """\
<div class="card"><h2>Shares and times</h2><ul class="bars"><li><span>First</span><svg class="share" aria-hidden="true">
<rect class="whole" width="100%" height="100%"></rect><rect class="part good" width="75%" height="100%"></rect></svg>
<span>3 of 4 collectors, 75 %, as assigned</span></li><li><span>Second</span><svg class="share" aria-hidden="true">
<rect class="whole" width="100%" height="100%"></rect><rect class="part" width="25%" height="100%"></rect></svg>
<span>1 of 4 collectors, 25 %</span></li></ul>
<dl><dt>Collector</dt><dd>healthy</dd><dt>Supervisor</dt><dd>0.3.0</dd></dl>
<ol class="timeline">
<li><span class="soft small">2026-11-22 20:00:00 UTC</span><span>What happened then</span></li>
<li><span class="soft small">2026-11-22 19:00:00 UTC</span><span>What happened before</span></li></ol></div>"""
_CHARTS: Final = '<div class="card"><h2>Charts</h2>{charts}</div>'
_GRAPH: Final = """\
<div class="card"><h2>Graph</h2><div class="graph" tabindex="0" role="group" aria-label="Nodes in their states">
<svg width="560" height="86" viewBox="0 0 560 86"><path d="M106 30 L150 30" class="edge signal-logs"></path>
<path d="M246 30 L290 30" class="edge signal-metrics chosen"></path>
<path d="M386 30 L430 30" class="edge signal-traces"></path>
{nodes}</svg></div></div>"""
_NODE: Final = """\
<g class="node {kind}" transform="translate({x} 7)"><rect width="96" height="62" rx="6"></rect>
<text x="10" y="18" class="kind">{section}</text><text x="10" y="35">{name}</text>
<text x="10" y="50" class="note {note}">{about}</text></g>"""
_NODES: Final = (
    ("found", "receiver", "otlp", "plain", "2 tests"),
    ("has-warning chosen", "processor", "batch", "plain", "on 3 hosts"),
    ("section-connectors", "connector", "count", "old", "last heard"),
    ("has-error", "exporter", "debug", "bad", "! failed 3"),
)


@router.get("/style")
def show_style(who: Visit) -> Response:
    shown = frame(who)
    content = joined(
        [
            html('<h1>Parts of pages</h1><div class="card"><h2>Colours</h2>{colours}</div>', colours=_colours()),
            html(_TYPE, sizes=[*_sizes(), _spaces()]),
            html(
                _STATES,
                tags=[html("{tag} ", tag=tag(*meaning)) for meaning in _MEANINGS],
                empty=nothing_yet("What a list is for.", "None yet: how its first entry comes about."),
            ),
            Html(_BUTTONS),
            html(_FIELDS, fields=_fields()),
            html(_TABLE, table=_rows()),
            Html(_OTHERS),
            Html(_SHARES),
            Html(_STEPS),
            html(_CHARTS, charts=_charts()),
            html(_GRAPH, nodes=[_node(at, *node) for at, node in enumerate(_NODES)]),
        ]
    )
    return page(shown, "Parts of pages", content, wide=True)


def _colours() -> Html:
    entries = [html(_INK, name=name) for name in _INKS] + [html(_SURFACE, name=name) for name in _SURFACES]
    return html(_COLOURS, entries=entries)


def _sizes() -> list[Html]:
    names = [f"text-{size}" if size else "text" for size in _SIZES]
    return [html('<p class="size-{name}">--{name}</p>', name=name) for name in names]


def _spaces() -> Html:
    bars = [html('<li class="swatch space-{n}">--space-{n}</li>', n=n) for n in _SPACES]
    return html('<ul class="swatches">{bars}</ul>', bars=bars)


def _rows() -> Html:
    act = Html('<button type="button" class="plain small">Act</button>')
    broken = f"Second, whose name is so long that it has to be broken: {'x' * 120}"
    rows = [
        (html("<strong>First</strong>"), tag("applied", "good"), act),
        (broken, tag("apply failed", "bad"), ""),
    ]
    return table(("Name", "State", END), rows)


def _fields() -> list[Html]:
    typed = {"hinted": "typed", "wrong": "typed"}
    fields = Fields(typed, {"wrong": "What is wrong, and the way out"})
    return [
        fields.text("plain", "A field", most=100, required=False),
        fields.text("hinted", "A field with a hint", most=100, hint="What it is for"),
        fields.text("wrong", "A field that was refused", most=100),
        fields.choice("chosen", "A choice", (("a", "The first"), ("b", "The second")), "b"),
        fields.area("long", "Several lines", "a: 1", most=1_000, rows=3),
    ]


def _charts() -> list[Html]:
    falling: list[float | None] = [900.0 - 40 * place for place in range(12)]
    rising: list[float | None] = [None, None, *(30.0 * place for place in range(10))]
    states = [
        ChartPart("applied", 20, "good"),
        ChartPart("silent", 3, "bad"),
        ChartPart("applying", 1, "warn"),
        ChartPart("stale", 2, ""),
    ]
    times = [f"{hour:02d}:00" for hour in range(12)]
    morning = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        html("<p>{line}</p>", line=charts.sparkline(falling, "Records a second", "/s")),
        charts.stacked(states, "Collectors", "style"),
        charts.area("Records", [ChartLine("accepted", falling), ChartLine("sent", rising)], times, "/s"),
        charts.strip("States of a day", states, morning, morning + timedelta(hours=11)),
        charts.bullet(70, 90, "Hosts that applied it", good=False),
        charts.outcomes(
            [ChartPart("passed", 1, "good"), ChartPart("failed", 1, "bad"), ChartPart("passed", 1, "good")], "Suites"
        ),
    ]


def _node(at: int, kind: str, section: str, name: str, note: str, about: str) -> Html:
    return html(_NODE, kind=kind, x=10 + 140 * at, section=section, name=name, note=note, about=about)
