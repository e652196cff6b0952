"""Two collector versions that answer an upgrade check's questions as a test wants; the real one compares them."""

import atexit
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import pytest

from headgate import checker
from headgate.checker import Checker, CheckerBusy
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from headgate_local.options import read_options
from tests.support.askers import ASKER

_DEFAULT: Final = settings().collector_version
# Read here: in tests of the API the environment is that of the functions, which have no collector.
_COLLECTORS: Final = read_options(os.environ).collectors
NOTHING_FOUND: Final[dict[str, Any]] = {
    "valid": True,
    "errors": [],
    "warnings": [],
    "components": [],
    "not_in_build": [],
    "incomplete": False,
}
"""An answer to `inspect`."""


class Collectors:
    """`answers` are by version and operation, `usual` by operation; an exception among them is raised. The real
    collector answers `upgrade`, unless there is an answer of the version "".

    `asked` has the version and the operation of every question, and `requests` what was given with it, if anything was.
    `before` is called with the version before each answer to `call`. No verdict is to be had.
    """

    def __init__(self, usual: Mapping[str, Any]) -> None:
        self.answers: dict[tuple[str, str], Any] = {}
        self.asked: list[tuple[str, str]] = []
        self.requests: list[Mapping[str, Any]] = []
        self.before: Callable[[str], None] = lambda _: None
        self._usual = usual

    def call(self, op: str, request: Mapping[str, Any], *, version: str = "", **_: object) -> Any:
        if op == "validate":
            raise CheckerBusy("An assignment asks it; that is not what is tested here")
        if op == "upgrade":
            return self._answer("", op) if ("", op) in self.answers else compared(op, request)
        self.requests.append(request)
        self.before(version)
        return self._answer(version, op)

    def describe(self, version: str, **_: object) -> Any:
        return self._answer(version, "describe")

    def _answer(self, version: str, op: str) -> Any:
        self.asked.append((version, op))
        key = (version, op)
        answer = self.answers[key] if key in self.answers else self._usual[op]
        if isinstance(answer, Exception):
            raise answer
        return answer


@cache
def _comparing() -> Checker:
    started = Checker(Installed(_COLLECTORS), _DEFAULT, Limits())
    atexit.register(started.close)
    return started


def compared(op: str, request: Mapping[str, Any], **_: object) -> Any:
    """What the real default collector answers to a comparison of answers that are made up."""
    return _comparing().call(op, request, asker=ASKER)


def scripted(monkeypatch: pytest.MonkeyPatch, default: str, usual: Mapping[str, Any]) -> Collectors:
    """Collectors in the place of this process's checker. `default` is the default version."""
    collectors = Collectors(usual)
    monkeypatch.setattr(checker.COLLECTORS, "call", collectors.call)
    monkeypatch.setattr(checker.COLLECTORS, "describe", collectors.describe)
    monkeypatch.setenv("HEADGATE_COLLECTOR_VERSION", default)
    settings.cache_clear()
    return collectors
