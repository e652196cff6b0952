"""Facts of the collector that several concepts share."""

import re
from typing import Final, Literal

Signal = Literal["logs", "traces", "metrics", "profiles"]
StableSignal = Literal["logs", "traces", "metrics"]
"""Signals whose telemetry every release writes in the same form."""

DISTRIBUTION: Final = "otelcol-contrib"
"""The one distribution that configurations are written for; its binary has the same name."""
VERSION: Final = re.compile(r"(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})", re.ASCII)
VARIABLE_NAME: Final = "[A-Za-z_][A-Za-z0-9_]*"
"""The regular expression of an environment variable's name, as the collector takes it in `${env:NAME}`."""


def by_age(version: str) -> tuple[int, ...]:
    """The key that sorts versions X.Y.Z, oldest first."""
    return tuple(int(part) for part in version.split("."))
