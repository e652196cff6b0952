"""Moves the data of earlier versions, a snapshot and a journal with objects beside them, into the database.

`snapshot-N` holds everything there was when `journal-N` began; the highest N counts. A file is a line, then records: 12
bytes (the payload's length, its CRC-32, the CRC-32 of those 8 bytes) and a list of changes in JSON; the last record of
a snapshot counts its changes. The journal's last record may be incomplete: its write was never acknowledged.
"""

import hashlib
import json
import shutil
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from headgate_local.database import NAME, Change, Database, damaged

_FIRST_LINE: Final = b"headgate data, format 1\n"
_HEAD: Final = struct.Struct(">III")


def move(folder: Path) -> list[str]:
    """Move what an earlier version left in the folder, if anything. Returns notices for the person who starts it.

    The database gets its name once it holds everything, and only then are the old files removed: after a crash, the
    next start does the rest. Raises DamagedFile, without changing anything, and OSError.
    """
    numbers = [int(path.name[9:]) for path in folder.glob("snapshot-*") if path.name[9:].isdigit()]
    notices = []
    if numbers and not (folder / NAME).exists():
        changes: dict[tuple[str, str], Change] = {}
        for place, key, value in _entries(folder, max(numbers)):
            changes.pop((place, key), None)
            if value is not None:
                content = _content(folder, value.pop("sha256")) if place.startswith("bucket/") else b""
                if content is None:
                    notices.append(f"The content of {place[7:]}/{key} is missing or damaged; the object was left out")
                else:
                    changes[place, key] = Change(place, key, value, content)
        for left in folder.glob("unfinished.sqlite3*"):
            left.unlink()
        with closing(Database(folder / "unfinished.sqlite3")) as database:
            database.write(list(changes.values()))
        (folder / "unfinished.sqlite3").rename(folder / NAME)
        notices.append(f"The data of an earlier version were moved into {folder / NAME}")
    if (folder / NAME).exists():
        for path in [path for kind in ("snapshot", "journal", "unfinished") for path in folder.glob(f"{kind}-*")]:
            path.unlink()
        shutil.rmtree(folder / "objects", ignore_errors=True)
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
