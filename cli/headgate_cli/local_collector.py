"""A collector on this machine that answers questions about configurations: its `check` process.

    with LocalCollector(find()) as collector:
        answer = collector.ask("validate", {"yaml": text, "env": {}})

The process gets nothing of the caller's: no environment, no files, no standard streams. It reads a text only after its
own filter of system calls is in place, so that a component can open no file and no socket, and start no program.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from headgate_cli import collector_wheel, local_launcher
from headgate_cli.collector_version import VERSION
from headgate_cli.errors import Failed, Unreachable
from headgate_cli.responses import Answer
from headgate_cli.untrusted import one_line

BINARY: Final = "otelcol-contrib"
# The version that `make collector` builds; tests compare it with layers/collector/versions/DEFAULT.
DEFAULT: Final = "0.139.0"

_MEBIBYTE: Final = 1 << 20
# The service's own bounds (shared/headgate/checker/limits.py), with more time for a machine that does other work.
_DATA_BYTES: Final = 700 * _MEBIBYTE
_ANSWER_BYTES: Final = 32 * _MEBIBYTE
_START_SECONDS: Final = 60.0
_ASK_SECONDS: Final = 30.0
_CHUNK: Final = 1 << 18
_STDERR_KEPT: Final = 1 << 16
# "SIG": the Go runtime names the signal that ended it, as if its garbage collector gets no memory.
_REASONS: Final = ("fatal error:", "panic:", "runtime:", "SIG", "could not launch")
_NO_COMMAND: Final = 'unknown command "check"'
_WAY_OUT: Final = (
    "install one with `pip install headgate-collector`, build one with `make collector` in a checkout of Headgate, or "
    "name one with --collector PATH"
)


class NoCollector(Unreachable):
    """There is no collector on this machine, or it cannot be used; the message has the way out."""


class NotInstalled(NoCollector):
    """That version is not on this machine. `installed` are those that are, oldest first."""

    def __init__(self, version: str, installed: list[str]) -> None:
        super().__init__(f"Collector version {version} is not installed; installed: {', '.join(installed)}")
        self.way_out = (
            f"add it with `make collector VERSION={version}` in a checkout of Headgate, or name one with "
            "--collector PATH"
        )


class OfficialRelease(NoCollector):
    """It is an official release of the collector, which has no `check` command."""


class CollectorFailed(Failed):
    """The collector died, did not answer in time, or sent something else than an answer: nothing was checked."""


class Refused(Exception):
    """The collector understood the question and refuses it; `code` is a stable word of that operation."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


def folder() -> Path:
    """Where `make collector` puts collectors, one folder a version."""
    return Path(os.environ.get("HEADGATE_COLLECTORS_DIR") or collector_wheel.cache() / "collectors").absolute()


def installed() -> list[str]:
    """The versions in `folder()` and that of the wheel `headgate-collector`, oldest first."""
    try:
        names = {entry.name for entry in folder().iterdir() if VERSION.fullmatch(entry.name)}
    except OSError:
        names = set()
    found = {name for name in names if (folder() / name / BINARY).is_file()}
    wheel = collector_wheel.installed()
    return sorted(found | ({wheel.collector_version()} if wheel else set()), key=_age)


def find(version: str = "") -> Path:
    """The collector of that version; without one that of the wheel, else the default version, else the newest.

    The wheel's is unpacked into the cache first. Raises NotInstalled, and NoCollector if there is none at all.
    """
    wheel = collector_wheel.installed()
    if wheel and version in ("", wheel.collector_version()):
        try:
            return wheel.unpacked(collector_wheel.cache()) / "collectors" / wheel.collector_version() / BINARY
        except OSError as error:
            raise NoCollector(f"cannot unpack the collector: {one_line(str(error))}") from error
    versions = installed()
    if not versions:
        raise NoCollector(f"there is no collector in {one_line(str(folder()))}: {_WAY_OUT}")
    if version and version not in versions:
        raise NotInstalled(version, versions)
    return folder() / (version or (DEFAULT if DEFAULT in versions else versions[-1])) / BINARY


