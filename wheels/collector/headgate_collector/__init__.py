"""Headgate's collector and supervisor, compressed. `unpacked` writes them into the user's cache once.

`programs.json` describes them: what they were built from, and the SHA-256 and size of each.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import zstandard

_HERE: Final = Path(__file__).parent
_CHUNK: Final = 1 << 20
# That of this release and the one before, which another program may still run.
_MOST_KEPT: Final = 2


class Damaged(OSError):
    """A program is not the one that `programs.json` describes."""


def described() -> dict[str, Any]:
    """`collector_version` and `supervisor_version`; `programs` by path: `packed`, `build`, `sha256`, `size`."""
    described: dict[str, Any] = json.loads((_HERE / "programs.json").read_text(encoding="utf-8"))
    return described


def collector_version() -> str:
    return str(described()["collector_version"])


def unpacked(cache: Path) -> Path:
    """The folder with `collectors/<version>/otelcol-contrib` and `supervisor/…` below `cache`.

    Every program was compared with its SHA-256 before it got there. If several processes ask at once, one unpacks and
    the others wait for it. Raises OSError: the disk is full, the cache cannot be written, or a program is Damaged.
    """
    programs = described()["programs"]
    name = hashlib.sha256(json.dumps(programs, sort_keys=True).encode()).hexdigest()[:32]
    folder = cache / "wheel" / name
    if _is_whole(folder, programs):
        return folder
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(folder.parent / ".lock"):
        if not _is_whole(folder, programs):
            part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.parent))
            try:
                for path, program in programs.items():
                    _unpack(_HERE / program["packed"], part / path, program["sha256"], program["size"])
                part.chmod(0o755)
                shutil.rmtree(folder, ignore_errors=True)
                part.rename(folder)
            finally:
                shutil.rmtree(part, ignore_errors=True)
            _forget_old(folder)
    return folder


def _is_whole(folder: Path, programs: dict[str, Any]) -> bool:
    try:
        return all((folder / path).stat().st_size == program["size"] for path, program in programs.items())
    except OSError:
        return False


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _unpack(packed: Path, program: Path, sha256: str, size: int) -> None:
    program.parent.mkdir(parents=True, exist_ok=True)
    digest, left = hashlib.sha256(), size
    try:
        with packed.open("rb") as source, program.open("wb") as target:
            for chunk in zstandard.ZstdDecompressor().read_to_iter(source, read_size=_CHUNK, write_size=_CHUNK):
                left -= len(chunk)
                if left < 0:
                    break
                digest.update(chunk)
                target.write(chunk)
    except zstandard.ZstdError as error:
        raise Damaged(f"{packed.name} cannot be unpacked: install headgate-collector again") from error
    if left or digest.hexdigest() != sha256:
        raise Damaged(f"{packed.name} is not the program of this release: install headgate-collector again")
    program.chmod(0o755)


def _forget_old(newest: Path) -> None:
    kept = [path for path in newest.parent.iterdir() if path.is_dir() and not path.name.startswith(".")]
    kept.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in kept[_MOST_KEPT:]:
        shutil.rmtree(path, ignore_errors=True)
