"""How every route is entered: credential, rate limit and access before anything of the body is looked at."""

from collections.abc import Callable, Coroutine, Iterator

from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from headgate import clock, errors
from headgate.http import credentials, idempotency, problems
from headgate.http.log import logger


class Route(APIRoute):
    """A route whose caller is known before its body is parsed, and whose creates honour `Idempotency-Key`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[None, None, Response]]:
        handle = super().get_route_handler()
        dependencies = {dependant.call for dependant in _all(self.dependant)}
        to_write = credentials.writer in dependencies
        known_caller = to_write or credentials.reader in dependencies
        query_names = {field.alias for dependant in _all(self.dependant) for field in dependant.query_params}
        creates = self.methods == {"POST"} and self.status_code in (201, 202)

        async def enter(request: Request) -> Response:
            if known_caller:
                request.state.caller = await run_in_threadpool(credentials.authenticate, request, to_write=to_write)
            _refuse_unknown_query(request, query_names)
            if creates and known_caller and "idempotency-key" in request.headers:
                return await _once(request, handle)
            return await handle(request)

        return enter


def router(prefix: str, tag: str) -> APIRouter:
    """A group's router; `prefix` is relative to the public API."""
    return APIRouter(
        prefix=f"/api/v1/public{prefix}",
        tags=[tag],
        route_class=Route,
        responses=problems.documented(401, 403, 404, 413, 422, 429, 503),
    )


def _refuse_unknown_query(request: Request, names: set[str]) -> None:
    """A misspelt `validate=true` must not pass as none."""
    unknown = [name for name in request.query_params if name not in names]
    if unknown:
        raise errors.Invalid(
            f"query.{unknown[0]}: Unknown parameter",
            [errors.FieldError(("query", name), "Unknown parameter") for name in unknown],
        )


async def _once(request: Request, handle: Callable[[Request], Coroutine[None, None, Response]]) -> Response:
    body = await request.body()
    claimed = await run_in_threadpool(
        idempotency.claim,
        request.state.caller.credential_id,
        request.headers["idempotency-key"],
        idempotency.fingerprint(request.method, request.url.path, body),
        clock.now(),
    )
    if isinstance(claimed, Response):
        return claimed
    try:
        response = await handle(request)
    except BaseException:
        await run_in_threadpool(idempotency.release, claimed)
        raise
    try:
        await run_in_threadpool(idempotency.keep, claimed, response, clock.now())
    except Exception as error:  # noqa: BLE001  the create is done: a fault in remembering it must not turn it into an error
        logger.error("idempotency_not_kept", kind=type(error).__name__)
    return response


def _all(dependant: Dependant) -> Iterator[Dependant]:
    yield dependant
    for inner in dependant.dependencies:
        yield from _all(inner)
