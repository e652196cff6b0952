"""The fields of a component's configuration, one by one, out of its JSON Schema: what a table for people shows."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, cast

Schema: TypeAlias = Mapping[str, object]

MOST_FIELDS: Final = 2_000
"""A schema whose parts refer to each other can have far more ways through it than it has lines."""
_MOST_READ: Final = 20_000
_VARIABLE: Final = "#/$defs/variable"
_DEFINITIONS: Final = "#/$defs/"
_DURATION: Final = "duration"
_FORMATS: Final = {"go-duration": _DURATION, "int64": "integer", "uint64": "integer"}


@dataclass(frozen=True, slots=True)
class Field:
    """A field. In `path`, `[]` stands for an entry of a list and `<key>` for a key of the reader's choice.

    `default` is its value as JSON, None without one; of `values`, an empty text is `""`. `deprecated` is set where the
    collector warns of it.
    """

    path: str
    type: str
    default: str | None
    description: str
    values: tuple[str, ...]
    deprecated: bool
    secret: bool


def fields(schema: Schema) -> list[Field]:
    """The fields in the schema's order, each before those in it; at most MOST_FIELDS.

    A path that the schema has in several forms of the same place, as a list's entries may have, is one field.
    """
    by_path: dict[str, Field] = {}
    read = _Reader(_mapping(schema.get("$defs"))).inside(schema, "", ())
    for field in itertools.islice(read, _MOST_READ):
        if field.path in by_path:
            by_path[field.path] = _both(by_path[field.path], field)
        elif len(by_path) == MOST_FIELDS:
            break
        else:
            by_path[field.path] = field
    return list(by_path.values())


def _both(first: Field, second: Field) -> Field:
    return replace(
        first,
        type=" or ".join(dict.fromkeys([*first.type.split(" or "), *second.type.split(" or ")])),
        default=first.default if first.default == second.default else None,
        description=first.description or second.description,
        # If one form takes any word, the others' words do not list all.
        values=tuple(dict.fromkeys(first.values + second.values)) if first.values and second.values else (),
        deprecated=first.deprecated and second.deprecated,
        secret=first.secret or second.secret,
    )


class _Reader:
    def __init__(self, definitions: Schema) -> None:
        self._definitions = definitions

    def inside(self, schema: Schema, path: str, through: tuple[str, ...]) -> Iterator[Field]:
        """The fields in a value of that schema. `through` are the definitions on the way, which must not come again."""
        for part, names in self._parts(schema, through):
            for name, node in _mapping(part.get("properties")).items():
                yield from self._field(_mapping(node), f"{path}.{name}" if path else name, names)
            for more in (*_mapping(part.get("patternProperties")).values(), part.get("additionalProperties")):
                if isinstance(more, Mapping) and more:
                    yield from self._field(more, f"{path}.<key>" if path else "<key>", names)
            entry = part.get("items")
            if isinstance(entry, Mapping) and path:
                yield from self.inside(entry, f"{path}[]", names)

    def _field(self, node: Schema, path: str, through: tuple[str, ...]) -> Iterator[Field]:
        parts = [part for part, _ in self._parts(node, through)]
        layers = [node, *parts]
        default = next((layer["default"] for layer in layers if "default" in layer), None)
        values = next((_words(layer) for layer in layers if _words(layer)), [])
        yield Field(
            path=path,
            type=self._types(parts, through) or "any",
            default=None if default is None else json.dumps(default, ensure_ascii=False),
            description=next((str(layer["description"]) for layer in layers if layer.get("description")), ""),
            values=tuple(
                value if isinstance(value, str) and value else json.dumps(value)
                for value in values
                if value is not None
            ),
            deprecated=any(layer.get("deprecated") is True for layer in layers),
            secret=any(layer.get("x-secret") is True for layer in layers),
        )
        yield from self.inside(node, path, through)

    def _parts(self, schema: Schema, through: tuple[str, ...]) -> Iterator[tuple[Schema, tuple[str, ...]]]:
        """The schemas that a value may follow, references resolved; not that of `${…}`, which may stand anywhere."""
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference != _VARIABLE:
            name = reference.removeprefix(_DEFINITIONS).replace("~1", "/").replace("~0", "~")
            if name not in through:
                yield from self._parts(_mapping(self._definitions.get(name)), (*through, name))
        elif reference is None:
            choices = [choice for word in ("anyOf", "oneOf", "allOf") for choice in _list(schema.get(word))]
            if not choices or "properties" in schema or "type" in schema:
                yield schema, through
            for choice in choices:
                yield from self._parts(_mapping(choice), through)

    def _types(self, parts: Sequence[Schema], through: tuple[str, ...]) -> str:
        named = dict.fromkeys(name for part in parts for name in self._named(part, through))
        # Whoever may write a duration or a word may write a number of nanoseconds, or another spelling, as well.
        return _DURATION if _DURATION in named else " or ".join(named)

    def _named(self, part: Schema, through: tuple[str, ...]) -> Iterator[str]:
        kinds = part.get("type")
        written = part.get("format")
        listed = [kinds] if isinstance(kinds, str) else _list(kinds)
        # A text may stand for a list or a mapping as a `${…}`, or as a list's one entry.
        apart = "string" if {"array", "object"} & {str(name) for name in listed} else None
        for kind in listed:
            match kind:
                case "null":
                    continue
                case _ if kind == apart:
                    continue
                case "array":
                    entries = [entry for entry, _ in self._parts(_mapping(part.get("items")), through)]
                    inner = self._types(entries, through)
                    yield f"list of {inner}" if inner else "list"
                case _:
                    yield _FORMATS.get(str(written), str(kind))
        if _words(part) and kinds is None:
            yield "string"


def _words(schema: Schema) -> list[object]:
    """All that may be written there; empty if that is more than some words."""
    return [schema["const"]] if "const" in schema else _list(schema.get("enum"))


def _mapping(node: object) -> Schema:
    return cast("Schema", node) if isinstance(node, Mapping) else {}


def _list(node: object) -> list[object]:
    return node if isinstance(node, list) else []
