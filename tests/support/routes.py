"""Every endpoint of the API and every page, as the functions' applications have them."""

import importlib
from collections.abc import Iterator, Sequence
from functools import cache

from fastapi import FastAPI
from starlette.routing import BaseRoute, Route

from scripts.openapi import FUNCTIONS


def applications() -> Iterator[FastAPI]:
    for folder in sorted(FUNCTIONS.iterdir()):
        if (folder / "app.py").exists():
            application = getattr(importlib.import_module(f"{folder.name}.app"), "app", None)
            if isinstance(application, FastAPI):
                yield application


@cache
def operations() -> dict[str, FastAPI]:
    return {
        f"{method.upper()} {path}": application
        for application in applications()
        for path, item in application.openapi()["paths"].items()
        for method in item
    }


def pages(methods: set[str]) -> Iterator[tuple[str, str]]:
    """Every page that a person can ask for, by method and path."""

    def walk(routes: Sequence[BaseRoute]) -> Iterator[tuple[str, str]]:
        for route in routes:
            inner = getattr(route, "original_router", None) or getattr(route, "router", None)
            if inner is not None:
                yield from walk(inner.routes)
            elif isinstance(route, Route) and not route.include_in_schema:
                yield from ((method, route.path) for method in sorted((route.methods or set()) & methods))

    for application in applications():
        assert isinstance(application, FastAPI)
        yield from walk(application.routes)
