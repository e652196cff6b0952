"""HTML from templates with holes: whatever fills a hole is escaped, unless it is HTML made here.

A template engine would be another dependency to import at every cold start, for pages that have no logic of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from string import Formatter
from typing import TypeAlias


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


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


class _Filling(Formatter):
    def format_field(self, value: object, _format: str) -> str:
        match value:
            case Html():
                return value
            case None:
                return ""
            case str() | int():
                return escape(str(value), quote=True)
            case _ if isinstance(value, Iterable):
                return "".join(part if isinstance(part, Html) else escape(str(part), quote=True) for part in value)
        raise TypeError(f"{type(value).__name__} in a page")
