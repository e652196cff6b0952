"""Writes functions/identity/openapi.json: the whole public API, from the functions' routes.

make openapi
"""

import importlib
import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Final, TypeAlias

from fastapi import FastAPI

from headgate.foundation.ids import id_pattern
from headgate.http.credentials import ORGANIZATION_HEADER
from headgate.http.paths import PUBLIC
from headgate.http.problems import Problem

FUNCTIONS: Final = Path(__file__).parents[1] / "functions"
DOCUMENT: Final = FUNCTIONS / "identity" / "openapi.json"

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

DESCRIPTION: Final = """\
A control plane for OpenTelemetry Collector configuration.

Every request carries `Authorization: Bearer <token>`; a session also names its organization in `X-Service-Org`.
Errors are RFC 9457 problems with a stable `code`. Times are RFC 3339 in UTC with milliseconds.
`x-audit-actions` names the action that a change has in the organization's record of changes.
`x-extension` marks what is beyond the specification.
"""

REQUEST_ID: Final[dict[str, Json]] = {
    "X-Request-Id": {
        "description": "The request's id, also in the log",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,128}$"},
    }
}
RATE_LIMIT: Final[dict[str, dict[str, Json]]] = {
    name: {"description": description, "required": True, "schema": {"type": "integer", "minimum": 0}}
    for name, description in {
        "RateLimit-Limit": "Requests a minute",
        "RateLimit-Remaining": "Requests left in this minute",
        "RateLimit-Reset": "Seconds until the next minute",
    }.items()
}
IDEMPOTENCY_KEY: Final[dict[str, Json]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key with the same body gives the first answer again, for 24 hours",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
}
ORGANIZATION: Final[dict[str, Json]] = {
    "name": ORGANIZATION_HEADER,
    "in": "header",
    "required": False,
    "description": "With a session: the id of the organization that the request acts as; without it, or with anything "
    "else in it, a session gets 400. With a token it is not looked at: a token belongs to one organization",
    "schema": {"type": "string", "pattern": id_pattern("org")},
}


def document() -> dict[str, Json]:
    """The OpenAPI document of every public route."""
    paths: dict[str, Json] = {}
    components: dict[str, dict[str, Json]] = {"schemas": {}, "securitySchemes": {}}
    for folder in sorted(FUNCTIONS.iterdir()):
        if not (folder / "app.py").exists():
            continue
        application = getattr(importlib.import_module(f"{folder.name}.app"), "app", None)
        # The fleet service has its own protocol, and the runs' steps have no routes.
        if not isinstance(application, FastAPI):
            continue
        # A copy, because the application caches its document.
        described = deepcopy(application.openapi())
        public = {path: item for path, item in described["paths"].items() if path.startswith(f"{PUBLIC}/")}
        for item in public.values():
            for method, operation in item.items():
                complete(method, operation)
        paths |= public
        if public:
            for kind, entries in described.get("components", {}).items():
                components[kind] |= entries
    components["schemas"]["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    definitions = components["schemas"]["Problem"].pop("$defs")
    components["schemas"] |= definitions
    used = set(referred(paths, components["schemas"]))
    components["schemas"] = {name: schema for name, schema in sorted(components["schemas"].items()) if name in used}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Headgate", "version": "1", "description": DESCRIPTION},
        "paths": dict(sorted(paths.items())),
        "components": components,
    }


def complete(method: str, operation: dict[str, Json]) -> None:
    """Add what every route has and does not declare itself: headers, and the key of a create."""
    responses = operation["responses"]
    assert isinstance(responses, dict)
    if method == "post" and {"201", "202"} & set(responses):
        operation.setdefault("parameters", []).append(IDEMPOTENCY_KEY)
    if "security" in operation:
        operation.setdefault("parameters", []).append(ORGANIZATION)
    for status, response in responses.items():
        headers = response.setdefault("headers", {})
        headers |= REQUEST_ID
        if status.startswith("5"):
            # A fault before the credential was known has none.
            headers |= {name: {**header, "required": False} for name, header in RATE_LIMIT.items()}
        elif status != "401":
            headers |= RATE_LIMIT
        if status in ("429", "503", "502"):
            headers["Retry-After"] = {
                "description": "Seconds to wait",
                "required": True,
                "schema": {"type": "integer", "minimum": 1},
            }
        if status in ("201", "202"):
            headers["Location"] = {"description": "Where it is now", "required": True, "schema": {"type": "string"}}


def referred(node: Json, schemas: dict[str, Json]) -> Iterator[str]:
    """The names of the schemas to which `node` refers, directly or through other schemas."""
    seen: set[str] = set()
    waiting: list[Json] = [node]
    while waiting:
        match waiting.pop():
            case {"$ref": str(reference)}:
                name = reference.rpartition("/")[2]
                if name not in seen:
                    seen.add(name)
                    waiting.append(schemas[name])
                    yield name
            case dict() as mapping:
                waiting.extend(mapping.values())
            case list() as entries:
                waiting.extend(entries)


if __name__ == "__main__":
    DOCUMENT.write_text(json.dumps(document(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {DOCUMENT.relative_to(FUNCTIONS.parent)}")
