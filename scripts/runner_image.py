"""The image of the test runner, made of the very collectors that the layer holds, and pushed to the registry."""

import base64
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import boto3
import zstandard

from scripts.stack import ROOT, Stop

ENGINES: Final = ("docker", "podman", "finch")
_PLATFORMS: Final = {"x86_64": "linux/amd64", "arm64": "linux/arm64"}


def engine() -> str | None:
    """The first container engine that answers, or None."""
    for name in ENGINES:
        if shutil.which(name) and subprocess.run([name, "info"], capture_output=True, check=False).returncode == 0:
            return name
    return None


def versions(build_dir: Path) -> list[str]:
    """The collectors in the layer that SAM built there."""
    return sorted(path.parent.name for path in _layer(build_dir).glob("*/otelcol-contrib.zst"))


def push(engine: str, repository: str, version: str, architecture: str, build_dir: Path) -> None:
    """Build the image of what SAM built there, and push it as `<repository>:<version>`. Raises Stop."""
    with tempfile.TemporaryDirectory() as folder:
        collectors = Path(folder, "collectors")
        _unpack(_layer(build_dir), collectors)
        _sign_in(engine, repository.partition("/")[0])
        image = f"{repository}:{version}"
        _run(
            engine,
            "build",
            *("--platform", _PLATFORMS[architecture], "--build-arg", f"VERSION={version}"),
            *("--build-context", f"collectors={collectors}", "--tag", image),
            str(ROOT / "layers" / "collector"),
        )
        _run(engine, "push", image)


def _layer(build_dir: Path) -> Path:
    return build_dir / "CollectorLayer" / "collectors"


def _unpack(layer: Path, collectors: Path) -> None:
    packed = sorted(layer.glob("*/otelcol-contrib.zst"))
    if not packed:
        raise Stop(f"There is no built layer at {layer}: run `make build`")
    for one in packed:
        binary = collectors / one.parent.name / one.stem
        binary.parent.mkdir(parents=True)
        with one.open("rb") as source, binary.open("wb") as target:
            zstandard.ZstdDecompressor().copy_stream(source, target)
        binary.chmod(0o755)


def _sign_in(engine: str, registry: str) -> None:
    (given,) = boto3.client("ecr").get_authorization_token()["authorizationData"]
    user, _, password = base64.b64decode(given["authorizationToken"]).decode().partition(":")
    # On standard input, so that no list of processes shows it.
    done = subprocess.run(
        [engine, "login", "--username", user, "--password-stdin", registry],
        input=password,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise Stop(f"{engine} could not sign in to {registry}: {done.stderr.strip()}")


def _run(*command: str) -> None:
    if subprocess.run(command, check=False).returncode != 0:
        raise Stop(f"`{' '.join(command[:2])}` failed; what it said is above")
