"""Collectors that are not on this machine: fetched from S3 by a signed URL at their first use, verified, and evicted.

A fetched collector is a file without a name. It loses its name before anything is written to it, and is afterwards open
for reading only, so that no other process can open it for writing. Each start of a process executes that descriptor
(docs/threats.md).
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, cast

from headgate.checker import links
from headgate.foundation.log import logger
from headgate_engine.checker import verified_files
from headgate_engine.checker.errors import CollectorNotFetched
from headgate_engine.collector import DISTRIBUTION, VERSION

MAX_COMPRESSED_BYTES: Final = 250 << 20
MAX_BYTES: Final = 1 << 30

_SECONDS: Final = 12.0
_ATTEMPTS: Final = 2
_CHUNK: Final = 1 << 20
# The largest that zstd's levels up to 19 use is 8 MB.
_MAX_WINDOW_BYTES: Final = 32 << 20
# For the folders and temporary files of processes.
_ROOM_FOR_OTHERS: Final = 32 << 20
_SHA256: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a collector: a signed URL of the compressed binary; sizes in bytes, SHA-256 in hex."""

    version: str
    url: str = field(repr=False)
    sha256: str
    size: int
    binary_sha256: str
    binary_size: int

    @classmethod
    def of(cls, node: object) -> Source:
        """The source in a message. Raises ValueError if it is malformed."""
        match node:
            case {
                "version": str(version),
                "url": str(url),
                "sha256": str(sha256),
                "size": int(size),
                "binary_sha256": str(binary_sha256),
                "binary_size": int(binary_size),
            } if (
                VERSION.fullmatch(version)
                and _SHA256.fullmatch(sha256)
                and _SHA256.fullmatch(binary_sha256)
                and 0 < size <= MAX_COMPRESSED_BYTES
                and 0 < binary_size <= MAX_BYTES
            ):
                return cls(version, url, sha256, size, binary_sha256, binary_size)
        raise ValueError("the message does not say where the collector is")


@dataclass(slots=True)
class _Held:
    """A fetched collector, and how many use it."""

    path: Path
    binary_sha256: str
    users: int = 0


class _Passing(Exception):
    """S3 did not answer as it should; it may when it is asked again."""


class Fetched:
    """The fetched collectors of this process. Thread-safe: who asks for the same one at once waits for one fetch.

    Those that were not used for longest are evicted when the folder has no room for another one. Whoever starts
    processes of them sets `end_processes`, which is called with the path before that: a process occupies the room too.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path(tempfile.gettempdir())
        self.end_processes: Callable[[Path], None] = lambda _: None
        self._held: dict[str, _Held] = {}
        self._lock = threading.Lock()
        self._fetching = threading.Lock()

    @contextmanager
    def using(self, source: Source) -> Iterator[None]:
        """Have that collector until the end of the block: it is not evicted. Raises CollectorNotFetched."""
        held = self._taken(source)
        if held is None:
            with self._fetching:
                held = self._taken(source) or self._fetch(source)
        try:
            yield
        finally:
            with self._lock:
                held.users -= 1

    def binary(self, version: str) -> Path | None:
        """The path from which `spawn` starts a process of that collector, None without one."""
        with self._lock:
            held = self._held.get(version)
            return None if held is None else held.path

    def versions(self) -> tuple[str, ...]:
        """Those that are here, the one that was used last at the end."""
        with self._lock:
            return tuple(self._held)

    def close(self) -> None:
        """Release every collector. Their processes have ended."""
        with self._lock:
            for held in self._held.values():
                verified_files.release(held.path)
            self._held.clear()

    def _taken(self, source: Source) -> _Held | None:
        with self._lock:
            held = self._held.get(source.version)
            if held is None or held.binary_sha256 != source.binary_sha256 or not verified_files.is_unchanged(held.path):
                return None
            held.users += 1
            # The one that was used last comes last.
            self._held[source.version] = self._held.pop(source.version)
            return held

    def _fetch(self, source: Source) -> _Held:
        began = time.monotonic()
        deadline = began + _SECONDS
        try:
            if source.version in self.versions():
                # Another build of it, or a file that was changed.
                self._evict(source.version)
            self._make_room(source)
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    held = self._fetched(source, deadline)
                    break
                except _Passing as error:
                    if attempt == _ATTEMPTS or time.monotonic() >= deadline:
                        raise CollectorNotFetched(_not_fetched(source, str(error))) from error
        except (OSError, ValueError) as error:
            # A URL in an error's text would be a secret in the log.
            reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
            raise CollectorNotFetched(_not_fetched(source, reason)) from None
        logger.info("collector_fetched", version=source.version, seconds=round(time.monotonic() - began, 2))
        with self._lock:
            self._held[source.version] = held
        return held

    def _fetched(self, source: Source, deadline: float) -> _Held:
        handle, name = tempfile.mkstemp(dir=self._folder)
        with os.fdopen(handle, "wb", buffering=0) as file:
            try:
                reading = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
            finally:
                Path(name).unlink()
            path = verified_files.register(reading, source.version)
            try:
                os.fchmod(handle, 0o555)  # as root, the collector runs as another user
                _write(source, _Verified(file.write, source.binary_size), deadline)
                file.close()
                # From the disk, for that is what is executed. Whoever writes meanwhile changes the state.
                verified_files.note_state(path)
                if _sha256(reading) != source.binary_sha256 or not verified_files.is_unchanged(path):
                    raise CollectorNotFetched(_not_fetched(source, "its SHA-256 is not the announced one"))
            except BaseException:
                verified_files.release(path)
                raise
            return _Held(path, source.binary_sha256, users=1)

    def _make_room(self, source: Source) -> None:
        needed = source.binary_size + _ROOM_FOR_OTHERS
        while (free := _free_bytes(self._folder)) < needed:
            with self._lock:
                idle = next((version for version, held in self._held.items() if not held.users), None)
            if idle is None:
                raise CollectorNotFetched(
                    _not_fetched(source, f"{needed >> 20} MB are needed under {self._folder}, {free >> 20} MB are free")
                )
            self._evict(idle)

    def _evict(self, version: str) -> None:
        with self._lock:
            held = self._held[version]
            if held.users:
                raise CollectorNotFetched(f"Another build of collector version {version} is in use")
            # A process that still executes the file would occupy its room.
            self.end_processes(held.path)
            del self._held[version]
            verified_files.release(held.path)
        logger.info("collector_evicted", version=version)


class _Verified:
    """Takes the binary's bytes, and no more of them than were announced."""

    def __init__(self, write: Callable[[memoryview], int | None], limit: int) -> None:
        self._write = write
        self.left = limit

    def write(self, data: bytes) -> int:
        if len(data) > self.left:
            raise _Larger
        rest = memoryview(data)
        while rest:
            rest = rest[self._write(rest) or 0 :]
        self.left -= len(data)
        return len(data)


