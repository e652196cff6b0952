"""A configuration's text as nodes of YAML, in a time that grows with its length only."""

from __future__ import annotations

from collections.abc import Iterable

import yaml

from headgate.configurations.pipelines import DEEPEST, readable
from headgate.foundation.yaml_text import SafeLoader


class Unreadable(Exception):
    """The text is not YAML, or nests too deeply."""


def document(text: str) -> yaml.Node | None:
    """The first document, which is the one that the collector reads; None for a text without one. Raises Unreadable.

    Nothing is constructed: an alias is the node that it refers to, which may contain itself.
    """
    if not readable(text):
        raise Unreadable
    try:
        if _deepest(yaml.parse(text, Loader=SafeLoader)) > DEEPEST:
            raise Unreadable
        return next(yaml.compose_all(text, Loader=SafeLoader), None)
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable from error


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
