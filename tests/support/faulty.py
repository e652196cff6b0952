"""Installing the fault injector where a collector would be."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from headgate_engine.checker.limits import MEBIBYTE, Limits
from tests.support.go_programs import stored

VERSION = "1.2.3"
# Long enough for any machine; a test that is about a limit makes it short.
LIMITS = Limits(
    processes=1,
    start_seconds=60,
    queue_seconds=60,
    request_seconds=60,
    recycle_calls=1000,
    recycle_bytes=100 * MEBIBYTE,
    kill_bytes=300 * MEBIBYTE,
    answer_bytes=4 * MEBIBYTE,
    retry_start_seconds=0,
)
_SOURCES = Path(__file__).with_name("faulty_collector")
_COLLECTOR = Path(__file__).resolve().parents[2] / "layers" / "collector"


def install(folder: Path, variant: str = "") -> Path:
    """Put it into `folder` as the collector's binary, in the place of one that is there.

    As `crashes` it does so at its start, as `release` it has no check command, as `reduced` it lacks the receiver
    hostmetrics, as `misdescribed` it describes itself in another form, as `undescribed` not at all, as `sealed` it
    has a filter of system calls, as the real one has, and as `protocol-2` it speaks that protocol, as `protocol-` none.
    """
    binary = folder / "otelcol-contrib"
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / "part"
    shutil.copy(_built(variant), part)
    part.chmod(0o755)
    part.rename(binary)
    return binary


def _built(variant: str) -> Path:
    """The program, compiled by the collector's Go once for every state of its sources."""
    sources = b"".join(path.read_bytes() for path in sorted(_SOURCES.iterdir())) + variant.encode()

    def build(program: Path) -> None:
        go = [sys.executable, "-m", "building", "go"]
        path = subprocess.run(go, cwd=_COLLECTOR, capture_output=True, text=True, check=True).stdout.strip()
        flags = ["-trimpath", "-buildvcs=false", "-ldflags", f"-X main.variant={variant}"]
        subprocess.run(
            [path, "build", *flags, "-o", program, "."],
            cwd=_SOURCES,
            env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "", "GOTOOLCHAIN": "local", "GOWORK": "off"},
            check=True,
        )

    return stored("faulty_collector", sources, build)
