"""The data of the local service on disk: a SQLite database with a row for each item and each object.

A write is handed to the operating system before it is acknowledged, so it survives the death of this process at any
moment. It is not forced to the disk (`synchronous=NORMAL`): a power cut may lose the last writes, but damages nothing.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from headgate_local.errors import CannotStart

NAME: Final = "headgate.sqlite3"
_FORMAT: Final = 1
# A damaged schema fails statements with the general error.
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR)
_WAY_OUT: Final = "Restore the file from a backup, or move its folder away to start with no data."

Json: TypeAlias = "str | int | bool | Sequence[Json] | Mapping[str, Json] | None"


@dataclass(frozen=True, slots=True)
class DatabaseChange:
    """The value at one key of a table or a bucket after a write, None if it is empty. `content` is an object's."""

    place: str
    key: str
    value: Json
    content: bytes = b""


class DamagedFile(CannotStart):
    """A data file does not hold what was written to it."""


def damaged(path: Path, reason: str) -> DamagedFile:
    """The error for a file, with the way out."""
    return DamagedFile(f"{path} is damaged: {reason}. {_WAY_OUT}")


class Database:
    """The database in one file. Not for two threads at once, nor for two processes."""

    def __init__(self, path: Path, *, has_log: bool = True) -> None:
        """Open the file, or create it. Raises OSError, and CannotStart if the file cannot be used.

        Without a write-ahead log, a write is slower, and is on the disk in this one file when `write` returns.
        """
        self._path = path
        # The write-ahead log next to the file gets the file's permissions.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False)
            self._connection.execute(f"PRAGMA journal_mode = {'WAL' if has_log else 'DELETE'}")
            self._connection.execute(f"PRAGMA synchronous = {'NORMAL' if has_log else 'FULL'}")
            self._prepare()
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def _prepare(self) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > _FORMAT:
            raise CannotStart(
                f"{self._path} was written by a newer version of Headgate: start that version, or set HEADGATE_DATA to "
                "another folder"
            )
        if version == _FORMAT:
            return
        with self._connection:
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS entries (place TEXT, key BLOB, value TEXT NOT NULL, content BLOB NOT NULL, "
                "checksum INTEGER NOT NULL, PRIMARY KEY (place, key))"
            )
            self._connection.execute(f"PRAGMA user_version = {_FORMAT}")

    def read(self) -> Iterator[DatabaseChange]:
        """Everything that was acknowledged. Raises DamagedFile if the file is damaged, and OSError.

        If the write-ahead log is damaged after a crash, what follows the damage is missing without an error: SQLite
        takes it for the remains of a power cut.
        """
        try:
            (verdict,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise damaged(self._path, verdict.splitlines()[-1])
            rows = self._connection.execute("SELECT place, key, value, content, checksum FROM entries ORDER BY rowid")
            for place, key, value, content, checksum in rows:
                if not isinstance(content, bytes) or _checksum(place, key, value, content) != checksum:
                    raise damaged(self._path, f"{place} has a row that does not match its checksum")
                yield DatabaseChange(place, key.decode("utf-8", "surrogatepass"), json.loads(value), content)
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def write(self, changes: Sequence[DatabaseChange]) -> None:
        """Save the changes in one transaction. Raises OSError, a full disk for example; then none of them is saved.

        What a deleted object contained, which may be a secret, is overwritten; nothing of it stays in the files.
        """
        removes = any(change.value is None and change.place.startswith("bucket/") for change in changes)
        try:
            self._connection.execute(f"PRAGMA secure_delete = {'ON' if removes else 'OFF'}")
            with self._connection:
                for change in changes:
                    # A key may hold what UTF-8 cannot: half of a surrogate pair.
                    where = change.place, change.key.encode("utf-8", "surrogatepass")
                    if change.value is None:
                        self._connection.execute("DELETE FROM entries WHERE place = ? AND key = ?", where)
                        continue
                    row = (*where, json.dumps(change.value, separators=(",", ":")), change.content)
                    self._connection.execute(
                        "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)", (*row, _checksum(*row))
                    )
            if removes:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise OSError(f"{self._path} cannot be written: {error}") from error

    def close(self) -> None:
        """Close the file. The write-ahead log is moved into it; if the disk is full, the next start does that."""
        self._connection.close()

    def _unreadable(self, error: sqlite3.Error) -> Exception:
        # Without a code, Python could not decode a column.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        return damaged(self._path, str(error)) if code in _DAMAGED else OSError(f"{self._path}: {error}")


def _checksum(place: str, key: bytes, value: str, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(repr((place, key, value)).encode()))
