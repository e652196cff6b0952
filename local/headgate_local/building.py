"""Builds the collector behind the running service, where `make dev` found none.

First comes a program with the components that most texts use, which answers for the whole one until that is built. What
neither can answer is 503 `collector_being_built` meanwhile (headgate_engine.checker.being_built).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from headgate import checker
from headgate.foundation.settings import settings
from headgate_engine.checker import being_built
from headgate_local import releases
from headgate_local.running import Local

VARIABLE: Final = "HEADGATE_BUILD"
"""Set by `make dev`: what builds, the folder `layers` of the checkout."""
_BEGUN: Final = {"percent": 0, "seconds_left": 920, "first_seconds_left": 220}
_LAST_LINES: Final = 5
_SECONDS_BETWEEN_SIGNS: Final = 10


@contextmanager
def behind(local: Local) -> Iterator[None]:
    """Build what is missing until the end of the block, which ends the build."""
    layers, version = os.environ.get(VARIABLE), settings().collector_version
    if not layers or (local.collectors / version / "otelcol-contrib").is_file():
        yield
        return
    build = _Build(local, Path(layers), version)
    # What asks before the build has begun is answered as what asks after.
    build.say(_BEGUN)
    thread = threading.Thread(target=build.run, name="build", daemon=True)
    thread.start()
    try:
        yield
    finally:
        build.stop()
        thread.join()


class _Build:
    def __init__(self, local: Local, layers: Path, version: str) -> None:
        self._local = local
        self._state = local.collectors / f"{version}.building"
        self._path = os.pathsep.join(str(layers / name) for name in ("collector", "supervisor"))
        self._version = version
        self._begun = time.monotonic()
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def run(self) -> None:
        ended = threading.Event()
        threading.Thread(target=self._show_life, args=(ended,), name="build", daemon=True).start()
        # One of older sources would answer otherwise.
        (self._local.collectors / f"{self._version}.first").unlink(missing_ok=True)
        built = self._run("building", "first", self._version) and self._build_whole()
        ended.set()
        if built:
            # The build has removed it, but a sign of life may have come after.
            self._state.unlink(missing_ok=True)
            checker.warm()
            print(f"The whole collector is built, {self._since_begun()}: every component can be used now.", flush=True)
            built = self._run("supervisor_build", "supervisor")
            with releases.published(self._local):
                if built:
                    print("The supervisor is built. Hosts can be installed now: everything works.", flush=True)

    def _build_whole(self) -> bool:
        """With the first program in its place until it is built."""
        checker.warm()
        build = being_built.under_way(self._local.collectors, self._version)
        minutes = round(build.seconds_left / 60) if build else 12
        print(
            f"The first collector is built, {self._since_begun()}. It checks and tests texts with the components "
            f"that most texts use; the whole one is ready in about {minutes} minutes.",
            flush=True,
        )
        return self._run("building", "release", self._version)

    def _since_begun(self) -> str:
        minutes, seconds = divmod(round(time.monotonic() - self._begun), 60)
        return f"{minutes} min {seconds} s after the start"

    def _show_life(self, ended: threading.Event) -> None:
        """The build itself says nothing while it installs Go, links the program, or waits for another build."""
        while not ended.wait(_SECONDS_BETWEEN_SIGNS):
            try:
                os.utime(self._state)
            except FileNotFoundError:
                self.say(_BEGUN)

    def stop(self) -> None:
        """End the build. Go keeps what it has compiled, so the next one goes on from there."""
        with self._lock:
            self._stopped = True
            if self._process and self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGTERM)

    def say(self, state: Mapping[str, object]) -> None:
        """Write the file that the checker reads."""
        self._state.parent.mkdir(parents=True, exist_ok=True)
        part = self._state.with_name(f".{self._state.name}.said")
        part.write_text(json.dumps(state), encoding="utf-8")
        part.replace(self._state)

    def _run(self, module: str, *arguments: str) -> bool:
        """True if the build succeeded; if not, and nobody has stopped it, the file says why."""
        environment = {**os.environ, "PYTHONPATH": self._path, "HEADGATE_COLLECTORS_DIR": str(self._local.collectors)}
        with self._lock:
            if self._stopped:
                return False
            self._process = subprocess.Popen(
                ["nice", sys.executable, "-m", module, *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                # With Go, which it starts: both end together.
                start_new_session=True,
            )
        with self._process as process:
            assert process.stderr is not None
            last = _passed_on(process.stderr)
        if process.returncode == 0:
            return True
        if self._stopped:
            self._state.unlink(missing_ok=True)
        else:
            reason = " ".join(last) or f"exit status {process.returncode}"
            self.say({"failed": f"{reason}. Mend that, and start the service again"})
        return False


def _passed_on(lines: IO[str]) -> list[str]:
    """Print what the build says, and return the end of it."""
    last: list[str] = []
    for line in lines:
        print(line, end="", file=sys.stderr, flush=True)
        last = [*last[1 - _LAST_LINES :], line.strip()]
    return last
