"""How every route is entered: credential, rate limit and access before anything of the body is looked at."""

import json
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from headgate.audit import service as audit
from headgate.foundation import clock, errors
from headgate.http import credentials, idempotency, problems, replay
from headgate.observability.log import logger
from headgate.storage import idempotent_create

_PUBLIC: Final = "/api/v1/public"
_APPLICATION: Final = "/api/v1/app"
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def _as_writer(request: Request) -> None:
    request.state.caller = credentials.authenticate(request, to_write=True)


def _as_reader(request: Request) -> None:
    request.state.caller = credentials.authenticate(request, to_write=False)


def _as_admin(request: Request) -> None:
    request.state.caller = credentials.authenticate_member(request, as_admin=True)


def _as_member(request: Request) -> None:
    request.state.caller = credentials.authenticate_member(request, as_admin=False)


def _as_person(request: Request) -> None:
    request.state.session = credentials.authenticate_session(request)


# The strictest first: a page of a list asks for a reader too.
_WAYS_IN: Final[tuple[tuple[object, Callable[[Request], None]], ...]] = (
    (credentials.admin, _as_admin),
    (credentials.member, _as_member),
    (credentials.signed_in, _as_person),
    (credentials.writer, _as_writer),
    (credentials.reader, _as_reader),
)


class Route(APIRoute):
    """A route whose caller is known before its body is parsed, and whose creates honour `Idempotency-Key`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[None, None, Response]]:
        handle = super().get_route_handler()
        dependencies = {dependant.call for dependant in _all(self.dependant)}
        enter_as = next((way for marker, way in _WAYS_IN if marker in dependencies), None)
        query_names = {field.alias for dependant in _all(self.dependant) for field in dependant.query_params}
        # Only the public API: an answer of the application may hold a token's value, which no table may.
        creates = self.methods == {"POST"} and self.status_code in (201, 202) and self.path.startswith(_PUBLIC)

        async def enter(request: Request) -> Response:
            if enter_as is not None:
                await run_in_threadpool(enter_as, request)
            _refuse_odd_query(request, query_names)
            if self.body_field is not None:
                await _refuse_half_characters(request)
            if creates and enter_as is not None and "idempotency-key" in request.headers:
                response = await _once(request, handle, self)
            else:
                response = await handle(request)
            if enter_as is _as_writer and response.status_code < 400:
                await run_in_threadpool(_record, request, self.name, response)
            return response

        return enter


def router(prefix: str, tag: str) -> APIRouter:
    """A group's router; `prefix` is relative to the public API."""
    return APIRouter(
        prefix=f"{_PUBLIC}{prefix}",
        tags=[tag],
        route_class=Route,
        responses=problems.documented(400, 401, 403, 404, 413, 422, 429, 503),
    )


def application_router() -> APIRouter:
    """The router of the application's own API, which takes sessions only."""
    return APIRouter(
        prefix=_APPLICATION,
        tags=["Application"],
        route_class=Route,
        responses=problems.documented(400, 401, 403, 404, 413, 422, 429, 503),
    )


def _refuse_odd_query(request: Request, names: set[str]) -> None:
    """A misspelt `validate=true` must not pass as none, nor a second `validate=false` undo it."""
    given = [name for name, _ in request.query_params.multi_items()]
    odd = {name: "Unknown parameter" for name in given if name not in names}
    odd |= {name: "This parameter is there more than once" for name in given if name in names and given.count(name) > 1}
    if odd:
        found = [errors.FieldError(("query", name), message) for name, message in odd.items()]
        raise errors.Invalid(f"query.{found[0].loc[1]}: {found[0].message}", found)


async def _refuse_half_characters(request: Request) -> None:
    r"""JSON can write what no text in UTF-8 holds, as in `"\ud800"`; an answer, a log or a table would fail by it.

    Python's parser takes it as bytes as well, and UTF-16, whose bytes nothing here would find it in.
    """
    body = await request.body()
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise HTTPException(400) from error
    if b"\0" in body:
        raise HTTPException(400)
    if not _SURROGATE.search(body):
        return
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        message = r"A text holds half of a character, one of \ud800 to \udfff without the other half"
        raise errors.Invalid(f"body: {message}", [errors.FieldError(("body",), message)]) from error
    except (ValueError, RecursionError):
        # Whoever parses it next says so.
        return


def record(request: Request, details: Mapping[str, str]) -> None:
    """Say more of this change in the record that is kept of it."""
    request.state.recorded = details


def _record(request: Request, action: str, response: Response) -> None:
    """Keep the record of a change that was made; one put. What identity changes is recorded with the change itself."""
    if "idempotency-replayed" in response.headers:
        return
    target = response.headers.get("location", request.url.path).removeprefix(f"{_PUBLIC}/")
    try:
        audit.append(request.state.caller, action, target, **getattr(request.state, "recorded", {}))
    except (BotoCoreError, ClientError) as error:
        # The change is made: a fault in recording it must not tell the caller otherwise.
        logger.error("change_not_recorded", action=action, target=target, kind=type(error).__name__)


async def _once(
    request: Request, handle: Callable[[Request], Coroutine[None, None, Response]], route: APIRoute
) -> Response:
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
        answer = await replay.of(request, route, claimed.path)
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


def _all(dependant: Dependant) -> Iterator[Dependant]:
    yield dependant
    for inner in dependant.dependencies:
        yield from _all(inner)
