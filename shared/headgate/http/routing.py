"""Steps around every route: credential, rate limit and access first, before the body is read."""

import functools
import inspect
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from headgate.http import auditing, credentials, problems, replay, strict_requests
from headgate.http.paths import APPLICATION, PUBLIC
from headgate.http.threads import in_thread

# The operations of the specification. The OpenAPI document marks every other one as an extension.
_SPECIFIED: Final = frozenset(
    [
        "appendVersion",
        "changeConfiguration",
        "changeDeployment",
        "changeVersion",
        "composeInstall",
        "createConfiguration",
        "createDeployment",
        "createFleet",
        "getConfiguration",
        "getDeployment",
        "getFleet",
        "getFlow",
        "getIdentity",
        "getRun",
        "getRunOutput",
        "getVersion",
        "lintOttl",
        "listConfigurations",
        "listDeployments",
        "listFleets",
        "listFlows",
        "listInstances",
        "listValidationPipelines",
        "listVersions",
        "publishVersion",
        "putValidationPipeline",
        "startRun",
        "validateText",
    ]
)

SECRET_ANSWER: Final = {"x-answer-not-stored": True}
"""Marks a create whose answer holds a secret: repeating it under its key returns what was created, without that."""
ONCE: Final = {"x-carried-out-once": True}
"""Marks a POST that creates no thing of its own, and is carried out once under an `Idempotency-Key` all the same."""


def recorded(*actions_and_statuses: str | int, marks: Mapping[str, object] = MappingProxyType({})) -> dict[str, Any]:
    """The options of a route that changes something: the actions that it records, and statuses of refusals of its own.

    `marks` are `SECRET_ANSWER`, `ONCE`, or both.
    """
    actions = [each for each in actions_and_statuses if isinstance(each, str)]
    statuses = [each for each in actions_and_statuses if isinstance(each, int)]
    return {"responses": problems.documented(*statuses), "openapi_extra": auditing.audited(*actions) | {**marks}}


# How a request is let in, by what its route depends on. The strictest first: paging asks for a reader as well.
_WAYS_IN: Final[Mapping[Callable[..., object], Callable[[Request], None]]] = {
    credentials.admin: partial(credentials.enter_as_member, as_admin=True),
    credentials.member: partial(credentials.enter_as_member, as_admin=False),
    credentials.signed_in: credentials.enter_as_person,
    credentials.writer: partial(credentials.enter, to_write=True),
    credentials.reader: partial(credentials.enter, to_write=False),
    credentials.anonymous: credentials.admit_anonymous,
}


_ROUTES: Final[dict[Callable[..., object], APIRoute]] = {}


def route_of(endpoint: Callable[..., object]) -> APIRoute:
    """The route of an endpoint of the API, which names its path and its action."""
    return _ROUTES[endpoint]


class Threaded(APIRoute):
    """A route whose function runs in a thread unless the request is alone, and all around it where that came in.

    FastAPI would hand the answer to a thread once more to check it; each hand-off waits for a processor.
    """

    def __init__(self, path: str, endpoint: Callable[..., object], **options: Any) -> None:
        @functools.wraps(endpoint)
        async def waiting(**arguments: object) -> object:
            return await in_thread(endpoint, **arguments)

        super().__init__(path, endpoint if inspect.iscoroutinefunction(endpoint) else waiting, **options)


class Route(Threaded):
    """A route whose caller is known before its body is parsed, and whose creates honour `Idempotency-Key`.

    An operation of the public API is named like its function, unless it has another name.
    """

    def __init__(self, path: str, endpoint: Callable[..., object], **options: Any) -> None:
        if path.startswith(PUBLIC):
            options["operation_id"] = options.get("operation_id") or _camel(endpoint.__name__)
            if options["operation_id"] not in _SPECIFIED:
                options["openapi_extra"] = {"x-extension": True} | (options.get("openapi_extra") or {})
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[None, None, Response]]:
        handle = super().get_route_handler()
        _ROUTES.setdefault(inspect.unwrap(self.endpoint), self)
        dependencies = {dependant.call for dependant in _all(self.dependant)}
        needed = next((marker for marker in _WAYS_IN if marker in dependencies), None)
        changes = needed is credentials.writer
        query_names = {field.alias for dependant in _all(self.dependant) for field in dependant.query_params}
        # Only the public API: an answer of the application may hold a token's value, which must not be stored.
        stored = not (self.openapi_extra or {}).get("x-answer-not-stored")
        once = self.status_code in (201, 202) or "x-carried-out-once" in (self.openapi_extra or {})
        creates = self.methods == {"POST"} and once and self.path.startswith(PUBLIC)
        if changes and len(auditing.actions_of(self)) != 1:
            raise TypeError(f"{self.path} changes something: name its action, `**recorded(...)`")

        async def enter(request: Request) -> Response:
            if needed is not None:
                await in_thread(_WAYS_IN[needed], request)
            strict_requests.refuse_odd_query(request, query_names)
            if self.body_field is not None:
                await strict_requests.refuse_unpaired_surrogates(request)
            if creates and needed is not None and "idempotency-key" in request.headers:
                response = await replay.carry_out_once(request, handle, self, stored=stored)
            else:
                response = await handle(request)
            if changes and response.status_code < 400:
                await in_thread(auditing.record, request, self, response)
            return response

        return enter


def router(prefix: str, tag: str) -> APIRouter:
    """A group's router; `prefix` is relative to the public API."""
    return _router(f"{PUBLIC}{prefix}", tag)


def application_router() -> APIRouter:
    """The router of the application's own API, which takes sessions only."""
    return _router(APPLICATION, "Application")


def _router(prefix: str, tag: str) -> APIRouter:
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        route_class=Route,
        responses=problems.documented(400, 401, 403, 404, 413, 422, 429, 503),
    )


def _camel(name: str) -> str:
    first, *more = name.split("_")
    return first + "".join(word.title() for word in more)


def _all(dependant: Dependant) -> Iterator[Dependant]:
    yield dependant
    for inner in dependant.dependencies:
        yield from _all(inner)
