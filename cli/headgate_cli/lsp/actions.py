"""Fixes of findings: similar names, deprecated names, missing declarations, what is unused."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from headgate_cli.lsp import schema
from headgate_cli.lsp.configuration import ComponentUse, Declaration, ParsedConfiguration
from headgate_cli.lsp.diagnostics import Diagnostic
from headgate_cli.lsp.document import OpenDocument
from headgate_cli.lsp.navigation import Span, in_block, span_of
from headgate_cli.lsp.schema import KINDS, ServedSchema
from headgate_cli.lsp.tree import Node, get

_MEANT: Final = re.compile(r"""did you mean ["`]([\w./-]{1,200}|==)["`]\?""")
# Operators of other languages, in OTTL.
_OPERATOR: Final = re.compile(r"=|&&|\|\|")
_WORD: Final = re.compile(r"[\w./-]+")
_MOST: Final = 20
_SIMILAR: Final = 3
_MEND: Final = "Mend it"


@dataclass(frozen=True)
class Action:
    """A change that mends a finding: the new text of each span."""

    title: str
    edits: Mapping[Span, str]
    finding: Diagnostic | None
    preferred: bool = False
    mends_all: bool = False


def actions(
    document: OpenDocument, start: int, end: int, findings: Sequence[Diagnostic], reference: ServedSchema | None
) -> list[Action]:
    """The fixes for what is found between two offsets, each once, at most 20; then the one that mends all errors."""
    here = [finding for finding in findings if finding.start <= end and start <= finding.end]
    distinct: dict[tuple[tuple[Span, str], ...], Action] = {}
    for action in _all(document, start, end, here, reference):
        edits = tuple(sorted(action.edits.items()))
        # The title that says more wins.
        if edits not in distinct or distinct[edits].title == _MEND:
            distinct[edits] = action
    whole = fix_all(document, findings, reference)
    return [*list(distinct.values())[:_MOST], *([whole] if whole and distinct else [])]


def fix_all(
    document: OpenDocument, findings: Sequence[Diagnostic], reference: ServedSchema | None, least: int = 2
) -> Action | None:
    """The certain fixes of all errors at once, of two that overlap the first; None if fewer than `least` have one.

    Fixes of warnings change what a valid text means, so they are left, as `headgate validate --fix` leaves them.
    """
    edits: dict[Span, str] = {}
    count = 0
    for finding in findings:
        if finding.severity != "error":
            continue
        certain = next((fix for fix in _of_finding(document, finding, reference) if fix.preferred), None)
        new = {span: text for span, text in certain.edits.items() if edits.get(span) != text} if certain else {}
        if new and not any(_overlap(span, known) for span in new for known in edits):
            count += 1
            edits |= new
    title = f"Mend all {count} errors that have a fix" if count > 1 else "Mend the error that has a fix"
    return Action(title, edits, None, mends_all=True) if count >= least else None


def _overlap(first: Span, second: Span) -> bool:
    return first == second or (first[0] < second[1] and second[0] < first[1])


def _all(
    document: OpenDocument, start: int, end: int, here: Sequence[Diagnostic], reference: ServedSchema | None
) -> Iterator[Action]:
    configuration = document.configuration(reference)
    for finding in here:
        yield from _of_finding(document, finding, reference)
    for use in configuration.uses:
        here_too = use.node.start <= end and start <= use.node.end and not use.node.is_gone
        if here_too and configuration.declaration(use.sections, use.id) is None:
            yield from _declared(document, use, here, reference)
    for declared in configuration.declarations:
        if not declared.key.start <= end or not start <= declared.key.end or declared.key.is_gone:
            continue
        yield from _renewed(configuration, declared, here, reference)
        if not configuration.uses_of(declared) and declared.section in KINDS:
            unused = next((finding for finding in here if finding.code == "unused_component"), None)
            if unused is not None:
                title = f"Remove the unused {KINDS[declared.section]} {declared.id}"
                yield Action(title, {_lines_of(document, declared): ""}, unused)


def _of_finding(document: OpenDocument, finding: Diagnostic, reference: ServedSchema | None) -> Iterator[Action]:
    if finding.fix:
        edits = {(edit.start, edit.end): edit.text for edit in finding.fix}
        quotes = all(edit.text[:1] in ("'", '"') for edit in finding.fix)
        title = "Put it in quotes" if quotes else _MEND
        yield Action(title, edits, finding, preferred=finding.severity == "error")
    yield from _similar(document, finding, reference)


def _similar(document: OpenDocument, finding: Diagnostic, reference: ServedSchema | None) -> Iterator[Action]:
    """Suggest what the collector says was meant, or else similar names that it takes there."""
    word = _WORD.match(document.text.content, finding.start)
    meant = _MEANT.findall(finding.message)
    operator = _OPERATOR.match(document.text.content, finding.start) if finding.code == "ottl" else None
    if operator is not None and meant:
        yield Action(
            f"Change to {meant[0]}",
            {operator.span(): _apart(document, operator.span(), meant[0])},
            finding,
            preferred=True,
        )
        return
    for name in meant:
        span = _misspelt(document, finding, name)
        if span is not None:
            yield Action(f"Change to {name}", {span: name}, finding, preferred=True)
    if meant or reference is None or word is None:
        return
    path = tuple(finding.path.split("::"))
    names: list[str] = []
    if finding.code == "unknown_key":
        names = list(schema.properties(reference.at(path[:-1], document.known)))
    elif finding.code == "unknown_component" and len(path) == 2:
        names = [component.type for component in reference.types(path[0])]
    elif finding.code == "unknown_section":
        names = list(schema.SECTIONS)
    elif finding.code in ("invalid_value", "wrong_type"):
        names = [str(value) for value in schema.values(reference.at(path, document.known)) if isinstance(value, str)]
    for name in difflib.get_close_matches(word[0][:200], names, _SIMILAR, 0.7):
        if name != word[0]:
            yield Action(f"Change to {name}", {(word.start(), word.end()): name}, finding)


def _apart(document: OpenDocument, span: Span, operator: str) -> str:
    """The operator with the blanks that a word needs, which `a&&b` does not have."""
    content, (start, end) = document.text.content, span
    before = " " if operator.isalpha() and not content[max(start - 1, 0) : start].isspace() else ""
    after = " " if operator.isalpha() and not content[end : end + 1].isspace() else ""
    return f"{before}{operator}{after}"


def _misspelt(document: OpenDocument, finding: Diagnostic, name: str) -> Span | None:
    """The word to replace: at the finding, or in its line the one that resembles the name most."""
    content = document.text.content
    word = _WORD.match(content, finding.start)
    wrong = re.search(r'"([\w./-]+)"', finding.message)
    _, line_end = document.text.line_span(document.text.line_of(finding.start))
    if wrong is not None and wrong[1] != name:
        at = re.compile(rf"(?<![\w./-]){re.escape(wrong[1])}(?![\w./-])").search(content, finding.start, line_end)
        if at is not None:
            return at.span()
    words = list(re.compile(r"\w+").finditer(content, finding.start, line_end))
    if word is not None and not difflib.get_close_matches(name, [word[0]], 1, 0.6):
        close = difflib.get_close_matches(name, [match[0] for match in words], 1, 0.6)
        word = next((match for match in words if close and match[0] == close[0]), None)
    return word.span() if word is not None and word[0] != name else None


def _declared(
    document: OpenDocument, use: ComponentUse, here: Sequence[Diagnostic], reference: ServedSchema | None
) -> Iterator[Action]:
    """A declaration of a component that is only used, if this build has the type."""
    finding = next((diagnostic for diagnostic in here if diagnostic.code == "undefined_reference"), None)
    for section in use.sections:
        if section not in KINDS or (reference is not None and reference.component(section, use.id) is None):
            continue
        if reference is None and section != use.sections[0]:
            continue
        yield Action(f"Declare the {KINDS[section]} {use.id}", _insertion(document, section, use.id), finding)


def _insertion(document: OpenDocument, section: str, component_id: str) -> Mapping[Span, str]:
    """The text that adds an empty component to its section, which is made if there is none."""
    tree, text = document.tree, document.text
    assert tree is not None
    end_of_line = "\r\n" if "\r\n" in text.content else "\n"
    body = get(tree.root, section)
    if body is None or body.kind != "mapping" or not body.pairs:
        key = next((key for key, _ in tree.root.pairs if key.text == section), None)
        if key is not None:
            at = text.line_span(text.line_of(key.end))[1]
            return {(at, at): f"{end_of_line}  {component_id}:"}
        before = next((key.start for key, _ in tree.root.pairs if key.text == "service"), len(text.content))
        gap = "" if before == 0 or text.content[before - 1] in "\r\n" else end_of_line
        return {(before, before): f"{gap}{section}:{end_of_line}  {component_id}:{end_of_line}"}
    first = body.pairs[0][0]
    if body.flow:
        return {(first.start, first.start): f"{component_id}: {{}}, "}
    line_start, _ = text.line_span(text.line_of(first.start))
    indent = text.content[line_start : first.start]
    if indent.strip():
        # The first key stands behind something else, such as an anchor.
        return {(first.start, first.start): f"{component_id}: {end_of_line}"}
    return {(line_start, line_start): f"{indent}{component_id}:{end_of_line}"}


def _renewed(
    configuration: ParsedConfiguration,
    declared: Declaration,
    here: Sequence[Diagnostic],
    reference: ServedSchema | None,
) -> Iterator[Action]:
    """The type's own name in place of a deprecated one, in all places."""
    component = reference.component(declared.section, declared.id) if reference else None
    old = schema.type_of(declared.id)
    if component is None or component.type == old:
        return
    renewed = component.type + declared.id[len(old) :]
    nodes: list[Node] = [declared.key, *(use.node for use in configuration.uses_of(declared))]
    if any(in_block(node) for node in nodes):
        return
    finding = next(
        (diagnostic for diagnostic in here if "deprecat" in diagnostic.code or "deprecat" in diagnostic.message), None
    )
    yield Action(
        f"Replace the deprecated name {old} by {component.type}",
        {span_of(node): renewed for node in nodes},
        finding,
        preferred=finding is not None,
    )


def _lines_of(document: OpenDocument, declared: Declaration) -> Span:
    """The lines of a declaration; in flow style its part with the comma."""
    text, content = document.text, document.text.content
    body = declared.body
    end = max(declared.key.end, body.start + len(content[body.start : body.end].rstrip()))
    line_start, _ = text.line_span(text.line_of(declared.key.start))
    if content[line_start : declared.key.start].strip():
        after = re.compile(r"\s*,?\s*").match(content, end)
        return declared.key.start, after.end() if after else end
    return line_start, text.start_of(text.line_of(end) + 1)
