"""The command line without the start of an interpreter, which is most of what a short command costs.

One process for each worker of the tests imports every command, and forks for each command that it is asked for. What is
forked is a process like any other, with its own folder, variables and descriptors, and ends as an interpreter ends.
tests/end_to_end/test_cli_examples.py starts every command as people do.
"""

import atexit
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
_LONGEST_REQUEST: Final = 1 << 20
_LONGEST_NUMBER: Final = 32


def run(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], given: bytes = b"", seconds: float = 60
) -> subprocess.CompletedProcess[bytes]:
    """Run `headgate` with these arguments, in pipes, and with `given` as its standard input."""
    asked = json.dumps({"arguments": list(arguments), "folder": str(folder), "environment": dict(environment)})
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as channel, ExitStack() as ends:
        channel.settimeout(seconds)
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST_REQUEST)
        channel.connect(_parent())
        stdin = ends.enter_context(tempfile.TemporaryFile())
        stdin.write(given)
        stdin.seek(0)
        readers, writers = zip(os.pipe(), os.pipe(), strict=True)
        socket.send_fds(channel, [asked.encode()], [stdin.fileno(), *writers])
        for writer in writers:
            os.close(writer)
        command = int(channel.recv(_LONGEST_NUMBER))
        pool = ends.enter_context(ThreadPoolExecutor(len(readers)))
        try:
            out, err = pool.map(_read, readers, timeout=seconds)
            status = int(channel.recv(_LONGEST_NUMBER))
        except TimeoutError:
            os.kill(command, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(list(arguments), status, out, err)


def _read(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


@cache
def _parent() -> str:
    """The address of the process that forks; it ends with this one."""
    address = f"\0headgate-cli-{os.getpid()}-{os.urandom(8).hex()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen(64)
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), str(listener.fileno())],
            env={"PYTHONPATH": str(ROOT / "cli"), "LANG": "C.UTF-8", "PATH": os.environ["PATH"]},
            # It ends when the other end is closed, also by this process's death.
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
        )
    atexit.register(process.communicate)
    return address


def _serve(listener: socket.socket) -> list[str]:
    """Fork for each request. Returns in the process of a command only, with its arguments."""
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
            return _command(channel)
        channel.close()


def _command(channel: socket.socket) -> list[str]:
    """Fork once more, and wait for it: the process that returns is the command's."""
    request, descriptors, _, _ = socket.recv_fds(channel, _LONGEST_REQUEST, 3)
    if not request:
        os._exit(0)
    asked: dict[str, Any] = json.loads(request)
    command = os.fork()
    if command:
        channel.send(str(command).encode())
        _, status = os.waitpid(command, 0)
        with suppress(OSError):  # who asked may have ended
            channel.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    channel.close()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    os.chdir(asked["folder"])
    return [str(one) for one in asked["arguments"]]


def _main() -> None:
    from headgate_cli import main

    for path, _ in main._COMMANDS.values():
        importlib.import_module(path.partition(":")[0])
    sys.argv = ["headgate", *_serve(socket.socket(fileno=int(sys.argv[1])))]
    # As `python -m` would find it: not imported yet.
    del sys.modules["headgate_cli.main"]
    runpy.run_module("headgate_cli.main", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
