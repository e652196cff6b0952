"""The links that `python -m building` makes to the two programs of a version, which were built before."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.settings import settings

MODULE = Path(__file__).resolve().parents[2] / "layers" / "collector"
VERSION = settings().collector_version
DIGESTS = f"""
from building.collector import digest
from building.target import Target
print(*(digest(Target.named(None), {VERSION!r}, first=first) for first in (False, True)))
"""


def run(cache: Path, *arguments: str) -> str:
    environment = {**os.environ, "HEADGATE_CACHE": str(cache), "HEADGATE_COLLECTORS_DIR": str(cache / "collectors")}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=MODULE, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with both programs of the current sources."""
    for name, digest in zip((VERSION, f"{VERSION}.first"), run(tmp_path, "-c", DIGESTS).split(), strict=True):
        folder = tmp_path / "collector" / name / digest
        folder.mkdir(parents=True)
        (folder / "otelcol-contrib").touch()
    return tmp_path


def links(cache: Path) -> set[str]:
    return {path.name for path in (cache / "collectors").iterdir()}


def test_the_whole_program_takes_the_place_of_the_first_one(cache: Path) -> None:
    run(cache, "-m", "building", "first", VERSION)
    assert links(cache) == {f"{VERSION}.first"}

    run(cache, "-m", "building", "collector")
    assert links(cache) == {VERSION}


def test_a_build_that_changes_nothing_leaves_a_first_program_beside_the_whole_one(cache: Path) -> None:
    """`make test` puts both there, and some tests make releases and layers."""
    run(cache, "-m", "building", "collector")
    run(cache, "-m", "building", "first", VERSION)
    run(cache, "-m", "building", "collector")

    assert links(cache) == {VERSION, f"{VERSION}.first"}
