"""Meanings of the API's fields and parameters: docs/api-fields.yaml, written into the API's description."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias, TypedDict, cast

from headgate.foundation import yaml_text

FIELDS: Final = Path(__file__).parents[1] / "docs" / "api-fields.yaml"
_TIME: Final = "2026-11-20T19:32:02.118Z"
_PAGE: Final = re.compile(r"Page_(\w+)_")

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
Schema: TypeAlias = dict[str, Json]


class Words(TypedDict, total=False):
    """The meaning of a field, with its unit, and an example."""

    means: str
    example: Json


class Undescribed(Exception):
    """Fields or parameters without words."""


@cache
def words() -> Mapping[str, Words]:
    """By `Shape.name` or `name`; parameters by `operationId.name`, or `path.name`, `query.name`, `header.name`."""
    return cast("dict[str, Words]", yaml_text.safe_load(FIELDS.read_text(encoding="utf-8")))


def describe(document: dict[str, Json]) -> None:
    """Write a description and an example into every field and parameter that has none of its own.

    Raises Undescribed for those that docs/api-fields.yaml lacks, and for entries there that nothing uses.
    """
    used: set[str] = set()
    lacking = [*_lacking_in_schemas(document, used), *_lacking_in_parameters(document, used)]
    unused = sorted(set(words()) - used)
    if lacking or unused:
        lines = [f"without: {entry}" for entry in lacking] + [f"used by nothing: {entry}" for entry in unused]
        raise Undescribed(
            "Say what these mean, with an example: `Field(description=…, examples=[…])` in the shape, or in "
            f"{FIELDS.name} for several:\n" + "\n".join(lines)
        )


def named(schema: str) -> str:
    """The name of a schema as people say it: `ConfigurationSummaryPage` for `Page_ConfigurationSummary_`."""
    return _PAGE.sub(r"\1Page", schema)


def without_titles(node: Json) -> Json:
    """The schema without pydantic's titles, which repeat the names of fields."""
    match node:
        case dict():
            return {
                name: {key: without_titles(entry) for key, entry in value.items()}
                if name == "properties" and isinstance(value, dict)
                else value
                if name in ("example", "examples", "default")
                else without_titles(value)
                for name, value in node.items()
                if name != "title" or not isinstance(value, str)
            }
        case list():
            return [without_titles(entry) for entry in node]
        case _:
            return node


def _lacking_in_schemas(document: dict[str, Json], used: set[str]) -> Iterator[str]:
    schemas = document["components"]["schemas"]
    for shape, schema in schemas.items():
        for name, field in schema.get("properties", {}).items():
            yield from _complete(f"{shape}.{name}", field, (f"{shape}.{name}", name), schemas, used)


def _lacking_in_parameters(document: dict[str, Json], used: set[str]) -> Iterator[str]:
    for item in document["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", []):
                if "$ref" in parameter:
                    continue
                where, name = f"{operation['operationId']}.{parameter['name']}", parameter["name"]
                keys = (where, f"{parameter['in']}.{name}")
                schema = parameter["schema"]
                described = {"description": parameter.get("description"), **schema}
                yield from _complete(where, described, keys, document["components"]["schemas"], used)
                parameter["description"] = described.pop("description")
                examples = described.pop("examples", None)
                if examples:
                    parameter["example"] = examples[0]
                schema.pop("description", None)


def _complete(
    where: str, field: Schema, keys: tuple[str, ...], schemas: Mapping[str, Schema], used: set[str]
) -> Iterator[str]:
    key = next((key for key in keys if key in words()), "")
    used.add(key)
    known = words().get(key, Words())
    if not field.get("description"):
        if "means" not in known:
            yield f"{where}: its meaning"
        means = known.get("means", "")
        can_be_null = any(entry.get("type") == "null" for entry in _types(field))
        field["description"] = means if can_be_null else means.partition("; null ")[0]
    if "examples" in field:
        return
    example = _obvious_example(field)
    if example is None and any(_choices(field)):
        example = known.get("example")
    if example is not None:
        field["examples"] = [example]
    elif _needs_example(field, schemas):
        yield f"{where}: an example"


def _types(field: Schema) -> list[Schema]:
    """The field's types; those of a union one by one."""
    return field.get("anyOf", field.get("oneOf", [field]))


def _choices(field: Schema) -> Iterator[Schema]:
    """The field's types without null."""
    yield from (entry for entry in _types(field) if entry.get("type") != "null")


def _obvious_example(field: Schema) -> Json:
    """The example of a boolean, a choice or a time, which needs no words."""
    for choice in _choices(field):
        match choice:
            case {"const": value} | {"enum": [value, *_]}:
                return value
            case {"type": "boolean"}:
                return True
            case {"format": "date-time"}:
                return _TIME
    return None


def _needs_example(field: Schema, schemas: Mapping[str, Schema]) -> bool:
    """True for text, a number, or a list or map of these: a field that refers to a shape has its examples there."""
    for choice in _choices(field):
        if choice.get("type") in ("string", "number", "integer"):
            return True
        inner = choice.get("items", choice.get("additionalProperties"))
        if isinstance(inner, dict) and inner and _needs_example(inner, schemas):
            return True
    return False
