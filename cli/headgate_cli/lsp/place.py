"""The place of the cursor in a configuration, by indentation: it needs no text that parses.

Block style is read upwards from the cursor's line, flow style (`[a, {b: c}]`) forwards from the line that opens it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from headgate_cli.lsp.text import DocumentText
from headgate_cli.lsp.tree import Path, Step

# The lines above the cursor in which an open bracket is looked for.
_FLOW_LINES: Final = 200
_MOST_LINES: Final = 60_000
_LONGEST_KEY: Final = 1_000
_LONGEST_FLOW: Final = 200_000
# The mappings around an expression in which the key of its context is looked for.
_MOST_LEVELS: Final = 6
_DASH: Final = re.compile(r"-(?:[ \t]+|$)")
_KEY: Final = re.compile(
    r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#](?:[^\s:#]|:(?=\S)|(?<=\S)\#|\s++(?=[^\s:#]|:\S))*)"""
    r"""[ \t]*:(?:[ \t]+|$)"""
)
_BLOCK_SCALAR: Final = re.compile(r"(?:[!&]\S+[ \t]+)*[|>][-+0-9]{0,2}[ \t]*(?:#.*)?$")
_PROPERTIES: Final = re.compile(r"(?:[!&][^\s,\[\]{}]+[ \t]+)+")
_FLOW_TOKEN: Final = re.compile(
    r"""(?P<space>\s+)|(?P<comment>(?<=\s)\#[^\n]*)|(?P<mark>[\[\]{},])|(?P<colon>:(?=[\s,\[\]{}]|$))"""
    r"""|(?P<quoted>"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)"""
    r"""|(?P<plain>(?:[^\s,\[\]{}:]|:(?=[^\s,\[\]{}])|[ \t]+(?=[^\s,\[\]{}:\#]))+)"""
)

Role = Literal["key", "value", "entry", "scalar", "comment"]


@dataclass(frozen=True)
class CursorPlace:
    """The cursor's place.

    `path` leads to the mapping if a key belongs here, and to the value or list entry itself otherwise. `typed` is what
    stands between `start` and the cursor. `siblings` are the other keys of the same mapping with their values, of the
    innermost mapping around the cursor. `scalar`: inside of a block scalar.
    """

    role: Role
    path: Path
    typed: str
    start: int
    end: int
    quote: str = ""
    flow: bool = False
    siblings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Line:
    """A line by its dashes and its content: `- - key: value`."""

    number: int
    dashes: tuple[int, ...]
    column: int
    content: str

    @property
    def first(self) -> int:
        return self.dashes[0] if self.dashes else self.column

    @property
    def blank(self) -> bool:
        return not self.dashes and not self.content

    def key(self) -> tuple[str, str] | None:
        """The line's key and what follows it."""
        if self.content[:1] in ("[", "{"):
            return None
        # A key is short; the pattern takes quadratic time in white space.
        match = _KEY.match(self.content[:_LONGEST_KEY])
        return (unquoted(match[1]), self.content[match.end() :]) if match else None


def unquoted(text: str) -> str:
    """The text of a key or value as it is written on one line."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].replace("''", "'") if text[0] == "'" else text[1:-1]
    return text


def place_at(text: DocumentText, offset: int) -> CursorPlace:
    """The cursor's place. Never fails."""
    number = text.line_of(offset)
    start, _ = text.line_span(number)
    cursor = max(offset - start, 0)
    flow = _flow_place(text, number, offset)
    return flow if flow is not None else _block_place(text, number, offset, cursor)


def _block_place(text: DocumentText, number: int, offset: int, cursor: int) -> CursorPlace:
    start, _ = text.line_span(number)
    line = _line(text, number, upto=cursor)
    at = line.column if line.content else max(cursor, line.column)
    path, header = _above(text, line, at)
    if header is not None:
        begins, _ = text.line_span(header + 1)
        return CursorPlace("scalar", path, text.content[begins:offset].lstrip(), begins, offset)
    if _in_comment(text.line(number)[:cursor]):
        return CursorPlace("comment", path, "", offset, offset)
    beside = dict(_siblings(text, number, at, line))
    key = line.key()
    if key is not None:
        name, value = key
        begins = start + cursor - len(value)
        value, begins = _without_properties(value, begins)
        return _scalar("value", (*path, name), text, value, begins, offset, beside)
    if line.content[:1] in ('"', "'") or (line.dashes and not _may_be_key(line.content)):
        return _scalar("entry", path, text, line.content, start + line.column, offset, beside)
    content, begins = _without_properties(line.content, start + line.column)
    return CursorPlace("key", path, content, begins, _word_end(text, offset), siblings=beside)


