"""The ids of the pipelines and components in a text. Only the collector knows whether they are valid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeAlias

_PIPELINES: Final = ("service", "pipelines")
SECTIONS: Final = ("receivers", "processors", "exporters", "connectors", "extensions")
_MERGE: Final = "<<"
# The parser's time for a token grows with the depth: 100,000 open braces took 23 s.
DEEPEST: Final = 64
# It compares each `%TAG` with all before it: a megabyte of them took 9 s.
_MAX_DIRECTIVES: Final = 100


@dataclass(slots=True, eq=False)
class _Collection:
    """The part of a mapping or a sequence that matters here: its keys or texts, None for others, and collections."""

    is_mapping: bool
    entries: list[tuple[str | None, _Collection | None]] = field(default_factory=list)
    # Whether a mapping's next node is a key.
    at_key: bool = True

    def take(self, node: _Collection | str | None) -> None:
        """Add the next node; None if nothing is known about it."""
        collection = node if isinstance(node, _Collection) else None
        if not self.is_mapping:
            self.entries.append((node if isinstance(node, str) else None, collection))
        elif self.at_key:
            self.entries.append((node if isinstance(node, str) else None, None))
        else:
            self.entries[-1] = (self.entries[-1][0], collection)
        self.at_key = not self.at_key


_Entry: TypeAlias = tuple[str | None, _Collection | None]


def pipelines(text: str) -> list[str]:
    """The ids below `service::pipelines` in their order; empty for a text that names none or is not YAML.

    Aliases and merges are followed, each collection at most once on each of the three levels. Reading stops where
    collections are nested too deeply or too many tags are declared, so the time grows with the text's length only.
    """
    return list(dict.fromkeys(key for key, _ in _entries(_below([_root(text)], *_PIPELINES)) if key is not None))


def members(text: str, pipeline: str) -> tuple[list[str], list[str]] | None:
    """The receivers and the processors of a pipeline, None if the text has no such pipeline; bounded as above."""
    settings = _below([_root(text)], *_PIPELINES, pipeline)
    return (_listed(settings, "receivers"), _listed(settings, "processors")) if settings else None


def exporters(text: str) -> dict[str, list[str]]:
    """The exporters of each pipeline by its id, connectors among them; bounded as above."""
    return {
        pipeline: _listed([settings], "exporters")
        for pipeline, settings in _entries(_below([_root(text)], *_PIPELINES))
        if pipeline is not None and settings is not None and settings.is_mapping
    }


def components(text: str, most_events: int | None = None) -> list[tuple[str, str]]:
    """The section and the id of each component in the text, such as `("receivers", "otlp/a")`; bounded as above.

    With `most_events` those in the part of the text that makes so many events of the parser.
    """
    root = [_root(text, most_events)]
    declared = ((section, key) for section in SECTIONS for key, _ in _entries(_below(root, section)) if key is not None)
    return list(dict.fromkeys(declared))


def readable(text: str) -> bool:
    """True if the time of the parser in C depends on the text's length only, unless the text nests too deeply."""
    return text.count("%TAG") <= _MAX_DIRECTIVES


def _below(collections: Iterable[_Collection], *names: str) -> list[_Collection]:
    """The mappings that a path of keys leads to."""
    level = [*collections]
    for name in names:
        level = [value for key, value in _entries(level) if key == name and value is not None and value.is_mapping]
    return level


def _listed(settings: Iterable[_Collection], kind: str) -> list[str]:
    """The components in the lists of that kind of a pipeline."""
    lists = [value for key, value in _entries(settings) if key == kind and value is not None]
    return [component for each in lists for component, _ in each.entries if component]


def _entries(collections: Iterable[_Collection]) -> Iterator[_Entry]:
    """The entries of mappings, with those of a merged mapping in place of the merge."""
    seen: set[_Collection] = set()
    waiting = [_merging(collections)]
    while waiting:
        for key, value in waiting[-1]:
            if key != _MERGE:
                yield key, value
            elif value is not None and value not in seen:
                seen.add(value)
                # A merge is of a mapping, or of a list of them.
                waiting.append(
                    iter(value.entries) if value.is_mapping else _merging(merged for _, merged in value.entries)
                )
                break
        else:
            waiting.pop()


def _merging(collections: Iterable[_Collection | None]) -> Iterator[_Entry]:
    return ((_MERGE, collection) for collection in collections)


def _root(text: str, most_events: int | None = None) -> _Collection:
    """The document, as far as it can be read, from the parser's stream of events; of at most so many of them."""
    import yaml  # only where it is needed: 15 ms of a cold start

    from headgate.foundation.yaml_text import SafeLoader

    opened = [_Collection(is_mapping=False)]
    if not readable(text):
        return opened[0]
    anchors: dict[str, _Collection | str | None] = {}
    try:
        # NUL would end the text for the parser in C and be an error for the other one.
        for event in islice(yaml.parse(text.replace("\0", "\ufffd"), Loader=SafeLoader), most_events):
            node: _Collection | str | None
            match event:
                case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                    node = _Collection(isinstance(event, yaml.MappingStartEvent))
                case yaml.ScalarEvent(value=str(node)):
                    pass
                case yaml.AliasEvent():
                    node = anchors.get(str(event.anchor))
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    opened.pop()
                    continue
                case _:
                    continue
            opened[-1].take(node)
            if isinstance(event, yaml.NodeEvent) and event.anchor and not isinstance(event, yaml.AliasEvent):
                anchors[event.anchor] = node
            if isinstance(event, yaml.CollectionStartEvent) and isinstance(node, _Collection):
                opened.append(node)
                if len(opened) > DEEPEST:
                    break
    except yaml.YAMLError:
        pass
    return opened[0]