class LocalCollector:
    """The `check` process of one binary: started at the first question, and again if it ended. Thread-safe."""

    def __init__(self, binary: Path, memory_bytes: int = _DATA_BYTES) -> None:
        self._binary = binary
        self._memory_bytes = memory_bytes
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._version = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def binary(self) -> Path:
        return self._binary

    @property
    def version(self) -> str:
        """The version that the binary says it is. Starts it if it has not been. Raises what `ask` does."""
        with self._lock:
            if not self._version:
                self._running()
            return self._version

    @property
    def pid(self) -> int | None:
        """The number of the process, None if there is none."""
        return self._process.pid if self._process else None

    def ask(self, op: str, fields: Mapping[str, object], seconds: float = _ASK_SECONDS) -> dict[str, object]:
        """The result of one operation. Raises Refused, CollectorFailed, NoCollector."""
        with self._lock:
            process = self._running()
            try:
                return process.ask(op, fields, seconds)
            except Refused as refused:
                if refused.code == _ENDED:
                    self._end()
                    # The service's word for it.
                    raise Refused("too_costly", refused.message) from None
                raise
            except BaseException:
                # Its next line could answer this question.
                self._end()
                raise

    def close(self) -> None:
        """End the process. May be called again, and from another thread than the one that asks."""
        process, self._process = self._process, None
        if process:
            process.kill()

    def _running(self) -> _Process:
        if self._process is None:
            process = _Process(self._binary, self._memory_bytes)
            self._process, self._version = process, process.version
        return self._process

    def _end(self) -> None:
        if self._process:
            self._process.kill()
        self._process = None


UNKNOWN: Final = "unknown_op"
"""The collector's code for an operation that it does not know."""
OLDER: Final = (
    "the collector was built by an older Headgate than this command line: build it again, with `make collector` in a "
    "checkout of the same version"
)
# The collector's code for a question that took too much, after which it ends.
_ENDED: Final = "exceeded"


