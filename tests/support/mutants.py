"""Mutants tried one after another, each in a fork of a process that has imported pytest and the libraries.

`python -m tests.support.mutants FILE MINUTES TEST…` in a copy of the checkout, for tests/mutation.py. First the tests
run once, to know which of them run which lines of the modules that mutants change.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from tests.support.own_path import own_environment

_LIBRARIES: Final = ("boto3", "fastapi", "httpx", "moto", "moto.dynamodb.models", "starlette.testclient")
_SECONDS: Final = 60
_PLUGINS: Final = ("pytest_timeout", "_hypothesis_pytestplugin")
"""Others would have to be imported after pytest."""
_OPTIONS: Final = ("-q", "-x", "-p", "no:cacheprovider", "-m", "not full", *(f"-p{name}" for name in _PLUGINS))


class Lines:
    """A plugin of pytest that notes which lines of some files each test runs, and how long it takes."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files: Final = {str(Path(name).resolve()): name for name in files}
        self._lines: set[tuple[str, int]] = set()
        self.of_test: dict[str, Any] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._lines, begun = set(), time.monotonic()
        threading.settrace(self._enter)
        sys.settrace(self._enter)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.of_test[item.nodeid] = {"seconds": time.monotonic() - begun, "lines": sorted(self._lines)}

    def _enter(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._step if frame.f_code.co_filename in self._files else None

    def _step(self, frame: FrameType, event: str, argument: object) -> Any:
        self._lines.add((self._files[frame.f_code.co_filename], frame.f_lineno))
        return self._step


def main(file: str, minutes: str, *tests: str) -> None:
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in _LIBRARIES:
        importlib.import_module(name)
    # Else each run would hide some of the machine's programs anew.
    with own_environment():
        _try(file, float(minutes), tests)


def _try(file: str, minutes: float, tests: Sequence[str]) -> None:
    mutants: list[dict[str, Any]] = json.loads(Path(file).read_text())
    known = Path(f"{file}.tests")
    if _forked(lambda: _noted(tests, {mutant["path"] for mutant in mutants}, known), 3_600, quiet=False) != 0:
        sys.exit("The tests do not pass without a mutant")
    of_test = json.loads(known.read_text())
    # Else a test that is called otherwise in each run would seem to fail.
    if _forked(lambda: _ended(["--collect-only", *of_test]), 600, quiet=False) != 0:
        sys.exit("Some tests are called otherwise in each run")
    results: list[dict[str, Any]] = []
    ends = time.monotonic() + 60 * minutes
    for mutant in mutants:
        if time.monotonic() > ends:
            break
        chosen = _running(of_test, mutant)
        path = Path(mutant["path"])
        before = path.read_text()
        path.write_text(mutant["source"])
        try:
            seconds = _SECONDS + 5 * sum(of_test[test]["seconds"] for test in chosen)
            ended = _forked(partial(_ended, chosen), seconds) if chosen else 0
        finally:
            path.write_text(before)
        results.append({**mutant, "survived": ended == 0})
        print(f"{len(results)} of {len(mutants)}: {len(chosen)} tests, {ended}", flush=True)
    Path(f"{file}.results").write_text(json.dumps(results))


def _ended(arguments: Sequence[str]) -> int:
    """The exit code of pytest."""
    return int(pytest.main([*_OPTIONS, *arguments]))


def _noted(tests: Sequence[str], files: set[str], path: Path) -> int:
    lines = Lines(sorted(files))
    ended = int(pytest.main([*_OPTIONS, *tests], plugins=[lines]))
    path.write_text(json.dumps(lines.of_test))
    return ended


def _running(of_test: dict[str, Any], mutant: dict[str, Any]) -> list[str]:
    """The tests that run a line of the mutant, the quick ones first; of what runs at the import, all of the module."""
    first, last = mutant["lines"]
    of_line, of_module = defaultdict[str, bool](bool), defaultdict[str, bool](bool)
    for test, noted in of_test.items():
        for path, line in noted["lines"]:
            of_module[test] |= path == mutant["path"]
            of_line[test] |= path == mutant["path"] and first <= line <= last
    chosen = {test for test, runs in of_line.items() if runs} or {test for test, runs in of_module.items() if runs}
    return sorted(chosen, key=lambda test: of_test[test]["seconds"])


def _forked(work: Callable[[], int], seconds: float, *, quiet: bool = True) -> int:
    """The status with which a fork that does this ends; -9 if it takes longer."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        if quiet:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        os._exit(work())
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -signal.SIGKILL


if __name__ == "__main__":
    main(*sys.argv[1:])
