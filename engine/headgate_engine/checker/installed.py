"""Collectors that are installed on this machine."""

import os
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from headgate_engine.checker import being_built
from headgate_engine.checker.being_built import BuildUnderWay
from headgate_engine.checker.errors import CheckerFailed, NotInstalled, Unusable
from headgate_engine.collector import DISTRIBUTION, VERSION, by_age
from headgate_engine.errors import Unavailable

BINARY = DISTRIBUTION
_COMPRESSED = BINARY + ".zst"
# What the folder of a version's first program has behind the version; layers/collector/building/collector.py makes it.
_FIRST = ".first"


class BinaryIdentity(NamedTuple):
    """The identity of a binary, which differs from that of another one that takes its place."""

    path: Path
    size: int
    changed_ns: int
    inode: int


def identity(binary: Path) -> BinaryIdentity:
    """The identity of the binary that is there now. Raises Unusable if there is none."""
    try:
        stat = binary.stat()
    except OSError as error:
        raise Unusable(f"The collector cannot be read: {error.strerror}") from error
    return BinaryIdentity(binary, stat.st_size, stat.st_mtime_ns, stat.st_ino)


class Fetching(Protocol):
    """Collectors that are fetched when they are asked for.

    `end_processes` is called with a collector's path before it is removed.
    """

    end_processes: Callable[[Path], None]

    def binary(self, version: str) -> Path | None:
        """The path from which `spawn` starts a process of that collector, None without one."""

    def close(self) -> None:
        """Release every collector. Their processes have ended."""


class Installed:
    """The collectors under one folder, `<version>/otelcol-contrib` each, or compressed as in a Lambda layer.

    A layer may hold 250 MB and the binary has 359, so it is packed as `otelcol-contrib.zst`, and unpacked
    under `unpacked` at its first use. A version that is not there may be `fetched`; `named` has paths
    by version, which come before the folder's. While a version is being built here, its first program,
    `<version>.first/otelcol-contrib`, answers for it.
    """

    def __init__(
        self,
        collectors: Path,
        unpacked: Path | None = None,
        *,
        fetched: Fetching | None = None,
        named: Mapping[str, Path] | None = None,
    ) -> None:
        self._collectors = collectors
        self._unpacked = unpacked or Path(tempfile.gettempdir(), "collectors")
        self._unpacking = threading.Lock()
        self._named = dict(named or {})
        self.fetched = fetched

    def binary(self, version: str) -> Path:
        """The executable of that version. Raises NotInstalled, also if it is malformed, BeingBuilt and BuildFailed."""
        if version in self._named:
            return self._named[version]
        if VERSION.fullmatch(version):
            plain = self._collectors / version / BINARY
            if plain.is_file():
                return plain
            compressed = plain.with_name(_COMPRESSED)
            if compressed.is_file():
                with self._unpacking:
                    return _unpack(compressed, self._unpacked / version / BINARY)
            if fetched := self.fetched and self.fetched.binary(version):
                return fetched
            first = self._first(version)
            if first.is_file():
                return first
            build = being_built.under_way(self._collectors, version)
            # A build that has ended since the first look.
            if plain.is_file():
                return plain
            if build:
                raise build.nothing_yet()
        raise NotInstalled(version, self.versions())

    def versions(self) -> tuple[str, ...]:
        """The installed versions, oldest first."""
        folders = self._collectors.iterdir() if self._collectors.is_dir() else ()
        names = {folder.name.removesuffix(_FIRST) for folder in folders}
        here = {name for name in names if VERSION.fullmatch(name) and self.is_here(name)}
        return tuple(sorted(here | self._named.keys(), key=by_age))

    def is_here(self, version: str) -> bool:
        """True if that version is in the folder."""
        folder = self._collectors / version
        return any(path.is_file() for path in (folder / BINARY, folder / _COMPRESSED, self._first(version)))

    def build_of(self, version: str) -> str:
        """Tells the program that answers for this version now from any other; empty if there is none."""
        try:
            return str(identity(self.binary(version)))
        except Unavailable:
            return ""

    def is_whole(self, version: str) -> bool:
        """True if no first program answers for this version, now or until its build has ended."""
        first = VERSION.fullmatch(version) and (
            self._first(version).is_file() or being_built.under_way(self._collectors, version)
        )
        return not first or (self._collectors / version / BINARY).is_file()

    def is_first(self, binary: Path) -> bool:
        """True if this executable is the first program of a version, which lacks most components."""
        return binary.parent.name.endswith(_FIRST)

    def whole_build(self, version: str) -> BuildUnderWay | None:
        """The build of the whole program for which the first one answers; None if nobody builds it, or it is there."""
        if not VERSION.fullmatch(version) or not self._first(version).is_file():
            return None
        build = being_built.under_way(self._collectors, version)
        return None if (self._collectors / version / BINARY).is_file() else build

    def _first(self, version: str) -> Path:
        return self._collectors / f"{version}{_FIRST}" / BINARY


def _unpack(compressed: Path, binary: Path) -> Path:
    if binary.is_file():
        return binary
    # Imported here: needed once in the life of a Lambda instance, and nowhere else.
    import zstandard

    binary.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=binary.parent)
    try:
        with compressed.open("rb") as source, os.fdopen(handle, "wb") as target:
            zstandard.ZstdDecompressor().copy_stream(source, target, read_size=1 << 20, write_size=1 << 20)
            os.fchmod(target.fileno(), 0o755)  # as root, the collector runs as another user
        Path(part).rename(binary)  # so that no incomplete binary is ever found
    except (OSError, zstandard.ZstdError) as error:
        raise CheckerFailed(f"Collector version {binary.parent.name} could not be unpacked: {error}") from error
    finally:
        Path(part).unlink(missing_ok=True)
    return binary
