"""The text of a document: its lines, and positions in the units of the editor.

Everywhere else in this package a place is an offset: the number of characters (code points) before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from enum import StrEnum
from functools import cached_property
from typing import Final

from headgate_cli.checks.findings import LINE_END

# The line ends of the protocol; YAML has more.
_LINE_END: Final = re.compile(r"\r\n|[\r\n]")


class Encoding(StrEnum):
    """The unit of a position within a line."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


class DocumentText:
    """An immutable text. Lines and characters of positions count from 0."""

    def __init__(self, content: str, encoding: Encoding = Encoding.UTF16) -> None:
        self.content = content
        self.encoding = encoding

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(end.end() for end in _LINE_END.finditer(self.content))]

    @cached_property
    def _yaml_starts(self) -> list[int]:
        return [0, *(end.end() for end in LINE_END.finditer(self.content))]

    @cached_property
    def _is_ascii(self) -> bool:
        return self.content.isascii()

    @property
    def line_count(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        """A line without its end; empty if there is no such line."""
        if not 0 <= number < len(self._starts):
            return ""
        start, end = self.line_span(number)
        return self.content[start:end]

    def line_span(self, number: int) -> tuple[int, int]:
        """The offsets of a line's first character and of its end, before the line break."""
        start = self._starts[number]
        if number + 1 == len(self._starts):
            return start, len(self.content)
        end = self._starts[number + 1]
        return start, end - (2 if self.content[end - 2 : end] == "\r\n" else 1)

    def line_of(self, offset: int) -> int:
        """The number of the line in which an offset is."""
        return bisect_right(self._starts, max(offset, 0)) - 1

    def start_of(self, line: int) -> int:
        """The offset of a line's first character; the end of the text if there is no such line."""
        return self._starts[line] if 0 <= line < len(self._starts) else len(self.content)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and character of an offset, in the units of the editor."""
        offset = min(max(offset, 0), len(self.content))
        line = self.line_of(offset)
        return line, self._units(self.content[self._starts[line] : offset])

    def offset(self, line: int, character: int) -> int:
        """The offset of a position. A place past the end of a line is its end; within a character, its start."""
        if line < 0:
            return 0
        if line >= len(self._starts):
            return len(self.content)
        start, end = self.line_span(line)
        if self._is_ascii or self.encoding is Encoding.UTF32:
            return min(start + max(character, 0), end)
        units = 0
        for offset in range(start, end):
            units += self._units(self.content[offset])
            if units > character:
                return offset
        return end

    def of_finding(self, line: int, column: int) -> int:
        """The offset of a finding's place, which counts YAML's lines and characters from 1; 0 if it is not known."""
        if not 0 < line <= len(self._yaml_starts):
            return 0
        start = self._yaml_starts[line - 1]
        end = self._yaml_starts[line] if line < len(self._yaml_starts) else len(self.content)
        return min(start + max(column - 1, 0), end)

    def replaced(self, start: int, end: int, by: str) -> DocumentText:
        """The text with other characters between two offsets."""
        return DocumentText(self.content[:start] + by + self.content[max(start, end) :], self.encoding)

    def _units(self, part: str) -> int:
        if self.encoding is Encoding.UTF32 or part.isascii():
            return len(part)
        if self.encoding is Encoding.UTF8:
            return len(part.encode("utf-8", "surrogatepass"))
        return len(part.encode("utf-16-le", "surrogatepass")) // 2
