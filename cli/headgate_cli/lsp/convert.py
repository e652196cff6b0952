"""Conversion of this package's results into the types of the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lsprotocol import types

from headgate_cli.lsp.actions import Action
from headgate_cli.lsp.completion import Item
from headgate_cli.lsp.diagnostics import Diagnostic
from headgate_cli.lsp.document import OpenDocument
from headgate_cli.lsp.hover import Hover
from headgate_cli.lsp.navigation import Span, Symbol
from headgate_cli.lsp.text import DocumentText

_ITEM_KINDS: Final = {
    "component": types.CompletionItemKind.Class,
    "pipeline": types.CompletionItemKind.Module,
    "key": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "variable": types.CompletionItemKind.Variable,
    "path": types.CompletionItemKind.Field,
    "converter": types.CompletionItemKind.Function,
    "editor": types.CompletionItemKind.Function,
    "enum": types.CompletionItemKind.EnumMember,
    "keyword": types.CompletionItemKind.Keyword,
}
_SYMBOL_KINDS: Final = {
    "section": types.SymbolKind.Namespace,
    "component": types.SymbolKind.Class,
    "pipeline": types.SymbolKind.Module,
    "list": types.SymbolKind.Array,
}
SOURCE: Final = "headgate"


def range_of(text: DocumentText, start: int, end: int) -> types.Range:
    first, last = text.position(start), text.position(max(start, end))
    return types.Range(types.Position(*first), types.Position(*last))


def diagnostic(text: DocumentText, finding: Diagnostic) -> types.Diagnostic:
    return types.Diagnostic(
        range_of(text, finding.start, finding.end),
        finding.message,
        severity=types.DiagnosticSeverity[finding.severity.capitalize()],
        code=finding.code or None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.unnecessary else None,
    )


def completion(text: DocumentText, offset: int, item: Item) -> types.CompletionItem:
    # A replaced text has to be on the cursor's line, and to include the cursor.
    line_start, line_end = text.line_span(text.line_of(offset))
    start, end = min(max(item.start, line_start), offset), max(min(item.end, line_end), offset)
    return types.CompletionItem(
        item.label,
        kind=_ITEM_KINDS.get(item.kind),
        detail=item.detail or None,
        documentation=_markdown(item.documentation) if item.documentation else None,
        deprecated=item.deprecated or None,
        tags=[types.CompletionItemTag.Deprecated] if item.deprecated else None,
        sort_text=f"{item.rank}{item.label}",
        filter_text=item.insert.rstrip(": (") or item.label,
        text_edit=types.TextEdit(range_of(text, start, end), item.insert),
        insert_text_format=types.InsertTextFormat.PlainText,
    )


def hover(text: DocumentText, shown: Hover) -> types.Hover:
    return types.Hover(
        _markdown(shown.text), range=range_of(text, shown.start, shown.end) if shown.end > shown.start else None
    )


def location(document: OpenDocument, span: Span) -> types.Location:
    return types.Location(document.uri, range_of(document.text, *span))


def edit(document: OpenDocument, edits: Mapping[Span, str]) -> types.WorkspaceEdit:
    """The edit, for the document's version where the editor gave one."""
    changes: Sequence[types.TextEdit] = [
        types.TextEdit(range_of(document.text, *span), new) for span, new in sorted(edits.items())
    ]
    return types.WorkspaceEdit(changes={document.uri: changes})


def action(document: OpenDocument, fix: Action) -> types.CodeAction:
    return types.CodeAction(
        fix.title,
        kind=types.CodeActionKind.SourceFixAll if fix.mends_all else types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic(document.text, fix.finding)] if fix.finding else None,
        is_preferred=fix.preferred or None,
        edit=edit(document, fix.edits),
    )


def symbol(text: DocumentText, node: Symbol) -> types.DocumentSymbol:
    start, end = node.span
    inner_start, inner_end = max(node.name_span[0], start), min(node.name_span[1], max(end, start))
    return types.DocumentSymbol(
        node.name,
        _SYMBOL_KINDS[node.kind],
        range_of(text, start, end),
        range_of(text, min(inner_start, inner_end), inner_end),
        detail=node.detail or None,
        children=[symbol(text, child) for child in node.children],
    )


def _markdown(text: str) -> types.MarkupContent:
    return types.MarkupContent(types.MarkupKind.Markdown, text)
