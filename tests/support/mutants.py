"""Mutants tried one after another, each in a fork of a process that has collected the tests.

`python -m tests.support.mutants FILE MINUTES TEST…` in a copy of the checkout, for tests/mutation.py. First the tests
run once, to know which of them run which lines of the modules that mutants change. A mutant in the body of a function
replaces the function's code in the fork. One in what runs at the import, such as a constant, has its tests collected
again.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import json
import os
import signal
import sys
import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

import pytest

from tests.support.own_path import own_environment

_LIBRARIES: Final = ("boto3", "fastapi", "httpx", "moto", "moto.dynamodb.models", "starlette.testclient")
_PLUGINS: Final = ("pytest_timeout", "_hypothesis_pytestplugin")
"""Others would have to be imported after pytest."""
_OPTIONS: Final = ("-q", "-x", "-p", "no:cacheprovider", "-m", "not full", *(f"-p{name}" for name in _PLUGINS))
# What a test may take beyond a multiple of its time without a mutant: of a processor, and of the clock for all tests.
_PROCESSOR_SECONDS: Final = 5
_SECONDS: Final = 60
_AN_HOUR: Final = 3_600
_TURN_SECONDS: Final = 0.01


class Lines:
    """A plugin of pytest that notes which lines of some files each test runs, and how long it takes."""

    def __init__(self, files: set[str], notes: Path) -> None:
        self._files: Final = {str(Path(name).resolve()): name for name in files}
        self._notes: Final = notes
        self._lines: set[tuple[str, int]] = set()
        self._of_test: Final[dict[str, Any]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._lines, begun, processor = set(), time.monotonic(), time.process_time()
        threading.settrace(self._enter)
        sys.settrace(self._enter)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self._of_test[item.nodeid] = {
                "seconds": time.monotonic() - begun,
                "processor": time.process_time() - processor,
                "lines": sorted(self._lines),
            }

    def pytest_sessionfinish(self) -> None:
        self._notes.write_text(json.dumps(self._of_test))

    def _enter(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._step if frame.f_code.co_filename in self._files else None

    def _step(self, frame: FrameType, event: str, argument: object) -> Any:
        self._lines.add((self._files[frame.f_code.co_filename], frame.f_lineno))
        return self._step


class Limit:
    """A plugin of pytest that ends the process in a test that takes far more of a processor than without a mutant."""

    def __init__(self, of_test: Mapping[str, Any]) -> None:
        self._of_test: Final = of_test

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        signal.setitimer(signal.ITIMER_PROF, _PROCESSOR_SECONDS + 3 * self._of_test[item.nodeid]["processor"])
        return (yield)


class Trials:
    """The mutants of a package, which tests run their lines, and how the tests of each ended."""

    def __init__(self, file: str, minutes: float) -> None:
        self.mutants: Final[list[dict[str, Any]]] = json.loads(Path(file).read_text())
        self.notes: Final = Path(f"{file}.tests")
        self.of_test: dict[str, Any] = {}
        self._results: Final = Path(f"{file}.results")
        self._results.write_text("[]")
        self._ends: Final = time.monotonic() + 60 * minutes
        self._progress: Final = os.fdopen(os.dup(1), "w")

    def due(self) -> Iterator[dict[str, Any]]:
        """Those that were not tried, as long as there is time."""
        self.of_test = json.loads(self.notes.read_text())
        tried = [result["at"] for result in json.loads(self._results.read_text())]
        for mutant in self.mutants:
            if time.monotonic() < self._ends and mutant["at"] not in tried:
                yield mutant

    def tests_of(self, mutant: Mapping[str, Any]) -> list[str]:
        """The tests that run a line of the mutant, quick ones first; of what runs at the import, all of the module."""
        first, last = mutant["lines"]
        of_line, of_module = defaultdict[str, bool](bool), defaultdict[str, bool](bool)
        for test, noted in self.of_test.items():
            for path, line in noted["lines"]:
                of_module[test] |= path == mutant["path"]
                of_line[test] |= path == mutant["path"] and first <= line <= last
        chosen = {test for test, runs in of_line.items() if runs} or {test for test, runs in of_module.items() if runs}
        return sorted(chosen, key=lambda test: self.of_test[test]["processor"])

    def fork(self, mutant: Mapping[str, Any]) -> bool:
        """True in a fork that is to run the mutant's tests. Otherwise it notes how that ended."""
        path, tests = Path(mutant["path"]), self.tests_of(mutant)
        before = path.read_text()
        path.write_text(mutant["source"])
        status = _forked(_SECONDS + 5 * sum(self.of_test[test]["seconds"] for test in tests)) if tests else 0
        if status is None:
            return True
        path.write_text(before)
        results = [*json.loads(self._results.read_text()), {**mutant, "survived": status == 0}]
        self._results.write_text(json.dumps(results))
        print(f"{len(results)} of {len(self.mutants)}: {len(tests)} tests, {status}", file=self._progress, flush=True)
        return False


