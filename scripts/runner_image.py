"""Builds the test runner's image from the layer's collectors, and pushes it to the registry."""

import base64
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import boto3
import zstandard

from scripts.stack import ROOT, Stop, run

ENGINES: Final = ("docker", "podman", "finch")
_PLATFORMS: Final = {"x86_64": "linux/amd64", "arm64": "linux/arm64"}
_CONTEXT: Final = ROOT / "layers" / "collector"
_BASE: Final = re.compile(r"^ARG BASE=(\S+)$", re.MULTILINE)
_PINNED: Final = re.compile(r"[^\s@]+@sha256:[0-9a-f]{64}")


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
    """Build the image from SAM's build, and push it as `<repository>:<version>-<architecture>`. Raises Stop.

    The tag names the architecture, because a stack that changes it still starts tasks of the old one for a while.
    """
    platform = _PLATFORMS[architecture]
    with tempfile.TemporaryDirectory() as folder:
        collectors = Path(folder, "collectors")
        _unpack(_layer(build_dir), collectors)
        _sign_in(engine, repository.partition("/")[0])
        image = f"{repository}:{version}-{architecture}"
        _run(
            engine,
            "build",
            *(
                "--platform",
                platform,
                "--build-arg",
                f"VERSION={version}",
                "--build-arg",
                f"BASE={_base(engine, platform)}",
            ),
            *("--build-context", f"collectors={collectors}", "--tag", image),
            str(_CONTEXT),
        )
        _run(engine, "push", image)


def _base(engine: str, platform: str) -> str:
    """The base image with its digest, or with its tag if the digest is not known."""
    result = _BASE.search((_CONTEXT / "Dockerfile").read_text())
    assert result is not None
    base = result[1]
    if subprocess.run([engine, "pull", "--quiet", "--platform", platform, base], check=False).returncode == 0:
        inspect = [engine, "image", "inspect", "--format", "{{index .RepoDigests 0}}", base]
        pinned = subprocess.run(inspect, capture_output=True, text=True, check=False).stdout.strip()
        if _PINNED.fullmatch(pinned):
            print(f"The runner's image is built on {pinned}")
            return pinned
    print(f"The digest of {base} is not known, so the runner's image is built on the tag's current image")
    return base


def _layer(build_dir: Path) -> Path:
    return build_dir / "CollectorLayer" / "collectors"


def _unpack(layer: Path, collectors: Path) -> None:
    packed = sorted(layer.glob("*/otelcol-contrib.zst"))
    if not packed:
        raise Stop(f"The folder {layer} has no built layer: run `make build`")
    for path in packed:
        binary = collectors / path.parent.name / path.stem
        binary.parent.mkdir(parents=True)
        with path.open("rb") as source, binary.open("wb") as target:
            zstandard.ZstdDecompressor().copy_stream(source, target)
        binary.chmod(0o755)


def _sign_in(engine: str, registry: str) -> None:
    (provided,) = boto3.client("ecr").get_authorization_token()["authorizationData"]
    user, _, password = base64.b64decode(provided["authorizationToken"]).decode().partition(":")
    # On standard input, so that a list of processes does not show it.
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
    run(command, f"`{' '.join(command[:2])}` failed; its error is above.")
