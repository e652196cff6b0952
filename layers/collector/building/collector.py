"""Builds the collectors of `versions/`, each once for every state of its sources."""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from building import comments, progress, toolchain
from building.cache import Cache, point
from building.errors import BuildError
from building.target import Target

SHARED = Path(__file__).resolve().parent.parent
VERSIONS = SHARED / "versions"
# Reduced builds for tests, which nobody is to run: `make collector` builds one only with REDUCED=1.
FIXTURES = SHARED / "fixtures"
BINARY = "otelcol-contrib"
# The flags of the official releases. Without cgo, so that the binary needs no library of its machine.
FLAGS = ("-trimpath", "-buildvcs=false", "-tags", "grpcnotrace", "-ldflags", "-s -w")
# What the name of a version's first program has behind the version (shared/headgate/checker/installed.py).
FIRST = ".first"
# The link to the newest build for another system.
NEWEST = "newest"
_PACKAGES = "packages"
_MAX_BUILDS = 3


def build(cache: Cache, target: Target, version: str | None = None, folder: Path | None = None) -> Path:
    """The path of the collector of a version (the default one), built from its current sources. Raises BuildError.

    `folder` has the sources, instead of versions/.
    """
    version = version or default_version()
    program = _Program(cache, target, version, folder or module(version))
    if program.is_in_place:
        # Without the lock, which another version's build may hold for a quarter of an hour.
        os.utime(program.folder)
        if program.state:
            program.state.unlink(missing_ok=True)
        return program.folder / BINARY
    with cache.locked("collector"):
        program.build()
        link = cache.collectors / program.version
        # A build that changes nothing leaves a first program that tests have beside the whole one.
        if target.is_this_machine and link.resolve() != program.folder.resolve():
            point(link, program.folder)
            program.first_link.unlink(missing_ok=True)
        elif target.os != sys.platform:
            # By which the local service finds what hosts of another system install.
            point(program.folder.parent / NEWEST, program.folder)
        # Only now: a service that looks for the collector finds one of the two at any moment.
        if program.state:
            program.state.unlink(missing_ok=True)
    return program.folder / BINARY


def build_first(cache: Cache, target: Target, version: str) -> Path:
    """The path of the first program of a version, with the components of versions/FIRST alone.

    It takes a fifth of the time of the whole one, which then finds its packages compiled. The checker finds it beside
    the whole one until that is there. Raises BuildError.
    """
    program = _Program(cache, target, version, module(version), first=True)
    with cache.locked("collector"):
        program.build()
        if target.is_this_machine:
            point(program.first_link, program.folder)
    return program.folder / BINARY


def default_version() -> str:
    """The version that checks configurations unless a request names another one."""
    return (VERSIONS / "DEFAULT").read_text().strip()


def versions(folder: Path = VERSIONS) -> list[str]:
    """The versions that are built from source here, oldest first, or those of FIXTURES."""
    return sorted(
        (one.name for one in folder.iterdir() if _VERSION.fullmatch(one.name)),
        key=lambda version: [int(part) for part in version.split(".")],
    )


def module(version: str) -> Path:
    """The Go module of a version, which its collector is built from; that of a fixture if there is no other."""
    own, fixture = VERSIONS / version, FIXTURES / version
    return fixture if fixture.is_dir() and not own.is_dir() else own


_VERSION = re.compile(r"\d+\.\d+\.\d+", re.ASCII)
_GENERATION = re.compile(r"=> \.\./\.\./(generations/\S+)$", re.MULTILINE)


