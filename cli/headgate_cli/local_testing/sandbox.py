"""The program's own sandbox, as a process that gets nothing of the caller's but the cases."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from headgate_cli.api import Entity
from headgate_cli.errors import Failed
from headgate_cli.local_collector import OLDER, CollectorFailed, NoCollector
from headgate_cli.untrusted import quoted

# As the service has it: for all cases of a job.
BUDGET_SECONDS: Final = 150
_MOST_RESULTS: Final = 64 << 20
_MOST_WORDS: Final = 2_000
_SECONDS_TO_STOP: Final = 15
# How the program's reason begins if the machine has no means to confine.
_NO_SANDBOX: Final = "this machine offers no way to confine a collector"


_UNKNOWN_FLAG: Final = "unknown flag: --local"


class NoSandbox(Failed):
    """The collector cannot be confined here, so nothing was run."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{quoted(reason)}; run the test with a server, without --local")


def run(
    program: Path, collectors: Mapping[str, Path], cases: Sequence[Mapping[str, object]], inputs: Mapping[str, str]
) -> dict[str, Entity]:
    """What came of each case, by its id: `outcome`, `output`, `stderr`. Ctrl-C ends the collectors.

    Raises NoSandbox, CollectorFailed, and NoCollector if the program does not start.
    """
    task = {
        "cases": cases,
        "inputs": inputs,
        "collectors": {version: str(path) for version, path in collectors.items()},
        "budget_seconds": BUDGET_SECONDS,
    }
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
            raise NoCollector(f"cannot start {quoted(str(program))}: {error.strerror}") from error
        try:
            written = _exchange(process, json.dumps(task).encode() + b"\n")
        finally:
            _end(process)
        words.seek(0)
        told = words.read()[-_MOST_WORDS:].decode(errors="replace").strip()
    if process.returncode != 0 or len(written) > _MOST_RESULTS:
        if _UNKNOWN_FLAG in told:
            raise CollectorFailed(OLDER)
        last = told.splitlines()[-1:] or [f"it ended with status {process.returncode}"]
        raise CollectorFailed(f"the collector's sandbox failed: {quoted(last[0])}")
    results = _read(written)
    if set(results) != {str(case["id"]) for case in cases}:
        raise CollectorFailed("the collector's sandbox did not answer for each case")
    return results


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


def _read(written: bytes) -> dict[str, Entity]:
    results: dict[str, Entity] = {}
    for line in written.splitlines():
        try:
            result = json.loads(line)
            outcome = result["outcome"]
            reason = str(outcome["reason"])
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            raise CollectorFailed("the collector's sandbox sent something else than a result") from error
        if not outcome.get("executed") and reason.startswith(_NO_SANDBOX):
            raise NoSandbox(reason)
        results[str(result["id"])] = result
    return results
