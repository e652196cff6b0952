"""Shows the progress of a build: on a terminal in one line that changes, elsewhere in a new line now and then.

The service reads it from a file meanwhile (shared/headgate/checker/being_built.py).
"""

import json
import re
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Self

Listener = Callable[[str], bool]
"""Takes a line, and returns whether it understood the line."""

_PACKAGE = re.compile(r"[a-z0-9][\w.~!/@+-]*", re.ASCII | re.IGNORECASE)
_ARCHIVE = re.compile(r"# get \S+\.zip: 200\b")


@dataclass(frozen=True, slots=True)
class Stage:
    """What a program takes on two idle processors with empty caches: seconds, and modules to download.

    `downloading` and `linking_from` are the parts of that time at which packages begin to compile, and when all are.
    `before` and `after` are the seconds of the other program; `before` has compiled its packages already.
    """

    seconds: int
    modules: int
    downloading: float
    linking_from: float
    before: int = 0
    after: int = 0


FIRST: Final = Stage(seconds=220, modules=400, downloading=0.18, linking_from=0.95, after=700)
"""The program with the components of versions/FIRST."""
REST: Final = Stage(seconds=700, modules=500, downloading=0.16, linking_from=0.95, before=220)
"""The whole program, once there is the first one."""
WHOLE: Final = Stage(seconds=900, modules=900, downloading=0.1, linking_from=0.95)
"""The whole program alone."""


class Progress:
    """Counts the steps that Go prints. Used as a context manager."""

    def __init__(self, title: str, state: Path | None = None, stage: Stage = WHOLE, compiled: int = 0) -> None:
        """`state` is the file that says how far it is; whoever names it removes it.

        `compiled` is how many of the packages are in Go's cache.
        """
        self._state = state
        self._stage = stage
        self._compiled = compiled
        self.modules = 0
        self.packages = 0
        self.done = 0
        self._title = title
        self._started = self._last = time.monotonic()
        self._parts: list[tuple[str, float]] = []
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
        parts = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in self._parts)
        print(f"{self._clear()}  {self}{f' ({parts})' if parts else ''}", file=sys.stderr)

    def end_part(self, name: str, at: float | None = None) -> None:
        """Note how long a part took that ends now, or has ended at that time."""
        at = time.monotonic() if at is None else at
        self._parts.append((name, max(0.0, at - self._started - sum(seconds for _, seconds in self._parts))))

    def end_compiling(self) -> None:
        """Note compiling and linking: Go says when it begins with the last package, which is the program."""
        self.end_part("compile", self._last)
        self.end_part("link")

    @property
    def part_done(self) -> float:
        """How much of the program is done, from 0 to 1, by what it usually takes."""
        stage = self._stage
        if not self.packages:
            return stage.downloading * min(1, self.modules / stage.modules)
        to_compile = max(1, self.packages - self._compiled)
        return stage.downloading + (stage.linking_from - stage.downloading) * min(1, self.done / to_compile)

    @property
    def seconds_left(self) -> int:
        """An estimate for this program: first by what it usually takes, then by the time that the done part took."""
        done = self.part_done
        left = 1 - done
        by_pace = (time.monotonic() - self._started) * left / done if done else 0
        return round(done * by_pace + left * left * self._stage.seconds)

    def report(self) -> dict[str, int]:
        """What the file says: of both programs the part that is done, and the time until the whole one is there.

        `first_seconds_left` is the time until the first one is there, which answers for the whole one meanwhile.
        """
        stage, left = self._stage, self.seconds_left
        done = (stage.before + self.part_done * stage.seconds) / (stage.before + stage.seconds + stage.after)
        if not stage.after:
            return {"percent": int(100 * done), "seconds_left": left}
        # The second program takes as much longer than usual as the first one.
        pace = max(1.0, (time.monotonic() - self._started + left) / stage.seconds)
        whole = round(left + stage.after * pace)
        return {"percent": int(100 * done), "seconds_left": whole, "first_seconds_left": left}

    def downloaded(self, line: str) -> bool:
        """Count a downloaded module."""
        if _ARCHIVE.match(line):
            self.modules += 1
        return line.startswith("# get ")

    def compiled(self, line: str) -> bool:
        """Count a package that is being compiled."""
        if _PACKAGE.fullmatch(line.strip()):
            self.done += 1
            self._last = time.monotonic()
            return True
        return False

    def __str__(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        if not self.packages:
            return f"{minutes}:{seconds:02} modules downloaded: {self.modules}"
        return f"{minutes}:{seconds:02} packages compiled: {self.done} of at most {self.packages - self._compiled}"

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
            part.write_text(json.dumps(self.report()))
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
