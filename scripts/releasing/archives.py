"""Archives whose bytes depend on nothing but names and contents."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

# The first time that a zip archive can have.
_EARLIEST: Final = 315_532_800
_UNIX: Final = 3
_LEVEL: Final = 6


def write_zip(archive: Path, epoch: int, files: Iterable[tuple[str, Path]]) -> Path:
    """Write the files, sorted by name, with that time on each; executable ones stay so."""
    date = time.gmtime(max(epoch, _EARLIEST))[:6]
    with zipfile.ZipFile(archive, "w") as written:
        for name, path in sorted(files):
            entry = zipfile.ZipInfo(name, date)
            entry.create_system = _UNIX
            entry.external_attr = (0o100755 if path.stat().st_mode & 0o100 else 0o100644) << 16
            # What is compressed already only takes time.
            packed = path.suffix in (".zst", ".gz")
            entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
            written.writestr(entry, path.read_bytes(), compresslevel=None if packed else _LEVEL)
    return archive


def below(folder: Path, prefix: str = "") -> list[tuple[str, Path]]:
    """The files below a folder, by their paths in it."""
    return [(prefix + path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file()]
