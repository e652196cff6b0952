"""The machine for which a collector is built."""

import platform
import sys
from dataclasses import dataclass

from building.errors import BuildError

_ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
SYSTEMS = ("linux", "windows", "darwin")
"""Those that programs are built for, in Go's words."""


@dataclass(frozen=True, slots=True)
class Target:
    """An operating system and an architecture, in Go's words."""

    os: str
    architecture: str

    @classmethod
    def named(cls, architecture: str | None, os: str | None = None) -> "Target":
        """An operating system and an architecture, by default this machine's."""
        asked = architecture or platform.machine()
        known = _ARCHITECTURES.get(asked.lower())
        if known is None:
            raise BuildError(f"There is no collector for the architecture {asked}: it is built for amd64 and arm64")
        if os not in (None, *SYSTEMS):
            raise BuildError(f"There is no collector for the system {os}: it is built for {', '.join(SYSTEMS)}")
        return cls(os or sys.platform, known)

    @property
    def is_this_machine(self) -> bool:
        """Whether its builds run on this machine."""
        return (sys.platform, _ARCHITECTURES.get(platform.machine().lower())) == (self.os, self.architecture)