def _scalar(
    role: Role, path: Path, text: DocumentText, value: str, begins: int, offset: int, beside: Mapping[str, str]
) -> CursorPlace:
    quote = value[0] if value and value[0] in "\"'" else ""
    return CursorPlace(
        role,
        path,
        value[1:] if quote else value,
        begins + len(quote),
        _word_end(text, offset),
        quote=quote,
        siblings=beside,
    )


def _may_be_key(content: str) -> bool:
    return re.fullmatch(r"[\w./-]*", content) is not None


def _without_properties(value: str, begins: int) -> tuple[str, int]:
    """Without an anchor or a tag before the value."""
    match = _PROPERTIES.match(value)
    return (value[match.end() :], begins + match.end()) if match else (value, begins)


def _word_end(text: DocumentText, offset: int) -> int:
    """The end of the word that the cursor is in: a completion replaces all of it."""
    match = re.compile(r"[\w./-]*").match(text.content, offset)
    return match.end() if match else offset


def _in_comment(before: str) -> bool:
    quote = ""
    for at, char in enumerate(before):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and (at == 0 or before[at - 1] in " \t:[{,-"):
            quote = char
        elif char == "#" and (at == 0 or before[at - 1] in " \t"):
            return True
    return False


def _line(text: DocumentText, number: int, upto: int | None = None) -> _Line:
    content = text.line(number)
    if upto is not None:
        content = content[:upto]
    column = len(content) - len(content.lstrip(" \t"))
    dashes = []
    while match := _DASH.match(content, column):
        dashes.append(column)
        column = match.end()
        if len(dashes) > 100:
            break
    rest = content[column:]
    return _Line(number, tuple(dashes), column, "" if rest.startswith("#") else rest)


def _above(text: DocumentText, line: _Line, at: int) -> tuple[Path, int | None]:
    """The path of what stands at a column of a line, and the line of the block scalar that it is in."""
    steps: list[Step] = []
    header: int | None = None
    # The column that the next one has to be left of, and whether a list entry stands there.
    left, in_list, index = at, False, 0
    for dash in reversed(line.dashes):
        if dash < left:
            steps.append(0)
            left, in_list = dash, True
    for number in range(line.number - 1, max(line.number - _MOST_LINES, -1), -1):
        if left == 0 and not in_list:
            break
        upper = _line(text, number)
        if upper.blank:
            continue
        if in_list and upper.first == left and upper.dashes:
            index += 1
            continue
        key = upper.key() if (upper.column < left or (in_list and upper.column == left and not upper.dashes)) else None
        opens = key[1] if key is not None else upper.content
        parent = upper.first < left or (in_list and key is not None and upper.column == left)
        if not parent:
            continue
        if in_list:
            steps[-1], index = index, 0
            in_list = False
        if _BLOCK_SCALAR.match(opens) and upper.column <= left and (key is not None or upper.dashes):
            steps, header = [], number
        if key is not None:
            steps.append(key[0])
            left = upper.column
        for dash in reversed(upper.dashes):
            if dash < left:
                if in_list:
                    steps[-1] = 0
                steps.append(0)
                left, in_list, index = dash, True, 0
    if in_list:
        steps[-1] = index
    return tuple(reversed(steps)), header


def _siblings(text: DocumentText, number: int, column: int, line: _Line) -> Iterator[tuple[str, str]]:
    """The keys of the mapping whose keys stand at this column, but for the line's own."""
    if not line.dashes or line.dashes[-1] > column:
        yield from _keys(text, range(number - 1, max(number - _MOST_LINES, -1), -1), column, upwards=True)
    yield from _keys(text, range(number + 1, min(number + _MOST_LINES, text.line_count)), column, upwards=False)


