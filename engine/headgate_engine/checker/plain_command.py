"""The collector's own `validate` command, in a new process each time: slower, and the reference."""

import contextlib
import math
import os
import re
import selectors
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headgate_engine.checker import crashes, host_variables
from headgate_engine.checker.errors import CheckerBusy, CheckerFailed
from headgate_engine.checker.limits import Limits
from headgate_engine.checker.root_directory import TIME_ZONES
from headgate_engine.checker.spawn import MEANS, Confined, spawn
from headgate_engine.checker.variables import RenamedVariables, rename

_CONFIGURATION = "collector.yaml"
_OUTPUT_KEPT = 1 << 20
_LOGGED_AGAIN = re.compile(r"\n\d{4}/\d\d/\d\d \d\d:\d\d:\d\d collector server run finished with error: ")
# Some components ask the cloud for a region while they are validated, and without a network try for up to 20 s; the
# check process gets the same variable. A collector without time zones of its own uses the machine's.
_ENVIRONMENT = {"AWS_EC2_METADATA_DISABLED": "true", "HOME": "/", "ZONEINFO": TIME_ZONES}


@dataclass(frozen=True, slots=True)
class PlainVerdict:
    """`message` is what the collector said of an invalid configuration, whole; empty for a valid one."""

    valid: bool
    message: str


class PlainCommand:
    """Runs `otelcol-contrib validate`, a few at a time: each takes 300 MB for a tenth of a second."""

    def __init__(self, limits: Limits, means: tuple[str, ...] = MEANS) -> None:
        self._limits = limits
        self._means = means
        self._places = threading.BoundedSemaphore(limits.processes)

    def validate(self, binary: Path, yaml: str, env: dict[str, str], ends: float | None = None) -> PlainVerdict:
        """The verdict of that collector on that text, before `ends` by the monotonic clock.

        Raises CheckerBusy if no place was free in time, and CheckerFailed if there is no verdict: the command died,
        hung or could not be run, would have read something outside the text, or cannot be confined to its files here.
        """
        asked = rename(yaml, env)
        with self.place():
            verdict = self._run(binary, asked, host_variables.plain(env), math.inf if ends is None else ends)
        return PlainVerdict(verdict.valid, asked.in_the_callers_names(verdict.message))

    @contextlib.contextmanager
    def place(self) -> Iterator[None]:
        """Hold one of the places. Raises CheckerBusy when none was free in time."""
        if not self._places.acquire(timeout=self._limits.queue_seconds):
            raise CheckerBusy(f"The collector's validate command was busy for {self._limits.queue_seconds:g} s")
        try:
            yield
        finally:
            self._places.release()

    def _run(self, binary: Path, asked: RenamedVariables, variables: dict[str, str], ends: float) -> PlainVerdict:
        deadline = min(time.monotonic() + self._limits.request_seconds, ends)
        try:
            process = spawn(
                [str(binary), "validate", "--config", _CONFIGURATION],
                env=variables | _ENVIRONMENT | asked.env,
                data_bytes=self._limits.kill_bytes,
                files={_CONFIGURATION: asked.yaml},
                time_zones=True,
                needs_files_held=True,
                means=self._means,
            )
        except OSError as error:
            raise CheckerFailed(f"The collector's validate command could not be started: {error}") from error
        try:
            said = _read(process, deadline)
        finally:
            process.end()
            process.clean_up()
        return _verdict(process.popen.returncode, said)


def _read(process: Confined, deadline: float) -> str:
    """Returns the process's standard error, once it has ended. Raises CheckerFailed past the deadline."""
    said = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if not selector.select(left):
                break
            chunk = os.read(process.stderr.fileno(), 1 << 16)
            if not chunk:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.popen.wait(max(0, deadline - time.monotonic()))
                return said.decode(errors="replace")
            if len(said) < _OUTPUT_KEPT:
                said += chunk
    raise CheckerFailed("The collector's validate command did not answer in time")


def _verdict(status: int, said: str) -> PlainVerdict:
    """Status 1 with a text that begins with `Error: ` is the collector's judgement; a crash has another status."""
    if status == 0:
        return PlainVerdict(valid=True, message="")
    start = 0 if said.startswith("Error: ") else said.find("\nError: ") + 1
    if status != 1 or not said.startswith("Error: ", start):
        first_line = said.strip().partition("\n")[0][:200]
        ended = f"The collector's validate command ended with status {status}: {first_line}".rstrip(": ")
        raise CheckerFailed(ended, crashes.report(said))
    message = _LOGGED_AGAIN.split(said[start:].removeprefix("Error: "), maxsplit=1)[0].strip()
    return PlainVerdict(valid=False, message=message)
