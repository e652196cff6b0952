"""A YAML text as a tree whose nodes know their places.

It is built from libyaml's events, not by recursion, and aliases lead to the one node that they name: a text can neither
nest too deeply for this process nor expand.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

import yaml

# The service refuses texts of more levels than 400. A parser takes time in proportion to levels times length.
_MOST_LEVELS: Final = 200
_MOST_NODES: Final = 400_000
# Without libyaml's parser, Python's own takes some 15 s for 1 MB.
_LOADER: Final = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
LONGEST: Final = 2_000_000 if yaml.__with_libyaml__ else 100_000
_MOST_MENDS: Final = 4
_PROPERTIES: Final = re.compile(r"(?:[!&]\S*\s+)*")

Kind = Literal["mapping", "sequence", "scalar", "alias"]
Step = str | int
Path = tuple[Step, ...]


@dataclass(slots=True, eq=False)
class Node:
    """A node; `start` and `end` are offsets. `key` is the key that it belongs to, `index` its place in a list."""

    kind: Kind
    start: int
    end: int
    value: str = ""
    style: str = ""
    flow: bool = False
    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    target: Node | None = None
    parent: Node | None = None
    key: Node | None = None
    index: int = 0
    is_key: bool = False
    is_gone: bool = False

    @property
    def resolved(self) -> Node:
        """The node that an alias names; any other node is itself."""
        return self.target if self.target is not None else self

    @property
    def text(self) -> str:
        """The value of a scalar, also behind an alias; empty for anything else."""
        node = self.resolved
        return node.value if node.kind == "scalar" else ""

    @property
    def path(self) -> Path:
        """The keys and indexes that lead here from the root. The path of a key includes it."""
        steps: list[Step] = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            if node.is_key:
                steps.append(node.text)
            elif node.key is not None:
                steps.append(node.key.text)
            else:
                steps.append(node.index)
            node = node.parent
        return tuple(reversed(steps))


class NotParsed(Exception):
    """The text is not YAML, or too much of it. `places` are offsets near the fault, the likeliest first."""

    def __init__(self, places: tuple[int, ...] = ()) -> None:
        super().__init__("not YAML")
        self.places = places


class TooMuch(NotParsed):
    """The text is larger than this process reads."""


class Tree:
    """The first document of a text."""

    def __init__(self, root: Node, scalars: list[Node]) -> None:
        self.root = root
        self._scalars = scalars
        self._starts = [node.start for node in scalars]

    def scalar_at(self, offset: int) -> Node | None:
        """The scalar or alias that includes the offset, or ends there."""
        at = bisect_right(self._starts, offset) - 1
        if at < 0:
            return None
        node = self._scalars[at]
        return node if node.start <= offset <= node.end else None

    def move(self, start: int, end: int, by: int) -> None:
        """Follow a change of the text from `start` to `end`; what stood there is nowhere any more (`is_gone`)."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            waiting += node.items
            waiting += [inner for pair in node.pairs for inner in pair]
            if node.kind in ("scalar", "alias") and node.start < end and node.end > start:
                node.start = node.end = start
                node.is_gone = True
                continue
            node.start += by if node.start >= end else 0
            node.end += by if node.end >= end else 0
        self._scalars = [node for node in self._scalars if not node.is_gone]
        self._starts = [node.start for node in self._scalars]

    def find(self, path: Path) -> Node | None:
        """The node at a path, through aliases and merges."""
        node = self.root
        for step in path:
            node = node.resolved
            if isinstance(step, int):
                if node.kind != "sequence" or step >= len(node.items):
                    return None
                node = node.items[step]
            else:
                inner = next((value for key, value in entries(node) if key.text == step), None)
                if inner is None:
                    return None
                node = inner
        return node.resolved


def entries(node: Node | None) -> Iterator[tuple[Node, Node]]:
    """The keys and values of a mapping; its own come first, then those that it merges (`<<`), each name once."""
    if node is None:
        return
    names: set[str] = set()
    visited: set[int] = set()
    waiting = [node.resolved]
    while waiting:
        mapping = waiting.pop(0)
        if id(mapping) in visited:
            continue
        visited.add(id(mapping))
        for key, value in mapping.pairs:
            if key.text == "<<" and key.style == "":
                merged = value.resolved
                waiting += [item.resolved for item in merged.items] if merged.kind == "sequence" else [merged]
            elif key.text not in names:
                names.add(key.text)
                yield key, value


def items(node: Node | None) -> list[Node]:
    """The entries of a list; empty for anything else."""
    return node.resolved.items if node is not None else []


def get(node: Node | None, name: str) -> Node | None:
    """The value of a mapping's key, None if it has none."""
    return next((value for key, value in entries(node) if key.text == name), None)


