"""Makes a folder of `versions/` of an official manifest, by the Go program `regenerate`."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from building import collector, toolchain
from building.cache import Cache
from building.download import open_url
from building.errors import BuildError
from building.target import Target

# What the program says if the build would be reduced, before a line for each module.
_NOT_SERVED = "the module proxy does not serve"
_LONGEST_REASON = 60_000
_WAYS_OUT = "Its official release is used, which gives verdicts only. To build it without these: make collector"
# HEADGATE_MANIFESTS_URL replaces the address by a mirror's.
MANIFESTS = "https://raw.githubusercontent.com/open-telemetry/opentelemetry-collector-releases"


def make(cache: Cache, version: str, manifest: Path | None = None, *, reduced: bool = False) -> bool:
    """Make the folder of a version of its manifest, or make it again.

    Returns False, with the reason on standard error and nothing written, if it would be reduced, unless it may be.
    """
    try:
        regenerate(cache, version, manifest, whole=not reduced)
    except BuildError as error:
        print(f"Collector {version} is not built from source: {error}", file=sys.stderr)
        if _NOT_SERVED in str(error):
            print(f"{_WAYS_OUT} VERSION={version} REDUCED=1", file=sys.stderr)
        return False
    return True


def regenerate(
    cache: Cache, version: str, manifest: Path | None = None, *, unlisted: bool = False, whole: bool = False
) -> None:
    """Write `versions/<version>` of a manifest: that file, a committed one, or the official one. Raises BuildError.

    Modules without an entry in Go's checksum database are refused, unless `unlisted` is set. If it has to be `whole`,
    the error names what the module proxy does not serve.
    """
    with tempfile.TemporaryDirectory() as scratch:
        committed = collector.module(version) / "manifest.yaml"
        if manifest is None and committed.is_file():
            manifest = committed
        elif manifest is None:
            manifest = Path(scratch, "manifest.yaml")
            manifest.write_bytes(_official_manifest(version))
        flags = [flag for flag, is_set in (("-unlisted", unlisted), ("-whole", whole)) if is_set]
        _run(cache, version, manifest, flags)


def _official_manifest(version: str) -> bytes:
    base = os.environ.get("HEADGATE_MANIFESTS_URL") or MANIFESTS
    url = f"{base}/v{version}/distributions/otelcol-contrib/manifest.yaml"
    try:
        with open_url(url, f"manifest of release {version}") as response:
            return response.read(1 << 20)
    except (BuildError, OSError) as error:
        raise BuildError(f"its manifest cannot be read ({error})") from error


def _run(cache: Cache, version: str, manifest: Path, flags: Sequence[str]) -> None:
    folder = collector.SHARED / "regenerate"
    go = toolchain.go(cache, folder)
    print(f"Making collector {version} of its official manifest", file=sys.stderr)
    environment = collector.environment(Target.named(None)) | {"PATH": f"{go.parent}{os.pathsep}{os.environ['PATH']}"}
    command = [str(go), "run", ".", "-manifest", str(manifest.absolute()), *flags, version]
    done = subprocess.run(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(done.stderr.strip().removesuffix("exit status 1").strip()[-_LONGEST_REASON:])
    print(done.stderr, file=sys.stderr, end="")


def is_reduced(version: str) -> bool:
    """Whether the build of a folder in versions/ lacks components of the official release."""
    return "Module:" in (collector.VERSIONS / version / "distribution" / "lacking.go").read_text()
