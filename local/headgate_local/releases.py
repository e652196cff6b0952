"""What installs fetch here: the collectors and the supervisor that were built on this machine, and the chart."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from headgate.installs import publish
from headgate.installs.releases import Artifact
from headgate.settings import settings
from headgate.storage import aws
from headgate_local.running import Local

ROOT: Final = Path(__file__).resolve().parents[2]
_CHART: Final = ROOT / "charts" / "headgate-supervisor"


@contextmanager
def offered(local: Local) -> Iterator[None]:
    """Publish the chart and a manifest of the programs, which stay where they were built."""
    programs = {
        name: Artifact(str(path), _sha256(path), compressed=False) for name, path in _programs(local.collectors).items()
    }
    versions = (settings().collector_version, "")
    chart = publish.packed_chart(_CHART)
    publish.release(aws.s3(), settings().bucket, versions, programs, chart)
    yield


def _programs(collectors: Path) -> dict[str, Path]:
    """Those that are built: the collector of this machine, and the supervisor of whichever."""
    machine = "arm64" if os.uname().machine in ("aarch64", "arm64") else "amd64"
    builds = cache(collectors) / "supervisor"
    found = {f"supervisor-{arch}": builds / f"linux-{arch}" / "headgate-supervisor" for arch in ("amd64", "arm64")}
    found[f"collector-{machine}"] = collectors / settings().collector_version / "otelcol-contrib"
    return {name: path for name, path in found.items() if path.is_file()}


def cache(collectors: Path) -> Path:
    """The folder of all that is built on this machine."""
    return Path(os.environ.get("HEADGATE_CACHE") or collectors.parent)


def _sha256(path: Path) -> str:
    """Of the file; kept beside a program, which takes half a second to read."""
    path = path.resolve()
    stat = path.stat()
    state = f"{stat.st_size} {stat.st_mtime_ns}"
    kept = path.with_name(f"{path.name}.sha256")
    try:
        known, _, of_state = kept.read_text(encoding="utf-8").partition(" ")
    except FileNotFoundError:
        known = of_state = ""
    if of_state != state:
        with path.open("rb") as file:
            known = publish.sha256(file)
        part = kept.with_name(f".{kept.name}.{os.getpid()}")
        part.write_text(f"{known} {state}", encoding="utf-8")
        part.replace(kept)
    return known
