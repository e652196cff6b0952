"""The modules of the collector and of contrib that a collector version is made of, in Go's cache of modules."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

MODULE: Final = Path(__file__).resolve().parents[2] / "layers" / "collector"


def default_version() -> str:
    return _printed("default")


def folders(version: str) -> list[Path]:
    """The folders of the modules in that version's go.mod. One that was never downloaded does not exist."""
    linked = Path(_printed("sources", version), "go.mod").read_text()
    modules = re.findall(r"^\t(\S*opentelemetry\S*) (\S+)", linked, re.MULTILINE)
    return [folder_of_all() / _escaped(f"{module}@{release}") for module, release in modules]


@cache
def folder_of_all() -> Path:
    """Go's cache of modules."""
    asked = [_printed("go"), "env", "GOMODCACHE"]
    return Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())


@cache
def _printed(*arguments: str) -> str:
    """What the build says about its own versions and folders."""
    command = [sys.executable, "-m", "building", *arguments]
    return subprocess.run(command, cwd=MODULE, check=True, capture_output=True, text=True).stdout.strip()


def _escaped(module: str) -> str:
    return re.sub("[A-Z]", lambda letter: "!" + letter[0].lower(), module)
