"""Hover: the explanation of the word under the cursor."""

from __future__ import annotations

from dataclasses import dataclass

from headgate_cli.lsp import ottl, schema
from headgate_cli.lsp.completion import chosen_beside, expression_at
from headgate_cli.lsp.describe import block, code, described, escaped, of_component
from headgate_cli.lsp.document import OpenDocument
from headgate_cli.lsp.place import place_at
from headgate_cli.lsp.schema import KINDS, ServedSchema
from headgate_cli.lsp.tree import Node, Path


@dataclass(frozen=True)
class Hover:
    """A text in Markdown about what stands between two offsets."""

    text: str
    start: int
    end: int


def hover(document: OpenDocument, offset: int, reference: ServedSchema | None, lookup: ottl.Lookup) -> Hover | None:
    """Explain the place; None if nothing is known about it."""
    tree = document.tree
    node = tree.scalar_at(offset) if tree is not None else None
    if node is not None and not node.is_key and (shown := _of_ottl(document, node, offset, lookup)):
        return shown
    if reference is None:
        return None
    if node is None:
        return _by_indentation(document, offset, reference)
    text = _of_id(document, node, reference) or _of_path(document, node.path, reference)
    return Hover(text, node.start, node.end) if text else None


def _of_ottl(document: OpenDocument, node: Node, offset: int, lookup: ottl.Lookup) -> Hover | None:
    field, expression, start = expression_at(document, node, node.end)
    if field is None:
        return None
    # Escapes before the cursor make the expression shorter than what is written.
    before = len(expression_at(document, node, max(offset, start))[1])
    word = ottl.word_at(expression, before)
    chosen = chosen_beside(document, field, offset)
    known = ottl.explained(word, ottl.grammar_of(field, chosen, lookup)) if word else None
    if known is None:
        return None
    title, detail, description = known
    parts = [block(title, "ottl"), escaped(detail), escaped(description)]
    return Hover("\n\n".join(part for part in parts if part), offset, offset)


def _of_id(document: OpenDocument, node: Node, reference: ServedSchema) -> str:
    """A component's type, where it is declared and where it is used."""
    declared, use = document.configuration(reference).symbol_at(node.start)
    sections = (declared.section,) if declared else use.sections if use else ()
    if use and (target := document.configuration(reference).declaration(use.sections, use.id)):
        sections = (target.section,)
    for section in sections:
        component = reference.component(section, node.text)
        if component is not None:
            return of_component(component)
    if declared and declared.section in KINDS:
        return f"This build of the collector has no {KINDS[declared.section]} {code(schema.type_of(declared.id))}."
    return ""


def _of_path(document: OpenDocument, path: Path, reference: ServedSchema) -> str:
    """A component's type at its own key, and elsewhere the setting."""
    if len(path) == 2 and path[0] in KINDS:
        component = reference.component(str(path[0]), str(path[1]))
        return of_component(component) if component is not None else ""
    text = described(reference.at(path, document.known)) if path else ""
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    return f"**{escaped(name)}**\n\n{text}" if text else ""


def _by_indentation(document: OpenDocument, offset: int, reference: ServedSchema) -> Hover | None:
    """The hover of the key under the cursor, in a text that does not parse."""
    if document.is_exact:
        return None
    place = place_at(document.text, offset)
    word = document.text.content[place.start : place.end].rstrip(":")
    if place.role != "key" or not word:
        return None
    text = _of_path(document, (*place.path, word), reference)
    return Hover(text, place.start, place.end) if text else None
