"""A create with an `Idempotency-Key` is carried out once; sent again, it gets the first answer.

Where that answer was lost, it is made anew of what the first request created, as it stands now.
"""

import json
from collections.abc import Callable, Coroutine
from typing import Final

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool
from starlette.types import Message

from headgate.foundation import clock, errors
from headgate.http import idempotency
from headgate.http.paths import PUBLIC
from headgate.observability.log import logger
from headgate.storage import idempotent_create

_KEPT_HEADERS: Final = ("etag", "content-type")
# Of the create itself: what it is read by is a GET without a body.
_DROPPED_HEADERS: Final = (b"content-length", b"content-type", b"idempotency-key", b"transfer-encoding")


async def carry_out_once(
    request: Request, handle: Callable[[Request], Coroutine[None, None, Response]], route: APIRoute
) -> Response:
    """The answer to a create with an `Idempotency-Key`: its own, or that of the request that used the key first.

    Raises what `idempotency.claim` raises, and Contention.
    """
    body = await request.body()
    caller = request.state.caller

    async def claim() -> idempotency.Claim | idempotency.Made | Response:
        return await run_in_threadpool(
            idempotency.claim,
            # A session acts in several organizations.
            f"{caller.organization_id}#{caller.credential_id}",
            request.headers["idempotency-key"],
            idempotency.fingerprint(request.method, request.url.path, body),
            clock.now(),
        )

    claimed = await claim()
    if isinstance(claimed, idempotency.Made):
        answer = await _of(request, route, claimed.path)
        if answer is not None:
            return answer
        await run_in_threadpool(idempotency.forget, claimed.claim)
        claimed = await claim()
    if isinstance(claimed, Response):
        return claimed
    if isinstance(claimed, idempotency.Made):
        raise errors.Contention("Another request with this key was made at once; try again shortly")
    mine = claimed
    try:
        with idempotent_create.noted_by(lambda path: idempotency.made(mine, path, clock.now())):
            response = await handle(request)
    except BaseException:
        await run_in_threadpool(idempotency.release, mine)
        raise
    try:
        await run_in_threadpool(idempotency.keep, mine, response, clock.now())
    except Exception as error:  # noqa: BLE001  the create is done: a fault in remembering it must not turn it into an error
        logger.error("idempotency_not_kept", kind=type(error).__name__)
    return response


async def _of(request: Request, route: APIRoute, path: str) -> Response | None:
    """The create's answer, made from a read of `path` by the same caller; None if nothing is there any more.

    A read that fails otherwise is answered as it failed.
    """
    found = await _read(request, f"{PUBLIC}{path}")
    if found.status_code == 404:
        return None
    if found.status_code != 200:
        return found
    headers = {name: found.headers[name] for name in _KEPT_HEADERS if name in found.headers}
    # What only the create's answer has, beside the thing itself, gets its default.
    model = TypeAdapter(route.response_model)
    body = model.dump_json(model.validate_python(json.loads(bytes(found.body))))
    replayed = {"Location": f"{PUBLIC}{path}", "Idempotency-Replayed": "true"}
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
