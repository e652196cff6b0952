"""HTML from templates with holes: whatever fills a hole is escaped, unless it is HTML made here.

A template engine would be another dependency to import at every cold start, for pages that have no logic of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from string import Formatter
from typing import Final, TypeAlias


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


_Hole: TypeAlias = tuple[str, str | None, str, str | None]
_TEXT, _ELEMENTS = "text", "elements"
Part: TypeAlias = "str | int | Html | Iterable[Html] | None"


def html(template: str, **parts: Part) -> Html:
    """The template, a text of this program's own, with its holes `{name}` filled."""
    return Html(_Filling().format(template, **parts))


def joined(parts: Iterable[Html]) -> Html:
    return Html("".join(parts))


def with_code(text: str) -> Html:
    """Text, in which what stands between two backticks is code."""
    parts = enumerate(re.split("`([^`]*)`", text))
    return joined(html("<code>{part}</code>" if place % 2 else "{part}", part=part) for place, part in parts)


def breakable(path: str, separator: str) -> Html:
    """A path that a narrow column breaks behind each separator."""
    return Html(f"{separator}<wbr>".join(html("{part}", part=part) for part in path.split(separator)))


def separated(separator: str, parts: Iterable[str | Html]) -> Html:
    """The parts that are not empty, escaped like those of `html`, with the separator between them."""
    return Html(separator.join(html("{part}", part=part) for part in parts if part))


NOTHING = Html("")
# Letters from right to left, and characters that turn what comes after them.
_TURNS: Final = re.compile(
    "[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff]"
)
# Where an element cannot stand: in a tag, in an attribute alone, and in elements whose content is text.
_TEXT_ONLY: Final = re.compile(r'<[^>]*\Z|="[^"]*\Z|<(?:option|text|textarea|title|tspan)\b[^<]*\Z')


class _Filling(Formatter):
    def parse(self, template: str) -> Iterable[_Hole]:
        return _holes(template)

    def format_field(self, value: object, place: str) -> str:
        match value:
            case Html():
                return value
            case None:
                return ""
            case str() | int():
                return _escaped(str(value), place)
            case _ if isinstance(value, Iterable):
                return "".join(part if isinstance(part, Html) else _escaped(str(part), place) for part in value)
        raise TypeError(f"{type(value).__name__} in a page")


@lru_cache(maxsize=4_096)
def _holes(template: str) -> Sequence[_Hole]:
    """The texts and holes of a template; each hole says whether an element may stand in it."""
    before, holes = "", []
    for literal, name, _, conversion in Formatter().parse(template):
        before += literal
        holes.append((literal, name, _TEXT if _TEXT_ONLY.search(before) else _ELEMENTS, conversion))
    return holes


def _escaped(text: str, place: str) -> str:
    """The text, escaped; its direction ends with it, where an element may stand."""
    safe = escape(text, quote=True)
    return f"<bdi>{safe}</bdi>" if place == _ELEMENTS and _TURNS.search(text) else safe
