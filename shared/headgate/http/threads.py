"""Threads for functions that wait for a table, a collector or another service."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

from anyio import to_thread
from mangum import Mangum

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_alone: Final = ContextVar("alone", default=False)
"""True if the event loop has this request only, so that a function that waits delays no other one."""


class OneAtATime(Mangum):
    """A handler for a function on Lambda, whose environments have a request each.

    A thread for a request would be started, and ended with it: each one has a task of its own in the event loop.
    """

    def __call__(self, event: Any, context: Any) -> dict[str, Any]:
        with alone():
            answer: dict[str, Any] = super().__call__(event, context)
        return answer


@contextmanager
def alone() -> Iterator[None]:
    """Run the functions of the requests that begin in the block where they are called."""
    before = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(before)


async def in_thread(
    function: Callable[_Parameters, _Result], *arguments: _Parameters.args, **named: _Parameters.kwargs
) -> _Result:
    """Run a function that waits, in a thread unless the request is alone.

    What it sets in its context ends with it, here as there.
    """
    called = partial(function, *arguments, **named)
    return copy_context().run(called) if _alone.get() else await to_thread.run_sync(called)
