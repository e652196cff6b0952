"""The API's description in words, for the reference page and for the site of the documents."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import quote

from pydantic import JsonValue

from components.api_document import Operation, Schema

_BOUNDS: Final = (
    ("minimum", "at least {:.0f}"),
    ("maximum", "at most {:.0f}"),
    ("min_length", "at least {} characters"),
    ("max_length", "at most {} characters"),
    ("min_items", "at least {} entries"),
    ("max_items", "at most {} entries"),
    ("most_properties", "at most {} entries"),
    ("pattern", "like {}"),
)
_TYPES: Final = {
    "string": "text",
    "integer": "whole number",
    "boolean": "true or false",
    "date-time": "time",
}


def type_of(schema: Schema, shape: Callable[[str], str], code: Callable[[str], str]) -> str:
    """`text`, `list of VersionSummary`, `one of draft, published`, and the like.

    `shape` writes the name of a shape, `code` a value.
    """
    if schema.ref:
        return shape(schema.name)
    if schema.any_of or schema.one_of:
        return " or ".join(type_of(choice, shape, code) for choice in schema.choices)
    if schema.const is not None or schema.enum:
        values = schema.enum or [written(schema.const)]
        return "one of " * bool(schema.enum) + ", ".join(map(code, values))
    if schema.items:
        return f"list of {type_of(schema.items, shape, code)}"
    if isinstance(schema.values, Schema):
        return f"object of {type_of(schema.values, shape, code)}"
    return _TYPES.get(schema.format) or _TYPES.get(schema.type, schema.type or "any JSON")


def bounds_of(schema: Schema) -> Iterable[str]:
    """`at least 1`, and the like."""
    for choice in schema.choices:
        for bound, words in _BOUNDS:
            value = getattr(choice, bound)
            if value is not None:
                yield words.format(value)


def written(value: JsonValue) -> str:
    """A text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def command(operation: Operation, body: Schema | None) -> str:
    """The request with curl, with the examples of what it needs."""
    path = operation.path
    for parameter in operation.parameters:
        path = path.replace(f"{{{parameter.parameter}}}", quote(written(parameter.example)))
    lines = [f'curl -X {operation.method} "$HEADGATE_URL{path}"']
    if operation.credentials:
        lines.append('-H "Authorization: Bearer $HEADGATE_TOKEN"')
    if body:
        examples = {name: field.examples[0] for name, field in body.properties.items() if field.examples}
        needed = {name: examples[name] for name in body.required if name in examples} or dict(
            list(examples.items())[:1]
        )
        lines += ['-H "Content-Type: application/json"', f"-d {shlex.quote(json.dumps(needed, ensure_ascii=False))}"]
    return " \\\n  ".join(lines)
