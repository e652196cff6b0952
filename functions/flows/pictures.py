"""The picture of a flow's pipelines: SVG from what the collector told of them, without a script."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from headgate.flows.model import FlowPipeline
from web.html import Html, html

_WIDTH: Final = 148
_HEIGHT: Final = 26
_ACROSS: Final = 34
_DOWN: Final = 10
_LONGEST: Final = 20
_SIGNALS: Final = ("logs", "metrics", "traces")

_PICTURE: Final = """\
<svg class="picture" role="img" aria-label="{label}" viewBox="0 0 {width} {height}" width="{width}">{lines}{boxes}
</svg>"""
_LINE: Final = '<path d="M{x1} {y1} L{x2} {y2}" class="edge signal-{signal}"></path>'
_BOX: Final = """\
<g class="node section-{section}" transform="translate({x} {y})"><rect width="148" height="26" rx="5"></rect>
<text x="8" y="17">{name}</text></g>"""


@dataclass(slots=True)
class _Node:
    """A component; `lanes` are the numbers of the pipelines that it is in."""

    id: str
    section: str
    column: int = 0
    y: float = 0
    lanes: list[int] = field(default_factory=list)


def picture(pipelines: Sequence[FlowPipeline]) -> Html:
    """Components from left to right as data flow; each pipeline has its own processors, as in the collector."""
    nodes: dict[str, _Node] = {}
    edges: dict[tuple[str, str, str], None] = {}
    for lane, pipeline in enumerate(pipelines):
        for before, after in _edges(lane, pipeline, nodes):
            edges[before, after, pipeline.signal] = None
    _place(nodes, [(before, after) for before, after, _ in edges])
    width = (_WIDTH + _ACROSS) * (max((node.column for node in nodes.values()), default=0) + 1) - _ACROSS + 2
    height = max((node.y for node in nodes.values()), default=0) + _HEIGHT + 2
    return html(
        _PICTURE,
        label="; ".join(map(_words, pipelines)),
        width=width,
        height=f"{height:.0f}",
        lines=[_line(nodes[before], nodes[after], signal) for before, after, signal in edges],
        boxes=[_box(node) for node in nodes.values()],
    )


def _edges(lane: int, pipeline: FlowPipeline, nodes: dict[str, _Node]) -> Iterator[tuple[str, str]]:
    def known(id: str, section: str, key: str) -> str:
        node = nodes.setdefault(key, _Node(id, section))
        node.lanes.append(lane)
        return key

    layers = [
        [known(id, section, f"{section}/{id}") for id, section in pipeline.receivers],
        *(
            [known(id, section, f"processors/{lane}/{place}")]
            for place, (id, section) in enumerate(pipeline.processors)
        ),
        [known(id, section, f"{section}/{id}") for id, section in pipeline.exporters],
    ]
    for layer, following in pairwise(layers):
        for before in layer:
            for after in following:
                yield before, after


def _place(nodes: Mapping[str, _Node], edges: Sequence[tuple[str, str]]) -> None:
    """Each node one column behind the last of those before it, and beside the pipelines that it is in."""
    # A connector that leads back to itself is refused by the collector, so this ends.
    for _ in nodes:
        for before, after in edges:
            nodes[after].column = max(nodes[after].column, min(nodes[before].column + 1, len(nodes)))
    columns: dict[int, list[_Node]] = {}
    for node in nodes.values():
        columns.setdefault(node.column, []).append(node)
    for column in columns.values():
        column.sort(key=lambda node: sum(node.lanes) / len(node.lanes))
        free = 1.0
        for node in column:
            node.y = max(free, 1 + sum(node.lanes) / len(node.lanes) * (_HEIGHT + _DOWN))
            free = node.y + _HEIGHT + _DOWN


def _line(before: _Node, after: _Node, signal: str) -> Html:
    return html(
        _LINE,
        x1=_x(before) + _WIDTH,
        y1=f"{before.y + _HEIGHT / 2:.0f}",
        x2=_x(after),
        y2=f"{after.y + _HEIGHT / 2:.0f}",
        signal=signal if signal in _SIGNALS else "other",
    )


def _box(node: _Node) -> Html:
    name = node.id if len(node.id) <= _LONGEST else f"{node.id[: _LONGEST - 1]}…"
    return html(_BOX, section=node.section, x=_x(node), y=f"{node.y:.0f}", name=name)


def _x(node: _Node) -> int:
    return 1 + node.column * (_WIDTH + _ACROSS)


def _words(pipeline: FlowPipeline) -> str:
    """The pipeline for those who do not see the picture."""
    receivers, exporters = (", ".join(id for id, _ in ids) for ids in (pipeline.receivers, pipeline.exporters))
    through = [id for id, _ in pipeline.processors]
    return f"{pipeline.id}: {' → '.join([receivers, *through, exporters])}"
