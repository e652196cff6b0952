"""Asking the real collector: supervised `otelcol-contrib check` processes, and the plain command behind them.

On AWS they are in a function of their own, which this asks.

    answer = Asker.of(caller).ask("lint", {"yaml": text})

The processes of a version start at its first question, or at `warm()`.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, Self

from headgate.checker.fetched import Fetched, Source
from headgate.foundation import metrics
from headgate.foundation.settings import settings
from headgate_engine.checker import asker as engine
from headgate_engine.checker.being_built import BuildUnderWay
from headgate_engine.checker.descriptions import Described as Described
from headgate_engine.checker.errors import CheckerBusy as CheckerBusy
from headgate_engine.checker.errors import CheckerFailed as CheckerFailed
from headgate_engine.checker.errors import CheckerNotStarted as CheckerNotStarted
from headgate_engine.checker.errors import CheckerUnreachable as CheckerUnreachable
from headgate_engine.checker.errors import CollectorNotFetched as CollectorNotFetched
from headgate_engine.checker.errors import NoChecker as NoChecker
from headgate_engine.checker.errors import NotInstalled as NotInstalled
from headgate_engine.checker.errors import Refused as Refused
from headgate_engine.checker.errors import Unusable as Unusable
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import default_limits
from headgate_engine.checker.plain_command import PlainVerdict as PlainVerdict
from headgate_engine.checker.supervisor import Checker as Checker

if TYPE_CHECKING:
    # The type's module imports boto3, which the function with the collectors does without.
    from headgate.checker.function import CheckerFunction


class _Authenticated(Protocol):
    """The part of a caller that is needed here."""

    @property
    def organization_id(self) -> str: ...

    @property
    def credential_id(self) -> str: ...


class _Asked:
    """The collectors of this deployment, as its settings are at each question; see `engine.Collectors`."""

    @property
    def default_version(self) -> str:
        return settings().collector_version

    def call(
        self,
        op: str,
        fields: Mapping[str, object],
        *,
        asker: engine.Asker,
        version: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, object]:
        return _asked().call(op, fields, asker=asker, version=version, timeout=timeout)

    def validate_plainly(
        self,
        yaml: str,
        env: dict[str, str],
        *,
        asker: engine.Asker,
        version: str | None = None,
        timeout: float | None = None,
    ) -> PlainVerdict:
        return _asked().validate_plainly(yaml, env, asker=asker, version=version, timeout=timeout)

    def installed(self, *, asker: engine.Asker) -> tuple[str, ...]:
        return _asked().installed(asker=asker)

    def describe(self, version: str, *, asker: engine.Asker) -> dict[str, object]:
        return _asked().describe(version, asker=asker)

    def described(self, *, asker: engine.Asker) -> tuple[Described, ...]:
        return _asked().described(asker=asker)

    def fell_back(self) -> None:
        metrics.count("CheckerFallbacks")


COLLECTORS: Final = _Asked()


@dataclass(frozen=True, slots=True)
class Asker(engine.Asker):
    """Returns the checker of this deployment's collectors."""

    collectors: engine.Collectors = field(default=COLLECTORS, repr=False, compare=False)

    @classmethod
    def of(cls, caller: _Authenticated) -> Self:
        return cls(caller.organization_id, caller.credential_id)


_lock = threading.Lock()


def of_this_process() -> Checker:
    """The one checker of this process, made at its first use."""
    with _lock:
        return _checker()


@cache
def _checker() -> Checker:
    installed = Installed(Path(settings().collectors_dir), fetched=Fetched())
    checker = Checker(installed, settings().collector_version, default_limits())
    atexit.register(checker.close)
    return checker


def build_of(version: str) -> str:
    """Tells the program that answers for this version now from any other that did; on AWS they are not told apart."""
    return "" if settings().checker_function else of_this_process().collectors.build_of(version)


def is_whole(version: str) -> bool:
    """True if the whole program answers for this version; on AWS always. A local service may be building it."""
    return bool(settings().checker_function) or of_this_process().collectors.is_whole(version)


def whole_build(version: str) -> BuildUnderWay | None:
    """The build of a version whose first program answers for it until then; None on AWS."""
    return None if settings().checker_function else of_this_process().collectors.whole_build(version)


def _asked() -> Checker | CheckerFunction:
    """On AWS the function that has the collectors; elsewhere, and in that function, the processes of this machine."""
    name = settings().checker_function
    return _function(name) if name else of_this_process()


@cache
def _function(name: str) -> CheckerFunction:
    from headgate.checker.function import CheckerFunction

    return CheckerFunction(name)


def using(source: Source) -> AbstractContextManager[None]:
    """Have that version until the end of the block, fetched if it is not here. Raises CollectorNotFetched."""
    installed = of_this_process().collectors
    if installed.is_here(source.version):
        return nullcontext()
    assert isinstance(installed.fetched, Fetched)
    return installed.fetched.using(source)


def warm() -> None:
    """Start the checker of this process in the background, so that the first question finds it ready."""
    of_this_process().warm()


def close() -> None:
    """End the processes of this process's checker. The next use makes a new one, with the settings at that time."""
    with _lock:
        _checker().close()
        _checker.cache_clear()
