"""Builds the collectors of `versions/`, each once for every state of its sources."""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from building import comments, progress, toolchain
from building.cache import Cache, point
from building.errors import BuildError
from building.target import Target

SHARED = Path(__file__).resolve().parent.parent
VERSIONS = SHARED / "versions"
BINARY = "otelcol-contrib"
# The flags of the official releases. Without cgo, so that the binary needs no library of its machine.
FLAGS = ("-trimpath", "-buildvcs=false", "-tags", "grpcnotrace", "-ldflags", "-s -w")
_MAX_BUILDS = 3


def build(cache: Cache, target: Target, version: str | None = None) -> Path:
    """The path of the collector of a version (the default one), built from its current sources. Raises BuildError."""
    version = version or default_version()
    folder = cache.folder / "collector" / version / digest(target, version)
    # Only a build for this machine is waited for by a service.
    state = cache.collectors / f"{version}.building" if target.is_this_machine else None
    with cache.locked("collector"):
        if not (folder / BINARY).is_file():
            with _removed_if_it_fails(state), cache.new_folder(folder) as part:
                _compile(cache, target, version, part / BINARY, state)
        os.utime(folder)
        _forget_old_builds(folder)
        if target.is_this_machine:
            point(cache.collectors / version, folder)
        # Only now: a service that looks for the collector finds one of the two at any moment.
        if state:
            state.unlink(missing_ok=True)
    return folder / BINARY


def default_version() -> str:
    """The version that checks configurations unless a request names another one."""
    return (VERSIONS / "DEFAULT").read_text().strip()


def versions() -> list[str]:
    """The versions that are built from source here, oldest first."""
    return sorted(
        (folder.name for folder in VERSIONS.iterdir() if _VERSION.fullmatch(folder.name)),
        key=lambda version: [int(part) for part in version.split(".")],
    )


def module(version: str) -> Path:
    """The Go module of a version, which its collector is built from."""
    return VERSIONS / version


_VERSION = re.compile(r"\d+\.\d+\.\d+", re.ASCII)
_GENERATION = re.compile(r"=> \.\./\.\./(generations/\S+)$", re.MULTILINE)


def digest(target: Target, version: str) -> str:
    """A hash of what the binary is made from: sources without tests, hashes of the modules, target and flags."""
    total = hashlib.sha256(repr((target.os, target.architecture, FLAGS)).encode())
    own = module(version)
    generation = _GENERATION.search((own / "go.mod").read_text())
    if generation is None:
        raise BuildError(f"{own / 'go.mod'} does not say which generation of the API it uses")
    extract = SHARED / "extract"
    folders = (SHARED / "internal", SHARED / generation[1], own, extract)
    sources = [path for folder in folders for path in folder.rglob("*.go") if not path.name.endswith("_test.go")]
    modules = [folder / name for folder in (own, extract) for name in ("go.mod", "go.sum")]
    for path in sorted([*sources, *modules]):
        name, content = str(path.relative_to(SHARED)).encode(), path.read_bytes()
        total.update(b"%d %s %d " % (len(name), name, len(content)) + content)
    return total.hexdigest()


def environment(target: Target) -> dict[str, str]:
    """This process's environment, with Go's defaults for settings that could weaken or change the build."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if name not in {"GOFLAGS", "GONOSUMDB", "GONOSUMCHECK", "GONOPROXY", "GOINSECURE", "GOPRIVATE", "GOEXPERIMENT"}
    }
    return variables | {
        "CGO_ENABLED": "0",
        "GOOS": target.os,
        "GOARCH": target.architecture,
        "GOFLAGS": "",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }


@contextlib.contextmanager
def _removed_if_it_fails(state: Path | None) -> Iterator[None]:
    """Remove the file if the block fails, unless a service builds: that writes the reason into it."""
    try:
        yield
    except BaseException:
        if state and "HEADGATE_BUILD" not in os.environ:
            state.unlink(missing_ok=True)
        raise


def _compile(cache: Cache, target: Target, version: str, binary: Path, state: Path | None) -> None:
    folder = module(version)
    go = toolchain.go(cache, folder)
    env = environment(target)
    title = f"Building the collector {version} for {target.os}/{target.architecture}: about 15 minutes the first time"
    with tempfile.TemporaryDirectory() as scratch, progress.Progress(title, state) as shown:
        listed = _run(
            [str(go), "list", "-x", "-deps", *FLAGS[:4], "-f", comments.PACKAGES, "."],
            folder,
            env,
            shown.downloaded,
        )
        shown.packages = len(listed.splitlines())
        replaced = comments.overlay(cache, SHARED, listed, environment(Target.named(None)), Path(scratch))
        _run(
            [str(go), "build", "-v", *FLAGS, "-overlay", str(replaced), "-o", str(binary), "."],
            folder,
            env,
            shown.compiled,
        )


def _run(command: list[str], folder: Path, env: dict[str, str], each_line: progress.Listener) -> str:
    """Run a Go command and pass its standard error to the listener. Raises BuildError with its last lines."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        output = progress.Collected(process.stdout)
        last_lines: list[str] = []
        for line in process.stderr or ():
            if not each_line(line):
                last_lines = [*last_lines[-20:], line.rstrip()]
        text = output.text()
    if process.returncode != 0:
        reason = "\n".join(last_lines) or f"exit status {process.returncode}"
        raise BuildError(f"The collector could not be built. Go's error:\n{reason}")
    return text


def _forget_old_builds(newest: Path) -> None:
    builds = [path for path in newest.parent.iterdir() if path.is_dir() and re.fullmatch("[0-9a-f]{64}", path.name)]
    builds.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in builds[_MAX_BUILDS:]:
        shutil.rmtree(path, ignore_errors=True)
