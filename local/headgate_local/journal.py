"""The data of the local service on disk: a snapshot, and a journal of what changed since.

Files of a folder, `N` counting up: `snapshot-N` (everything there was when `journal-N` began) and `journal-N`. A new
generation is complete the moment its snapshot gets its name; whatever has a lower number is then of no use.

A change is handed to the operating system before it is acknowledged, so it survives the death of this process at any
moment. It is not forced to the disk (that costs milliseconds a write): a power cut may lose the last seconds, from the
end of the journal only. Snapshots are forced to the disk before they replace anything.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from headgate_local import records
from headgate_local.records import Change

_CHANGES_PER_RECORD: Final = 64
_COMPACT_ABOVE_BYTES: Final = 32 << 20


class JournalUnusable(OSError):
    """A write failed and could not be undone: what the end of the file holds is not known, so nothing may follow it."""


class Journal:
    """One folder's snapshot and journal. Not for two threads at once, nor for two processes.

    `replay`, then `compact`, then any number of `append` and `compact`.
    """

    def __init__(self, folder: Path, compact_above_bytes: int = _COMPACT_ABOVE_BYTES) -> None:
        self._folder = folder
        self._compact_above_bytes = compact_above_bytes
        self._generation = 0
        self._descriptor = -1
        self._size = 0
        self._due_at_size = compact_above_bytes
        self._usable = False
        self.unfinished_bytes = 0
        """What `replay` left out at the journal's end: a write that was never acknowledged."""

    def replay(self) -> Iterator[Change]:
        """Everything that was acknowledged, in order; a later change of a key overrides an earlier one.

        Raises DamagedFile, naming the file, if that cannot be told.
        """
        self._generation = max(self._generations("snapshot-*"), default=0)
        if not self._generation:
            # A first start that died before its first snapshot; nothing was acknowledged by then.
            return
        yield from records.read_snapshot(self._path("snapshot"))
        # It is made before its snapshot gets its name, so there is none without the other.
        journal = records.read_journal(self._path("journal"))
        self.unfinished_bytes = journal.unfinished_bytes
        for record in journal.records:
            yield from record

    def append(self, changes: Sequence[Change]) -> None:
        """Write the changes as one: after a crash all of them are there, or none.

        Raises OSError if that failed, a full disk for example; then none of them is there.
        """
        if not self._usable:
            raise JournalUnusable(f"{self._path('journal')} cannot be written to since an earlier error")
        try:
            self._size += _write(self._descriptor, records.encode(changes))
        except OSError:
            self._usable = False
            os.ftruncate(self._descriptor, self._size)
            self._usable = True
            raise

    @property
    def due(self) -> bool:
        """Whether the journal has grown so much that `compact` is worth its time."""
        return self._size > self._due_at_size

    def compact(self, everything: Iterable[Change]) -> None:
        """Begin a new generation that holds `everything`, which is all that there is now.

        Raises OSError if that failed. What was in force stays so then, and is appended to as before.
        """
        self._due_at_size = self._size + self._compact_above_bytes
        generation = self._generation + 1
        temporary = self._folder / f"unfinished-{generation}"
        size = _write_snapshot(temporary, everything)
        journal = self._folder / f"journal-{generation}"
        descriptor = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            written = _write(descriptor, records.FORMAT_LINE)
            temporary.rename(self._folder / f"snapshot-{generation}")
        except OSError:
            os.close(descriptor)
            raise
        self.close()
        self._descriptor, self._size, self._generation, self._usable = descriptor, written, generation, True
        # Proportional to what a snapshot costs, so that the time spent on snapshots stays a fraction of the writing.
        self._due_at_size = max(self._compact_above_bytes, 2 * size)
        # Only a power cut could tell whether this was done, and then the generation before is whole as well.
        with contextlib.suppress(OSError):
            self._sync_folder()
            self._remove_older()

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        self._usable = False

    def _path(self, kind: str) -> Path:
        return self._folder / f"{kind}-{self._generation}"

    def _generations(self, pattern: str) -> Iterator[int]:
        for path in self._folder.glob(pattern):
            number = path.name.partition("-")[2]
            if number.isdigit():
                yield int(number)

    def _sync_folder(self) -> None:
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _remove_older(self) -> None:
        for kind in ("snapshot", "journal", "unfinished"):
            for generation in list(self._generations(f"{kind}-*")):
                if generation < self._generation:
                    (self._folder / f"{kind}-{generation}").unlink()


def _write_snapshot(path: Path, everything: Iterable[Change]) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        size = _write(descriptor, records.FORMAT_LINE)
        count = 0
        changes = iter(everything)
        while batch := list(islice(changes, _CHANGES_PER_RECORD)):
            size += _write(descriptor, records.encode(batch))
            count += len(batch)
        size += _write(descriptor, records.encode_end(count))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return size


def _write(descriptor: int, content: bytes) -> int:
    """Write all of it; the system may take less than it is given. Returns the number of bytes."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    return len(content)
