"""The commit that a release is made from."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_BUILT: Final = ("functions", "web", "assets")


class CannotRelease(Exception):
    """The message says what is in the way, and the way out."""


@dataclass(frozen=True, slots=True)
class CheckoutSource:
    """`changed` says whether files differ from the commit; `epoch` is the commit's time, in seconds since 1970."""

    commit: str
    epoch: int
    changed: bool
    version: str

    @classmethod
    def here(cls) -> CheckoutSource:
        """The commit of this checkout. Raises CannotRelease outside of git."""
        try:
            commit, epoch = _git("log", "-1", "--format=%H %ct").split()
            changed = bool(_git("status", "--porcelain", "--untracked-files=no"))
        except (OSError, subprocess.CalledProcessError) as error:
            raise CannotRelease("a release is made from a commit: run this in a git checkout") from error
        return cls(commit, int(epoch), changed, version())


def version() -> str:
    """Headgate's version, as pyproject.toml says."""
    result = re.search(r'^version = "(\S+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert result is not None
    return result[1]


def copy_tracked(target: Path, *paths: str) -> None:
    """Copy the sources below these paths to the same places below `target`: what git tracks, if this is a checkout."""
    for name in _sources(paths):
        copy(ROOT / name, target / name)


def _sources(paths: Sequence[str]) -> list[str]:
    try:
        return [name for name in _git("ls-files", "-z", "--", *paths).split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        # An unpacked archive of the sources, where nothing was made but compiled modules and the pages' scripts.
        below = [(ROOT / path).rglob("*") if (ROOT / path).is_dir() else [ROOT / path] for path in paths]
        result = itertools.chain.from_iterable(below)
        files = [entry.relative_to(ROOT) for entry in result if entry.is_file() and "__pycache__" not in entry.parts]
        return sorted(file.as_posix() for file in files if file.parts[:3] != _BUILT)


def copy(source: Path, target: Path) -> None:
    """Copy a file's content, executable or not; nothing else of its mode goes along."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if os.access(source, os.X_OK) else 0o644)


def _git(*arguments: str) -> str:
    return subprocess.check_output(["git", *arguments], cwd=ROOT, text=True, stderr=subprocess.DEVNULL).strip()
