"""Whether a configuration has pipelines: a collector under a supervisor starts without any, and collects nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import yaml

from headgate.configurations.pipelines import DEEPEST, readable

_NULL: Final = "tag:yaml.org,2002:null"
_MERGE: Final = "tag:yaml.org,2002:merge"
# What a collector takes for a path in a key, as in `service::pipelines: {…}`.
_PATH: Final = "::"


def runs_nothing(text: str) -> bool:
    """Whether the text is YAML, and `service::pipelines` in it is missing, null or empty.

    Anything else that is wrong with it is for the collector to find.
    """
    if not readable(text):
        return False
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if _deepest(yaml.parse(text, Loader=loader)) > DEEPEST:
            return False
        # As the collector, which reads the first document. Nothing is constructed: an alias is a reference.
        root = next(yaml.compose_all(text, Loader=loader), None)
    except (yaml.YAMLError, ValueError):
        return False
    service = _value(root, "service")
    return _empty(service) or _empty(_value(service, "pipelines"))


def _deepest(events: Iterable[yaml.Event]) -> int:
    """How deep the text nests, as far as that matters; libyaml's composer calls itself, and ends the process."""
    depth = deepest = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            deepest = max(deepest, depth)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if deepest > DEEPEST:
            break
    return deepest


def _empty(node: yaml.Node | None) -> bool:
    if node is None or node.tag == _NULL:
        return True
    return isinstance(node, yaml.MappingNode) and not node.value


def _value(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """The value of a key, also of one that is merged in, or that is the first part of a path."""
    if not isinstance(node, yaml.MappingNode):
        # Of another shape: there is something, and it is wrong.
        return node
    seen: set[int] = set()
    merged: list[yaml.Node] = [node]
    while merged:
        one = merged.pop()
        # Each once: merges may lead back, or to the same many times.
        if id(one) in seen or not isinstance(one, yaml.MappingNode):
            continue
        seen.add(id(one))
        entries: list[tuple[yaml.Node, yaml.Node]] = one.value
        for key, value in entries:
            if isinstance(key, yaml.ScalarNode):
                if key.value == name:
                    return value
                if key.value.startswith(name + _PATH):
                    return key
                if key.tag == _MERGE:
                    merged += reversed(value.value) if isinstance(value, yaml.SequenceNode) else [value]
    return None
