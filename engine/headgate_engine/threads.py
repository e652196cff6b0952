"""Threads for work that a request or an event waits for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class Threads(ThreadPoolExecutor):
    """A pool whose calls run in the context of whoever submits them, so that they are attributed to its function."""

    def submit(
        self, fn: Callable[_Parameters, _Result], /, *args: _Parameters.args, **kwargs: _Parameters.kwargs
    ) -> Future[_Result]:
        """The call's future. `map` submits by it."""
        return super().submit(partial(copy_context().run, fn, *args, **kwargs))
