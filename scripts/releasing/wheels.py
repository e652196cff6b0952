"""The wheels, built by Hatchling in folders that hold nothing but what goes in."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from click.shell_completion import get_completion_class

from headgate_cli.main import COMPLETE, headgate
from scripts.releasing import manual
from scripts.releasing.source import ROOT, CannotRelease, CheckoutSource, copy, copy_tracked

# Where the shells and `man` look, below the environment's folder; pipx links the manual page.
_SHELLS: Final = {
    "bash": "bash-completion/completions/headgate",
    "zsh": "zsh/site-functions/_headgate",
    "fish": "fish/vendor_completions.d/headgate.fish",
}
# What the local service reads, beside the console's assets, which are built.
_SERVICE: Final = ("charts", "engine", "flows", "functions", "local", "shared", "statemachines", "template.yaml")
# What of the engine is in the wheel of the command line, as pyproject.toml says.
LIGHT: Final = tuple(f"engine/headgate_engine/{name}.py" for name in ("errors", "host_names", "setting", "yaml_text"))
_ASSETS: Final = "functions/web/assets"
_PINNED: Final = re.compile(r"^([A-Za-z0-9._-]+)(\[[^]]*\])?==([^\s;\\]+)\s*(;[^\\\n]*)?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PackedProgram:
    """A program of the collector's wheel. `build` is the hash of what it was built from."""

    binary: Path
    packed: Path
    build: str


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs for one platform, by the path at which they are unpacked. `architecture` is Go's name."""

    architecture: str
    platform: str
    collector_version: str
    supervisor_version: str
    programs: Mapping[str, PackedProgram]


def command_line(source: CheckoutSource, target: Path) -> Path:
    """`headgate`: the command line, its completions and its manual page; `local` and `lsp` are extras."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        copy_tracked(stage, "cli/headgate_cli", "shared/headgate_opamp", *LIGHT, "README.md", "LICENSE", "NOTICE")
        for shell, place in _SHELLS.items():
            completion = get_completion_class(shell)
            assert completion is not None
            _write(stage / "share" / place, completion(headgate, {}, "headgate", COMPLETE).source())
        _write(stage / "share/man/man1/headgate.1", manual.page(source.version, source.epoch))
        extras = "[project.optional-dependencies]\n"
        project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        if project.count(extras) != 1:
            raise CannotRelease("pyproject.toml has no table of optional dependencies to add `local` to")
        local = f'local = ["headgate-local=={source.version}", "headgate-collector=={source.version}"]\n'
        data = '\n[tool.hatch.build.targets.wheel.shared-data]\nshare = "share"\n'
        _write(stage / "pyproject.toml", project.replace(extras, extras + local) + data)
        return _built(stage, source, target)


def local_service(source: CheckoutSource, target: Path) -> Path:
    """`headgate-local`: the service as in a checkout, with exactly the packages of its lock. Raises CannotRelease."""
    if not (ROOT / _ASSETS / "manifest.json").is_file():
        raise CannotRelease("the pages' scripts are not built: run `make console`")
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        copy_tracked(stage / "headgate_service", *_SERVICE)
        for path in sorted((ROOT / _ASSETS).rglob("*")):
            if path.is_file():
                copy(path, stage / "headgate_service" / path.relative_to(ROOT))
        _package(stage, "local", source, ", ".join(map(json.dumps, locked("local"))))
        return _built(stage, source, target)


def collector(source: CheckoutSource, programs: Programs, target: Path) -> Path:
    """`headgate-collector` for one platform: the programs, and what of the engine asks them."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        described = {}
        for path, program in programs.programs.items():
            name = f"{Path(path).name}.zst"
            copy(program.packed, stage / "headgate_collector" / name)
            size = program.binary.stat().st_size
            described[path] = {"packed": name, "build": program.build, "sha256": sha256(program.binary), "size": size}
        description = {
            "collector_version": programs.collector_version,
            "supervisor_version": programs.supervisor_version,
            "programs": described,
        }
        _write(stage / "headgate_collector/programs.json", json.dumps(description, indent=1, sort_keys=True) + "\n")
        copy_tracked(stage, "engine/headgate_engine")
        for name in LIGHT:
            (stage / name).unlink()
        _package(stage, "collector", source)
        return _built(stage, source, target, HEADGATE_PLATFORM=programs.platform)


def locked(name: str) -> list[str]:
    """The requirements of a lock, each at its version, with its marker."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    return [f"{name}{extras}=={pin} {marker}".strip() for name, extras, pin, marker in _PINNED.findall(text)]


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _package(stage: Path, name: str, source: CheckoutSource, dependencies: str = "") -> None:
    """The files of a folder of wheels/, with the version and, if there are some, the dependencies."""
    wheel = ROOT / "wheels" / name
    for path in sorted(wheel.rglob("*.py")):
        copy(path, stage / path.relative_to(wheel))
    for licence in ("LICENSE", "NOTICE"):
        copy(ROOT / licence, stage / licence)
    project = (
        (wheel / "pyproject.toml").read_text(encoding="utf-8").replace('version = "0"', f'version = "{source.version}"')
    )
    _write(stage / "pyproject.toml", project.replace("dependencies = []", f"dependencies = [{dependencies}]"))


def _built(stage: Path, source: CheckoutSource, target: Path, **variables: str) -> Path:
    """The wheel that Hatchling makes of the folder: sorted, with the commit's time on every file."""
    environment = {**os.environ, **variables, "SOURCE_DATE_EPOCH": str(source.epoch)}
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", "built"]
    done = subprocess.run(command, cwd=stage, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRelease(f"Hatchling could not build a wheel:\n{done.stdout}{done.stderr}")
    (wheel,) = (stage / "built").iterdir()
    target.mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(wheel, target / wheel.name))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
