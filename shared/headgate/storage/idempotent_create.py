"""A create under an `Idempotency-Key` happens once, even if its response is lost with its process.

The transaction that creates the thing also writes into the key's record where the thing is. Whoever holds the key's
record (`headgate.http.idempotency`) says how; a store only adds `writes(path)` to its transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from headgate.storage.table import Write

Note = Callable[[str], Write]

_note: Final[ContextVar[Note | None]] = ContextVar("note", default=None)


def writes(path: str) -> list[Write]:
    """The writes for the transaction that creates the thing at `path` (of the public API); empty without a key."""
    note = _note.get()
    return [] if note is None else [note(path)]


@contextmanager
def noted_by(note: Note) -> Iterator[None]:
    """Within the block, and in the threads that it starts work in, a create notes its path with `note`."""
    before = _note.set(note)
    try:
        yield
    finally:
        _note.reset(before)
