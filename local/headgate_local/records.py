"""How changes are written to a file, and read back after the process was killed at any moment.

A file is a line naming the format, then records. A record is 12 bytes (the payload's length, the payload's CRC-32, the
CRC-32 of those 8 bytes) and the payload: JSON text, a list of changes, or in a snapshot's last record the number of
changes before it. The third number is what tells an unfinished record from a damaged one: without it a flipped bit in a
length would look like a file that ends early, and everything after it would vanish without a word.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from headgate_local.errors import CannotStart

FORMAT_LINE: Final = b"headgate data, format 1\n"
_HEAD: Final = struct.Struct(">II")
_CHECK: Final = struct.Struct(">I")
_HEAD_BYTES: Final = _HEAD.size + _CHECK.size

Json: TypeAlias = "str | int | bool | Sequence[Json] | Mapping[str, Json] | None"


@dataclass(frozen=True, slots=True)
class Change:
    """What stands under one key of a table or a bucket after a write: `value`, or nothing if that is None."""

    place: str
    key: str
    value: Json


class DamagedFile(CannotStart):
    """A data file holds something else than what was written, not merely less."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The records of a file, and how many bytes of an unfinished one stood after them."""

    records: list[list[Change]]
    unfinished_bytes: int


def encode(changes: Sequence[Change]) -> bytes:
    """One record: all of these changes are read back, or none."""
    return _frame([[change.place, change.key, change.value] for change in changes])


def encode_end(count: int) -> bytes:
    """The last record of a snapshot that holds `count` changes."""
    return _frame({"changes": count})


def _frame(content: Json) -> bytes:
    payload = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    head = _HEAD.pack(len(payload), zlib.crc32(payload))
    return head + _CHECK.pack(zlib.crc32(head)) + payload


def read_journal(path: Path) -> Contents:
    """The records of a journal. One that its writer did not live to finish is left out.

    Raises DamagedFile where a record is not the one that was written.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DamagedFile(f"{path} is missing. {_WAY_OUT}") from None
    if len(content) < len(FORMAT_LINE) and FORMAT_LINE.startswith(content):
        return Contents([], len(content))
    payloads = _Payloads(path, content)
    records = [_changes(path, payload) for payload in payloads]
    return Contents(records, payloads.unfinished_bytes)


def read_snapshot(path: Path) -> list[Change]:
    """The changes of a snapshot. Raises DamagedFile if it is not whole: it got its name only when it was."""
    payloads = _Payloads(path, path.read_bytes())
    parts = [json.loads(payload) for payload in payloads]
    changes = [Change(place, key, value) for part in parts[:-1] for place, key, value in part]
    if payloads.unfinished_bytes or not parts or parts[-1] != {"changes": len(changes)}:
        raise DamagedFile(f"{path} is damaged: it ends early. {_WAY_OUT}")
    return changes


_WAY_OUT: Final = "Restore the file from a backup, or move its folder away to start with nothing."


def _changes(path: Path, payload: bytes) -> list[Change]:
    content = json.loads(payload)
    if not isinstance(content, list):
        raise DamagedFile(f"{path} is damaged: it holds a snapshot's records. {_WAY_OUT}")
    return [Change(place, key, value) for place, key, value in content]


class _Payloads:
    """Iterates over the payloads of a file; afterwards `unfinished_bytes` says what was left out at its end."""

    def __init__(self, path: Path, content: bytes) -> None:
        if not content.startswith(FORMAT_LINE):
            raise DamagedFile(f"{path} is damaged: it does not begin as a file of this format. {_WAY_OUT}")
        self._path = path
        self._content = content
        self.unfinished_bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        content = self._content
        offset = len(FORMAT_LINE)
        while offset < len(content):
            self.unfinished_bytes = len(content) - offset
            if self.unfinished_bytes < _HEAD_BYTES:
                return
            head = content[offset : offset + _HEAD.size]
            if _CHECK.unpack_from(content, offset + _HEAD.size)[0] != zlib.crc32(head):
                # A power cut can leave the length of a file without its last bytes: they read as zeros.
                if not content[offset:].strip(b"\0"):
                    return
                raise self._damaged(offset)
            length, checksum = _HEAD.unpack(head)
            end = offset + _HEAD_BYTES + length
            if end > len(content):
                return
            payload = content[offset + _HEAD_BYTES : end]
            if zlib.crc32(payload) != checksum:
                if end == len(content):
                    return
                raise self._damaged(offset)
            offset = end
            self.unfinished_bytes = 0
            yield payload

    def _damaged(self, offset: int) -> DamagedFile:
        return DamagedFile(f"{self._path} is damaged at byte {offset}. {_WAY_OUT}")
