"""The machine for which a collector is built."""

import platform
import sys
from dataclasses import dataclass

from building.errors import BuildError

_ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, slots=True)
class Target:
    """An operating system and an architecture, in Go's words."""

    os: str
    architecture: str

    @classmethod
    def named(cls, architecture: str | None) -> "Target":
        """This machine's operating system with the architecture, by default this machine's."""
        asked = architecture or platform.machine()
        known = _ARCHITECTURES.get(asked.lower())
        if known is None:
            raise BuildError(f"There is no collector for the architecture {asked}: it is built for amd64 and arm64")
        return cls(sys.platform, known)

    @property
    def is_this_machine(self) -> bool:
        """Whether its builds run on this machine."""
        return _ARCHITECTURES.get(platform.machine().lower()) == self.architecture
