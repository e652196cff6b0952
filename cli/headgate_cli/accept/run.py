"""Runs the checks one after another, and takes away what they made, whatever happens."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from headgate_cli.accept import remains
from headgate_cli.accept.bench import Bench
from headgate_cli.accept.errors import Broken, CheckSkipped
from headgate_cli.accept.model import PromiseCheck, PromiseOutcome, Status
from headgate_cli.accept.remains import Admin
from headgate_cli.api import Api
from headgate_cli.errors import Failed
from headgate_cli.untrusted import printable

# What a check comes to with an answer of a shape that no release sends, or if this machine refuses it something.
_UNFORESEEN: Final = (
    *(ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError),
    subprocess.SubprocessError,
)


@dataclass
class Result:
    """The end of a run. `left` are sentences about what could not be removed."""

    bench: Bench
    outcomes: list[PromiseOutcome] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    def count(self, status: Status) -> int:
        return sum(outcome.status == status for outcome in self.outcomes)

    @property
    def passed(self) -> bool:
        """True if no check failed, at least one passed, and none was interrupted; `left` does not count."""
        return not self.count("failed") and bool(self.count("passed")) and not self.interrupted


def run(
    bench: Bench,
    api: Api,
    checks: Sequence[PromiseCheck],
    show: Callable[[PromiseOutcome], None],
    admin: Admin | None = None,
) -> Result:
    """Run the checks, and clean up with `api`, and `admin` if there is one. After Ctrl-C the rest is not checked."""
    result, started = Result(bench), time.monotonic()
    try:
        for check in checks:
            begun = time.monotonic()
            status, message = _ended(bench, check)
            result.outcomes.append(PromiseOutcome(check, status, time.monotonic() - begun, message))
            show(result.outcomes[-1])
    except KeyboardInterrupt:
        result.interrupted = True
        seen = {outcome.check.id for outcome in result.outcomes}
        result.outcomes += [
            PromiseOutcome(check, "not checked", 0, "the run was interrupted")
            for check in checks
            if check.id not in seen
        ]
    try:
        result.left = remains.remove(api, re.compile(re.escape(bench.name(""))), bench.record.made, admin)
    except KeyboardInterrupt:
        result.left = [remains.INTERRUPTED]
        result.interrupted = True
    result.left = [_told(bench, sentence) for sentence in result.left]
    # A later answer may have shown that an earlier message holds a secret.
    result.outcomes = [replace(outcome, message=bench.redacted(outcome.message)) for outcome in result.outcomes]
    result.seconds = time.monotonic() - started
    return result


def _ended(bench: Bench, check: PromiseCheck) -> tuple[Status, str]:
    if bench.left() <= 0:
        return "not checked", "the time of the run was over"
    try:
        noted = check.act(bench)
    except CheckSkipped as reason:
        return "not checked", _told(bench, str(reason))
    except (Broken, Failed) as reason:
        return "failed", _told(bench, str(reason))
    except _UNFORESEEN as reason:
        return "failed", _told(bench, f"the check could not go on ({type(reason).__name__}): {reason}")
    return "passed", _told(bench, noted or "")


def _told(bench: Bench, message: str) -> str:
    """The message without what a server repeats of secrets."""
    return printable(bench.redacted(message))
