"""Whether a configuration has pipelines: under a supervisor, a collector without any starts and collects nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import yaml

from headgate.configurations.pipelines import DEEPEST, readable
from headgate.foundation.yaml_text import SafeLoader

_NULL: Final = "tag:yaml.org,2002:null"
_MERGE: Final = "tag:yaml.org,2002:merge"
# The collector reads it as a path in a key, as in `service::pipelines: {…}`.
_PATH: Final = "::"


def runs_nothing(text: str) -> bool:
    """Whether the text is YAML, and `service::pipelines` in it is missing, null or empty.

    The collector itself finds anything else that is wrong with it.
    """
    if not readable(text):
        return False
    try:
        if _deepest(yaml.parse(text, Loader=SafeLoader)) > DEEPEST:
            return False
        # The collector reads the first document only. Nothing is constructed: an alias stays a reference.
        root = next(yaml.compose_all(text, Loader=SafeLoader), None)
    except (yaml.YAMLError, ValueError):
        return False
    service = _value(root, "service")
    return _empty(service) or _empty(_value(service, "pipelines"))


def _deepest(events: Iterable[yaml.Event]) -> int:
    """How deep the text nests, up to DEEPEST. libyaml's composer is recursive: deep text would end the process."""
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
        # A value of another type: it is wrong, but not empty.
        return node
    seen: set[int] = set()
    merged: list[yaml.Node] = [node]
    while merged:
        mapping = merged.pop()
        # Each mapping once: merges may be circular, or repeat.
        if id(mapping) in seen or not isinstance(mapping, yaml.MappingNode):
            continue
        seen.add(id(mapping))
        entries: list[tuple[yaml.Node, yaml.Node]] = mapping.value
        for key, value in entries:
            if isinstance(key, yaml.ScalarNode):
                if key.value == name:
                    return value
                if key.value.startswith(name + _PATH):
                    return key
                if key.tag == _MERGE:
                    merged += reversed(value.value) if isinstance(value, yaml.SequenceNode) else [value]
    return None
