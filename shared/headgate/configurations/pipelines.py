"""The pipelines that a configuration's text names, for a list of them; the collector alone judges whether they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_WANTED: Final = ["service", "pipelines"]
# The parser's time for a token grows with the depth: 100,000 open braces took it 23 s.
_DEEPEST: Final = 64


@dataclass(slots=True)
class _Open:
    """A collection that has not ended. `key` is the key of a mapping that was read last, None for one that is no text.

    `at_key` is true where a mapping's next node is a key.
    """

    is_mapping: bool
    at_key: bool
    key: str | None = None


def pipelines(text: str) -> list[str]:
    """The ids below `service::pipelines` in their order; empty for a text that names none or is not YAML.

    Read as a stream of events, so that a stranger's text costs no more than its length. What stands behind an alias is
    not followed, and nothing is read from where collections are nested too deeply.
    """
    import yaml  # only where it is needed: 15 ms of a cold start

    found: list[str] = []
    try:
        found.extend(_pipelines(text))
    except yaml.YAMLError:
        return found
    return found


def _pipelines(text: str) -> Iterator[str]:
    import yaml

    opened: list[_Open] = []
    # NUL would end the text for the parser in C and be an error for the other one.
    for event in yaml.parse(text.replace("\0", "\ufffd"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        match event:
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                _take(opened, None)
                opened.append(_Open(isinstance(event, yaml.MappingStartEvent), at_key=True))
                if len(opened) > _DEEPEST:
                    return
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                opened.pop()
                _end(opened)
            case yaml.ScalarEvent(value=str(value)):
                if _take(opened, value) and [one.key for one in opened[:-1]] == _WANTED:
                    yield value
                _end(opened)
            case yaml.AliasEvent():
                _take(opened, None)
                _end(opened)


def _take(opened: list[_Open], key: str | None) -> bool:
    """Note the key that a node is. False for a node that is none."""
    if not opened or not opened[-1].is_mapping or not opened[-1].at_key:
        return False
    opened[-1].key = key
    return True


def _end(opened: list[_Open]) -> None:
    """A node has ended: after a key comes its value, and after that the next key."""
    if opened:
        opened[-1].at_key = not opened[-1].at_key
