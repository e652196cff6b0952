"""Sends each request to the function to which API Gateway would send it, by the routes of template.yaml.

The request is passed on as ASGI, unchanged: nothing here reads a body, so a function can refuse one that is too large
before it is read. docs/decisions/0004-local-data-behind-one-lock.md says why it does not travel as a Lambda event.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from headgate_local import callers
from headgate_local.template import RouteTemplate

_VARIABLE: Final = re.compile(r"\{[^{}/+]+\}")
_REST: Final = re.compile(r"\{[^{}/]+\+\}")
_DEFAULT: Final = "$default"


@dataclass(frozen=True, slots=True)
class _Rule:
    method: str
    pattern: re.Pattern[str]
    application: ASGIApp

    def matches(self, method: str, path: str) -> bool:
        return self.method in ("*", method) and self.pattern.fullmatch(path) is not None


class Dispatcher:
    """An ASGI application. `nowhere` answers requests that no route matches."""

    def __init__(self, routes: Sequence[tuple[RouteTemplate, ASGIApp]], nowhere: ASGIApp) -> None:
        ordered = sorted(routes, key=lambda entry: _specificity(entry[0]))
        self._rules = [
            _Rule(route.method, _pattern(route.path), callers.attributed(application, route.function.logical_id))
            for route, application in ordered
        ]
        self._nowhere = nowhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "http":
            await self._application(scope["method"], scope["path"])(scope, receive, send)

    def _application(self, method: str, path: str) -> ASGIApp:
        return next((rule.application for rule in self._rules if rule.matches(method, path)), self._nowhere)


def application_of(route: RouteTemplate) -> ASGIApp:
    """The ASGI application beside a function's handler: `configurations.app.app` for `configurations.app.handler`."""
    application: ASGIApp = import_module(route.function.handler.rpartition(".")[0]).app
    return application


def _pattern(path: str) -> re.Pattern[str]:
    if path == _DEFAULT:
        return re.compile(r".*", re.DOTALL)
    segments = (
        r".+" if _REST.fullmatch(segment) else r"[^/]+" if _VARIABLE.fullmatch(segment) else re.escape(segment)
        for segment in path.split("/")
    )
    return re.compile("/".join(segments), re.DOTALL)


def _specificity(route: RouteTemplate) -> tuple[list[int], bool]:
    """The order of API Gateway: a literal segment before a variable one before the rest of a path, then `$default`."""
    if route.path == _DEFAULT:
        return [3], True
    kinds = [2 if _REST.fullmatch(part) else 1 if _VARIABLE.fullmatch(part) else 0 for part in route.path.split("/")]
    return kinds, route.method == "*"


async def _live(receive: Receive, send: Send) -> None:
    """The functions' applications have no start or end of their own, as in Lambda."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
