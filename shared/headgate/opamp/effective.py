"""Effective configurations as agents report them, redacted before anything else sees them.

What is taken out: values of settings whose names are those of secrets, all values of headers, and in every other text
what has the form of a secret or looks like made by chance. More may go than is secret; the text remains YAML. Of a
resource of the Kubernetes operator, only what configures it stays, and the version that its collectors run.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping
from typing import Final

import yaml

from headgate.configurations.documents import (
    Unreadable,
    configuration_in,
    document,
    entries,
    is_collector_resource,
    serialized,
    value_of,
)
from headgate.instances.reported.effective import NEXT_FILE, RedactedText
from headgate.opamp import secret_forms
from headgate.opamp.secret_forms import REDACTED

MOST_FILES: Final = 20
LONGEST_TEXT: Final = 600_000
MOST_COMPONENTS: Final = 40
_LONGEST_NAME: Final = 63
_SECTIONS: Final = ("receivers", "processors", "exporters", "connectors", "extensions")
MOST_NODES: Final = 50_000
MOST_SECONDS: Final = 1.0
"""Processor time of one configuration; what is left then is redacted as a whole."""
_MOST_KNOWN: Final = 16
_PLAIN: Final = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool"))
_NUMBERS: Final = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("int", "float"))
_TEXT: Final = "tag:yaml.org,2002:str"
_DEFAULT_TAGS: Final = {
    yaml.ScalarNode: _TEXT,
    yaml.MappingNode: "tag:yaml.org,2002:map",
    yaml.SequenceNode: "tag:yaml.org,2002:seq",
}
# Any other tag is text that somebody wrote.
_TAGS: Final = {*_PLAIN, *_NUMBERS, *_DEFAULT_TAGS.values()} | {
    f"tag:yaml.org,2002:{kind}" for kind in ("merge", "value", "timestamp", "binary")
}
# A variable alone says nothing of its value; one with a default does.
_REFERENCE: Final = re.compile(r"\$\{(?:env:)?[A-Za-z_][A-Za-z0-9_]{0,200}\}")
# Settings that name where a secret is, or what it is like.
_ABOUT: Final = re.compile(r"(?i)_(?:file|files|path|url|endpoint|type|format|length|lifetime|interval|timeout)$")
_ALL_WITHIN: Final = frozenset({"headers", "metadata_headers", "additional_headers", "params", "endpoint_params"})
# Names that say something only together with the one that they are in, as in `api: {key: …}`.
_WITH_PARENT: Final = frozenset({"key", "value", "id", "inline", "data", "content", "default"})

# The parts of a resource that stay. Its metadata may contain it once more as a text, with its secrets; its status
# changes with each pod, besides the version that its collectors run.
_PARTS: Final = ("apiVersion", "kind", "metadata", "spec", "status")
_WITHIN: Final = {"metadata": ("name", "namespace"), "status": ("version",)}

# By the hash of the clear text, in this process's memory alone: hosts with one configuration report it again and again.
_known: Final[dict[bytes, RedactedText]] = {}


def redacted(files: Mapping[str, bytes]) -> RedactedText:
    """The files as one text without secrets; several are documents that begin with the file's name."""
    if not files or len(files) > MOST_FILES:
        return RedactedText(None, f"The configuration is empty, has over {MOST_FILES} files, or is larger than 512 KB")
    digest = hashlib.sha256(b"\0".join(part for item in sorted(files.items()) for part in (item[0].encode(), item[1])))
    known = _known.get(digest.digest())
    if known is None:
        known = _redacted(files)
        if len(_known) >= _MOST_KNOWN:
            _known.pop(next(iter(_known)), None)
        _known[digest.digest()] = known
    return known


def _redacted(files: Mapping[str, bytes]) -> RedactedText:
    parts, components = [], set[str]()
    walk = _Walk()
    for name, body in sorted(files.items()):
        try:
            root = document(body.decode(), MOST_NODES)
            _leave_written(root)
            components |= _components(configuration_in(root))
            walk.visit(root, (), hides=False)
        except (Unreadable, UnicodeDecodeError):
            return RedactedText(None, "The configuration is not YAML, nests too deeply, or has too many settings")
        if root is not None:
            text = serialized(root)
            title = secret_forms.without_secrets(name.replace("\n", " "))
            parts.append(f"# {title}\n{text}" if len(files) > 1 else text)
    text = NEXT_FILE[1:].join(parts)
    if len(text) > LONGEST_TEXT:
        return RedactedText(None, f"The configuration has over {LONGEST_TEXT:,} characters")
    return RedactedText(text, components=sorted(components)[:MOST_COMPONENTS])


