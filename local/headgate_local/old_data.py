"""Moves the data of earlier versions, a snapshot and a journal with objects beside them, into the database.

`snapshot-N` holds everything there was when `journal-N` began; the highest N counts. A file is a line, then records: 12
bytes (the payload's length, its CRC-32, the CRC-32 of those 8 bytes) and a list of changes in JSON; the last record of
a snapshot counts its changes. The journal's last record may be incomplete: its write was never acknowledged.
"""

import hashlib
import json
import os
import shutil
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from headgate_local.database import NAME, Change, Database, damaged
from headgate_local.errors import CannotStart

_FIRST_LINE: Final = b"headgate data, format 1\n"
_HEAD: Final = struct.Struct(">III")


def move(folder: Path) -> list[str]:
    """Move what an earlier version left in the folder, if anything. Returns notices for the person who starts it.

    The database is called `moved.sqlite3` once it holds everything; then the old files are removed, and it gets its
    name. After a crash, the next start does the rest. Raises CannotStart, without changing anything, and OSError.
    """
    moved = folder / "moved.sqlite3"
    numbers = [int(path.name[9:]) for path in folder.glob("snapshot-*") if path.name[9:].isdigit()]
    if not numbers and not moved.exists():
        return []
    if (folder / NAME).exists():
        raise CannotStart(
            f"{folder} has {NAME} and also the files of an earlier version, which was started there afterwards. To "
            f"start with {NAME}, move snapshot-*, journal-*, moved.sqlite3 and objects to another folder; to start "
            f"with the earlier version's data, move {NAME}* to another folder. If the token in "
            "tokens.json then answers 401, it belongs to the other data: sign in and create another one"
        )
    notices = [] if moved.exists() else _write(folder, max(numbers), moved)
    for path in [path for kind in ("snapshot", "journal", "unfinished") for path in folder.glob(f"{kind}-*")]:
        path.unlink()
    shutil.rmtree(folder / "objects", ignore_errors=True)
    moved.rename(folder / NAME)
    return [*notices, f"The data of an earlier version were moved into {folder / NAME}"]


def _write(folder: Path, number: int, moved: Path) -> list[str]:
    changes: dict[tuple[str, str], Change] = {}
    notices = []
    for place, key, value in _entries(folder, number):
        changes.pop((place, key), None)
        if value is not None:
            content = _content(folder, value.pop("sha256")) if place.startswith("bucket/") else b""
            if content is None:
                notices.append(f"The content of {place[7:]}/{key} is missing or damaged; the object was left out")
            else:
                changes[place, key] = Change(place, key, value, content)
    unfinished = folder / "unfinished.sqlite3"
    try:
        for left in folder.glob(f"{unfinished.name}*"):
            left.unlink()
        # With a write-ahead log, the file would not hold everything if the disk becomes full.
        with closing(Database(unfinished, has_log=False)) as database:
            database.write(list(changes.values()))
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    unfinished.rename(moved)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return notices


def _entries(folder: Path, number: int) -> Iterator[list[Any]]:
    snapshot = folder / f"snapshot-{number}"
    *batches, end = list(_records(snapshot, may_end_early=False)) or [None]
    if end != {"changes": sum(map(len, batches))}:
        raise damaged(snapshot, "it ends early")
    for batch in [*batches, *_records(folder / f"journal-{number}", may_end_early=True)]:
        yield from batch


def _records(path: Path, *, may_end_early: bool) -> Iterator[Any]:
    content = path.read_bytes() if path.exists() else b""
    if may_end_early and path.exists() and _FIRST_LINE.startswith(content):
        return
    if not content.startswith(_FIRST_LINE):
        raise damaged(path, "it is missing or does not begin as a file of this format")
    offset = len(_FIRST_LINE)
    while offset < len(content):
        head = content[offset : offset + _HEAD.size].ljust(_HEAD.size, b"\0")
        length, checksum, head_checksum = _HEAD.unpack(head)
        start, end = offset + _HEAD.size, offset + _HEAD.size + length
        has_head = start <= len(content) and zlib.crc32(head[:8]) == head_checksum
        if not has_head or end > len(content) or zlib.crc32(content[start:end]) != checksum:
            # A power cut can leave zeros where the last bytes of a file were.
            is_last = end >= len(content) if has_head else start > len(content) or not content[offset:].strip(b"\0")
            if may_end_early and is_last:
                return
            raise damaged(path, f"the record at byte {offset} does not match its checksum")
        yield json.loads(content[start:end])
        offset = end


def _content(folder: Path, name: str) -> bytes | None:
    path = folder / "objects" / name
    content = path.read_bytes() if path.exists() else b""
    return content if hashlib.sha256(content).hexdigest() == name else None