def parse(content: str) -> Tree:
    """Raises Broken."""
    if len(content) > LONGEST:
        raise TooMuch
    # libyaml does not count a byte order mark, and Python's parser does not take it in the middle.
    shift = 1 if content.startswith("\ufeff") else 0
    try:
        return _build(yaml.parse(content[shift:], _LOADER), content, shift)
    except yaml.MarkedYAMLError as error:
        marks = (error.context_mark, error.problem_mark)
        raise NotParsed(tuple(mark.index + shift for mark in marks if mark is not None)) from error
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        raise NotParsed from error


def mended(content: str, near: int | None = None) -> tuple[Tree | None, bool]:
    """The tree, and whether the text parsed as it is.

    A text that is being written mostly fails in one line: it is blanked, first the one near `near`, then those that the
    parser names. None if that does not help.
    """
    fault = near
    for attempt in range(_MOST_MENDS):
        try:
            return parse(content), attempt == 0
        except TooMuch:
            return None, False
        except NotParsed as broken:
            places = [] if fault is None else [fault]
            places += [place for at in broken.places for place in (at, max(content.rfind("\n", 0, at), 0))]
            fault = None
            blanked = next((new for place in places if (new := _blanked(content, place)) != content), None)
            if blanked is None:
                return None, False
            content = blanked
    return None, False


def _blanked(content: str, at: int) -> str:
    at = min(at, len(content))
    start = content.rfind("\n", 0, at) + 1
    end = content.find("\n", at)
    end = len(content) if end < 0 else end
    return content[:start] + " " * (end - start) + content[end:]


def _build(events: Iterator[yaml.Event], content: str, shift: int) -> Tree:
    root = Node("scalar", 0, 0)
    scalars: list[Node] = []
    anchors: dict[str, Node] = {}
    open_nodes: list[Node] = []
    # The key of each open mapping that still has no value.
    keys: list[Node | None] = []
    nodes = 0
    for event in events:
        if isinstance(event, yaml.ScalarEvent) and open_nodes and not (event.tag or event.anchor):
            # Most of a text; the rest of the loop is for everything else.
            if (nodes := nodes + 1) > _MOST_NODES:
                raise TooMuch
            start, end = _index(event.start_mark) + shift, _index(event.end_mark) + shift
            node = Node("scalar", start, end, event.value, event.style or "")
            scalars.append(node)
            _attach(node, open_nodes[-1], keys)
            continue
        if isinstance(event, yaml.DocumentEndEvent):
            break
        if isinstance(event, yaml.CollectionEndEvent):
            ended = open_nodes.pop()
            keys.pop()
            ended.end = max(_index(event.end_mark) + shift, ended.start)
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        nodes += 1
        if nodes > _MOST_NODES or len(open_nodes) > _MOST_LEVELS:
            raise TooMuch
        node = _node(event, shift)
        if isinstance(event, yaml.ScalarEvent) and (event.tag or event.anchor):
            # The parser counts an anchor and a tag to the scalar.
            properties = _PROPERTIES.match(content, node.start, node.end)
            node.start = properties.end() if properties else node.start
        if isinstance(event, yaml.AliasEvent):
            node.target = anchors.get(event.anchor or "")
            if node.target is None or any(node.target is outer for outer in open_nodes):
                # An alias within what it names: the collector refuses it too.
                node.target = None
        elif event.anchor:
            anchors[event.anchor] = node
        if node.kind in ("scalar", "alias"):
            scalars.append(node)
        if open_nodes:
            _attach(node, open_nodes[-1], keys)
        else:
            root = node
        if node.kind in ("mapping", "sequence"):
            open_nodes.append(node)
            keys.append(None)
    return Tree(root, scalars)


def _index(mark: yaml.Mark | yaml._yaml.Mark | None) -> int:
    return mark.index if mark is not None else 0


def _node(event: yaml.NodeEvent, shift: int) -> Node:
    start, end = _index(event.start_mark) + shift, _index(event.end_mark) + shift
    if isinstance(event, yaml.ScalarEvent):
        return Node("scalar", start, end, value=event.value, style=event.style or "")
    if isinstance(event, yaml.AliasEvent):
        return Node("alias", start, end)
    kind: Kind = "mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence"
    return Node(kind, start, end, flow=bool(getattr(event, "flow_style", False)))


def _attach(node: Node, parent: Node, keys: list[Node | None]) -> None:
    node.parent = parent
    if parent.kind == "sequence":
        node.index = len(parent.items)
        parent.items.append(node)
    elif (key := keys[-1]) is None:
        node.is_key = True
        keys[-1] = node
    else:
        node.key = key
        parent.pairs.append((key, node))
        keys[-1] = None
