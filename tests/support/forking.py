"""Programs of ours without the start of an interpreter and its imports, which is most of what a short run costs.

One process for each program and worker of the tests imports what the program needs, and forks for each run that it is
asked for. What is forked is a process like any other, with its own folder, variables and descriptors, and ends as an
interpreter ends, save that it leaves its memory to the kernel.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parents[2]
_LONGEST_REQUEST: Final = 1 << 20
_LONGEST_NUMBER: Final = 32


class Forked:
    """A run of a program. `pid` is its process, which another one waits for and tells the end of."""

    def __init__(self, pid: int, channel: socket.socket) -> None:
        self.pid: Final = pid
        self._channel: Final = channel

    def wait(self) -> int:
        """The exit status, negative for a signal. Raises TimeoutError if it takes longer than `forked` was given."""
        return int(self._channel.recv(_LONGEST_NUMBER))

    def kill(self, sent: signal.Signals = signal.SIGKILL) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, sent)


@contextmanager
def forked(
    program: str,
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    descriptors: tuple[int, int, int],
    seconds: float | None = None,
) -> Iterator[Forked]:
    """Run a program of `_PROGRAMS` with these arguments, its standard streams being `descriptors`."""
    asked = json.dumps({"arguments": list(arguments), "folder": str(folder), "environment": dict(environment)})
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as channel:
        channel.settimeout(seconds)
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST_REQUEST)
        channel.connect(parent(program))
        socket.send_fds(channel, [asked.encode()], list(descriptors))
        yield Forked(int(channel.recv(_LONGEST_NUMBER)), channel)


@cache
def parent(program: str) -> str:
    """The address of the process that forks; it ends with this one."""
    address = f"\0headgate-{program}-{os.getpid()}-{os.urandom(8).hex()}"
    paths, _, _ = _PROGRAMS[program]
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen(64)
        process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__)), program, str(listener.fileno())],
            env={
                "PYTHONPATH": os.pathsep.join(str(ROOT / path) for path in paths),
                "LANG": "C.UTF-8",
                "PATH": os.environ["PATH"],
            },
            # It ends when the other end is closed, also by this process's death.
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
        )
    atexit.register(process.communicate)
    return address


def _import_commands() -> None:
    from headgate_cli import main

    for path, _ in main._COMMANDS.values():
        importlib.import_module(path.partition(":")[0])
    # What the first client would import.
    for name in ("httpx", "httpcore", "encodings.idna"):
        importlib.import_module(name)
    # As `python -m` would find it: not imported yet.
    del sys.modules["headgate_cli.main"]


def _import_service() -> None:
    from headgate.flows import publish
    from headgate_local import gallery, light_imports, service, stepfunctions, template
    from headgate_local.dispatch import application_of

    importlib.import_module("tests.support.calls")
    light_imports.leave_out_batch()
    described = template.read()
    vars(service)["read"] = lambda: described
    for route in described.routes():
        application_of(route)
    _load_service_models()
    from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser

    # The parser makes its tables as it meets the words.
    for _, properties in described.of_type("AWS::Serverless::StateMachine"):
        AmazonStateLanguageParser.parse(stepfunctions.definition(described, properties))
    publish.build = cache(publish.build)
    publish.build(gallery.FLOWS)


def _load_service_models() -> None:
    """Load what clients and moto read of AWS's services."""
    from botocore import loaders
    from moto.core.utils import get_service_model

    loader = loaders.create_loader()
    for name in ("endpoints", "partitions", "sdk-default-configuration", "_retry"):
        loader.load_data_with_path(name)
    for name in _SERVICES:
        for kind in ("service-2", "endpoint-rule-set-1"):
            loader.load_service_model(name, kind)
        get_service_model(name)
    # Sessions have a loader each.
    loaders.create_loader = lambda search_path_string=None: loader


_PROGRAMS: Final[Mapping[str, tuple[Sequence[str], Callable[[], None], str]]] = {
    "headgate": (("cli", "engine"), _import_commands, "headgate_cli.main"),
    "headgate_local": (("shared", "engine", "functions", "local", "."), _import_service, "headgate_local"),
}
"""The folders that it is imported from, what imports what it needs, and the module that runs it."""


_SERVICES: Final = ("cognito-idp", "dynamodb", "ecs", "events", "iam", "kms", "lambda", "s3", "sqs", "stepfunctions")


def _serve(listener: socket.socket) -> list[str]:
    """Fork for each request. Returns in the process of a run only, with its arguments."""
    while True:
        ready, _, _ = select.select([listener, sys.stdin.fileno()], [], [])
        if listener not in ready:
            os._exit(0)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        channel, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            return _run(channel)
        channel.close()


def _run(channel: socket.socket) -> list[str]:
    """Fork once more, and wait for it: the process that returns is the run's."""
    request, descriptors, _, _ = socket.recv_fds(channel, _LONGEST_REQUEST, 3)
    if not request:
        os._exit(0)
    asked: dict[str, Any] = json.loads(request)
    run = os.fork()
    if run:
        for descriptor in descriptors:
            os.close(descriptor)
        channel.send(str(run).encode())
        _, status = os.waitpid(run, 0)
        with suppress(OSError):  # who asked may have ended
            channel.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    channel.close()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(asked["environment"])
    if recorder := sys.modules.get("tests.support.calls"):
        recorder.record()
    time.tzset()
    os.chdir(asked["folder"])
    return [str(one) for one in asked["arguments"]]


class _End:
    """The end of a run's process once its handlers have run: to free what was imported takes longer than most runs."""

    def __init__(self) -> None:
        self._status: int | None = None
        # The first handler runs last.
        atexit.register(self._leave)

    @contextmanager
    def after(self) -> Iterator[None]:
        """End so after the block. The interpreter itself ends what was interrupted, or cannot write."""
        try:
            yield
            self._status = 0
        except SystemExit as ended:
            code = 0 if ended.code is None else ended.code
            self._status = code & 0xFF if isinstance(code, int) else 1
            raise
        # Any error: as for a started command, the interpreter prints it and the status is 1.
        except Exception:
            self._status = 1
            raise

    def _leave(self) -> None:
        if self._status is not None:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(self._status)


def _main(program: str, listener: int) -> None:
    end = _End()
    _, imports, module = _PROGRAMS[program]
    imports()
    # What is imported stays, so no run need look at it, nor get a copy of it by doing so; few runs leave much garbage.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    sys.argv = [program, *_serve(socket.socket(fileno=listener))]
    with end.after():
        runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