class _Larger(Exception):
    """The source sent more bytes than it announced."""


def _write(source: Source, target: _Verified, deadline: float) -> None:
    """Unpack what S3 answers into the target, and compare it with what was announced."""
    # Imported here: the default collector needs it once in the life of an environment, and nothing else does.
    import zstandard

    digest, received = hashlib.sha256(), 0
    decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES)
    try:
        unpacking = decompressor.stream_writer(cast("IO[bytes]", target), write_size=_CHUNK, closefd=False)
        with closing(_chunks(source, deadline)) as chunks:
            for chunk in chunks:
                received += len(chunk)
                if received > source.size:
                    raise CollectorNotFetched(_not_fetched(source, "it is larger than announced"))
                digest.update(chunk)
                unpacking.write(chunk)
    except _Larger:
        raise CollectorNotFetched(_not_fetched(source, "it is larger than announced when it is unpacked")) from None
    except zstandard.ZstdError:
        raise CollectorNotFetched(_not_fetched(source, "it cannot be unpacked")) from None
    if received < source.size:
        raise _Passing(f"S3 broke off after {received} of {source.size} bytes")
    if digest.hexdigest() != source.sha256:
        raise CollectorNotFetched(_not_fetched(source, "its SHA-256 is not the announced one"))
    if target.left:
        raise CollectorNotFetched(_not_fetched(source, "it is smaller than announced when it is unpacked"))


def _chunks(source: Source, deadline: float) -> Generator[bytes, None, None]:
    connection, target = links.connection(source.url)
    path = target.partition("?")[0]
    if not re.search(rf"/collectors/{re.escape(source.version)}/[a-z0-9_]+/{DISTRIBUTION}\.zst\Z", path):
        raise links.ForeignAddress("it is not the object of that version")
    try:
        connection.request("GET", target)
        response = connection.getresponse()
        if response.status != http.client.OK:
            passes = response.status >= http.client.INTERNAL_SERVER_ERROR
            said = f"S3 answered {response.status}"
            raise _Passing(said) if passes else CollectorNotFetched(_not_fetched(source, said))
        while chunk := response.read(_CHUNK):
            if time.monotonic() > deadline:
                raise CollectorNotFetched(_not_fetched(source, f"it took longer than {_SECONDS:g} s"))
            yield chunk
    except (http.client.HTTPException, OSError) as error:
        raise _Passing(f"S3 broke off its answer ({type(error).__name__})") from None
    finally:
        connection.close()


def _sha256(descriptor: int) -> str:
    with os.fdopen(os.dup(descriptor), "rb", buffering=0) as file:
        file.seek(0)
        return hashlib.file_digest(file, "sha256").hexdigest()


def _free_bytes(folder: Path) -> int:
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def _not_fetched(source: Source, reason: str) -> str:
    return f"Collector version {source.version} could not be fetched: {reason}"
