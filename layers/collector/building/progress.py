"""Shows the progress of a build: on a terminal in one line that changes, elsewhere in a new line now and then."""

import re
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Self

Listener = Callable[[str], bool]
"""Takes a line, and returns whether it understood the line."""

_PACKAGE = re.compile(r"[a-z0-9][\w.~!/@+-]*", re.ASCII | re.IGNORECASE)
_ARCHIVE = re.compile(r"# get \S+\.zip: 200\b")


class Progress:
    """Counts the steps that Go prints. Used as a context manager."""

    def __init__(self, title: str) -> None:
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
        while not self._ended.wait(0.5 if self._on_terminal else 15):
            print(f"{self._clear()}  {self}", file=sys.stderr, end="" if self._on_terminal else "\n", flush=True)

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
