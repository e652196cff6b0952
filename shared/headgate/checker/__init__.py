"""Asking the real collector: supervised `otelcol-contrib check` processes, and the plain command behind them.

On AWS they are in a function of their own, which this asks.

    answer = checker.call("lint", {"yaml": text}, asker=Asker.of(caller))

The processes of a version start at its first question, or at `warm()`.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from headgate.checker.asker import Asker
from headgate.checker.descriptions import Described
from headgate.checker.errors import (
    CheckerBusy,
    CheckerFailed,
    CheckerNotStarted,
    CheckerUnreachable,
    CollectorNotFetched,
    NoChecker,
    NotInstalled,
    Refused,
    Unusable,
)
from headgate.checker.installed import Installed
from headgate.checker.limits import default_limits
from headgate.checker.plain_command import PlainVerdict
from headgate.checker.supervisor import Checker
from headgate.settings import settings

if TYPE_CHECKING:
    # The type's module imports boto3, which the function with the collectors does without.
    from headgate.checker.function import CheckerFunction

__all__ = [
    "Asker",
    "Checker",
    "CheckerBusy",
    "CheckerFailed",
    "CheckerNotStarted",
    "CheckerUnreachable",
    "CollectorNotFetched",
    "Described",
    "NoChecker",
    "NotInstalled",
    "PlainVerdict",
    "Refused",
    "Unusable",
    "call",
    "close",
    "describe",
    "described",
    "installed",
    "of_this_process",
    "validate_plainly",
    "warm",
]


_lock = threading.Lock()


def of_this_process() -> Checker:
    """The one checker of this process, made at its first use."""
    with _lock:
        return _checker()


@cache
def _checker() -> Checker:
    checker = Checker(Installed(Path(settings().collectors_dir)), settings().collector_version, default_limits())
    atexit.register(checker.close)
    return checker


def call(
    op: str, request: Mapping[str, object], *, asker: Asker, version: str | None = None, timeout: float | None = None
) -> dict[str, object]:
    """The result of one operation; see `Checker.call` for what it raises."""
    return _asked().call(op, request, asker=asker, version=version, timeout=timeout)


def validate_plainly(yaml: str, env: dict[str, str], *, asker: Asker, version: str | None = None) -> PlainVerdict:
    """The verdict of that version's own `validate` command; see `Checker.validate_plainly` for what it raises."""
    return _asked().validate_plainly(yaml, env, asker=asker, version=version)


def installed(*, asker: Asker) -> tuple[str, ...]:
    """The installed versions, oldest first. Raises Unavailable."""
    return _asked().installed(asker=asker)


def describe(version: str, *, asker: Asker) -> dict[str, object]:
    """What that version's binary says of itself; see `Checker.describe` for what it raises."""
    return _asked().describe(version, asker=asker)


def described(*, asker: Asker) -> tuple[Described, ...]:
    """The installed versions with what their binaries say of themselves, oldest first. Raises Unavailable."""
    return _asked().described(asker=asker)


def _asked() -> Checker | CheckerFunction:
    """On AWS the function that has the collectors; elsewhere, and in that function, the processes of this machine."""
    name = settings().checker_function
    return _function(name) if name else of_this_process()


@cache
def _function(name: str) -> CheckerFunction:
    from headgate.checker.function import CheckerFunction

    return CheckerFunction(name)


def warm() -> None:
    """Start the checker of this process in the background, so that the first question finds it ready."""
    of_this_process().warm()


def close() -> None:
    """End the processes of this process's checker. The next use makes a new one, with the settings at that time."""
    with _lock:
        _checker().close()
        _checker.cache_clear()
