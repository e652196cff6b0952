"""The ids of the components that a text defines, as they are stored beside it for the search.

A text is read once, when it is stored, in a time that is bounded whatever it says: the YAML parser reads its first
30,000 events, some 10,000 lines. What is longer is read by lines as well, which finds what stands in block style.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from headgate.configurations import pipelines

MOST_EVENTS: Final = 30_000
"""Some 150 ms. A megabyte can make a million events."""
MOST_IDS: Final = 1_000
LONGEST: Final = 193
"""Characters of an id that can be searched; a longer one is left out. With `MOST_IDS` it fits into the text's item."""
_MOST_BYTES: Final = 60_000

# Each is bounded by the line that it stands in, and no part of it can match what another part does.
_SECTION: Final = re.compile(rf"^(?:{'|'.join(pipelines.SECTIONS)}):[ \t\r]*(?:#.*)?$", re.MULTILINE)
_KEY: Final = re.compile(r"""( +)(?:"([^"\\]*)"|'([^']*)'|([^\s"'#&*!|>%@`{\[,?:-][^\s:]*)):(?=\s|\Z)""")


def ids_in(text: str) -> list[str]:
    """The ids, each once, such as `otlp/a`; at most 1,000 of up to 193 characters."""
    # Each event takes a character at least: the parser has read the whole of a shorter text.
    rest = _by_lines(text) if len(text) > MOST_EVENTS else ()
    ids: dict[str, None] = {}
    size = 0
    for id_ in chain((id_ for _, id_ in pipelines.components(text, MOST_EVENTS)), rest):
        if id_ in ids or len(id_) > LONGEST or "\n" in id_:
            continue
        size += len(id_.encode()) + 1
        if size > _MOST_BYTES or len(ids) == MOST_IDS:
            break
        ids[id_] = None
    return list(ids)


def defines(ids: Sequence[str], component: str) -> bool:
    """True if one of the ids is the component, or of its type if it is a type."""
    return any(component in (id_, id_.partition("/")[0]) for id_ in ids)


def _by_lines(text: str) -> Iterator[str]:
    """The keys of the first level below each section that begins a line, as far as they stand in lines of their own."""
    for section in _SECTION.finditer(text):
        at, indent = section.end() + 1, ""
        while 0 < at < len(text) and text[at] in " #\r\n":
            if key := _KEY.match(text, at):
                indent = indent or key[1]
                if key[1] == indent:
                    yield key[2] or key[3] or key[4] or ""
            at = text.find("\n", at) + 1
