"""A configuration's text as nodes of YAML, in a time that grows with its length only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import yaml

from headgate.configurations.pipelines import DEEPEST, readable
from headgate.foundation.yaml_text import SafeDumper, SafeLoader

_NULL: Final = "tag:yaml.org,2002:null"
_MERGE: Final = "tag:yaml.org,2002:merge"
_OPERATOR: Final = "opentelemetry.io/"


class Unreadable(Exception):
    """The text is not YAML, or nests too deeply."""


def document(text: str, most_nodes: int | None = None) -> yaml.Node | None:
    """The first document, which is the one that the collector reads; None for a text without one.

    Raises Unreadable, also for a text with more nodes than `most_nodes`, before any is built. Nothing is constructed:
    an alias is the node that it refers to, which may contain itself.
    """
    if not readable(text):
        raise Unreadable
    try:
        if not _fits(yaml.parse(text, Loader=SafeLoader), most_nodes):
            raise Unreadable
        return next(yaml.compose_all(text, Loader=SafeLoader), None)
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable from error


def entries(mapping: yaml.Node | None) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
    """The keys of a mapping with their values, its own first, then those that are merged in; none of another node."""
    seen: set[int] = set()
    merged: list[yaml.Node | None] = [mapping]
    while merged:
        node = merged.pop()
        # Each mapping once: merges may be circular, or repeat.
        if id(node) in seen or not isinstance(node, yaml.MappingNode):
            continue
        seen.add(id(node))
        pairs: list[tuple[yaml.Node, yaml.Node]] = node.value
        for key, value in pairs:
            if isinstance(key, yaml.ScalarNode):
                if key.tag == _MERGE:
                    merged += reversed(value.value) if isinstance(value, yaml.SequenceNode) else [value]
                else:
                    yield key, value


def value_of(mapping: yaml.Node | None, name: str) -> yaml.Node | None:
    """The value of a key, also of one that is merged in; None if there is none, or for another node."""
    return next((value for key, value in entries(mapping) if key.value == name), None)


def serialized(root: yaml.Node) -> str:
    """The text of a node, a line for each value."""
    for node in _nodes(root):
        # In a mapping of one line, a value that is not there would be written as an empty text.
        if isinstance(node, yaml.ScalarNode) and node.tag == _NULL and not node.value:
            node.value = "null"
    return str(yaml.serialize(root, Dumper=SafeDumper, allow_unicode=True, width=1_000_000))


def _nodes(root: yaml.Node) -> Iterator[yaml.Node]:
    """Every node, each once."""
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def is_collector_resource(root: yaml.Node | None) -> bool:
    """True for an `OpenTelemetryCollector` of the Kubernetes operator: a resource with a configuration in it."""
    api, kind = value_of(root, "apiVersion"), value_of(root, "kind")
    return (
        isinstance(api, yaml.ScalarNode)
        and isinstance(kind, yaml.ScalarNode)
        and api.value.startswith(_OPERATOR)
        and kind.value == "OpenTelemetryCollector"
    )


def configuration_in(root: yaml.Node | None) -> yaml.Node | None:
    """The configuration that a document is, or that is in it if it is a resource of the operator."""
    return value_of(value_of(root, "spec"), "config") if is_collector_resource(root) else root


def _fits(events: Iterable[yaml.Event], most_nodes: int | None) -> bool:
    """True if the text is not too large, and nests no deeper than DEEPEST.

    libyaml's composer is recursive: deep text would end the process.
    """
    depth = nodes = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        nodes += isinstance(event, yaml.NodeEvent)
        if depth > DEEPEST or (most_nodes is not None and nodes > most_nodes):
            return False
    return True
