"""The links that `python -m building` makes to the two programs of a version, which were built before."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.foundation.settings import settings

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


def test_a_program_that_is_in_place_does_not_wait_for_another_build(cache: Path) -> None:
    run(cache, "-m", "building", "collector")
    with (cache / ".collector.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run(cache, "-m", "building", "collector").strip().endswith("otelcol-contrib")


def test_a_build_says_for_which_process_it_waits(cache: Path) -> None:
    environment = {**os.environ, "HEADGATE_CACHE": str(cache), "HEADGATE_COLLECTORS_DIR": str(cache / "collectors")}
    with (cache / ".collector.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("4711")
        lock.flush()
        command = [sys.executable, "-m", "building", "collector"]
        with subprocess.Popen(command, cwd=MODULE, env=environment, stderr=subprocess.PIPE, text=True) as waiting:
            assert waiting.stderr is not None
            said = waiting.stderr.readline()
            fcntl.flock(lock, fcntl.LOCK_UN)
            waiting.communicate(timeout=60)

    assert said == "Waiting for another build (collector, process 4711) to end\n"
    assert waiting.returncode == 0
