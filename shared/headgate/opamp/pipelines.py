"""Configurations without pipelines: under a supervisor, a collector without any starts and collects nothing."""

from __future__ import annotations

from typing import Final

import yaml

from headgate.configurations.documents import Unreadable, document, entries

_NULL: Final = "tag:yaml.org,2002:null"
# The collector reads it as a path in a key, as in `service::pipelines: {…}`.
_PATH: Final = "::"


def runs_nothing(text: str) -> bool:
    """True if the text is YAML, and `service::pipelines` in it is missing, null or empty.

    The collector itself finds anything else that is wrong with it.
    """
    try:
        root = document(text)
    except Unreadable:
        return False
    service = _value(root, "service")
    return _empty(service) or _empty(_value(service, "pipelines"))


def _empty(node: yaml.Node | None) -> bool:
    if node is None or node.tag == _NULL:
        return True
    return isinstance(node, yaml.MappingNode) and not node.value


def _value(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """The value of a key, also of one that is merged in, or that is the first part of a path."""
    if not isinstance(node, yaml.MappingNode):
        # A value of another type: it is wrong, but not empty.
        return node
    for key, value in entries(node):
        if key.value == name:
            return value
        if key.value.startswith(name + _PATH):
            return key
    return None
