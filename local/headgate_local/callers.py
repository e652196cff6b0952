"""The function in whose name this process calls AWS at the moment, as a role would tell it on AWS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from starlette.types import ASGIApp, Receive, Scope, Send

_function: ContextVar[str | None] = ContextVar("function", default=None)


def current() -> str | None:
    """The logical id of the function; None outside of every function."""
    return _function.get()


@contextmanager
def acting(function: str) -> Iterator[None]:
    """Attribute the calls in the `with` block, and in threads that inherit its context, to that function."""
    token = _function.set(function)
    try:
        yield
    finally:
        _function.reset(token)


def attributed(application: ASGIApp, function: str) -> ASGIApp:
    """The application, its calls attributed to that function."""

    async def attribute(scope: Scope, receive: Receive, send: Send) -> None:
        with acting(function):
            await application(scope, receive, send)

    return attribute
