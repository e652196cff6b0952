"""One check process: started, asked one question at a time, killed."""

import contextlib
import json
import logging
import math
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from headgate_engine.checker import crashes, messages, verified_files
from headgate_engine.checker.errors import Exceeded, NoChecker, OtherProtocol, ProcessFailed, Refused
from headgate_engine.checker.limits import Limits, confined_by_platform
from headgate_engine.checker.messages import PROTOCOL, Malformed, Message
from headgate_engine.checker.spawn import MEANS, Confined, spawn

logger = logging.getLogger(__name__)

_CHUNK = 1 << 18
_STDERR_KEPT = 1 << 18


@dataclass(frozen=True, slots=True)
class Usage:
    """The resources that the process reported with its last answer."""

    calls: int = 0
    rss_bytes: int = 0


class Child:
    """A collector running `check`, asked in JSON lines over a socket pair.

    Not thread-safe. After a ProcessFailed it must be killed: its next line could answer the earlier question.
    """

    def __init__(self, process: Confined, channel: socket.socket, limits: Limits) -> None:
        self._process = process
        self._channel = channel
        self._limits = limits
        self._received = bytearray()
        self._stderr = bytearray()
        self._last_id = 0
        self._selector = selectors.DefaultSelector()
        self._selector.register(channel, selectors.EVENT_READ)
        self._selector.register(process.stderr, selectors.EVENT_READ)
        self.usage = Usage()
        self.held_by = ""

    @classmethod
    def start(
        cls,
        binary: Path,
        limits: Limits,
        means: tuple[str, ...] = MEANS,
        *,
        env: Mapping[str, str] | None = None,
        ends: float = math.inf,
    ) -> "Child":
        """Start the check process of `binary` and wait until it is warm. `means` are what may confine it.

        It has no environment but `env`, whose names are those of `host_variables`.

        Raises NoChecker when this collector has no such command, OtherProtocol, and ProcessFailed when it does not get
        ready before `ends`, by the monotonic clock.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = spawn(
                    [str(binary), "check", "--fd", "3", *(["--platform"] if confined_by_platform() else [])],
                    env=dict(env or {}),
                    data_bytes=limits.kill_bytes,
                    channel=theirs.fileno(),
                    files={},
                    means=means,
                )
        except OSError as error:
            ours.close()
            raise ProcessFailed(f"could not be started: {error}") from error
        ours.setblocking(False)
        child = cls(process, ours, limits)
        try:
            hello = child._receive(min(time.monotonic() + limits.start_seconds, ends))
            if hello.get("ready") is not True:
                raise ProcessFailed("did not say that it is ready")
            if hello.get("protocol") != PROTOCOL:
                raise OtherProtocol(hello.get("version"), hello.get("protocol"))
            if verified_files.version_of(binary) not in (None, hello.get("version")):
                raise ProcessFailed(f"says that it is version {hello.get('version')}")
        except ProcessFailed:
            child.kill()
            if 'unknown command "check"' in child.last_words:
                raise NoChecker("This collector has no check command") from None
            raise
        child.held_by = process.held_by()
        logger.info("checker_started", extra={"pid": child.pid, "held_by": child.held_by})
        return child

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def last_words(self) -> str:
        """The end of the process's standard error, which has the reason of a crash."""
        return self._stderr.decode(errors="replace")

    def crash(self) -> str:
        """The report of Go's runtime if the process has crashed, else empty. For use before `kill`."""
        self._listen()
        return crashes.report(self.last_words)

    def alive(self) -> bool:
        return self._process.popen.poll() is None

    def ask(
        self, op: str, fields: Mapping[str, object], seconds: float, meanwhile: Callable[[], object] | None = None
    ) -> dict[str, object]:
        """The result of one operation. `meanwhile` is called while the process works on it.

        Raises Refused when the process answers with an error of its own, Exceeded when it ended with that, and
        ProcessFailed when it does not answer in time, dies, or sends something else than an answer to this question.
        """
        deadline = time.monotonic() + seconds
        # What it wrote at earlier questions, as of a panic that was caught, says nothing of this one.
        self._listen()
        self._stderr.clear()
        self._last_id += 1
        question = {**fields, "id": self._last_id, "op": op}
        self._send(json.dumps(question, separators=(",", ":")).encode() + b"\n", deadline)
        if meanwhile is not None:
            meanwhile()
        answer = self._receive(deadline)
        if answer.get("id") != self._last_id:
            raise ProcessFailed("answered another question than the one asked")
        self.usage = _usage(answer)
        error = answer.get("error")
        if isinstance(error, dict):
            if error.get("code") == "panicked":
                # It caught the panic, but may hold locks for ever.
                raise ProcessFailed("panicked")
            if error.get("code") == "exceeded":
                raise Exceeded("too_costly", str(error.get("message")))
            raise Refused(str(error.get("code")), str(error.get("message")))
        result = answer.get("result")
        if not isinstance(result, dict):
            raise ProcessFailed("answered without a result")
        if result.get("crashed") is True:
            # A component has panicked in it, and may hold locks for ever.
            self.usage = Usage(self._limits.recycle_calls, self.usage.rss_bytes)
        return cast("dict[str, object]", result)

    def kill(self) -> None:
        """End the process, whatever state it is in, and read its last words. May be called again."""
        if self._channel.fileno() == -1:
            return
        self._process.end()
        self._listen()
        self._selector.close()
        self._channel.close()
        self._process.clean_up()

    def interrupt(self) -> None:
        """End the process while another thread asks it. That thread gets ProcessFailed and has to call `kill`."""
        self._process.end()

    def _send(self, line: bytes, deadline: float) -> None:
        rest = memoryview(line)
        while rest:
            try:
                rest = rest[self._channel.send(rest[:_CHUNK]) :]
            except BlockingIOError:
                self._wait_to_send(deadline)
            except OSError as error:
                raise ProcessFailed(self._how_it_ended()) from error

    def _wait_to_send(self, deadline: float) -> None:
        self._selector.modify(self._channel, selectors.EVENT_READ | selectors.EVENT_WRITE)
        try:
            self._wait(deadline)
        finally:
            self._selector.modify(self._channel, selectors.EVENT_READ)

    def _receive(self, deadline: float) -> Message:
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            if searched > self._limits.answer_bytes:
                raise ProcessFailed(f"answered more than {self._limits.answer_bytes} bytes")
            self._wait(deadline)
            try:
                chunk = self._channel.recv(_CHUNK)
            except BlockingIOError:
                continue
            except OSError as error:
                raise ProcessFailed(self._how_it_ended()) from error
            if not chunk:
                raise ProcessFailed(self._how_it_ended())
            self._received += chunk
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        try:
            return messages.parsed(line)
        except Malformed as error:
            raise ProcessFailed(f"answered {error}") from error

    def _wait(self, deadline: float) -> None:
        """Wait until the channel can be used. Looks at least once: Lambda may freeze a process past its deadline."""
        while True:
            left = deadline - time.monotonic()
            ready = [key.fileobj for key, _ in self._selector.select(max(left, 0))]
            if self._process.stderr in ready:
                self._listen()
            if self._channel in ready:
                return
            if left <= 0:
                raise ProcessFailed("did not answer in time")

    def _listen(self) -> None:
        """Read standard error, for the process would stop once the pipe is full."""
        while True:
            chunk = self._process.stderr.read(_CHUNK)
            if chunk is None:
                return
            if not chunk:
                if self._process.stderr in self._selector.get_map():
                    self._selector.unregister(self._process.stderr)
                return
            self._stderr += chunk
            del self._stderr[:-_STDERR_KEPT]

    def _how_it_ended(self) -> str:
        # The channel closes a moment before the process has a status.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.popen.wait(0.5)
        self._process.end()
        self._listen()
        status = self._process.popen.returncode
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"
        reason = next((line for line in self.last_words.splitlines() if line.startswith(_REASONS)), "")
        # A component's panic may quote the configuration; the Go runtime's messages do not.
        reason = "panic" if reason.startswith("panic:") else reason
        return f"{how}: {reason}" if reason else how


# "SIG": the Go runtime names the signal that ended it, as if its garbage collector gets no memory.
_REASONS = ("fatal error:", "panic:", "runtime:", "SIG", "could not launch")


def _usage(answer: Mapping[str, object]) -> Usage:
    calls, rss_bytes = answer.get("calls"), answer.get("rss_bytes")
    if not isinstance(calls, int) or not isinstance(rss_bytes, int):
        raise ProcessFailed("did not say how much it has used")
    return Usage(calls, rss_bytes)
