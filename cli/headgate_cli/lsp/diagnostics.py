"""The findings about a text, as diagnostics: verdict, lint and policies as one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from headgate_cli.api import Entity, entities, optional
from headgate_cli.lsp.text import Text
from headgate_cli.lsp.tree import Broken, Node, Tree, parse
from headgate_cli.untrusted import printable

Severity = Literal["error", "warning", "information", "hint"]

NOT_CHECKED: Final = "not_checked"
_MOST: Final = 500
_WORD: Final = re.compile(r"[^\s,\[\]{}()\"']+")
_SEVERITIES: Final[Mapping[str, Severity]] = {"error": "error", "warning": "warning", "info": "information"}
_POSITION: Final = re.compile(r"\b\d+:\d+\b")
_STEP: Final = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True)
class Diagnostic:
    """A finding between two offsets. `path` is the collector's own, `receivers::otlp::protocols`."""

    start: int
    end: int
    severity: Severity
    code: str
    message: str
    path: str = ""
    unnecessary: bool = False


def of_answer(answer: Entity, text: Text) -> list[Diagnostic]:
    """The diagnostics of an answer of POST /validate?lint=true&policies=true, in the order of the text."""
    try:
        tree: Tree | None = parse(text.content)
    except Broken:
        tree = None
    verdict = (one for one in _of_verdict(answer, text, tree) if not _is_linted(one, answer))
    found = [*verdict, *_of_lint(answer, text, tree), *_of_policies(answer, text, tree)]
    # A text that is not YAML has neither, and says so.
    if not any(one.code == "yaml_syntax" for one in found):
        found += _of_missing(answer, text)
    unique = {(one.start, one.end, one.code, one.message): one for one in found}
    return sorted(unique.values(), key=lambda one: (one.start, one.code))[:_MOST]


def not_checked(reason: str, text: Text, code: str = NOT_CHECKED) -> list[Diagnostic]:
    """The one diagnostic of a text that was not checked: without it, the text would look valid."""
    return [Diagnostic(0, text.line_span(0)[1], "warning", code, f"Not checked: {printable(reason)}")]


def _of_verdict(answer: Entity, text: Text, tree: Tree | None) -> Iterator[Diagnostic]:
    severities: tuple[tuple[str, Severity], ...] = (("errors", "error"), ("warnings", "warning"))
    for name, severity in severities:
        for entry in entities(answer, name):
            yield _diagnostic(entry, severity, optional(entry, "message"), text, tree)


def _is_linted(found: Diagnostic, answer: Entity) -> bool:
    """Whether the linter says the same of an expression of the component, at the expression's own place."""
    if found.code != "invalid_value" or not found.path:
        return False
    for item in entities(_mapping(answer.get("lint")), "items"):
        error, path = optional(item, "error"), optional(_mapping(item.get("location")), "path")
        # Each counts lines and columns in a text of its own.
        said, linted = (_POSITION.sub("", message).strip() for message in (found.message, printable(error)))
        if error and path.startswith(f"{found.path}::") and said.endswith(linted):
            return True
    return False


def _of_lint(answer: Entity, text: Text, tree: Tree | None) -> Iterator[Diagnostic]:
    lint = _mapping(answer.get("lint"))
    for item in entities(lint, "items"):
        place = _mapping(item.get("location"))
        error, note = optional(item, "error"), optional(item, "note")
        entry: Entity = {**place, "component_path": place.get("path"), "code": "ottl"}
        # A note alone is about a correct expression, as the context that was inferred.
        if error:
            message = "\n".join(part for part in (error, note) if part)
            yield _diagnostic(entry, "error", message, text, tree)
    for item in entities(lint, "skipped"):
        place = _mapping(item.get("location"))
        entry = {**place, "component_path": place.get("path"), "code": "ottl_skipped"}
        yield _diagnostic(entry, "hint", f"Not linted: {optional(item, 'reason')}", text, tree)


def _of_policies(answer: Entity, text: Text, tree: Tree | None) -> Iterator[Diagnostic]:
    policies = _mapping(answer.get("policies"))
    for entry in entities(policies, "findings"):
        if isinstance(entry.get("suppressed"), Mapping):
            continue
        severity = _SEVERITIES.get(optional(entry, "severity"), "warning")
        message = "\n".join(part for part in (optional(entry, "message"), optional(entry, "way_out")) if part)
        yield _diagnostic(entry, severity, message, text, tree)
    for entry in entities(policies, "suppressions"):
        if optional(entry, "problem"):
            named = {**entry, "code": "policy_suppression"}
            yield _diagnostic(named, "warning", optional(entry, "problem"), text, tree)
    for rule in entities(policies, "failed_rules"):
        message = f"The rule {optional(rule, 'name')} could not be applied: {optional(rule, 'error')}"
        message += "; an Admin mends the rule"
        yield _diagnostic({"code": "policy_rule_failed"}, "information", message, text, tree)


def _of_missing(answer: Entity, text: Text) -> Iterator[Diagnostic]:
    """The parts of the check that could not be had: the text must not look as if they had found nothing."""
    for name, what in (("lint", "OTTL"), ("policies", "policies")):
        problem = _mapping(_mapping(answer.get(name)).get("problem"))
        if problem:
            yield from not_checked(f"{what}: {optional(problem, 'detail')}", text)


def _diagnostic(entry: Entity, severity: Severity, message: str, text: Text, tree: Tree | None) -> Diagnostic:
    code, path = optional(entry, "code"), optional(entry, "component_path")
    start, end = _span(entry, path, text, tree)
    return Diagnostic(start, end, severity, code, printable(message), path, unnecessary=code == "unused_component")


def _span(entry: Entity, path: str, text: Text, tree: Tree | None) -> tuple[int, int]:
    line, column = entry.get("line"), entry.get("column")
    if not isinstance(line, int) or line < 1:
        node = _node(path, tree)
        return (node.start, node.end) if node is not None else (0, text.line_span(0)[1])
    start = text.of_finding(line, column if isinstance(column, int) else 0)
    number = text.line_of(start)
    line_start, line_end = text.line_span(number)
    if not isinstance(column, int) or column < 1:
        content = text.line(number)
        return line_start + len(content) - len(content.lstrip()), line_end
    node = tree.scalar_at(start) if tree is not None else None
    if node is not None and node.start == start:
        return start, min(node.end, line_end)
    word = _WORD.match(text.content, start, line_end)
    return start, max(word.end() if word else start + 1, start)


def _node(path: str, tree: Tree | None) -> Node | None:
    """The key at a path of the collector, `receivers::otlp::include[0]`; its nearest parent if it has no key."""
    if tree is None or not path:
        return None
    found = None
    node = tree.root
    for part in path.split("::"):
        name, *indexes = _STEP.split(part)[:1], *(int(index) for index in _STEP.findall(part))
        pair = next((pair for pair in node.resolved.pairs if pair[0].text == name[0]), None)
        if pair is None:
            return found
        found, node = pair
        for index in indexes:
            if index >= len(node.resolved.items):
                return found
            node = node.resolved.items[index]
    return found


def _mapping(value: object) -> Entity:
    return value if isinstance(value, Mapping) else {}
