"""What a build that is under way writes beside the collectors: `<version>.building`.

Its JSON has `percent` and `seconds_left`, or `failed` with the reason why there will be none
(layers/collector/building/progress.py and local/headgate_local/building.py write it). On AWS there is no such file.
"""

import json
import time
from pathlib import Path
from typing import Final

from headgate_engine.checker.errors import BeingBuilt, BuildFailed

# A build that was killed leaves its file behind; a living one writes it twice a second.
_STALE_SECONDS: Final = 60
_LONGEST_REASON: Final = 500
# How soon and how late a caller is asked to come again.
_SOONEST, _LATEST = 2, 60


def require_not_under_way(collectors: Path, version: str) -> None:
    """Raises BeingBuilt while that version is being built, and BuildFailed if that failed."""
    file = collectors / f"{version}.building"
    try:
        age, state = time.time() - file.stat().st_mtime, json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    match state:
        case {"failed": str(reason)}:
            raise BuildFailed(f"The collector {version} could not be built: {reason[:_LONGEST_REASON]}", None)
        case {"percent": int(percent), "seconds_left": int(seconds)} if age < _STALE_SECONDS:
            left = f"about {round(seconds / 60)} minutes" if seconds > 90 else "about a minute"
            raise BeingBuilt(
                f"The collector {version} is being built on this machine: {percent} % done, {left} left",
                min(max(seconds, _SOONEST), _LATEST),
            )
