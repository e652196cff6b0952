"""Makes a folder of `versions/` of an official manifest, by the Go program `regenerate`."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from building import collector, toolchain
from building.cache import Cache
from building.download import open_url
from building.errors import BuildError
from building.target import Target

# HEADGATE_MANIFESTS_URL replaces the address by a mirror's.
MANIFESTS = "https://raw.githubusercontent.com/open-telemetry/opentelemetry-collector-releases"


def make(cache: Cache, version: str, manifest: Path | None = None, *, reduced: bool = False) -> bool:
    """Make the folder of a version of its manifest, or make it again.

    Returns False, with the reason on standard error, if it is not whole, unless it may be `reduced`. A reduced folder
    that was there before stays.
    """
    folder = collector.VERSIONS / version
    before = folder.is_dir()
    try:
        regenerate(cache, version, manifest)
    except BuildError as error:
        _say(version, str(error))
        return False
    lacking = _lacking(folder)
    if not lacking or reduced:
        return True
    if not before:
        shutil.rmtree(folder)
    _say(
        version,
        f"the module proxy does not serve {lacking} of its modules, named above; REDUCED=1 builds it without them",
    )
    return False


def regenerate(cache: Cache, version: str, manifest: Path | None = None, *, unlisted: bool = False) -> None:
    """Write `versions/<version>` of a manifest: that file, a committed one, or the official one. Raises BuildError.

    Modules without an entry in Go's checksum database are refused, unless `unlisted` is set.
    """
    with tempfile.TemporaryDirectory() as scratch:
        committed = collector.module(version) / "manifest.yaml"
        if manifest is None and committed.is_file():
            manifest = committed
        elif manifest is None:
            manifest = Path(scratch, "manifest.yaml")
            manifest.write_bytes(_official_manifest(version))
        _run(cache, version, manifest, unlisted)


def _official_manifest(version: str) -> bytes:
    base = os.environ.get("HEADGATE_MANIFESTS_URL") or MANIFESTS
    url = f"{base}/v{version}/distributions/otelcol-contrib/manifest.yaml"
    try:
        with open_url(url, f"manifest of release {version}") as response:
            return response.read(1 << 20)
    except (BuildError, OSError) as error:
        raise BuildError(f"its manifest cannot be read ({error})") from error


def _run(cache: Cache, version: str, manifest: Path | None, unlisted: bool) -> None:
    folder = collector.SHARED / "regenerate"
    go = toolchain.go(cache, folder)
    print(f"Making collector {version} of its official manifest", file=sys.stderr)
    environment = collector.environment(Target.named(None)) | {"PATH": f"{go.parent}{os.pathsep}{os.environ['PATH']}"}
    given = ["-manifest", str(manifest.absolute())] if manifest else []
    given += ["-unlisted"] if unlisted else []
    done = subprocess.run(
        [go, "run", ".", *given, version], cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise BuildError(f"regenerate failed: {done.stderr.strip()[-2000:]}")
    print(done.stderr, file=sys.stderr, end="")


def is_reduced(version: str) -> bool:
    """Whether the build of a folder in versions/ lacks components of the official release."""
    return bool(_lacking(collector.VERSIONS / version))


def _lacking(folder: Path) -> int:
    modules = re.findall(r'Module: "([^"]+)"', (folder / "distribution" / "lacking.go").read_text())
    return len(set(modules))


def _say(version: str, reason: str) -> None:
    print(f"Collector {version} is not built from source: {reason}. Its official release is used", file=sys.stderr)
