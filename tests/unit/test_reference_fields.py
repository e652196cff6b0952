"""The fields of a JSON Schema, one by one."""

import json
from typing import Any

from headgate_engine.reference.fields import MOST_FIELDS, Field, fields

VARIABLE = {"$ref": "#/$defs/variable"}
DEFINITIONS = {
    "variable": {"type": "string", "pattern": "\\$\\{"},
    "a/tls": {"type": "object", "properties": {"insecure": {"anyOf": [{"type": ["boolean", "null"]}, VARIABLE]}}},
}


def found(**properties: object) -> dict[str, Field]:
    return {one.path: one for one in fields({"type": "object", "properties": properties, "$defs": DEFINITIONS})}


def test_a_field_has_its_type_default_and_description() -> None:
    timeout = {
        "description": "How long to wait",
        "default": "1m0s",
        "anyOf": [{"type": "string", "format": "go-duration"}, {"type": ["number", "null"]}, VARIABLE],
    }

    assert found(timeout=timeout)["timeout"] == Field(
        "timeout", "duration", '"1m0s"', "How long to wait", (), deprecated=False, secret=False
    )


def test_null_and_variables_which_may_stand_anywhere_are_not_in_a_type() -> None:
    number = {"anyOf": [{"type": ["number", "null"], "format": "int64"}, VARIABLE], "default": 5}

    assert [(one.type, one.default) for one in found(port=number).values()] == [("integer", "5")]


def test_a_default_of_false_zero_or_nothing_written_is_told_apart() -> None:
    shown = found(a={"type": "boolean", "default": False}, b={"type": "string", "default": ""}, c={"type": "string"})

    assert [one.default for one in shown.values()] == ["false", '""', None]


def test_words_that_a_field_takes_are_listed_without_null() -> None:
    level = {"anyOf": [{"enum": ["", "basic", "detailed", None]}, VARIABLE]}

    assert found(level=level)["level"].values == ('""', "basic", "detailed")
    assert found(level=level)["level"].type == "string"


def test_what_is_deprecated_or_secret_is_marked() -> None:
    shown = found(old={"type": "string", "deprecated": True}, key={"type": "string", "x-secret": True})

    assert [(one.deprecated, one.secret) for one in shown.values()] == [(True, False), (False, True)]


def test_fields_inside_follow_their_owner() -> None:
    shown = found(
        tls={"$ref": "#/$defs/a~1tls", "description": "TLS"},
        list={"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
        words={"type": "array", "items": {"type": "string"}},
        headers={"type": "object", "additionalProperties": {"type": "string"}},
        parts={"type": "object", "patternProperties": {"^x(/.*)?$": {"type": "object"}}},
    )

    assert {path: one.type for path, one in shown.items()} == {
        "tls": "object",
        "tls.insecure": "boolean",
        "list": "list of object",
        "list[].name": "string",
        "words": "list of string",
        "headers": "object",
        "headers.<key>": "string",
        "parts": "object",
        "parts.<key>": "object",
    }
    assert shown["tls"].description == "TLS"


def test_entries_of_several_forms_are_one_entry_with_the_fields_of_all() -> None:
    forms = [
        {"type": "object", "properties": {"type": {"const": "add"}, "value": {"type": "string", "default": "x"}}},
        {"type": "object", "properties": {"type": {"const": "move"}, "value": {"type": "integer"}, "to": {}}},
    ]
    shown = found(operators={"type": ["array", "string"], "items": {"anyOf": forms}})

    assert {path: (one.type, one.values, one.default) for path, one in shown.items()} == {
        "operators": ("list of object", (), None),
        "operators[].type": ("string", ("add", "move"), None),
        "operators[].value": ("string or integer", (), None),
        "operators[].to": ("any", (), None),
    }


def test_a_definition_within_itself_ends() -> None:
    node: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "name": {}}}
    schema = {"type": "object", "properties": {"first": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}

    assert [one.path for one in fields(schema)] == ["first", "first.next", "first.name"]


def test_definitions_that_multiply_are_cut_at_the_limit() -> None:
    """Ten levels of ten would be ten thousand million fields."""
    definitions = {
        f"level{n}": {"type": "object", "properties": {f"f{i}": {"$ref": f"#/$defs/level{n + 1}"} for i in range(10)}}
        for n in range(10)
    }
    schema = {"properties": {"top": {"$ref": "#/$defs/level0"}}, "$defs": definitions}

    assert len(json.dumps(schema)) < 10_000
    assert len(fields(schema)) == MOST_FIELDS
