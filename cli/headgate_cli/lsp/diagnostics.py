"""The findings about a text, as diagnostics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from headgate_cli.api import Entity
from headgate_cli.checks.fixing import TextReplacement, edits_of
from headgate_cli.lsp.text import DocumentText
from headgate_cli.lsp.tree import Node, NotParsed, Tree, parse
from headgate_cli.shaped import listed
from headgate_cli.shapes import ListedFinding
from headgate_cli.untrusted import printable

Severity = Literal["error", "warning", "information", "hint"]

NOT_CHECKED: Final = "not_checked"
_MOST: Final = 500
_SKIPPED: Final = "ottl_skipped"
_SEVERITIES: Final[Mapping[str, Severity]] = {"error": "error", "warning": "warning", "note": "information"}
_STEP: Final = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True)
class Diagnostic:
    """A finding between two offsets. `path` is the collector's own, `receivers::otlp::protocols`; `fix` mends it."""

    start: int
    end: int
    severity: Severity
    code: str
    message: str
    path: str = ""
    unnecessary: bool = False
    fix: tuple[TextReplacement, ...] = ()


def of_answer(answer: Entity, text: DocumentText) -> list[Diagnostic]:
    """The diagnostics of an answer of POST /validate?lint=true&policies=true: its findings, in their order."""
    try:
        tree: Tree | None = parse(text.content)
    except NotParsed:
        tree = None
    return [_diagnostic(entry, text, tree) for entry in listed(ListedFinding, answer, "findings")[:_MOST]]


def not_checked(reason: str, text: DocumentText, code: str = NOT_CHECKED) -> list[Diagnostic]:
    """The one diagnostic of a text that was not checked: without it, the text would look valid."""
    return [Diagnostic(0, text.line_span(0)[1], "warning", code, f"Not checked: {printable(reason)}")]


def _diagnostic(entry: ListedFinding, text: DocumentText, tree: Tree | None) -> Diagnostic:
    code, path = entry["code"], entry.get("component_path") or ""
    severity: Severity = "hint" if code == _SKIPPED else _SEVERITIES.get(entry.get("severity", ""), "warning")
    message = "\n".join(part for part in (entry["message"], entry.get("way_out")) if part)
    start, end = _span({**entry}, path, text, tree)
    fix = tuple(edits_of(text.content, [entry]))
    unused = code == "unused_component"
    return Diagnostic(start, end, severity, code, printable(message), path, unnecessary=unused, fix=fix)


def _span(entry: Entity, path: str, text: DocumentText, tree: Tree | None) -> tuple[int, int]:
    """Return the finding's place; one whose line is not a number is at its path, so that it is shown nevertheless."""
    line, column, last, end = (_number(entry.get(name)) for name in ("line", "column", "end_line", "end_column"))
    if line < 1:
        node = _node(path, tree)
        return (node.start, node.end) if node is not None else (0, text.line_span(0)[1])
    start = text.of_finding(line, column)
    number = text.line_of(start)
    line_start, line_end = text.line_span(number)
    if column < 1:
        content = text.line(number)
        return line_start + len(content) - len(content.lstrip()), line_end
    if last < line or end < 1:
        return start, max(start, min(start + 1, line_end))
    return start, max(start, min(text.of_finding(last, end), text.line_span(text.line_of(start))[1]))


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _node(path: str, tree: Tree | None) -> Node | None:
    """The key at a path of the collector, `receivers::otlp::include[0]`; its nearest parent if it has no key."""
    if tree is None or not path:
        return None
    nearest = None
    node = tree.root
    for part in path.split("::"):
        name, *indexes = _STEP.split(part)[:1], *(int(index) for index in _STEP.findall(part))
        pair = next((pair for pair in node.resolved.pairs if pair[0].text == name[0]), None)
        if pair is None:
            return nearest
        nearest, node = pair
        for index in indexes:
            if index >= len(node.resolved.items):
                return nearest
            node = node.resolved.items[index]
    return nearest
