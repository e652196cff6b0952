"""Programs that hosts fetch: a version of the collector or of the supervisor, pinned when somebody asked for it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Architecture = Literal["amd64", "arm64"]


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A program for one architecture. `sha256` is of what is fetched, which is gzip if it is `compressed`.

    `binary_sha256` and `size`, in bytes, are of the program itself. A host runs nothing else.
    """

    sha256: str
    compressed: bool
    binary_sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Program:
    """A version, and its files by architecture; those that were not published are missing."""

    version: str
    files: Mapping[str, ProgramFile]

    @property
    def digest(self) -> str:
        """A hash of the version and all files, so that the same version built again is another program."""
        parts = [self.version, *(f"{arch} {file.binary_sha256}" for arch, file in sorted(self.files.items()))]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()
