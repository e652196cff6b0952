"""Parts of an application, each imported at the first request to one of its paths.

The routes of a function, with their models and services, take most of its cold start, and a request needs few of them.
"""

import re
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from headgate.http.threads import in_thread

_SEGMENT: Final = r"[^/]+"


class Part:
    """The routers of a module, and the paths that they answer: `*` is one segment, `/**` at the end all below.

    A path that no pattern names is never answered by the part.
    """

    def __init__(self, module: str, *paths: str, routers: Sequence[str] = ("router",)) -> None:
        self.module = module
        # It has its place among the routes from the beginning, since the first route that matches a path answers.
        self.router = APIRouter()
        self._paths = re.compile("|".join(f"(?:{_pattern(path)})$" for path in paths), re.DOTALL)
        self._names = routers
        self._lock = threading.Lock()
        self._routes: list[BaseRoute] | None = None

    def covers(self, path: str) -> bool:
        return self._paths.match(path) is not None

    def is_imported(self) -> bool:
        return self._routes is not None

    def routes(self) -> list[BaseRoute]:
        """The part's routes, one flat list. The first call imports the module."""
        with self._lock:
            if self._routes is None:
                routers = [getattr(import_module(self.module), name) for name in self._names]
                for router in routers:
                    self.router.include_router(router)
                self._routes = [route for router in routers for route in router.routes]
            return self._routes


def _pattern(path: str) -> str:
    below = "(?:/.*)?" if path.endswith("/**") else ""
    return _SEGMENT.join(map(re.escape, path.removesuffix("/**").split("*"))) + below


class ImportParts:
    """Imports the parts that cover a request's path before the request is routed."""

    def __init__(self, app: ASGIApp, parts: Sequence[Part]) -> None:
        self._app, self._parts = app, parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            for part in self._parts:
                if part.covers(scope["path"]) and not part.is_imported():
                    await in_thread(part.routes)
        await self._app(scope, receive, send)


def routes_of(app: FastAPI, *, path: str | None = None) -> list[BaseRoute]:
    """The application's routes, one flat list: in `app.routes` they are nested in their routers.

    Imports all parts, or with `path` those that cover it.
    """
    routes: list[BaseRoute] = []
    for member in app.state.members:
        if not isinstance(member, Part):
            routes += member.routes
        elif path is None or member.covers(path):
            routes += member.routes()
    return routes
