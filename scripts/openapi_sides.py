"""Separate descriptions of requests and answers: a request states its defaults, an answer its constant fields.

Generators read `default` in two ways. openapi-typescript makes such a field required, which is right for an answer
and wrong for a request, so a default stands in the words of the request's field, and an answer has none.
"""

import json
from collections.abc import Iterator, Mapping, Set
from typing import Final

from scripts.openapi_fields import Json

SCHEMAS: Final = "#/components/schemas/"
_LONGEST: Final = 100


def describe_sides(document: dict[str, Json], partial: Set[str]) -> None:
    """Make the fields of requests with a default optional, and those of answers required.

    `partial` names the operations whose answers leave out what nobody set. Exits if a request and an answer share a
    shape with fields.
    """
    schemas = document["components"]["schemas"]
    operations = [operation for item in document["paths"].values() for operation in item.values()]
    sent = set(referred([operation.get("requestBody", {}) for operation in operations], schemas))
    answers = {operation["operationId"]: operation["responses"] for operation in operations}
    answered = set(referred([list(answers.values()), document["components"]["responses"]], schemas))
    incomplete = set(referred([answers[name] for name in sorted(partial & set(answers))], schemas))
    shared = sorted(name for name in sent & answered if schemas[name].get("properties"))
    if shared:
        raise SystemExit(f"Requests and answers need shapes of their own: {', '.join(shared)}")
    for name in sent:
        for field in schemas[name].get("properties", {}).values():
            if "default" in field:
                field["description"] += _words(field.pop("default"))
    for name in answered:
        fields = schemas[name].get("properties", {})
        always = {field for field, schema in fields.items() if schema.pop("default", None) is not None}
        if always and name not in incomplete:
            required = always.union(schemas[name].get("required", []))
            schemas[name]["required"] = [field for field in fields if field in required]


def referred(node: Json, schemas: Mapping[str, Json]) -> Iterator[str]:
    """The names of the schemas to which `node` refers, directly or through other schemas."""
    seen: set[str] = set()
    waiting: list[Json] = [node]
    while waiting:
        match waiting.pop():
            case {"$ref": str(reference)} if reference.startswith(SCHEMAS):
                name = reference.rpartition("/")[2]
                if name not in seen:
                    seen.add(name)
                    waiting.append(schemas[name])
                    yield name
            case dict() as mapping:
                waiting.extend(mapping.values())
            case list() as entries:
                waiting.extend(entries)


def _words(default: Json) -> str:
    text = json.dumps(default, ensure_ascii=False)
    return f"; {text} by default" if default not in (None, [], {}) and len(text) <= _LONGEST else ""
