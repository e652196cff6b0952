"""Every endpoint of the API and every page, as the functions' applications have them."""

import importlib
from collections.abc import Iterator, Sequence
from functools import cache

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Route

from headgate.http.parts import routes_of
from scripts.openapi import FUNCTIONS


def applications() -> Iterator[FastAPI]:
    """All, with all their parts imported."""
    for folder in sorted(FUNCTIONS.iterdir()):
        if (folder / "app.py").exists():
            application = getattr(importlib.import_module(f"{folder.name}.app"), "app", None)
            if isinstance(application, FastAPI):
                routes_of(application)
                yield application


def _walked(routes: Sequence[BaseRoute]) -> Iterator[Route]:
    for route in routes:
        inner = getattr(route, "original_router", None) or getattr(route, "router", None)
        if inner is not None:
            yield from _walked(inner.routes)
        elif isinstance(route, Route):
            yield route


@cache
def operations() -> dict[str, FastAPI]:
    # Not from the applications' descriptions, which take each worker of the tests 0.7 s to write.
    return {
        f"{method} {route.path_format}": application
        for application in applications()
        for route in _walked(application.routes)
        if route.include_in_schema and isinstance(route, APIRoute)
        for method in sorted(route.methods)
    }


def pages(methods: set[str]) -> Iterator[tuple[str, str]]:
    """Every page that a person can ask for, by method and path."""
    for application in applications():
        for route in _walked(application.routes):
            if not route.include_in_schema:
                yield from ((method, route.path) for method in sorted((route.methods or set()) & methods))
