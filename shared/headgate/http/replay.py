"""A create with an `Idempotency-Key` is carried out once; repeating it returns the first answer.

If that answer was lost, it is made again from what the first request created, as that is now.
"""

import json
from collections.abc import Awaitable, Callable, Coroutine
from typing import Final

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.types import Message

from headgate.foundation import clock, errors
from headgate.foundation.log import logger
from headgate.http import idempotency
from headgate.http.paths import PUBLIC
from headgate.http.threads import in_thread
from headgate.storage import idempotent_create

_COPIED_HEADERS: Final = ("etag", "content-type")
# Headers of the create that do not fit the GET by which its result is read.
_DROPPED_HEADERS: Final = (b"content-length", b"content-type", b"idempotency-key", b"transfer-encoding")


async def carry_out_once(
    request: Request, handle: Callable[[Request], Coroutine[None, None, Response]], route: APIRoute, *, stored: bool
) -> Response:
    """The answer to a create with an `Idempotency-Key`: its own, or that of the request that used the key first.

    Without `stored`, the first answer counts as lost: it holds what must not be stored.

    Raises what `idempotency.claim` raises, and Contention.
    """
    body = await request.body()
    caller = request.state.caller

    async def claim() -> idempotency.Claim | idempotency.Created | Response:
        return await in_thread(
            idempotency.claim,
            # A session may act in several organizations.
            f"{caller.organization_id}#{caller.credential_id}",
            request.headers["idempotency-key"],
            idempotency.fingerprint(request.method, request.url.path, body),
            clock.now(),
        )

    claimed = await claim()
    if isinstance(claimed, idempotency.Created):
        answer = await _of(request, route, claimed.path)
        if answer is not None:
            return answer
        await in_thread(idempotency.forget, claimed.claim)
        claimed = await claim()
    if isinstance(claimed, Response):
        return claimed
    if isinstance(claimed, idempotency.Created):
        raise errors.Contention("Another request with this key was made at the same time; try again shortly")
    return await carry_out(claimed, lambda: handle(request), lambda response: response if stored else None)


async def carry_out(
    held: idempotency.Claim,
    act: Callable[[], Awaitable[Response]],
    answer: Callable[[Response], Response | None],
) -> Response:
    """Carry out what the key was claimed for, and store `answer` of its response unless that is None."""
    try:
        with idempotent_create.noted_by(lambda path: idempotency.note_created(held, path, clock.now())):
            response = await act()
    except BaseException:
        await in_thread(idempotency.release, held)
        raise
    first = answer(response)
    if first is None:
        return response
    try:
        await in_thread(idempotency.store_answer, held, first, clock.now())
    except Exception as error:  # noqa: BLE001  the create is done: failing to store its answer must not make it fail
        logger.error("idempotency_not_kept", kind=type(error).__name__)
    return response


async def _of(request: Request, route: APIRoute, path: str) -> Response | None:
    """The create's answer, made from a GET of `path` by the same caller; None if it has been deleted.

    If the GET fails otherwise, its error is the answer.
    """
    read = await _read(request, f"{PUBLIC}{path}")
    if read.status_code == 404:
        return None
    if read.status_code != 200:
        return read
    headers = {name: read.headers[name] for name in _COPIED_HEADERS if name in read.headers}
    # Fields that only a create's answer has get their defaults, unless it leaves out what is not set.
    model = TypeAdapter(route.response_model)
    value = model.validate_python(json.loads(bytes(read.body)))
    body = model.dump_json(value, by_alias=True, exclude_unset=route.response_model_exclude_unset)
    replayed = {"Location": f"{PUBLIC}{path}", "Idempotency-Replayed": "true"}
    return Response(body, route.status_code or 200, {**headers, **replayed})


async def _read(request: Request, path: str) -> Response:
    """The answer of this function's own routes to a GET: a function serves what it creates."""
    scope = {
        **request.scope,
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [header for header in request.scope["headers"] if header[0] not in _DROPPED_HEADERS],
    }
    for set_by_router in ("endpoint", "route", "path_params", "router"):
        scope.pop(set_by_router, None)
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
