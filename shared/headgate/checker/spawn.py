"""Starting and ending confined processes of the collector."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from headgate.checker import launch


@cache
def _launcher_thread() -> ThreadPoolExecutor:
    """The one thread that starts every child.

    "Die with the parent" means, to Linux, with the parent's *thread*. A child started by a request's thread would be
    killed when the server lets that thread go, so all are started by one that lives as long as the interpreter.
    """
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="collector-launcher")


@dataclass(frozen=True, slots=True)
class Confined:
    """A process that leads a group of its own, in an empty folder that goes when it goes."""

    popen: subprocess.Popen[bytes]
    directory: str
    stderr: IO[bytes]

    @property
    def pid(self) -> int:
        return self.popen.pid

    def end(self) -> None:
        """Kill the whole group at once and for certain, stopped processes too.

        A process that ended by itself keeps its status, and its number, which may be another's by now, gets no signal.
        """
        if self.popen.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.popen.pid, signal.SIGKILL)
            self.popen.wait()

    def clean_up(self) -> None:
        """Let go of what an ended process leaves behind."""
        self.stderr.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def spawn(
    argv: list[str], *, env: dict[str, str], data_bytes: int, channel: int | None = None, files: dict[str, str]
) -> Confined:
    """Start `argv`, a full path and its arguments, confined (see `launch`), with exactly the environment `env`.

    `channel` is a descriptor that the process finds as number 3. `files` are written into its folder, which is its
    working directory, readable by nobody else. Raises OSError when no process could be made.
    """
    return _launcher_thread().submit(_spawn, argv, env, data_bytes, channel, files).result()


def _spawn(
    argv: list[str], env: dict[str, str], data_bytes: int, channel: int | None, files: dict[str, str]
) -> Confined:
    directory = tempfile.mkdtemp(prefix="headgate-collector-")  # mode 0700
    try:
        for name, text in files.items():
            Path(directory, name).write_bytes(text.encode())
        plan = {
            "argv": argv,
            "env": env,
            "data_bytes": data_bytes,
            "channel": channel,
            "directory": directory,
            "parent": os.getpid(),
        }
        # A file, not a pipe: nobody has to wait until the launcher reads it. Not its arguments or environment either:
        # those have length limits, and a caller's variables are for the collector, not for the launcher.
        with tempfile.TemporaryFile() as stdin:
            stdin.write(json.dumps(plan).encode())
            stdin.seek(0)
            popen = subprocess.Popen(
                [sys.executable, "-I", "-S", launch.__file__],
                stdin=stdin,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={},
                pass_fds=() if channel is None else (channel,),
                start_new_session=True,
            )
    except OSError:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    assert popen.stderr is not None
    os.set_blocking(popen.stderr.fileno(), False)
    return Confined(popen, directory, popen.stderr)
