"""Completion and hover inside of OTTL expressions, by the grammar that the component itself has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from headgate_cli.lsp.ottl_fields import OttlField
from headgate_cli.shapes import OttlEnumOut, OttlFunctionOut, OttlPathOut, OttlReferenceOut

_TOKEN: Final = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*"?)|(?P<word>[A-Za-z_]\w*(?:\.(?:[A-Za-z_]\w*)?)*)|(?P<number>\d[\w.]*)"""
    r"""|(?P<space>\s+)|(?P<operator>==|!=|<=|>=|.)""",
    re.DOTALL,
)
_KEYWORDS: Final = ("where", "and", "or", "not", "nil", "true", "false")
_MOST_CHARACTERS: Final = 16_384
# Makes a context's reference available: the name of the component and of the context.
Lookup = Callable[[str, str], OttlReferenceOut | None]


@dataclass(frozen=True)
class Suggestion:
    """Something that may stand at the cursor. `kind` is path, converter, editor, enum or keyword."""

    name: str
    kind: str
    detail: str
    description: str


@dataclass(frozen=True)
class Grammar:
    """The names that an expression may use."""

    paths: Mapping[str, OttlPathOut]
    functions: Mapping[str, OttlFunctionOut]
    enums: Mapping[str, OttlEnumOut]


def contexts_of(field: OttlField, chosen: str) -> tuple[str, ...]:
    """The contexts that apply, given what the key beside the expression says."""
    if field.chosen_by and chosen:
        return (chosen.lower(),)
    return ("resource",) if field.component == "routing" else field.contexts


def grammar_of(field: OttlField, chosen: str, lookup: Lookup) -> Grammar:
    """All names of the contexts that apply, the innermost context's first."""
    paths: dict[str, OttlPathOut] = {}
    functions: dict[str, OttlFunctionOut] = {}
    enums: dict[str, OttlEnumOut] = {}
    for context in contexts_of(field, chosen):
        answer = lookup(field.component, context)
        if answer is None:
            continue
        for path in answer["paths"]:
            name = path["path"]
            # The component finds the context by the paths' first names, so they have to be written.
            if field.inferred and not chosen and not _is_qualified(name):
                name = f"{context}.{name}"
            paths.setdefault(name, path)
        for function in answer["functions"]:
            functions.setdefault(function["name"], function)
        for enum in answer["enums"]:
            enums.setdefault(enum["name"], enum)
    return Grammar(paths, functions, enums)


_QUALIFIERS: Final = frozenset(
    ("resource", "scope", "instrumentation_scope", "span", "spanevent", "metric", "datapoint", "log", "profile")
)


def _is_qualified(path: str) -> bool:
    return path.partition(".")[0].partition("[")[0] in _QUALIFIERS


def word_before(expression: str) -> tuple[str, int] | None:
    """The word that ends at the cursor, and its offset; None within a string."""
    expression = expression[-_MOST_CHARACTERS:]
    last: re.Match[str] | None = None
    for match in _TOKEN.finditer(expression):
        last = match
    if last is None:
        return "", 0
    if last.lastgroup == "string" and not _closed(last[0]):
        return None
    return (last[0], last.start()) if last.lastgroup == "word" else ("", len(expression))


def _closed(string: str) -> bool:
    return len(string) > 1 and re.fullmatch(r'"(?:[^"\\]|\\.)*"', string, re.DOTALL) is not None


def suggestions(expression: str, field: OttlField, grammar: Grammar) -> Iterator[Suggestion]:
    """Suggest what may follow the part of an expression before the cursor."""
    last = word_before(expression)
    if last is None:
        return
    word, at = last
    before = expression[:at].rstrip()
    begins_statement = field.kind == "statement" and not before
    for name, function in grammar.functions.items():
        if field.kind in function["in"] and (function["kind"] == "editor") == begins_statement:
            yield Suggestion(name, function["kind"], function["signature"], function["description"])
    if begins_statement:
        return
    for name, path in grammar.paths.items():
        yield Suggestion(name, "path", path["type"], path["description"])
    if "." not in word:
        for name, enum in grammar.enums.items():
            yield Suggestion(name, "enum", str(enum["value"]), enum["description"])
        for keyword in _KEYWORDS:
            if keyword != "where" or (field.kind == "statement" and before.endswith(")")):
                yield Suggestion(keyword, "keyword", "", "")


def word_at(expression: str, at: int) -> str:
    """The word that the character is in; empty in a string and elsewhere."""
    for match in _TOKEN.finditer(expression[:_MOST_CHARACTERS]):
        if match.start() <= at < match.end() or (match.end() == at and match.lastgroup == "word"):
            if match.lastgroup == "word":
                return match[0]
            if match.start() <= at < match.end():
                return ""
    return ""


def explained(word: str, grammar: Grammar) -> tuple[str, str, str] | None:
    """Title, detail and description of a word: a function's signature, a path's type, an enum's value."""
    if function := grammar.functions.get(word):
        return function["signature"] or word, function["kind"], function["description"]
    if enum := grammar.enums.get(word):
        return word, f"enum, {enum['value']}", enum["description"]
    path = grammar.paths.get(word) or next(
        (candidate for name, candidate in grammar.paths.items() if name.partition("[")[0] == word), None
    )
    if path is None:
        # `body` where the context's own name may be left out, or the other way round.
        path = next(
            (
                candidate
                for name, candidate in grammar.paths.items()
                if word == name.partition(".")[2] or name == word.partition(".")[2]
            ),
            None,
        )
    if path is None:
        return None
    return word, f"{path['type']}, {'writable' if path['writable'] else 'read-only'}", path["description"]
