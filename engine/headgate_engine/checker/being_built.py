"""Builds under way, as they report themselves beside the collectors: `<version>.building`.

Its JSON has `percent` and `seconds_left`, and `first_seconds_left` until the version's first program is there, which
lacks most components; or `failed` with the reason why there will be none (layers/collector/building/progress.py and
local/headgate_local/building.py write it). On AWS there is no such file.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headgate_engine.checker.errors import BeingBuilt, BuildFailed
from headgate_engine.errors import NotReady

# A build that was killed leaves its file behind; a living one writes it twice a second.
_STALE_SECONDS: Final = 60
_LONGEST_REASON: Final = 500
# How soon and how late a caller is asked to come again.
_SOONEST, _LATEST = 2, 15


@dataclass(frozen=True, slots=True)
class BuildUnderWay:
    """A build that is under way, or that `failed`. `first_seconds_left` is None if only the whole program is built."""

    version: str
    percent: int = 0
    seconds_left: int = 0
    first_seconds_left: int | None = None
    failed: str = ""

    def nothing_yet(self) -> NotReady:
        """The reason why this version cannot be asked."""
        if self.failed:
            return BuildFailed(f"The collector {self.version} could not be built: {self.failed}", None)
        done = f"The collector {self.version} is being built on this machine: {self.percent} % done"
        if self.first_seconds_left is None:
            return BeingBuilt(f"{done}, {_about(self.seconds_left)} left", _again(self.seconds_left))
        first, whole = _about(self.first_seconds_left), _about(self.seconds_left)
        return BeingBuilt(
            f"{done}, {first} left until the first verdicts, {whole} until it is whole", _again(self.first_seconds_left)
        )

    def lacks(self, message: str) -> NotReady:
        """The reason, for a `message`, why there is no answer about a component that the first program lacks."""
        lacking = message.removesuffix(", which the official release has").replace(
            "this build of", "the first build of"
        )
        if self.failed:
            return BuildFailed(f"{lacking}, and {self.whole_when}", None)
        return BeingBuilt(f"{lacking}; not checked yet: {self.whole_when}", _again(self.seconds_left))

    @property
    def whole_when(self) -> str:
        """A clause that says when the whole program is ready, or why it never is."""
        if self.failed:
            return f"the whole collector could not be built: {self.failed}"
        return f"the whole collector is ready in {_about(self.seconds_left)}"


def under_way(collectors: Path, version: str) -> BuildUnderWay | None:
    """The build of that version, if there is one that has not ended well."""
    file = collectors / f"{version}.building"
    try:
        age, state = time.time() - file.stat().st_mtime, json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    match state:
        case {"failed": str(reason)}:
            return BuildUnderWay(version, failed=reason[:_LONGEST_REASON])
        case {"percent": int(percent), "seconds_left": int(seconds)} if age < _STALE_SECONDS:
            first = state.get("first_seconds_left")
            return BuildUnderWay(version, percent, seconds, first if isinstance(first, int) else None)
    return None


def _about(seconds: int) -> str:
    return f"about {round(seconds / 60)} minutes" if seconds > 90 else "about a minute"


def _again(seconds: int) -> int:
    return min(max(seconds, _SOONEST), _LATEST)
