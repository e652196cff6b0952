"""Completion at the cursor."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from headgate_cli.lsp import ottl, schema
from headgate_cli.lsp.describe import described, of_component
from headgate_cli.lsp.document import OpenDocument
from headgate_cli.lsp.ottl_fields import OttlField, field_at
from headgate_cli.lsp.place import CursorPlace, place_at, siblings_above
from headgate_cli.lsp.schema import KINDS, SIGNALS, ServedSchema
from headgate_cli.lsp.tree import Node

_VARIABLE: Final = "${env:"
_IS_VARIABLE: Final = "environment variable"
_MOST: Final = 2_000
_LONGEST_NAME: Final = 200
_HOLD_OTTL: Final = ("processors", "connectors", "exporters")


@dataclass(frozen=True)
class Item:
    """A suggestion: it replaces the text between the offsets `start` and `end`."""

    label: str
    insert: str
    kind: str
    detail: str = ""
    documentation: str = ""
    deprecated: bool = False
    # Suggestions of a lower rank come first.
    rank: int = 5
    start: int = 0
    end: int = 0


def complete(document: OpenDocument, offset: int, reference: ServedSchema | None, lookup: ottl.Lookup) -> list[Item]:
    """The suggestions for an offset, at most 2,000."""
    place = place_at(document.text, offset)
    if place.role == "comment":
        return []
    field, expression, start = expression_before(document, place, offset)
    if field is not None:
        chosen = chosen_beside(document, field, offset)
        names = ottl.suggestions(expression, field, ottl.grammar_of(field, chosen, lookup))
        items = list(_of_ottl(names, expression, start, place, offset))
        # The first word of a list's entry may be a key as well: a group of statements with a context.
        if reference is not None and place.role == "key" and re.fullmatch(r"\w*", expression):
            items += _at(place, _of_keys(document, place, reference))
        return items[:_MOST]
    if place.role == "scalar":
        return []
    variable = _variable_start(document, place, offset)
    if variable is not None:
        return list(_of_variables(document, variable, offset))[:_MOST]
    items = list(_at(place, _all(document, place, reference) if reference else _of_ids(document, place, None)))
    return items[:_MOST]


def _at(place: CursorPlace, items: Iterator[Item]) -> Iterator[Item]:
    """Let the items replace what is typed at the place."""
    return (replace(item, start=place.start, end=place.end) for item in items)


def _all(document: OpenDocument, place: CursorPlace, reference: ServedSchema) -> Iterator[Item]:
    if place.role == "key":
        yield from _of_keys(document, place, reference)
    # A first word after a dash may become either.
    if place.role in ("value", "entry") or (place.path and isinstance(place.path[-1], int) and not place.siblings):
        ids = list(_of_ids(document, place, reference))
        yield from ids
        if not ids:
            yield from _of_values(document, place, reference)


def _of_keys(document: OpenDocument, place: CursorPlace, reference: ServedSchema) -> Iterator[Item]:
    path = place.path
    if len(path) == 1 and path[0] in KINDS:
        for component in reference.types(str(path[0])):
            yield Item(
                component.type,
                f"{component.type}:",
                "component",
                ", ".join(f"{signal}: {level}" for signal, level in component.stability.items()),
                of_component(component),
                deprecated=bool(component.deprecated),
                rank=6 if component.type in place.siblings else 5,
            )
        return
    if path == ("service", "pipelines"):
        for signal in SIGNALS:
            yield Item(signal, f"{signal}:", "pipeline", "pipeline")
        return
    for name, inner in schema.properties(reference.at(path, document.known)).items():
        if name in place.siblings or not name:
            continue
        alternatives = list(reference.alternatives(inner))
        kinds = schema.types(alternatives)
        insert = f"{name}:" if kinds and kinds <= {"object", "array"} else f"{name}: "
        yield Item(
            name,
            insert,
            "key",
            " or ".join(schema.shown_types(alternatives)),
            described(alternatives),
            deprecated=bool(schema.deprecated(alternatives)),
            rank=9 if schema.deprecated(alternatives) else 5,
        )


def _of_values(document: OpenDocument, place: CursorPlace, reference: ServedSchema) -> Iterator[Item]:
    alternatives = reference.at(place.path, document.known)
    documentation = described(alternatives)
    standard = schema.default(alternatives)
    for value in schema.values(alternatives):
        yield Item(
            written(value),
            written(value),
            "value",
            "default" if value == standard else "",
            documentation,
            rank=3 if value == standard else 5,
        )
    if isinstance(standard, str | int | float) and standard not in schema.values(alternatives):
        yield Item(written(standard), written(standard), "value", "default", documentation, rank=3)
    if schema.has_format(alternatives, schema.COMPONENT_ID):
        for declared in document.configuration(reference).declared("extensions"):
            yield Item(declared, declared, "component", "extension", rank=2)
    if schema.types(alternatives) - {"object", "array"} and not place.typed:
        yield Item("${env:…}", _VARIABLE, "variable", _IS_VARIABLE, rank=8)


def _of_ids(document: OpenDocument, place: CursorPlace, reference: ServedSchema | None) -> Iterator[Item]:
    """The components and pipelines that the text declares, where a list of the service names them."""
    path = place.path
    configuration = document.configuration(reference)
    if len(path) == 3 and path[:2] == ("service", "extensions"):
        for declared in configuration.declared("extensions"):
            yield Item(declared, declared, "component", "extension", rank=2)
        return
    if len(path) > 2 and path[0] == "connectors" and any(name in path for name in ("pipelines", "default_pipelines")):
        for declared in configuration.declared("pipelines"):
            yield Item(declared, declared, "pipeline", "pipeline", rank=2)
        return
    if len(path) != 5 or path[:2] != ("service", "pipelines"):
        return
    signal, role = str(path[2]).partition("/")[0], str(path[3])
    here = {use.id for use in configuration.uses if use.pipeline == path[2] and use.role == role}
    for section in (role,) if role == "processors" else (role, "connectors"):
        for declared in configuration.declared(section):
            component = reference.component(section, declared) if reference else None
            if component is not None and not component.stands_in(role, signal):
                continue
            yield Item(
                declared,
                declared,
                "component",
                KINDS.get(section, ""),
                of_component(component) if component else "",
                rank=6 if declared in here and declared != place.typed else 2,
            )


def expression_before(document: OpenDocument, place: CursorPlace, offset: int) -> tuple[OttlField | None, str, int]:
    """The OTTL setting that the cursor is in, with the part of the expression before the cursor and its start."""
    # The tree tells where an expression of several lines begins. Elsewhere it is not needed, and takes longest to make.
    may_hold = len(place.path) > 2 and place.path[0] in _HOLD_OTTL
    node = _scalar(document, offset) if may_hold else None
    if node is not None:
        place_of_node = expression_at(document, node, offset)
        if place_of_node[0] is not None:
            return place_of_node
    is_key = place.role == "key" and place.flow
    if place.role != "comment" and not is_key and not _is_closed(place.quote + place.typed):
        field = field_at(place.path)
        if field is not None:
            return field, _unescaped(place.typed, place.quote), place.start
    return None, "", 0


def expression_at(document: OpenDocument, node: Node, offset: int) -> tuple[OttlField | None, str, int]:
    """The OTTL setting that a value belongs to, with the part of its expression before an offset, and its start."""
    field = field_at(node.path)
    if field is None:
        return None, "", 0
    start = node.start + (1 if node.style in ("'", '"') else 0)
    raw = document.text.content[start:offset]
    if node.style in ("|", ">"):
        header, _, raw = raw.partition("\n")
        start += len(header) + 1
    return field, _unescaped(raw, node.style), start


def _scalar(document: OpenDocument, offset: int) -> Node | None:
    """The value that the cursor is in, of a text that parses."""
    tree = document.tree
    node = tree.scalar_at(offset) if tree is not None and document.is_exact else None
    if node is None or node.is_key or node.kind != "scalar":
        return None
    # Behind its closing quote, no part of it is being typed.
    return None if _is_closed(document.text.content[node.start : offset]) else node


def _is_closed(typed: str) -> bool:
    return re.fullmatch(r"""(?s)"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""", typed) is not None


