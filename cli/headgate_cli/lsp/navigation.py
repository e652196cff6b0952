"""Definition, references, rename and symbols of components and pipelines."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import Final

from headgate_cli.lsp.configuration import PIPELINES, ComponentUse, Declaration, ParsedConfiguration
from headgate_cli.lsp.document import OpenDocument
from headgate_cli.lsp.schema import KINDS, SIGNALS, ServedSchema, type_of
from headgate_cli.lsp.tree import Node, get

Span = tuple[int, int]

_BLOCKS: Final = ("|", ">")

_ID: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}(?:/[^\s/,\[\]{}:#\"'`\\|>*&!%@]{1,200})?")


class RenameRefused(Exception):
    """The name cannot be given; the message says why."""


@dataclass(frozen=True)
class Symbol:
    """A section, component or pipeline, with the spans of its name and of all of it."""

    name: str
    detail: str
    kind: str
    name_span: Span
    span: Span
    children: list[Symbol] = field(default_factory=list)


def span_of(node: Node) -> Span:
    """The span of a scalar's text without its quotes; for an alias, that of its definition."""
    node = node.resolved
    if node.style in ("'", '"'):
        return node.start + 1, max(node.end - 1, node.start + 1)
    return node.start, node.end


def in_block(node: Node) -> bool:
    """True if a name is written as a block of text: its span is not that of its characters, and cannot be replaced."""
    return node.resolved.style in _BLOCKS


def definition(document: OpenDocument, offset: int, reference: ServedSchema | None) -> Span | None:
    """The declaration of the component or pipeline that is named here; also for its key itself."""
    configuration = document.configuration(reference)
    declared = _declared(configuration, offset)
    if declared is not None:
        return span_of(declared.key)
    tree = document.tree
    node = tree.scalar_at(offset) if tree is not None else None
    if node is not None and node.target is not None:
        return node.target.start, node.target.end
    return None


def references(document: OpenDocument, offset: int, reference: ServedSchema | None, *, declaration: bool) -> list[Span]:
    """All places that name the component or pipeline that is named here, in the order of the text."""
    configuration = document.configuration(reference)
    declared = _declared(configuration, offset)
    if declared is None:
        _, use = configuration.symbol_at(offset)
        nodes = [place.node for place in configuration.uses if use and _same(use, place)]
    else:
        nodes = [use.node for use in configuration.uses_of(declared)]
        nodes += [declared.key] if declaration else []
    return sorted({(node.start, node.end) for node in nodes})


def renameable(document: OpenDocument, offset: int, reference: ServedSchema | None) -> tuple[Span, str] | None:
    """The name here that can be changed, and its span."""
    configuration = document.configuration(reference)
    declared, use = configuration.symbol_at(offset)
    named: Declaration | ComponentUse | None = declared or use
    if named is None or (use is not None and _declared(configuration, offset) is None):
        return None
    node = named.key if isinstance(named, Declaration) else named.node
    return (node.start, node.end) if node.target is not None else span_of(node), named.id


def rename(document: OpenDocument, offset: int, name: str, reference: ServedSchema | None) -> dict[Span, str]:
    """The spans to replace, each with its new text. Raises NotRenamed."""
    configuration = document.configuration(reference)
    declared = _declared(configuration, offset)
    if declared is None:
        raise RenameRefused("no component or pipeline that this text declares is named here")
    name = name.strip()
    if not _ID.fullmatch(name):
        raise RenameRefused(f"{name[:100]!r} is not an id: write type or type/name, for example otlp/edge")
    if declared.section == PIPELINES and name.partition("/")[0] not in SIGNALS:
        raise RenameRefused(f"{name[:100]!r} is not a pipeline: begin with {', '.join(SIGNALS[:-1])} or {SIGNALS[-1]}")
    if reference is not None and declared.section in KINDS and reference.component(declared.section, name) is None:
        near = difflib.get_close_matches(
            type_of(name), [component.type for component in reference.types(declared.section)], 1
        )
        meant = f", did you mean {near[0]}?" if near else ""
        raise RenameRefused(f"this collector has no {_noun(declared.section)} {type_of(name)[:100]}{meant}")
    if name != declared.id and configuration.declaration((declared.section,), name) is not None:
        raise RenameRefused(f"there is a {_noun(declared.section)} {name[:100]!r} already")
    nodes = [declared.key, *(use.node for use in configuration.uses_of(declared))]
    for node in nodes:
        if in_block(node):
            line = document.text.line_of(node.resolved.start) + 1
            raise RenameRefused(f"line {line} names it in a block of text: write the name in one line first")
    return {span_of(node): name for node in nodes}


def symbols(document: OpenDocument, reference: ServedSchema | None) -> list[Symbol]:
    """The sections, with their components and pipelines."""
    tree = document.tree
    if tree is None:
        return []
    configuration = document.configuration(reference)
    sections = []
    for key, body in tree.root.pairs:
        section = PIPELINES if key.text == "service" else key.text if key.text in KINDS else ""
        inner = [_symbol(document, declared) for declared in configuration.declarations if declared.section == section]
        extensions = get(body, "extensions") if section == PIPELINES else None
        if extensions is not None and extensions.items:
            span = extensions.start, extensions.end
            inner.insert(0, Symbol("extensions", "", "list", span, span))
        end = _trimmed(document, body)
        # The children have to be within their parent; a merged one stands elsewhere.
        inner = [child for child in inner if key.start <= child.span[0] and child.span[1] <= end]
        sections.append(Symbol(key.text or "?", "", "section", (key.start, key.end), (key.start, end), inner))
    return sections


def _symbol(document: OpenDocument, declared: Declaration) -> Symbol:
    end = (
        max(_trimmed(document, declared.body), declared.key.end)
        if declared.body.start >= declared.key.start
        else declared.key.end
    )
    kind = "pipeline" if declared.section == PIPELINES else "component"
    return Symbol(
        declared.id or "?",
        _noun(declared.section),
        kind,
        (declared.key.start, declared.key.end),
        (declared.key.start, end),
    )


def _trimmed(document: OpenDocument, body: Node) -> int:
    """The end of a node without the space after it: the parser ends a mapping where the next thing begins."""
    return body.start + len(document.text.content[body.start : body.end].rstrip())


def _declared(configuration: ParsedConfiguration, offset: int) -> Declaration | None:
    declared, use = configuration.symbol_at(offset)
    return declared or (configuration.declaration(use.sections, use.id) if use else None)


def _same(first: ComponentUse, second: ComponentUse) -> bool:
    return first.id == second.id and bool(set(first.sections) & set(second.sections))


def _noun(section: str) -> str:
    return KINDS.get(section, "pipeline")
