"""The official OpAMP supervisor, built from the module that ours contains, as a process with a file of its own."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.go_programs import compiled, go, stored
from tests.support.programs import cached_programs
from tests.support.service import ROOT

_MODULE = ROOT / "layers" / "supervisor"
_PACKAGE = "github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor"
NEWER = "0.158.0"
"""A later version, which wants a collector of about its own version."""
CAPABILITIES = {"accepts_remote_config": True, "reports_remote_config": True}
"""What a managed fleet needs of it; the file that its packages install turns the same two on."""


def built() -> Path:
    """The program, in the version of the supervisor's go.mod."""
    return compiled("opampsupervisor", _MODULE, _PACKAGE, CGO_ENABLED="0")


def built_newer() -> Path:
    """The program of NEWER, which the supervisor's go.mod does not have."""

    def build(program: Path) -> None:
        environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod -buildvcs=false"}
        with tempfile.TemporaryDirectory() as module:
            (Path(module) / "tools.go").write_text(f'//go:build tools\n\npackage tools\n\nimport _ "{_PACKAGE}"\n')
            for words in (
                ("mod", "init", "official"),
                ("get", f"{_PACKAGE}@v{NEWER}"),
                # Modules that only its own tests need are missing from the proxy.
                ("mod", "tidy", "-e"),
                ("build", "-o", str(program), _PACKAGE),
            ):
                subprocess.run([go(), *words], cwd=module, env=environment, check=True)

    return stored("opampsupervisor", NEWER.encode(), build)


@dataclass
class OfficialSupervisor:
    """A host with it; `file` is its configuration."""

    folder: Path
    file: Mapping[str, Any]
    program: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def log_path(self) -> Path:
        return self.folder / "supervisor.log"

    def start(self, **environment: str) -> None:
        config = self.folder / "supervisor.yaml"
        config.write_text(yaml.safe_dump(dict(self.file)))
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                [self.program, "--config", config],
                env={"PATH": os.environ["PATH"], **environment},
                stdout=log,
                stderr=log,
            )

    def stop(self) -> None:
        """In order. It does not take SIGTERM: that leaves its collector behind, unless systemd ends both."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=60)
            self.process = None

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")[-4_000:]


@contextmanager
def official_supervisor(
    folder: Path, server: object, *, newer: bool = False, **capabilities: bool
) -> Iterator[OfficialSupervisor]:
    """A host that is not started yet, and is stopped when the block ends; `newer` has NEWER and its collector."""
    collector = Path(os.environ["HEADGATE_COLLECTORS_DIR"]) / NEWER / "otelcol-contrib"
    agent = {
        "executable": str(collector if newer else cached_programs()["otelcol-contrib"]),
        # Its default of 3 seconds is too short on a busy machine.
        "bootstrap_timeout": "30s",
        # Another collector of this machine may serve its metrics on 8888.
        "args": ["--set=service.telemetry.metrics.level=none"],
    }
    file = {
        "server": server,
        "capabilities": CAPABILITIES | capabilities,
        "agent": agent,
        "storage": {"directory": str(folder / "storage")},
    }
    host = OfficialSupervisor(folder, file, built_newer() if newer else built())
    try:
        yield host
    finally:
        host.stop()
