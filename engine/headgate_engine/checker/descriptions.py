"""Descriptions of the installed binaries, each asked once: the answer of a binary never changes."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from headgate_engine.checker.check_process import Child
from headgate_engine.checker.errors import NoChecker, ProcessFailed, Refused, Unusable
from headgate_engine.checker.installed import BinaryIdentity, identity
from headgate_engine.checker.limits import Limits

# A binary that hangs at its start would otherwise delay everyone who asks what is installed.
_UNUSABLE_SECONDS: Final = 30.0
_LONG_PARTS: Final = ("components", "feature_gates")


@dataclass(frozen=True, slots=True)
class Described:
    """An installed version, with the short part of its description.

    `description` is None for an official release, which has no `check` command, and for a binary that cannot be used:
    then `unusable` says why. `whole_in_seconds` is an estimate for a version whose first program describes itself here,
    while the whole one is being built.
    """

    version: str
    description: Mapping[str, object] | None
    unusable: str = ""
    whole_in_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class _Unusable:
    reason: str
    until: float


_Answer: TypeAlias = dict[str, object] | NoChecker | _Unusable


def short(description: Mapping[str, object]) -> dict[str, object]:
    """The description without the lists of all components and feature gates."""
    return {name: value for name, value in description.items() if name not in _LONG_PARTS}


class Descriptions:
    """Thread-safe. Each binary is asked by a process of its own, which reads nobody's text and ends with its answer."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        # By path, so that the answer of a binary is forgotten with the binary.
        self._known: dict[Path, tuple[BinaryIdentity, _Answer]] = {}
        self._asking: dict[Path, threading.Lock] = {}
        self._lock = threading.Lock()

    def of_binary(self, path: Path) -> dict[str, object]:
        """The answer of the operation `describe`.

        Raises NoChecker for an official release, and Unusable for a binary that cannot be asked.
        """
        binary = identity(path)
        with self._lock:
            asking = self._asking.setdefault(path, threading.Lock())
        with asking:
            described, answer = self._known.get(path, (None, None))
            if (
                answer is None
                or described != binary
                or (isinstance(answer, _Unusable) and time.monotonic() >= answer.until)
            ):
                answer = self._ask(path)
                self._known[path] = binary, answer
        match answer:
            case NoChecker():
                raise NoChecker(answer.detail)
            case _Unusable():
                raise Unusable(answer.reason)
        return answer

    def _ask(self, path: Path) -> _Answer:
        try:
            child = Child.start(path, self._limits)
            try:
                answer = child.ask("describe", {}, self._limits.request_seconds)
                return answer | {"confined_by": child.held_by.split(", ")}
            finally:
                child.kill()
        except NoChecker as release:
            return release
        except ProcessFailed as error:
            reason = f"The collector's checker {error}"
        except Refused as refused:
            # A build of an earlier Headgate.
            reason = f"The collector does not describe itself ({refused.code}); build it again"
        return _Unusable(reason, time.monotonic() + _UNUSABLE_SECONDS)
