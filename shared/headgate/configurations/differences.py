"""Differences between two configurations, by component: of the values that the collector reads, not of the layout."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import yaml

from headgate.configurations.documents import Unreadable, document
from headgate.configurations.pipelines import SECTIONS

Change = Literal["added", "removed", "changed"]

_SERVICE: Final = "service"
_PIPELINES: Final = "pipelines"
_MERGE: Final = "tag:yaml.org,2002:merge"
# A merge repeats the keys of another mapping, and merges of merges do so many times over.
_MOST_ENTRIES: Final = 200_000
# Characters in one text. A megabyte of `{},` took two seconds on an idle machine.
_LONGEST: Final = 400_000


@dataclass(frozen=True, slots=True)
class ComponentDifference:
    """A component or a pipeline, or a setting of `service`; lines from 1, None on the side that does not have it."""

    section: str
    id: str
    change: Change
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class _Part:
    digest: bytes
    line: int


def differences(before: str, after: str) -> list[ComponentDifference] | None:
    """By section, and in the order of the newer text, then of the older one.

    None if a text cannot be read, or is too long.
    Comments, the order of keys, quotes around names, aliases and merges make no difference.
    """
    if max(len(before), len(after)) > _LONGEST:
        return None
    try:
        old, new = _parts(before), _parts(after)
    except (Unreadable, RecursionError):
        # Through aliases, a text nests as deep as it is long, or contains itself.
        return None
    differences = [
        ComponentDifference(
            *key, "changed" if key in old else "added", old[key].line if key in old else None, part.line
        )
        for key, part in new.items()
        if key not in old or old[key].digest != part.digest
    ]
    differences += [
        ComponentDifference(*key, "removed", part.line, None) for key, part in old.items() if key not in new
    ]
    sections = [*SECTIONS, _PIPELINES, _SERVICE]
    return sorted(differences, key=lambda difference: sections.index(difference.section))


def _parts(text: str) -> dict[tuple[str, str], _Part]:
    """Components, pipelines and settings of `service`, by section and id. Raises Unreadable."""
    digests = _Digests()
    root = digests.entries(document(text))
    parts = {
        (section, id_): _Part(digests.digest(value), key.start_mark.line + 1)
        for section in SECTIONS
        if section in root
        for id_, (key, value) in digests.entries(root[section][1]).items()
    }
    for name, (key, value) in digests.entries(root[_SERVICE][1] if _SERVICE in root else None).items():
        if name == _PIPELINES:
            parts |= {
                (_PIPELINES, id_): _Part(digests.digest(pipeline), at.start_mark.line + 1)
                for id_, (at, pipeline) in digests.entries(value).items()
            }
        else:
            parts[_SERVICE, name] = _Part(digests.digest(value), key.start_mark.line + 1)
    return parts


_Entries = Mapping[str, tuple[yaml.Node, yaml.Node]]


class _Digests:
    """Digests of what nodes mean; each node once, however often it is referred to."""

    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}
        self._left = _MOST_ENTRIES

    def digest(self, node: yaml.Node) -> bytes:
        """Raises Unreadable for a node that contains itself, and over the limit of merges."""
        known = self._known.get(id(node))
        if known is None:
            # What contains itself comes back here before it is known.
            self._known[id(node)] = b""
            known = self._known[id(node)] = hashlib.sha256(_framed(self._meaning(node))).digest()
        elif not known:
            raise Unreadable
        return known

    def entries(self, node: yaml.Node | None) -> _Entries:
        """The entries of a mapping by their keys, with those that are merged in; none of anything else."""
        if not isinstance(node, yaml.MappingNode):
            return {}
        own: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        merged: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        pairs: list[tuple[yaml.Node, yaml.Node]] = node.value
        for key, value in pairs:
            self._left -= 1
            if key.tag != _MERGE:
                own[_name(key)] = key, value
                continue
            for mapping in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                for name, entry in self.entries(mapping).items():
                    self._left -= 1
                    merged.setdefault(name, entry)
            if self._left < 0:
                raise Unreadable
        return merged | own

    def _meaning(self, node: yaml.Node) -> Iterator[bytes]:
        yield type(node).__name__.encode()
        yield node.tag.encode()
        if isinstance(node, yaml.MappingNode):
            for name, (_, value) in sorted(self.entries(node).items(), key=lambda entry: entry[0]):
                yield name.encode()
                yield self.digest(value)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                yield self.digest(item)
        else:
            yield str(node.value).encode()


def _framed(pieces: Iterable[bytes]) -> bytes:
    """The pieces, each after its length: texts contain any byte, so no separator tells where one ends."""
    return b"".join(b"%d:%b" % (len(piece), piece) for piece in pieces)


def _name(key: yaml.Node) -> str:
    """A key that is not text is not one of the collector's, which says so."""
    return str(key.value) if isinstance(key, yaml.ScalarNode) else ""