def _keys(text: DocumentText, numbers: range, column: int, *, upwards: bool) -> Iterator[tuple[str, str]]:
    for number in numbers:
        line = _line(text, number)
        if line.blank:
            continue
        if line.column == column and (upwards or not line.dashes):
            key = line.key()
            if key is not None:
                yield key
        if line.first < column:
            return


def siblings_above(text: DocumentText, offset: int, name: str) -> str:
    """The value of a key in the nearest mapping around the place that has it; empty if none has it."""
    number = text.line_of(offset)
    line = _line(text, number)
    left, levels = line.first + 1, 0
    for above in range(number, max(number - 2_000, -1), -1):
        upper = _line(text, above)
        if upper.blank or upper.first >= left:
            continue
        left, levels = upper.first, levels + 1
        column = upper.column
        for key, value in [*filter(None, [upper.key()]), *_siblings(text, above, column, upper)]:
            if key == name:
                return unquoted(re.sub(r"[ \t]#.*", "", value))
        if left == 0 or levels == _MOST_LEVELS:
            break
    return ""


def _flow_place(text: DocumentText, number: int, offset: int) -> CursorPlace | None:
    """The place inside of brackets, None if the cursor is not inside of any."""
    for above in range(number, max(number - _FLOW_LINES, -1), -1):
        begins, _ = text.line_span(above)
        line = _line(text, above)
        if not line.blank and (begins + line.column <= offset):
            key = line.key()
            value = key[1] if key is not None else line.content
            opens = begins + line.column + len(line.content) - len(value)
            value, opens = _without_properties(value, opens)
            if value[:1] in ("[", "{") and value and opens < offset:
                inner = _within(text, opens, offset)
                if inner is None:
                    return None
                path, _ = _above(text, line, line.column)
                prefix = (*path, key[0]) if key is not None else path
                return CursorPlace(**{**inner.__dict__, "path": (*prefix, *inner.path)})
        if above < number and not line.blank and line.first == 0 and line.key() is not None:
            return None
    return None


@dataclass
class _Bracket:
    mark: str
    index: int = 0
    key: str | None = None
    keys: dict[str, str] = field(default_factory=dict)


def _within(text: DocumentText, opens: int, offset: int) -> CursorPlace | None:
    """The place between an opening bracket and the cursor, None if all brackets are closed."""
    if offset - opens > _LONGEST_FLOW:
        return None
    content = text.content
    stack: list[_Bracket] = []
    last, last_start, quote = "", offset, ""
    at = opens
    while at < offset:
        match = _FLOW_TOKEN.match(content, at, offset)
        if match is None:
            at += 1
            continue
        kind, symbol = match.lastgroup, match[0]
        at = match.end()
        if kind == "mark" and symbol in "[{":
            if len(stack) > 200:
                return None
            stack.append(_Bracket(symbol))
            last, last_start, quote = "", offset, ""
        elif kind == "mark" and symbol in "]}":
            if stack:
                stack.pop()
            if not stack:
                return None
            last, last_start, quote = "", offset, ""
        elif kind == "mark":
            bracket = stack[-1]
            if bracket.key is not None:
                bracket.keys[bracket.key] = last
            bracket.index, bracket.key = bracket.index + 1, None
            last, last_start, quote = "", offset, ""
        elif kind == "colon":
            stack[-1].key = unquoted(last)
            last, last_start, quote = "", offset, ""
        elif kind in ("quoted", "plain"):
            last, last_start, quote = symbol, match.start(), symbol[0] if kind == "quoted" else ""
        elif kind == "comment" and at == offset:
            return CursorPlace("comment", (), "", offset, offset, flow=True)
    if not stack:
        return None
    inner = stack[-1]
    path: list[Step] = [
        bracket.key if bracket.key is not None else bracket.index
        for bracket in stack[:-1]
        if bracket.mark == "[" or bracket.key is not None
    ]
    role: Role = "key"
    if inner.mark == "[" and inner.key is None:
        role = "entry"
        path.append(inner.index)
    elif inner.key is not None:
        role = "value"
        path.append(inner.key)
    begins = min(last_start + len(quote), offset)
    typed = content[begins:offset]
    siblings = next((bracket.keys for bracket in reversed(stack) if bracket.mark == "{"), {})
    return CursorPlace(
        role, tuple(path), typed, begins, _word_end(text, offset), quote=quote, flow=True, siblings=siblings
    )
