"""Shows the progress of a build: on a terminal in one line that changes, elsewhere in a new line now and then.

The service reads it from a file meanwhile (shared/headgate/checker/being_built.py).
"""

import json
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Self

Listener = Callable[[str], bool]
"""Takes a line, and returns whether it understood the line."""

_PACKAGE = re.compile(r"[a-z0-9][\w.~!/@+-]*", re.ASCII | re.IGNORECASE)
# A whole build on two processors: the modules that it downloads, its time, and where compiling begins and ends.
_MODULES = 900
_WHOLE_SECONDS = 900
_DOWNLOADING, _LINKING_FROM = 0.1, 0.95
_ARCHIVE = re.compile(r"# get \S+\.zip: 200\b")


class Progress:
    """Counts the steps that Go prints. Used as a context manager."""

    def __init__(self, title: str, state: Path | None = None) -> None:
        """`state` is the file that says how far it is; whoever names it removes it."""
        self._state = state
        self.modules = 0
        self.packages = 0
        self.done = 0
        self._title = title
        self._started = time.monotonic()
        self._ended = threading.Event()
        self._on_terminal = sys.stderr.isatty()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __enter__(self) -> Self:
        print(self._title, file=sys.stderr)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        print(f"{self._clear()}  {self}", file=sys.stderr)

    @property
    def part_done(self) -> float:
        """How much of the build is done, from 0 to 1, by what a whole build takes."""
        if not self.packages:
            return _DOWNLOADING * min(1, self.modules / _MODULES)
        return _DOWNLOADING + (_LINKING_FROM - _DOWNLOADING) * min(1, self.done / self.packages)

    @property
    def seconds_left(self) -> int:
        """An estimate: first by what a whole build takes, then by the time that the done part took."""
        done = self.part_done
        left = 1 - done
        by_pace = (time.monotonic() - self._started) * left / done if done else 0
        return round(done * by_pace + left * left * _WHOLE_SECONDS)

    def downloaded(self, line: str) -> bool:
        """Count a downloaded module."""
        if _ARCHIVE.match(line):
            self.modules += 1
        return line.startswith("# get ")

    def compiled(self, line: str) -> bool:
        """Count a package that is being compiled."""
        if _PACKAGE.fullmatch(line.strip()):
            self.done += 1
            return True
        return False

    def __str__(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        if not self.packages:
            return f"{minutes}:{seconds:02} modules downloaded: {self.modules}"
        return f"{minutes}:{seconds:02} packages compiled: {self.done} of at most {self.packages}"

    def _show(self) -> None:
        self._write_state()
        seconds = 0.0
        while not self._ended.wait(0.5):
            seconds += 0.5
            if self._on_terminal or seconds % 15 == 0:
                print(f"{self._clear()}  {self}", file=sys.stderr, end="" if self._on_terminal else "\n", flush=True)
            self._write_state()

    def _write_state(self) -> None:
        if self._state:
            part = self._state.with_name(f".{self._state.name}.part")
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps({"percent": int(100 * self.part_done), "seconds_left": self.seconds_left}))
            part.replace(self._state)

    def _clear(self) -> str:
        return "\r\033[K" if self._on_terminal else ""


class Collected:
    """Reads a pipe to its end in the background, so that its writer does not wait."""

    def __init__(self, pipe: IO[str] | None) -> None:
        self._parts: list[str] = []
        self._thread = threading.Thread(target=lambda: self._parts.extend(pipe or ()), daemon=True)
        self._thread.start()

    def text(self) -> str:
        """All of it."""
        self._thread.join()
        return "".join(self._parts)