class InTheSession:
    """A plugin of pytest that tries mutants of functions in forks of the session, with the tests that it collected."""

    def __init__(self, trials: Trials) -> None:
        self._trials: Final = trials

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """True in the process that forks. None has pytest run the tests of the session."""
        register, trials = session.config.pluginmanager.register, self._trials
        files = {mutant["path"] for mutant in trials.mutants}
        status = _forked(_AN_HOUR)
        if status is None:
            register(Lines(files, trials.notes))
            return None
        if status != 0:
            raise session.Failed("The tests do not pass without a mutant")
        items = {item.nodeid: item for item in session.items}
        functions = _functions({str(Path(name).resolve()) for name in files})
        for mutant in trials.due():
            codes = _replaced(mutant)
            if codes and trials.fork(mutant):
                for before, after in codes:
                    for function in functions[before]:
                        function.__code__ = after
                session.items[:] = [items[test] for test in trials.tests_of(mutant)]
                register(Limit(trials.of_test))
                return None
        return True


def main(file: str, minutes: str, *tests: str) -> None:
    # In CI Hypothesis draws the same each time.
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "CI": "1"}
    for name in _LIBRARIES:
        importlib.import_module(name)
    trials = Trials(file, float(minutes))
    log = Path("mutants.log")
    # Else each run would hide some of the machine's programs anew.
    with own_environment():
        status = _forked(24 * _AN_HOUR)
        if status is None:
            _run(log, tests, InTheSession(trials))
        if status != 0:
            sys.exit(log.read_text())
        for mutant in trials.due():
            if trials.fork(mutant):
                _run(log, trials.tests_of(mutant), Limit(trials.of_test))


def _run(log: Path, tests: Sequence[str], plugin: object) -> None:
    """Run pytest with its output in a file, and end the process."""
    with log.open("w") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os._exit(int(pytest.main([*_OPTIONS, *tests], plugins=[plugin])))


def _forked(seconds: float) -> int | None:
    """None in a fork. Otherwise the status with which it ended; -9 if it took longer."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        return None
    # Turns instead of the clock's time, which goes on while somebody stops both processes.
    for _ in range(int(seconds / _TURN_SECONDS)):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_TURN_SECONDS)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -signal.SIGKILL


def _functions(files: set[str]) -> Mapping[CodeType, Sequence[FunctionType]]:
    """The functions of files, by their code."""
    # The tests' collection is left out of the collection of garbage.
    gc.unfreeze()
    functions = defaultdict[CodeType, list[FunctionType]](list)
    for candidate in gc.get_objects():
        if isinstance(candidate, FunctionType) and candidate.__code__.co_filename in files:
            functions[candidate.__code__].append(candidate)
    gc.freeze()
    return functions


def _replaced(mutant: Mapping[str, Any]) -> list[tuple[CodeType, CodeType]] | None:
    """The code of each function that a mutant changes, before and after; None if it changes more than functions."""
    path = Path(mutant["path"]).resolve()
    # Mutants compare with `is`, of which Python warns.
    with warnings.catch_warnings(action="ignore"):
        before, after = (
            compile(source, path, "exec", dont_inherit=True) for source in (path.read_text(), mutant["source"])
        )
    return _differences(before, after)


def _differences(before: CodeType, after: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    if before == after:
        return []
    if before.co_flags & inspect.CO_OPTIMIZED:
        return [(before, after)]
    if _without_codes(before) != _without_codes(after):
        return None
    differences: list[tuple[CodeType, CodeType]] = []
    for pair in zip(_codes(before), _codes(after), strict=True):
        inner = _differences(*pair)
        if inner is None:
            return None
        differences += inner
    return differences


def _codes(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _without_codes(code: CodeType) -> CodeType:
    return code.replace(co_consts=tuple(None if isinstance(each, CodeType) else each for each in code.co_consts))


if __name__ == "__main__":
    main(*sys.argv[1:])
