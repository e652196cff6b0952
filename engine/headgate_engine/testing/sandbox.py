"""Cases run on this machine, in the program's own sandbox: a process that gets nothing of the caller's beside them."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from headgate_engine.checker.asker import Asker
from headgate_engine.errors import Unavailable
from headgate_engine.rules.engine import Prepared, SandboxFailed
from headgate_engine.testing.cases import Judge, Preparing, task_of
from headgate_engine.testing.model import Case, CaseResult
from headgate_engine.testing.outcome import Left

# As the service has it: for all cases of a job.
BUDGET_SECONDS: Final = 150
_MOST_RESULTS: Final = 64 << 20
_MOST_WORDS: Final = 2_000
_SECONDS_TO_STOP: Final = 15
# How the program's reason begins if the machine has no means to confine.
_NO_SANDBOX: Final = "this machine offers no way to confine a collector"


class NoSandbox(Unavailable):
    """The collector cannot be confined here, so nothing was run."""

    code = "no_sandbox"
    may_pass = False


def results(cases: Sequence[Case], binary: Callable[[str], Path], *, asker: Asker) -> list[CaseResult]:
    """Run each case on the program of its version; results in their order. Raises Unworkable, Unavailable."""
    preparing, judge = Preparing(asker), Judge(asker)
    ready = [preparing.prepare(case) for case in cases]
    left = run([(case, prepared) for case, (_, prepared) in zip(cases, ready, strict=True) if prepared], binary)
    return [judge.result(case, prepared, left.get(case.id)) for case, (prepared, _) in zip(cases, ready, strict=True)]


def run(prepared: Sequence[tuple[Case, Prepared]], binary: Callable[[str], Path]) -> dict[str, Left]:
    """Run the cases; the files of each, by its id. Ctrl-C ends the collectors. Raises NoSandbox, SandboxFailed."""
    if not prepared:
        return {}
    programs = {case.collector_version: binary(case.collector_version) for case, _ in prepared}
    task = task_of(prepared) | {
        "collectors": {version: str(path) for version, path in programs.items()},
        "budget_seconds": BUDGET_SECONDS,
    }
    program = next(iter(programs.values()))
    with tempfile.TemporaryFile() as words:
        try:
            process = subprocess.Popen(
                [str(program), "sandbox", "--local"],
                env={},
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=words,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxFailed(f"The collector's sandbox cannot be started: {error.strerror}") from error
        try:
            written = _exchange(process, json.dumps(task).encode() + b"\n")
        finally:
            _end(process)
        words.seek(0)
        stderr = words.read()[-_MOST_WORDS:].decode(errors="replace").strip()
    if process.returncode != 0 or len(written) > _MOST_RESULTS:
        last = stderr.splitlines()[-1:] or [f"it ended with status {process.returncode}"]
        raise SandboxFailed(f"The collector's sandbox failed: {last[0]}")
    left = _read(written)
    if set(left) != {case.id for case, _ in prepared}:
        raise SandboxFailed("The collector's sandbox did not answer for each case")
    return left


def _exchange(process: subprocess.Popen[bytes], task: bytes) -> bytes:
    """Its standard input stays open until it has answered: its end would end the collectors."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):
        process.stdin.write(task)
        process.stdin.flush()
    return process.stdout.read(_MOST_RESULTS + 1)


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()
    try:
        process.wait(timeout=_SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _read(written: bytes) -> dict[str, Left]:
    results: dict[str, Left] = {}
    for line in written.splitlines():
        try:
            left = Left.model_validate_json(line)
        except ValidationError as error:
            raise SandboxFailed("The collector's sandbox sent something else than a result") from error
        if not left.outcome.executed and left.outcome.reason.startswith(_NO_SANDBOX):
            raise NoSandbox(left.outcome.reason)
        results[left.id] = left
    return results
