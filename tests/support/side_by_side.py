"""Workers that are forked once the tests are collected: `python -m pytest -p tests.support.side_by_side --workers 5`.

Collecting takes 10 s of processor time, and 18 where nothing is compiled yet: here one process does it for all workers.
A worker takes one module after another, in their order, and keeps its own services and folders from one to the next.
"""

import atexit
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, TypeAlias

import pytest

from tests.support import forking

Modules: TypeAlias = Sequence[Sequence[pytest.Item]]

# Numbers of modules in the pipe from which workers take turns: a pipe holds 16,000 of them.
_BYTES: Final = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=0, help="fork this number of workers once the tests are collected")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    option = session.config.option
    if not option.workers or option.collectonly or session.testsfailed:
        return None
    by_path: dict[Path, list[pytest.Item]] = {}
    for item in session.items:
        by_path.setdefault(item.path, []).append(item)
    modules = list(by_path.values())
    turns, writing = os.pipe()
    os.write(writing, b"".join(number.to_bytes(_BYTES, "big") for number in range(len(modules))))
    os.close(writing)
    if any(item.get_closest_marker("end_to_end") for item in session.items):
        for program in forking.PROGRAMS:
            forking.parent(program)
    workers = [_start(session, modules, turns, f"w{number}") for number in range(option.workers)]
    try:
        _report(session.config, modules, workers)
    finally:
        for worker in workers:
            worker.end()
    for number in _taken(turns):
        _fail(session.config, modules[number], "no worker is left")
    return True


class _Worker:
    """A forked process as the one that prints sees it. `left` has the tests of its module that it has not ended."""

    def __init__(self, pid: int, messages: Connection) -> None:
        self.messages: Final = messages
        self.left: list[pytest.Item] = []
        self._pid: Final = pid

    def end(self) -> None:
        self.messages.close()
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGTERM)
            os.waitpid(self._pid, 0)

    def how_it_ended(self) -> str:
        code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return f"the worker ended by signal {-code}" if code < 0 else f"the worker ended with {code}"


def _start(session: pytest.Session, modules: Modules, turns: int, name: str) -> _Worker:
    # Pytest makes the folder of all temporary folders when a worker asks for it first.
    folder = _temporary(session.config).getbasetemp() / name
    messages, sending = Pipe(duplex=False)
    if pid := os.fork():
        sending.close()
        return _Worker(pid, messages)
    messages.close()
    status = 1
    try:
        # What is to be done when the process that collected ends.
        atexit._clear()
        _work(session, modules, turns, folder, sending)
        status = 0
    finally:
        atexit._run_exitfuncs()
        os._exit(status)


def _work(session: pytest.Session, modules: Modules, turns: int, folder: Path, sending: Connection) -> None:
    config = session.config
    _leave_what_was_forked(config, folder)
    config.pluginmanager.register(_Sender(config, sending))
    for number in _taken(turns):
        sending.send(number)
        items = modules[number]
        # The session comes after the last one: what is the module's ends, and what is the session's stays.
        for item, following in zip(items, [*items[1:], session], strict=True):
            config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            sending.send(None)
    session._setupstate.teardown_exact(None)


def _leave_what_was_forked(config: pytest.Config, folder: Path) -> None:
    """Print nothing, and have files of its own where output is captured and temporary folders are made."""
    config.pluginmanager.unregister(name="terminalreporter")
    capture: Any = vars(config.pluginmanager.get_plugin("capturemanager"))["_global_capturing"]
    for captured in (capture.out, capture.err):
        # The same streams, since log handlers hold them from the collection on, over a file of this worker.
        if captured is not None:
            with TemporaryFile(buffering=0) as own:
                os.dup2(own.fileno(), captured.tmpfile.fileno(), inheritable=False)
    factory = _temporary(config)
    factory._given_basetemp, factory._basetemp = folder, None


def _temporary(config: pytest.Config) -> Any:
    return vars(config)["_tmp_path_factory"]


def _taken(turns: int) -> Iterator[int]:
    while number := os.read(turns, _BYTES):
        yield int.from_bytes(number, "big")


class _Sender:
    """Sends the reports of tests to the process that prints them."""

    def __init__(self, config: pytest.Config, sending: Connection) -> None:
        self._config: Final = config
        self._sending: Final = sending

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._sending.send(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))


def _report(config: pytest.Config, modules: Modules, workers: Sequence[_Worker]) -> None:
    """Print what workers send until all have ended. The tests that one leaves behind have failed."""
    hook = config.hook
    sources: dict[Any, _Worker] = {worker.messages: worker for worker in workers}
    while sources:
        for source in wait(list(sources)):
            worker = sources[source]
            try:
                message = worker.messages.recv()
            except EOFError:
                del sources[source]
                _fail(config, worker.left, worker.how_it_ended())
                continue
            if message is None:
                item = worker.left.pop(0)
                hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
            elif isinstance(message, int):
                worker.left = list(modules[message])
            else:
                report = hook.pytest_report_from_serializable(config=config, data=message)
                hook.pytest_runtest_logreport(report=report)


def _fail(config: pytest.Config, items: Sequence[pytest.Item], why: str) -> None:
    for item in items:
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
        config.hook.pytest_runtest_logreport(report=report)
