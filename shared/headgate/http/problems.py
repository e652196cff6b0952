"""Errors as RFC 9457 problem responses. `headgate.http.statuses` has their statuses."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from http import HTTPStatus
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError, ResponseValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route

from headgate.foundation import errors, faults
from headgate.foundation.log import logger
from headgate.http.parts import routes_of
from headgate.http.paths import PUBLIC
from headgate.http.statuses import status_of
from headgate_engine.wire import refusals
from headgate_engine.wire.bounds import MOST_ERRORS

_CODES: Final[Mapping[int, str]] = {
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    500: "internal_error",
    503: "unavailable",
}
# After an outage; a checker starts again in this time.
_RETRY_AFTER_OUTAGE: Final = "2"
# The most characters of a path in a problem.
_LONGEST_PATH: Final = 200
_TOO_LARGE: Final = "The request body is over 1 MB (1,048,576 bytes)"


class ProblemError(BaseModel):
    """One thing wrong with the request, or one that stands against it."""

    loc: list[str | int]
    message: str
    component_path: str | None = None
    line: int | None = None
    column: int | None = None
    code: str | None = None


class Problem(BaseModel):
    """RFC 9457, with a stable `code` for programs."""

    model_config = ConfigDict(title="Problem")

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[ProblemError] | None = None


def documented(*statuses: int) -> dict[int | str, dict[str, object]]:
    """The problem responses of a route, for its OpenAPI description."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {"application/problem+json": {"schema": schema}},
        }
        for status in statuses
    }


def problem(
    request: Request,
    status: int,
    code: str,
    detail: str,
    *,
    field_errors: Sequence[errors.FieldError] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    body = Problem(
        type=f"urn:headgate:problem:{code}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        request_id=getattr(request.state, "request_id", ""),
        errors=[ProblemError.model_validate(error, from_attributes=True) for error in field_errors] or None,
    )
    return JSONResponse(
        body.model_dump(exclude_none=True), status, headers=dict(headers or {}), media_type="application/problem+json"
    )


def retry_after(error: Exception) -> dict[str, str]:
    """The `Retry-After` header, after an outage and over a limit; else none."""
    if isinstance(error, errors.TooManyRequests):
        return {"Retry-After": str(error.retry_after)}
    if waiting := errors.not_ready(error):
        return {"Retry-After": str(waiting.retry_after)} if waiting.retry_after is not None else {}
    if isinstance(error, errors.HeadgateError) and status_of(error) < HTTPStatus.INTERNAL_SERVER_ERROR:
        return {}
    if isinstance(error, errors.Unavailable) and not error.may_pass:
        return {}
    return {"Retry-After": _RETRY_AFTER_OUTAGE}


def install(app: FastAPI) -> None:
    """Make `app` answer every error with a problem."""
    handlers: Mapping[type[Exception], Callable[[Request, Exception], JSONResponse]] = {
        errors.HeadgateError: _domain_error,
        RequestValidationError: _request_invalid,
        HTTPException: framework_error,
        ClientDisconnect: _disconnected,
        BotoCoreError: _aws_fault,
        ClientError: _aws_fault,
        ResponseValidationError: _defect,
        Exception: _defect,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, _at_once(handler))


def _at_once(handler: Callable[[Request, Exception], JSONResponse]) -> Callable[..., Coroutine[None, None, Response]]:
    """The handler as a coroutine: Starlette would start a thread for any other one, and none of ours waits."""

    async def handle(request: Request, error: Exception) -> Response:
        return handler(request, error)

    return handle


def _domain_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.HeadgateError)
    status = status_of(error)
    headers = retry_after(error)
    if isinstance(error, errors.Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    elif status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        # Everybody who waits for a build asks again and again, which would hide what the terminal says of it.
        waits = errors.not_ready(error)
        log = logger.info if waits and waits.may_pass else logger.warning
        log("outage", code=errors.code_of(error), detail=error.detail)
        request.state.blame = faults.blame(error)
    field_errors = error.errors if isinstance(error, errors.Invalid | errors.Conflict) else ()
    return problem(request, status, errors.code_of(error), error.detail, field_errors=field_errors, headers=headers)


def _request_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    entries = error.errors()
    field_errors = [refusals.plain(entry) for entry in entries[:MOST_ERRORS]]
    malformed = next((error for error in field_errors if error.loc[:1] == ("path",)), None)
    if malformed:
        # A malformed id names nothing, so this says what one of that kind looks like.
        name = str(malformed.loc[-1])
        message = malformed.message.replace("This must", f"`{name}` must", 1)
        return problem(request, 404, "not_found", f"No such {_noun(name)}: {message}")
    detail = errors.first_of(field_errors, len(entries))
    return problem(request, 422, "invalid", detail, field_errors=field_errors)


def _noun(parameter: str) -> str:
    """The noun of a path parameter: `configuration` for `configuration_id`."""
    return "version" if parameter == "n" else parameter.removesuffix("_id").replace("_", " ")


def framework_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    match error.status_code:
        case 400:
            # FastAPI raises it for a body that its JSON parser cannot read: not UTF-8, or nested too deeply.
            message = "The body is not JSON in UTF-8, or is nested too deeply"
            return problem(request, 422, "invalid", message, field_errors=[errors.FieldError(("body",), message)])
        case 404:
            return problem(request, 404, "not_found", f"There is nothing at this path{_likely(request.url.path)}")
        case 405:
            allowed = methods_at(request)
            detail = f"The method {request.scope['method']} is not allowed here; allowed: {allowed or 'none'}"
            return problem(request, 405, "method_not_allowed", detail, headers={"Allow": allowed})
        case 413:
            return problem(request, 413, "too_large", _TOO_LARGE)
        case status:
            return problem(request, status, _CODES.get(status, "error"), str(error.detail), headers=error.headers)


def _likely(path: str) -> str:
    """Name the path that a client meant which was given the API's whole address in place of the server's."""
    rest = path
    while rest.startswith(PUBLIC * 2):
        rest = rest.removeprefix(PUBLIC)
    if rest == path:
        return ""
    return f"; did you mean {rest[:_LONGEST_PATH]}? The paths of the description begin with {PUBLIC} already"


def _disconnected(request: Request, _: Exception) -> JSONResponse:
    """The client went away during its upload, before anything was carried out. Nobody reads the answer."""
    logger.info("client_disconnected")
    return problem(request, 400, "client_disconnected", "The connection was closed before the whole body had arrived")


def _aws_fault(request: Request, error: Exception) -> JSONResponse:
    """An AWS service failed. Its error code goes to the log, not to the caller."""
    operation = error.operation_name if isinstance(error, ClientError) else ""
    logger.error("aws_fault", operation=operation, aws_code=faults.aws_code(error))
    request.state.blame = faults.blame(error)
    return problem(
        request,
        503,
        "unavailable",
        "A part of the service did not answer; the request may not have been carried out. Try again shortly",
        headers=retry_after(error),
    )


def _defect(request: Request, error: Exception) -> JSONResponse:
    # The message may quote the request, so only the kind and place of the error are logged.
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}" if trace else ""
    logger.error("defect", kind=type(error).__name__, place=place)
    return problem(
        request, 500, "internal_error", "The service itself failed; its log has the cause under this request id"
    )


def methods_at(request: Request) -> str:
    """For `Allow`: the methods of all routes at the path. Starlette knows those of one route only."""
    methods: set[str] = set()
    for route in routes_of(request.app, path=request.scope["path"]):
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            methods |= route.methods or set()
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
