"""Write functions/identity/openapi.json, the whole public API, from the functions' routes, and its types for clients.

make openapi
"""

import importlib
import json
import re
from collections import Counter
from copy import deepcopy
from http import HTTPStatus
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from fastapi.routing import APIRoute

from headgate.foundation.errors import Conflict, Invalid
from headgate.http.parts import routes_of
from headgate.http.paths import PUBLIC
from headgate.http.problems import Problem
from scripts import openapi_common as common
from scripts import shapes
from scripts.openapi_fields import Json, Undescribed, describe, named, without_titles
from scripts.openapi_sides import SCHEMAS, describe_sides, referred

FUNCTIONS: Final = Path(__file__).parents[1] / "functions"
DOCUMENT: Final = FUNCTIONS / "identity" / "openapi.json"
OPERATION_ID: Final = re.compile(r"[a-zA-Z]{1,39}")


def document() -> dict[str, Json]:
    """The OpenAPI document of every public route."""
    paths: dict[str, Json] = {}
    components: dict[str, dict[str, Json]] = {"schemas": {}, "securitySchemes": {}}
    partial: set[str] = set()
    for folder in sorted(FUNCTIONS.iterdir()):
        if not (folder / "app.py").exists():
            continue
        application = getattr(importlib.import_module(f"{folder.name}.app"), "app", None)
        # The fleet service has its own protocol, and the runs' steps have no routes.
        if not isinstance(application, FastAPI):
            continue
        routes = [route for route in routes_of(application) if isinstance(route, APIRoute)]
        partial |= {str(route.operation_id) for route in routes if route.response_model_exclude_unset}
        # A copy, because the application caches its document.
        described = deepcopy(application.openapi())
        public = {path: item for path, item in described["paths"].items() if path.startswith(f"{PUBLIC}/")}
        for item in public.values():
            for method, operation in item.items():
                complete(method, operation)
        paths |= public
        if public:
            for kind, entries in described.get("components", {}).items():
                for name, entry in entries.items():
                    if components[kind].setdefault(name, entry) != entry:
                        raise SystemExit(f"Two functions describe different things as {name}: rename one of them")
    require_operation_ids(paths)
    components["schemas"]["Problem"] = Problem.model_json_schema(ref_template=f"{SCHEMAS}{{model}}")
    definitions = components["schemas"]["Problem"].pop("$defs")
    components["schemas"] |= definitions
    used = set(referred(paths, components["schemas"]))
    components["schemas"] = {name: schema for name, schema in sorted(components["schemas"].items()) if name in used}
    components["responses"] = shared_problems(paths)
    components["headers"] = common.HEADERS
    components["parameters"] = common.PARAMETERS
    components["securitySchemes"] = common.SECURITY_SCHEMES
    whole = without_titles(renamed({"paths": dict(sorted(paths.items())), "components": components}))
    describe(whole)
    describe_sides(whole, partial)
    tags = {tag for item in paths.values() for operation in item.values() for tag in operation["tags"]}
    if tags != set(common.TAGS):
        raise SystemExit(f"These tags need words, or have no route: {tags ^ set(common.TAGS)}")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Headgate",
            "version": "1",
            "description": common.DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": common.SERVERS,
        "tags": [{"name": name, "description": description} for name, description in common.TAGS.items()],
        **whole,
    }


def renamed(node: Json) -> Json:
    """The same with names of schemas that people say, where they are named and where they are referred to."""
    match node:
        case {"$ref": str(reference)} if reference.startswith(SCHEMAS):
            return {**node, "$ref": SCHEMAS + named(reference.removeprefix(SCHEMAS))}
        case {"schemas": dict(schemas), **rest}:
            return {"schemas": {named(name): renamed(schema) for name, schema in schemas.items()}} | renamed(rest)
        case dict():
            return {name: renamed(value) for name, value in node.items()}
        case list():
            return [renamed(entry) for entry in node]
        case _:
            return node


def require_operation_ids(paths: dict[str, Json]) -> None:
    """Exit if an operation has no id of its own that a generator can name a function by."""
    ids = {
        f"{method.upper()} {path}": operation["operationId"]
        for path, item in paths.items()
        for method, operation in item.items()
    }
    times = Counter(ids.values())
    wrong = [f"{where}: {name}" for where, name in ids.items() if times[name] > 1 or not OPERATION_ID.fullmatch(name)]
    if wrong:
        listed = "\n".join(wrong)
        raise SystemExit(
            f'Give each of these routes `operation_id="…"`, unique, letters only, under 40 characters, such as '
            f"publishVersion:\n{listed}"
        )


def complete(method: str, operation: dict[str, Json]) -> None:
    """Add what every route has and does not declare itself: headers, credentials, and the key of a create."""
    responses = operation["responses"]
    assert isinstance(responses, dict)
    parameters = operation.setdefault("parameters", [])
    if method == "post" and ({"201", "202"} & set(responses) or "x-carried-out-once" in operation):
        parameters.append({"$ref": "#/components/parameters/IdempotencyKey"})
    needed = [name for scheme in operation.get("security", []) for name in scheme]
    if needed:
        parameters.append({"$ref": "#/components/parameters/Organization"})
    # The strictest names all that the others do: paging asks for a reader as well.
    strictest = next((name for name in ("admin", "session", "write", "read") if name in needed), None)
    operation["security"] = common.CREDENTIALS[strictest] if strictest else []
    for status, response in responses.items():
        headers = response.setdefault("headers", {})
        names = ["X-Request-Id"]
        if status in ("429", "503", "502"):
            names.append("Retry-After")
        if status in ("201", "202"):
            names.append("Location")
        headers |= {name: _header(name) for name in names}
        if status != "401":
            # After a fault before the credential was known, nobody knows them.
            suffix = "-IfKnown" if status.startswith("5") else ""
            headers |= {name: _header(name + suffix) for name in common.RATE_LIMIT}
        if int(status) >= HTTPStatus.BAD_REQUEST:
            response["description"], _ = common.PROBLEMS[status]
            response["content"]["application/problem+json"]["example"] = example_problem(status)


def example_problem(status: str) -> Json:
    """The body of a response with an error that has this status."""
    _, error = common.PROBLEMS[status]
    result = error.errors if isinstance(error, Invalid | Conflict) else ()
    body = Problem(
        type=f"urn:headgate:problem:{error.code}",
        title=HTTPStatus(int(status)).phrase,
        status=int(status),
        detail=error.detail,
        code=error.code,
        request_id="req-7d0f2c",
        errors=[{"loc": list(entry.loc), "message": entry.message} for entry in result] or None,
    )
    return body.model_dump(exclude_none=True)


def _header(name: str) -> Json:
    return {"$ref": f"#/components/headers/{name}"}


def shared_problems(paths: dict[str, Json]) -> dict[str, Json]:
    """Take the problem responses that several operations have out of these, by the name of their status."""
    shared: dict[str, Json] = {}
    for item in paths.values():
        for operation in item.values():
            for status, response in operation["responses"].items():
                name = HTTPStatus(int(status)).name.title().replace("_", "")
                if int(status) >= HTTPStatus.BAD_REQUEST and shared.setdefault(name, response) == response:
                    operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
    return shared


if __name__ == "__main__":
    try:
        whole = document()
        DOCUMENT.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        shapes.write(whole)
    except Undescribed as undescribed:
        raise SystemExit(str(undescribed)) from None
    for path in (DOCUMENT, shapes.PYTHON, shapes.TYPESCRIPT):
        print(f"wrote {path.relative_to(FUNCTIONS.parent)}")
