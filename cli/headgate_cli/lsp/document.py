"""An open document: its text, and the newest tree that describes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from headgate_cli.lsp.configuration import ParsedConfiguration, is_collector
from headgate_cli.lsp.schema import ServedSchema
from headgate_cli.lsp.text import DocumentText, Encoding
from headgate_cli.lsp.tree import LONGEST, Node, Path, Tree, mended

# From this size on, a text is parsed beside the loop that answers requests.
LARGE: Final = 50_000


class OpenDocument:
    """A text as the editor has it. `number` counts its changes."""

    def __init__(self, uri: str, language: str, content: str, version: int | None, encoding: Encoding) -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self.text = DocumentText(content, encoding)
        self.number = 0
        # Where the last change was, for a text that does not parse.
        self._edited: int | None = None
        self._tree: Tree | None = None
        self._tree_content = ""
        # The change that the tree was made for, and whether the text parsed as it is.
        self._parsed = -1
        self._is_exact = False
        self._configuration: tuple[int, ServedSchema | None, ParsedConfiguration] | None = None

    @property
    def is_collector(self) -> bool:
        return is_collector(self.text.content, self.language, self.uri)

    @property
    def is_parsed(self) -> bool:
        return self._parsed == self.number

    def replace(self, content: str) -> None:
        """Another text."""
        self.text = DocumentText(content, self.text.encoding)
        self._edited = None
        self.number += 1

    def edit(self, start: tuple[int, int], end: tuple[int, int], by: str) -> None:
        """Other characters between two positions, in the units of the editor."""
        first, last = self.text.offset(*start), self.text.offset(*end)
        self.text = self.text.replaced(first, last, by)
        self._edited = first + len(by)
        self.number += 1

    def parse(self) -> None:
        """Make the tree of the text as it is now, by mending a text that does not parse, or by moving the last tree."""
        number, content = self.number, self.text.content
        if self._parsed == number or len(content) > LONGEST:
            return
        tree, exact = mended(content, self._edited)
        if number != self.number:
            # The text changed while a thread parsed it.
            return
        if tree is None and self._tree is not None:
            tree = self._tree
            tree.move(*_difference(self._tree_content, content))
        self._tree, self._tree_content, self._is_exact = tree, content, exact
        self._parsed = number

    @property
    def tree(self) -> Tree | None:
        """The newest tree; its places are those of the text, or near them if it does not parse."""
        self.parse()
        return self._tree

    @property
    def is_exact(self) -> bool:
        """True if the text parses as it is."""
        self.parse()
        return self._is_exact

    def configuration(self, reference: ServedSchema | None) -> ParsedConfiguration:
        """The declarations and uses of the text; empty if it never parsed."""
        tree = self.tree or Tree(Node("scalar", 0, 0), [])
        if self._configuration is None or self._configuration[:2] != (self.number, reference):
            self._configuration = self.number, reference, ParsedConfiguration(tree, reference)
        return self._configuration[2]

    def known(self, path: Path) -> str:
        """The text of the scalar at a path; empty if there is none."""
        node = self.tree.find(path) if self.tree is not None else None
        return node.text if node is not None else ""


def _difference(before: str, after: str) -> tuple[int, int, int]:
    """The first offset that differs, the end of what differs in the first text, and how far the rest has moved."""
    same = min(len(before), len(after))
    start = _common(lambda n: before[:n] == after[:n], same)
    tail = _common(lambda n: n == 0 or before[-n:] == after[-n:], same - start)
    return start, len(before) - tail, len(after) - len(before)


def _common(holds: Callable[[int], bool], most: int) -> int:
    """The largest number up to `most` for which it holds, if it holds for all smaller ones."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
