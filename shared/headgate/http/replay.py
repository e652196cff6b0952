"""The answer to a create whose first answer was lost: what it made, as it stands now."""

import json
from typing import Final

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.types import Message

_PUBLIC: Final = "/api/v1/public"
_KEPT_HEADERS: Final = ("etag", "content-type")
# Of the create itself: what it is read by is a GET without a body.
_DROPPED_HEADERS: Final = (b"content-length", b"content-type", b"idempotency-key", b"transfer-encoding")


async def of(request: Request, route: APIRoute, path: str) -> Response | None:
    """The create's answer, made from a read of `path` by the same caller; None if nothing is there any more.

    A read that fails otherwise is answered as it failed.
    """
    found = await _read(request, f"{_PUBLIC}{path}")
    if found.status_code == 404:
        return None
    if found.status_code != 200:
        return found
    headers = {name: found.headers[name] for name in _KEPT_HEADERS if name in found.headers}
    # What only the create's answer has, beside the thing itself, gets its default.
    model = TypeAdapter(route.response_model)
    body = model.dump_json(model.validate_python(json.loads(bytes(found.body))))
    replayed = {"Location": f"{_PUBLIC}{path}", "Idempotency-Replayed": "true"}
    return Response(body, route.status_code or 201, {**headers, **replayed})


async def _read(request: Request, path: str) -> Response:
    """The routes' own answer to a GET; in this function, which serves what it creates."""
    scope = {
        **request.scope,
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [one for one in request.scope["headers"] if one[0] not in _DROPPED_HEADERS],
    }
    for made_by_routing in ("endpoint", "route", "path_params", "router"):
        scope.pop(made_by_routing, None)
    status, headers, body = 500, [], b""

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status, headers, body
        if message["type"] == "http.response.start":
            status, headers = message["status"], message["headers"]
        elif message["type"] == "http.response.body":
            body += message.get("body", b"")

    await request.app.router(scope, receive, send)
    return Response(body, status, {name.decode(): value.decode() for name, value in headers})
