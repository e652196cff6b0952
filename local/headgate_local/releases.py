"""Downloads of installs: the collectors and the supervisor that were built on this machine, and the chart."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from headgate.foundation.settings import settings
from headgate.installs import publish
from headgate.installs.releases import ARCHITECTURES, SYSTEMS, Artifact
from headgate.storage import aws
from headgate_engine.collector import VERSION
from headgate_local.running import Local

ROOT: Final = Path(__file__).resolve().parents[2]
_CHART: Final = ROOT / "charts" / "headgate-supervisor"


@contextmanager
def published(local: Local) -> Iterator[None]:
    """Publish the chart and a manifest of the programs. The programs are served from the folders of their builds."""
    programs = {name: _artifact(path) for name, path in _programs(local.collectors).items()}
    versions = (settings().collector_version, _supervisor_version(programs))
    chart = publish.packed_chart(_CHART)
    publish.release(aws.s3(), settings().bucket, versions, programs, chart)
    yield


def _programs(collectors: Path) -> dict[str, Path]:
    """The programs that exist: the collector for this machine, and those that were built for other ones."""
    machine = _machine()
    builds = cache(collectors)
    matches = {}
    for arch in ARCHITECTURES:
        matches[f"supervisor-{arch}"] = builds / "supervisor" / f"linux-{arch}" / "headgate-supervisor"
        for platform, system in SYSTEMS.items():
            matches[f"supervisor-{platform}-{arch}"] = (
                builds / "supervisor" / f"{system}-{arch}" / "headgate-supervisor"
            )
            of_system = f"{settings().collector_version}-{system}-{arch}"
            matches[f"collector-{platform}-{arch}"] = builds / "collector" / of_system / "newest" / "otelcol-contrib"
    matches[f"collector-{machine}"] = collectors / settings().collector_version / "otelcol-contrib"
    for binary in collectors.glob("*/otelcol-contrib"):
        if VERSION.fullmatch(binary.parent.name):
            matches[f"collector-{binary.parent.name}-{machine}"] = binary
    return {name: path for name, path in matches.items() if path.is_file()}


def _artifact(program: Path) -> Artifact:
    digest = _sha256(program)
    return Artifact(str(program), digest, compressed=False, binary_sha256=digest, size=program.stat().st_size)


def _supervisor_version(programs: Mapping[str, Artifact]) -> str:
    """The version that the supervisor for this machine reports; empty if there is no supervisor."""
    built = programs.get(f"supervisor-{_machine()}")
    if built is None:
        return ""
    done = subprocess.run([built.key, "version"], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip()


def _machine() -> str:
    return "arm64" if os.uname().machine in ("aarch64", "arm64") else "amd64"


def cache(collectors: Path) -> Path:
    """The folder of the builds on this machine."""
    return Path(os.environ.get("HEADGATE_CACHE") or collectors.parent)


def _sha256(path: Path) -> str:
    """The file's SHA-256. It is cached in a file beside the program, which takes half a second to read."""
    path = path.resolve()
    stat = path.stat()
    state = f"{stat.st_size} {stat.st_mtime_ns}"
    cached = path.with_name(f"{path.name}.sha256")
    try:
        known, _, of_state = cached.read_text(encoding="utf-8").partition(" ")
    except FileNotFoundError:
        known = of_state = ""
    if of_state != state:
        with path.open("rb") as file:
            known = publish.sha256(file)
        part = cached.with_name(f".{cached.name}.{os.getpid()}")
        part.write_text(f"{known} {state}", encoding="utf-8")
        part.replace(cached)
    return known
