"""The reference of the collector, fetched in the background and held for the life of the process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, cast

from headgate_cli.api import ServerError
from headgate_cli.errors import Failed
from headgate_cli.lsp.schema import ServedSchema
from headgate_cli.lsp.sources import Backend, is_about_the_text
from headgate_cli.shapes import OttlReferenceOut

# How soon what could not be had is asked for again.
_RETRY: Final = 30.0
_NOT_FOUND: Final = 404
_SCHEMA: Final = ()


class ReferenceStore:
    """The schema and the OTTL references. It belongs to one event loop."""

    def __init__(self, backend: Backend, report: Callable[[str, Failed], None]) -> None:
        """`report` is told what could not be had, and why."""
        self._backend = backend
        self._report = report
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="reference")
        self._pending: dict[tuple[str, ...], asyncio.Future[object]] = {}
        self._failed: dict[tuple[str, ...], float] = {}
        self._ottl: dict[tuple[str, str], OttlReferenceOut | None] = {}
        self.reference: ServedSchema | None = None

    def load(self) -> None:
        """Begin to fetch the schema, unless it is there or was tried just now."""
        if self.reference is None:
            self._fetch(_SCHEMA, lambda: ServedSchema(self._backend.document()))

    def answered(self, *, reduced: bool) -> None:
        """Fetch the reference again if another build answers now: the first program's, once the whole one is there."""
        if self.reference is not None and self.reference.is_reduced != reduced and _SCHEMA not in self._pending:
            self._ottl.clear()
            self._fetch(_SCHEMA, lambda: ServedSchema(self._backend.document()))

    def lookup(self, component: str, context: str) -> OttlReferenceOut | None:
        """The OTTL reference of a component's context; None if it is not there yet, then it is being fetched."""
        key = (component, context)
        if key not in self._ottl:
            self._fetch(key, lambda: self._backend.ottl(*key))
        return self._ottl.get(key)

    async def settled(self, seconds: float) -> bool:
        """Wait for what is being fetched. Returns whether there was anything to wait for."""
        # Also for those that are done: their answers are in place when the loop has called `_fetched`.
        waited = list(self._pending.values())
        if not waited:
            return False
        await asyncio.wait(waited, timeout=seconds)
        # So that the answers are in place.
        await asyncio.sleep(0)
        return True

    @property
    def is_complete(self) -> bool:
        """True if the schema is there and nothing is being fetched."""
        return self.reference is not None and not self._pending

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _fetch(self, key: tuple[str, ...], ask: Callable[[], object]) -> None:
        if key in self._pending or time.monotonic() - self._failed.get(key, -_RETRY) < _RETRY:
            return
        future = asyncio.get_running_loop().run_in_executor(self._threads, ask)
        self._pending[key] = future
        future.add_done_callback(lambda done: self._fetched(key, done))

    def _fetched(self, key: tuple[str, ...], future: asyncio.Future[object]) -> None:
        self._pending.pop(key, None)
        if future.cancelled():
            return
        error = future.exception()
        if error is None:
            answer = future.result()
            if isinstance(answer, ServedSchema):
                self.reference = answer
            elif isinstance(answer, dict) and len(key) == 2:
                self._ottl[key[0], key[1]] = cast("OttlReferenceOut", answer)
        elif (
            isinstance(error, ServerError)
            and len(key) == 2
            and (is_about_the_text(error) or error.status == _NOT_FOUND)
        ):
            # A context that the component does not have: there is nothing to offer.
            self._ottl[key[0], key[1]] = None
        else:
            self._failed[key] = time.monotonic()
            reason = error if isinstance(error, Failed) else Failed(type(error).__name__)
            self._report(" ".join(key) or "schema", reason)
