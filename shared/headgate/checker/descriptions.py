"""What the installed binaries say of themselves, each asked once: the answer of a binary never changes."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headgate.checker.check_process import Child
from headgate.checker.errors import NoChecker, ProcessFailed, Refused, Unusable
from headgate.checker.installed import Identity, identity
from headgate.checker.limits import Limits

# A binary that hangs at its start would otherwise delay everyone who asks what is installed.
_UNUSABLE_SECONDS: Final = 30.0
_LONG_PARTS: Final = ("components", "feature_gates")


@dataclass(frozen=True, slots=True)
class Described:
    """An installed version, with the short part of its description.

    `description` is None for an official release, which has no `check` command, and for a binary that cannot be used:
    then `unusable` says why.
    """

    version: str
    description: Mapping[str, object] | None
    unusable: str = ""


@dataclass(frozen=True, slots=True)
class _Unusable:
    reason: str
    until: float


def short(description: Mapping[str, object]) -> dict[str, object]:
    """The description without the lists of all components and feature gates."""
    return {name: value for name, value in description.items() if name not in _LONG_PARTS}


class Descriptions:
    """Thread-safe. Each binary is asked by a process of its own, which reads nobody's text and ends with its answer."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[Identity, dict[str, object] | NoChecker | _Unusable] = {}
        self._asking: dict[Identity, threading.Lock] = {}
        self._lock = threading.Lock()

    def of(self, path: Path) -> dict[str, object]:
        """The answer of the operation `describe`.

        Raises NoChecker for an official release, and Unusable for a binary that cannot be asked.
        """
        binary = identity(path)
        with self._lock:
            asking = self._asking.setdefault(binary, threading.Lock())
        with asking:
            known = self._known.get(binary)
            if known is None or (isinstance(known, _Unusable) and time.monotonic() >= known.until):
                known = self._known[binary] = self._ask(path)
        match known:
            case NoChecker():
                raise NoChecker(known.detail)
            case _Unusable():
                raise Unusable(known.reason)
        return known

    def _ask(self, path: Path) -> dict[str, object] | NoChecker | _Unusable:
        try:
            child = Child.start(path, self._limits)
            try:
                return child.ask("describe", {}, self._limits.request_seconds)
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
