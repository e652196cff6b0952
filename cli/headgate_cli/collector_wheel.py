"""The collector of the wheel `headgate-collector`, if it is installed beside the command line."""

from __future__ import annotations

import importlib
import importlib.util
import os
from pathlib import Path
from typing import Final, Protocol, cast

PACKAGE: Final = "headgate_collector"


class Wheel(Protocol):
    """The functions of the package that this one uses."""

    def collector_version(self) -> str: ...

    def unpacked(self, cache: Path) -> Path: ...


def installed() -> Wheel | None:
    """The wheel; None if it is not installed."""
    if importlib.util.find_spec(PACKAGE) is None:
        return None
    return cast("Wheel", importlib.import_module(PACKAGE))


def cache() -> Path:
    """The folder of what can be made again: collectors, and what wheels are unpacked into."""
    cached = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("HEADGATE_CACHE") or Path(cached, "headgate")).absolute()