@cache
def _starter() -> ThreadPoolExecutor:
    """The one thread that starts every process: Linux ends a process with the *thread* that started it."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="collector")


class _Process:
    """A running `check`. Not thread-safe."""

    def __init__(self, binary: Path, memory_bytes: int) -> None:
        """Start it and wait until it is ready. Raises NoCollector and CollectorFailed."""
        if platform.system() != "Linux":
            raise NoCollector("a collector is confined by means of Linux only: check with a server, without --local")
        self._received = bytearray()
        self._said = bytearray()
        self._last_id = 0
        self._channel, theirs = socket.socketpair()
        self._folder = tempfile.TemporaryDirectory(prefix="headgate-collector-", ignore_cleanup_errors=True)
        try:
            with theirs:
                self._popen = (
                    _starter().submit(_spawn, binary, theirs.fileno(), memory_bytes, self._folder.name).result()
                )
        except OSError as error:
            self._channel.close()
            self._folder.cleanup()
            raise NoCollector(f"cannot start {one_line(str(binary))}: {error.strerror}") from error
        assert self._popen.stderr is not None
        self._stderr = self._popen.stderr
        os.set_blocking(self._stderr.fileno(), False)
        self._channel.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._channel, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        try:
            hello = self._receive(time.monotonic() + _START_SECONDS)
            if hello.get("ready") is not True or not _is_sealed(self.pid):
                raise NoCollector(f"{one_line(str(binary))} is not a collector of Headgate: {_WAY_OUT}")
        except CollectorFailed as error:
            self.kill()
            said = self._said.decode(errors="replace")
            kind = OfficialRelease if _NO_COMMAND in said else NoCollector
            raise kind(_why_not_started(binary, said, error)) from error
        except BaseException:
            self.kill()
            raise
        self.version = str(hello.get("version", ""))

    @property
    def pid(self) -> int:
        return self._popen.pid

    def ask(self, op: str, fields: Mapping[str, object], seconds: float) -> dict[str, object]:
        deadline = time.monotonic() + seconds
        self._last_id += 1
        self._send(json.dumps({**fields, "id": self._last_id, "op": op}).encode() + b"\n", deadline)
        answer = self._receive(deadline)
        error, result = answer.get("error"), answer.get("result")
        if answer.get("id") != self._last_id:
            raise CollectorFailed("the collector answered another question; nothing was checked")
        if isinstance(error, dict):
            if error.get("code") == "panicked":
                raise CollectorFailed("the collector panicked on this text; nothing was checked")
            raise Refused(str(error.get("code")), str(error.get("message")))
        if not isinstance(result, dict):
            raise CollectorFailed("the collector answered without a result; nothing was checked")
        return result

    def kill(self) -> None:
        """End the process and read its last words."""
        if self._popen.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        self._popen.wait()
        if self._channel.fileno() != -1:
            self._listen()
            self._selector.close()
            self._channel.close()
            self._stderr.close()
            self._folder.cleanup()

    def _send(self, line: bytes, deadline: float) -> None:
        rest = memoryview(line)
        self._selector.modify(self._channel, selectors.EVENT_READ | selectors.EVENT_WRITE)
        try:
            while rest:
                self._wait(deadline)
                try:
                    rest = rest[self._channel.send(rest[:_CHUNK]) :]
                except BlockingIOError:
                    continue
                except OSError as error:
                    raise CollectorFailed(self._how_it_ended()) from error
        finally:
            self._selector.modify(self._channel, selectors.EVENT_READ)

    def _receive(self, deadline: float) -> Mapping[str, object]:
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            if searched > _ANSWER_BYTES:
                raise CollectorFailed(f"the collector answered more than {_ANSWER_BYTES // _MEBIBYTE} MB")
            self._wait(deadline)
            try:
                chunk = self._channel.recv(_CHUNK)
            except BlockingIOError:
                continue
            except OSError as error:
                raise CollectorFailed(self._how_it_ended()) from error
            if not chunk:
                raise CollectorFailed(self._how_it_ended())
            self._received += chunk
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        message = Answer(200, {}, line).entity()
        if message is None:
            raise CollectorFailed("the collector sent something else than an answer; nothing was checked")
        return message

    def _wait(self, deadline: float) -> None:
        """Wait until the channel can be used. Raises CollectorFailed past the deadline."""
        while True:
            left = deadline - time.monotonic()
            ready = [key.fileobj for key, _ in self._selector.select(max(left, 0))]
            if self._stderr in ready:
                self._listen()
            if self._channel in ready:
                return
            if left <= 0:
                raise CollectorFailed("the collector did not answer in time; nothing was checked")

    def _listen(self) -> None:
        """Read standard error: the process would stop once the pipe is full."""
        while chunk := self._stderr.read(_CHUNK):
            self._said += chunk
            del self._said[:-_STDERR_KEPT]
        if chunk is not None and self._stderr in self._selector.get_map():
            self._selector.unregister(self._stderr)

    def _how_it_ended(self) -> str:
        # The channel closes a moment before the process has a status.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(0.5)
        if self._popen.poll() is None:
            return "the collector closed its channel; nothing was checked"
        self._listen()
        status = self._popen.returncode
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"
        words = self._said.decode(errors="replace").splitlines()
        reason = next((f": {one_line(line[:200])}" for line in words if line.startswith(_REASONS)), "")
        return f"the collector {how}{reason}; nothing was checked"


def _spawn(binary: Path, channel: int, memory_bytes: int, directory: str) -> subprocess.Popen[bytes]:
    launcher = [sys.executable, "-I", "-S", str(Path(local_launcher.__file__))]
    # The launcher's interpreter may need this one to find its library; the collector gets no variable.
    env = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return subprocess.Popen(
        [*launcher, str(channel), str(memory_bytes), str(os.getpid()), str(binary)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=env,
        cwd=directory,
        pass_fds=(channel,),
        start_new_session=True,
    )


def _is_sealed(pid: int) -> bool:
    """Whether a filter of system calls is in place, which the collector installs before it says that it is ready."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return "\nSeccomp:\t2\n" in status


def _why_not_started(binary: Path, said: str, error: CollectorFailed) -> str:
    if _NO_COMMAND in said:
        return f"{one_line(str(binary))} is an official release, which has no `check` command: {_WAY_OUT}"
    last = next((line for line in reversed(said.splitlines()) if line.strip()), error.message)
    return f"{one_line(str(binary))} does not start: {one_line(last[:300])}"


def _age(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
