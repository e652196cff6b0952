"""Programs in Go that tests build at the first use, and store in the cache by what they are made of."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tests.support.service import ROOT


@cache
def go() -> str:
    """The Go that builds the supervisor, which is fetched where this machine's is too old."""
    paths = os.pathsep.join(str(ROOT / "layers" / name) for name in ("collector", "supervisor"))
    done = subprocess.run(
        [sys.executable, "-m", "supervisor_build", "go"],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def compiled(name: str, module: Path, package: str, *, commit: str = "", flags: str = "", **environment: str) -> Path:
    """A program of a Go module; `flags` are the linker's. `commit` stands for the sources of another project."""
    made_of = [f"{package}{flags}{commit}".encode()]
    if not commit:
        files = [module / "go.mod", module / "go.sum", *sorted((module / package).glob("*.go"))]
        made_of += [file.read_bytes() for file in files]

    def build(program: Path) -> None:
        variables = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", **environment}
        command: list[str | Path] = [go(), "build", "-ldflags", flags, "-o", program, package]
        subprocess.run(command, cwd=module, env=variables, check=True)

    return stored(name, b"".join(made_of), build)


def stored(name: str, made_of: bytes, build: Callable[[Path], None]) -> Path:
    """The path of a program that `build` writes, if the cache has none that is made of the same."""
    folder = Path(os.environ.get("HEADGATE_CACHE") or Path.home() / ".cache" / "headgate") / name
    program = folder / hashlib.sha256(made_of).hexdigest()[:24]
    if not program.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        part = program.with_suffix(f".{os.getpid()}")
        build(part)
        part.rename(program)
    return program
