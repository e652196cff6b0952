"""The SAM application as it was built: the template, the functions and the layers, ready for `sam deploy`."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from scripts.releasing.archives import below, write_zip
from scripts.releasing.source import ROOT, CannotRelease, CheckoutSource

RUNTIME: Final = "python3.13"
_MACHINES: Final = {"amd64": "x86_64", "arm64": "arm64"}
_SAM: Final = ROOT / ".venv-sam" / "bin" / "sam"


def application(source: CheckoutSource, architecture: str, into: Path) -> Path:
    """Build the application for an architecture, and pack it. Raises CannotRelease."""
    machine = _MACHINES[architecture]
    parameters = [f"PythonRuntime={RUNTIME}", f"Architecture={machine}"]
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(str(_SAM), "build", "--build-in-source", "--build-dir", folder),
            *("--parameter-overrides", *parameters),
        ]
        environment = {**os.environ, "RUNTIME": RUNTIME, "ARCHITECTURE": machine, "SAM_CLI_TELEMETRY": "0"}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CannotRelease(f"The SAM application could not be built:\n{done.stderr[-2000:]}")
        archive = into / f"headgate-sam-{source.version}-{machine}.zip"
        return write_zip(archive, source.epoch, below(Path(folder)))
