"""The reference that the language server fetches in the background."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from headgate_cli.errors import Failed
from headgate_cli.lsp.reference_store import ReferenceStore
from headgate_cli.lsp.sources import Backend


class _Schema(Backend):
    """A backend that has a schema only."""

    def __init__(self) -> None:
        super().__init__(Failed("not asked"))

    def document(self) -> Mapping[str, object]:
        return {}


def test_a_schema_that_has_just_arrived_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def waits() -> tuple[bool, bool]:
        loop, arrived = asyncio.get_running_loop(), threading.Event()
        tell = loop.call_soon_threadsafe

        def tell_and_note(*args: Any, **options: Any) -> asyncio.Handle:
            handle = tell(*args, **options)
            arrived.set()
            return handle

        monkeypatch.setattr(loop, "call_soon_threadsafe", tell_and_note)
        store = ReferenceStore(_Schema(), lambda _what, _reason: None)
        store.load()
        # The loop stands still until the schema has been fetched, and learns of it after that.
        assert arrived.wait(60)
        waited = await asyncio.create_task(store.settled(60))
        store.close()
        return waited, store.is_complete

    assert asyncio.run(waits()) == (True, True)


def test_a_store_without_a_schema_is_not_complete() -> None:
    async def waits() -> tuple[bool, list[str]]:
        lacks: list[str] = []
        store = ReferenceStore(Backend(Failed("no collector")), lambda what, _reason: lacks.append(what))
        store.load()
        await store.settled(60)
        store.close()
        return store.is_complete, lacks

    assert asyncio.run(waits()) == (False, ["schema"])


def test_the_reference_of_a_first_program_gives_way_to_that_of_the_whole_one() -> None:
    class Build(_Schema):
        """A collector whose whole build follows a reduced one."""

        reduced = True

        def document(self) -> Mapping[str, object]:
            return {"x-reduced": True} if self.reduced else {}

    async def builds() -> list[bool]:
        backend = Build()
        store = ReferenceStore(backend, lambda _what, _reason: None)
        store.load()
        await store.settled(60)
        seen = [store.reference is not None and store.reference.is_reduced]
        for backend.reduced in (True, False):
            store.answered(reduced=backend.reduced)
            await store.settled(60)
            seen.append(store.reference is not None and store.reference.is_reduced)
        store.close()
        return seen

    assert asyncio.run(builds()) == [True, True, False]
