"""The built programs that a release carries: the collector and the supervisor, compressed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from scripts.releasing.source import ROOT, CannotRelease
from scripts.releasing.wheels import PackedProgram, Programs

ARCHITECTURES: Final = ("amd64", "arm64")
# Both programs are linked without any library, so every Linux of the architecture runs them.
_PLATFORMS: Final = {"amd64": "manylinux_2_17_x86_64", "arm64": "manylinux_2_17_aarch64"}


def here() -> str:
    """This machine's architecture."""
    return _printed("supervisor_build", "architecture")


def supervisor(architecture: str, system: str) -> Path:
    """The supervisor of another system, by Go's name, built if it is not. Raises CannotRelease."""
    return Path(_printed("supervisor_build", "supervisor", architecture, system))


def built(architecture: str) -> Programs:
    """Build what is not built yet, and compress it. Raises CannotRelease."""
    version = _printed("building", "default")
    collector = Path(_printed("building", "--architecture", architecture, "collector"))
    supervisor = Path(_printed("supervisor_build", "supervisor", architecture)).resolve()
    return Programs(
        architecture,
        _PLATFORMS[architecture],
        version,
        _printed("supervisor_build", "version"),
        {
            f"collectors/{version}/otelcol-contrib": _packed(collector),
            f"supervisor/linux-{architecture}/headgate-supervisor": _packed(supervisor),
        },
    )


def _packed(binary: Path) -> PackedProgram:
    # Both builds name the folder after the hash of what goes in.
    return PackedProgram(binary, Path(_printed("building", "packed-file", str(binary))), binary.resolve().parent.name)


def _printed(module: str, *arguments: str) -> str:
    """The last line that a build prints. In a process of its own, as its settings are not those of the domain."""
    path = os.pathsep.join(str(ROOT / "layers" / name) for name in ("collector", "supervisor"))
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise CannotRelease(f"`{' '.join(command[2:])}` failed; its error is above")
    return done.stdout.strip().splitlines()[-1]