def _leave_written(root: yaml.Node | None) -> None:
    """Take out of a resource of the Kubernetes operator what does not configure its collector."""
    if not isinstance(root, yaml.MappingNode) or not is_collector_resource(root):
        return
    parts = {key.value: (key, value) for key, value in entries(root) if key.value in _PARTS}
    for name, (_, part) in parts.items():
        if name in _WITHIN and isinstance(part, yaml.MappingNode):
            part.value = [(key, value) for key, value in entries(part) if key.value in _WITHIN[name]]
        if name == "spec" and isinstance(part, yaml.MappingNode):
            # The bridge writes each field that has not been set as an empty mapping.
            part.value = [(key, value) for key, value in entries(part) if value.value]
    root.value = [(key, value) for key, value in parts.values() if value.value]


def _components(root: yaml.Node | None) -> set[str]:
    """The components that a configuration names, as `kind/type`."""
    return {
        f"{section.removesuffix('s')}/{key.value.partition('/')[0][:_LONGEST_NAME]}"
        for section in _SECTIONS
        for key, _ in entries(value_of(root, section))
    }


class _Walk:
    """Replaces values in the nodes of one configuration, each node once under the names that say if it is secret."""

    def __init__(self) -> None:
        # The nodes themselves: the numbers of a file's nodes are given to those of the next once it is gone.
        self._seen: set[tuple[yaml.Node, bool, tuple[str, ...]]] = set()
        self._ends = time.thread_time() + MOST_SECONDS

    def visit(self, node: yaml.Node | None, path: tuple[str, ...], *, hides: bool) -> None:
        """`hides` is whether all that is within is secret. Raises Unreadable for too many nodes."""
        if node is None:
            return
        # An alias is the same node in another place.
        place = (node, hides, path[-2:])
        if place in self._seen:
            return
        self._seen.add(place)
        if node.tag not in _TAGS:
            node.tag = _DEFAULT_TAGS[type(node)]
        if len(self._seen) > MOST_NODES:
            raise Unreadable
        if isinstance(node, yaml.MappingNode):
            named = _named_value(node)
            for key, value in node.value:
                name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
                self.visit(key, (), hides=False)
                self.visit(value, (*path, name), hides=hides or _hides_all(name) or (named and name == "value"))
        elif isinstance(node, yaml.SequenceNode):
            for each in node.value:
                self.visit(each, path, hides=hides)
        elif isinstance(node, yaml.ScalarNode):
            self._replace(node, path, hides=hides)

    def _replace(self, node: yaml.ScalarNode, path: tuple[str, ...], *, hides: bool) -> None:
        if node.tag in _PLAIN or not node.value or _REFERENCE.fullmatch(node.value):
            return
        hides = hides or _is_secret(path)
        if node.tag in _NUMBERS and not hides:
            return
        text = REDACTED if hides or time.thread_time() > self._ends else secret_forms.without_secrets(node.value)
        if text != node.value:
            node.value, node.tag, node.style = text, _TEXT, None


def _named_value(node: yaml.MappingNode) -> bool:
    """True for a value with its name, `{name: API_KEY, value: …}`, if the name is that of a secret."""
    names = [value.value for key, value in node.value if key.value in ("name", "key") and hasattr(value, "value")]
    return any(isinstance(name, str) and secret_forms.is_name(name) for name in names)


def _hides_all(name: str) -> bool:
    return name in _ALL_WITHIN or (secret_forms.is_setting(name) and not _ABOUT.search(name))


def _is_secret(path: tuple[str, ...]) -> bool:
    """True if the name of a value, alone or with the name around it, is that of a secret."""
    if not path:
        return False
    name = path[-1]
    if name in _WITH_PARENT and len(path) > 1:
        name = f"{path[-2]}.{name}"
    return secret_forms.is_name(name) and not _ABOUT.search(name)
