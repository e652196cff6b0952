"""Collectors that were fetched and verified: files without a name, each known by the descriptor that reads it.

Every process of such a collector is started from its descriptor, and only while the file is as it was verified.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headgate_engine.checker.launch import INHERITED


@dataclass(frozen=True, slots=True)
class _Verified:
    version: str
    state: tuple[int, ...]


_verified: Final[dict[int, _Verified]] = {}


class Changed(OSError):
    """The file is not the one that was verified."""


def register(descriptor: int, version: str) -> Path:
    """Take the descriptor of a file. Returns the path by which processes are started from it, once it has a state."""
    _verified[descriptor] = _Verified(version, ())
    return Path(f"{INHERITED}{descriptor}")


def note_state(binary: Path) -> None:
    """From now on the file must not change. It is to be verified after this."""
    descriptor = int(str(binary).removeprefix(INHERITED))
    _verified[descriptor] = _Verified(_verified[descriptor].version, _state(descriptor))


def release(binary: Path) -> None:
    """Close the descriptor behind that path."""
    descriptor = descriptor_of(str(binary))
    if descriptor is not None:
        _verified.pop(descriptor, None)
        os.close(descriptor)


def descriptor_of(binary: str) -> int | None:
    """The descriptor that the path of a program names, None for a path of another kind."""
    return int(binary.removeprefix(INHERITED)) if binary.startswith(INHERITED) else None


def version_of(binary: Path) -> str | None:
    """The version of the collector that was registered with that path, None for an installed one."""
    descriptor = descriptor_of(str(binary))
    verified = None if descriptor is None else _verified.get(descriptor)
    return None if verified is None else verified.version


def is_unchanged(binary: Path) -> bool:
    """True if the file behind that path is the verified one, and nobody has written to it since.

    The kernel notes the time of each write, and a process cannot choose that time.
    """
    descriptor = descriptor_of(str(binary))
    verified = None if descriptor is None else _verified.get(descriptor)
    return descriptor is not None and verified is not None and _state(descriptor) == verified.state


def require_unchanged(descriptor: int) -> None:
    """Raises Changed unless the file behind the descriptor is as `is_unchanged` requires."""
    if not is_unchanged(Path(f"{INHERITED}{descriptor}")):
        raise Changed("it is not the file that was verified")


def _state(descriptor: int) -> tuple[int, ...]:
    status = os.fstat(descriptor)
    return (status.st_dev, status.st_ino, status.st_mode, status.st_nlink, status.st_size, status.st_ctime_ns)
