"""Starting and ending confined processes of the collector."""

import contextlib
import ctypes
import marshal
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

from headgate_engine.checker import launch, system_calls, verified_files
from headgate_engine.checker.limits import confined_by_platform, in_lambda
from headgate_engine.checker.root_directory import make_root_directory

_PR_SET_DUMPABLE = 4


@cache
def _launcher_thread() -> ThreadPoolExecutor:
    """The one thread that starts every child.

    Linux ends a child with its parent's *thread*. A child that a request's thread started would be killed when the
    server ends that thread, so one thread that lives as long as the interpreter starts them all.
    """
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="collector-launcher")


class InterpreterEnds(Exception):
    """This program is ending: a thread of it asks for a process that nobody would wait for."""


@dataclass(frozen=True, slots=True)
class Confined:
    """A process that leads its own process group, in a folder that is removed with it."""

    popen: subprocess.Popen[bytes]
    directory: str
    stderr: IO[bytes]
    report: IO[bytes]

    def held_by(self) -> str:
        """The names of the means that confine it; complete once the collector has written anything."""
        return (self.report.read() or b"").decode(errors="replace")

    @property
    def pid(self) -> int:
        return self.popen.pid

    def end(self) -> None:
        """Kill the whole process group, stopped processes too.

        A process that ended by itself gets no signal, for another process may have its number by now.
        """
        if self.popen.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.popen.pid, signal.SIGKILL)
            self.popen.wait()

    def clean_up(self) -> None:
        """Release what an ended process leaves behind."""
        self.stderr.close()
        self.report.close()
        shutil.rmtree(self.directory, ignore_errors=True)


MEANS = ("namespaces", "root", "landlock", "user")
"""Restrictions of a process besides its filter of system calls; `launch` applies those that the machine permits."""


def spawn(
    argv: list[str],
    *,
    env: dict[str, str],
    data_bytes: int,
    channel: int | None = None,
    files: dict[str, str],
    time_zones: bool = False,
    needs_files_held: bool = False,
    means: tuple[str, ...] = MEANS,
) -> Confined:
    """Start `argv`, a full path and its arguments, confined (see `launch`), with exactly the environment `env`.

    `argv` may also name a descriptor of this process (`launch.INHERITED`). `channel` is a descriptor that the process
    finds as number 3. `files` are written into its folder, which is its working directory, readable by nobody else.
    With `needs_files_held` it starts only if it can be confined to its own files, and with `time_zones` it finds the
    machine's in `TIME_ZONES`. Raises OSError if no process could be started, or none that is confined, or if the file
    behind the descriptor has changed, and InterpreterEnds.
    """
    plan = {
        "argv": argv,
        "env": env,
        "data_bytes": data_bytes,
        "channel": channel,
        "parent": os.getpid(),
        "needs_files_held": needs_files_held,
        "platform": confined_by_platform(),
        "means": means,
        "program": system_calls.PROGRAM,
        "filter": system_calls.assemble(os.uname().machine),
    }
    program = verified_files.descriptor_of(argv[0])
    try:
        started = _launcher_thread().submit(_spawn, plan, program, files, time_zones)
    except RuntimeError as error:
        raise InterpreterEnds from error
    return started.result()


def _spawn(plan: dict[str, object], program: int | None, files: dict[str, str], time_zones: bool) -> Confined:
    directory = tempfile.mkdtemp(prefix="headgate-collector-")  # mode 0700
    report, reported = os.pipe()
    try:
        root = Path(directory, "root")
        make_root_directory(root, files, time_zones=time_zones)
        plan |= {"root": str(root), "report": reported}
        if in_lambda():
            _be_unreadable()
        # A file, for nothing has to wait until the launcher reads it. Arguments and environment have length limits, and
        # the caller's variables are for the collector, not for the launcher.
        with tempfile.TemporaryFile() as stdin:
            marshal.dump(plan, stdin)
            stdin.seek(0)
            channel = plan["channel"]
            if program is not None:
                verified_files.require_unchanged(program)
            popen = subprocess.Popen(
                [sys.executable, "-I", "-S", launch.__file__],
                stdin=stdin,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=_to_find_its_library(),
                pass_fds=(reported, *(descriptor for descriptor in (channel, program) if isinstance(descriptor, int))),
                start_new_session=True,
            )
    except OSError:
        os.close(report)
        shutil.rmtree(directory, ignore_errors=True)
        raise
    finally:
        os.close(reported)
    assert popen.stderr is not None
    os.set_blocking(popen.stderr.fileno(), False)
    os.set_blocking(report, False)
    return Confined(popen, directory, popen.stderr, os.fdopen(report, "rb", buffering=0))


def _to_find_its_library() -> dict[str, str]:
    """The variable by which the launcher's interpreter finds its library in Lambda.

    The collector does not get it, only the plan's environment.
    """
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}


@cache
def _be_unreadable() -> None:
    """Close this process's memory and environment to others of the same user, if the platform permits it.

    In Lambda all processes have one user, and /proc shows them. Raises OSError if it is refused where the platform is
    not the wall.
    """
    refused = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0
    if refused and not confined_by_platform():
        raise OSError(ctypes.get_errno(), "This process cannot be closed to others of its user")