def _unescaped(raw: str, style: str) -> str:
    if style == '"':
        return raw.replace('\\"', '"').replace("\\\\", "\\")
    return raw.replace("''", "'") if style == "'" else raw


def chosen_beside(document: OpenDocument, field: OttlField, offset: int) -> str:
    """The value of the key that chooses an expression's context; empty if the text has none."""
    if not field.chosen_by:
        return ""
    place = place_at(document.text, offset)
    if not place.flow:
        return siblings_above(document.text, offset, field.chosen_by)
    # The tree has the keys behind the cursor as well; the mapping is around the value, or around the list of it.
    known = (document.known((*place.path[:-depth], field.chosen_by)) for depth in (1, 2))
    above = siblings_above(document.text, offset, field.chosen_by)
    return place.siblings.get(field.chosen_by) or next(filter(None, known), above)


def _of_ottl(
    names: Iterator[ottl.Suggestion], expression: str, start: int, place: CursorPlace, offset: int
) -> Iterator[Item]:
    before = ottl.word_before(expression)
    word = before[0] if before else ""
    ranks = {"path": 3, "converter": 4, "editor": 3, "enum": 5, "keyword": 7}
    for suggestion in names:
        name, kind = suggestion.name, suggestion.kind
        insert = f"{name}(" if kind in ("editor", "converter") else name
        span = max(offset - len(word), start), max(place.end, offset) if word else offset
        facts = kind, suggestion.detail, suggestion.description, False, ranks.get(kind, 5)
        yield Item(name, insert, *facts, *span)


def _variable_start(document: OpenDocument, place: CursorPlace, offset: int) -> int | None:
    """Find the start of the reference that the cursor is in: `${`, `${e`, `${env:NA`."""
    if place.role == "key" and "$" not in place.typed:
        return None
    line_start, _ = document.text.line_span(document.text.line_of(offset))
    before = document.text.content[max(line_start, offset - _LONGEST_NAME) : offset]
    at = before.rfind("$")
    if at < 0 or "}" in before[at:] or before[:at].endswith("$"):
        return None
    return offset - len(before) + at


def _of_variables(document: OpenDocument, start: int, offset: int) -> Iterator[Item]:
    """References to the variables that the text names elsewhere, and the form of one."""
    content = document.text.content
    end = offset + 1 if content[offset : offset + 1] == "}" else offset
    for name in sorted(_variables(content, offset)):
        yield Item(f"${{env:{name}}}", f"${{env:{name}}}", "variable", _IS_VARIABLE, rank=2, start=start, end=end)
    yield Item(_VARIABLE, _VARIABLE, "variable", _IS_VARIABLE, start=start, end=offset)


def _variables(content: str, but: int) -> set[str]:
    return {
        match[1]
        for match in re.finditer(r"\$\{(?:env:)?([A-Za-z_]\w{0,100})(?::-[^}\n]{0,200})?\}", content)
        if not match.start() <= but <= match.end()
    }


def written(value: object) -> str:
    """A value as YAML has it on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        plain = value and value.strip() == value and not any(mark in value for mark in ":#{}[],&*?|>'\"%@`\n")
        return value if plain and value not in ("true", "false", "null", "~") and value[0] != "-" else json.dumps(value)
    return json.dumps(value)