def digest(target: Target, version: str, folder: Path | None = None, *, first: bool = False) -> str:
    """A hash of what the binary is made from: sources without tests, hashes of the modules, target and flags."""
    total = hashlib.sha256(repr((target.os, target.architecture, FLAGS)).encode())
    own = folder or module(version)
    generation = _GENERATION.search((own / "go.mod").read_text())
    if generation is None:
        raise BuildError(f"{own / 'go.mod'} does not say which generation of the API it uses")
    extract = SHARED / "extract"
    folders = (SHARED / "internal", SHARED / generation[1], own, extract)
    sources = [path for folder in folders for path in folder.rglob("*.go") if not path.name.endswith("_test.go")]
    if not first:
        sources = [path for path in sources if not path.is_relative_to(own / "first")]
    sources += secrets()
    modules = [folder / name for folder in (own, extract) for name in ("go.mod", "go.sum")]
    for path in sorted([*sources, *modules]):
        name, content = str(path.relative_to(SHARED)).encode(), path.read_bytes()
        total.update(b"%d %s %d " % (len(name), name, len(content)) + content)
    return total.hexdigest()


def secrets() -> list[Path]:
    """The sources and data of the list of secrets, which the supervisor is built from too."""
    files = (SHARED / "secrets").iterdir()
    return [path for path in files if path.suffix in {".go", ".json"} and not path.name.endswith("_test.go")]


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


@dataclass(frozen=True, slots=True)
class _Program:
    """A program that is built from a version's sources."""

    cache: Cache
    target: Target
    version: str
    sources: Path
    first: bool = False

    @property
    def folder(self) -> Path:
        name = f"{self.version}{FIRST}" if self.first else self.version
        if self.target.os != sys.platform:
            name = f"{name}-{self.target.os}-{self.target.architecture}"
        return (
            self.cache.folder / "collector" / name / digest(self.target, self.version, self.sources, first=self.first)
        )

    @property
    def is_in_place(self) -> bool:
        """Whether it is built, and where the service looks for it."""
        folder, link = self.folder, self.cache.collectors / self.version
        return (folder / BINARY).is_file() and (not self.target.is_this_machine or link.resolve() == folder.resolve())

    @property
    def first_link(self) -> Path:
        return self.cache.collectors / f"{self.version}{FIRST}"

    @property
    def state(self) -> Path | None:
        # Only a build for this machine is waited for by a service.
        return self.cache.collectors / f"{self.version}.building" if self.target.is_this_machine else None

    def build(self) -> None:
        """Build it unless that was done before. Raises BuildError."""
        folder = self.folder
        if not (folder / BINARY).is_file():
            with _removed_if_it_fails(self.state), self.cache.new_folder(folder) as part:
                self._compile(part)
        os.utime(folder)
        _forget_old_builds(folder)

    def _compile(self, part: Path) -> None:
        env = environment(self.target)
        go, package = toolchain.go(self.cache, self.sources), "./first" if self.first else "."
        with tempfile.TemporaryDirectory() as scratch, self._progress() as shown:
            listing = ("list", "-x", "-deps", *FLAGS[:4], "-f", comments.PACKAGES, package)
            listed = _run([str(go), *listing], self.sources, env, shown.downloaded)
            shown.end_part("download")
            shown.packages = len(listed.splitlines())
            if self.first:
                (part / _PACKAGES).write_text(str(shown.packages))
            replaced = comments.overlay(self.cache, SHARED, listed, environment(Target.named(None)), Path(scratch))
            shown.end_part("descriptions")
            building = ("build", "-v", *FLAGS, "-overlay", str(replaced), "-o", str(part / BINARY), package)
            _run([str(go), *building], self.sources, env, shown.compiled)
            shown.end_compiling()

    def _progress(self) -> progress.Progress:
        platform = f"{self.target.os}/{self.target.architecture}"
        if self.first:
            title = (
                f"Building the first collector {self.version} for {platform}, with the components that most texts use: "
            )
            return progress.Progress(title + "about 4 minutes the first time", self.state, progress.FIRST)
        try:
            compiled = int((self.first_link / _PACKAGES).read_text())
        except (OSError, ValueError):
            title = f"Building the collector {self.version} for {platform}: about 15 minutes the first time"
            return progress.Progress(title, self.state)
        title = f"Building the whole collector {self.version} for {platform}: about 12 minutes the first time"
        return progress.Progress(title, self.state, progress.REST, compiled)


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
