"""Workers that are forked after the collection: what they report, and what becomes of a worker that dies."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.service import ROOT

_PASSING = """
import os
import sys
import pytest

AT_COLLECTION = sys.stdout

@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("session")

def test_passes(folder, capfd):
    print("it passes")
    assert capfd.readouterr().out == "it passes\\n"
    # As log handlers do, which are made when their modules are imported.
    print("it writes", file=AT_COLLECTION)
    (folder / str(os.getppid())).touch()

def test_keeps_what_is_the_sessions(folder):
    assert [file.name for file in folder.iterdir()] == [str(os.getppid())]
"""
_FAILING = """
import os
import pytest

def test_fails(tmp_path):
    print(f"it is in {tmp_path.parent.name}")
    assert tmp_path is None

def test_skips():
    pytest.skip("not here")
"""
_DYING = """
import os

def test_passes_before():
    pass

def test_dies():
    os.kill(os.getpid(), 9)

def test_comes_after():
    pass
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What two workers print of three modules, one of which ends its worker."""
    return _run(tmp_path_factory.mktemp("modules"), 2, passing=_PASSING, failing=_FAILING, dying=_DYING)


def _run(folder: Path, workers: int, **modules: str) -> str:
    for name, text in modules.items():
        (folder / f"test_{name}.py").write_text(text)
    options = [
        "-p",
        "tests.support.side_by_side",
        "--workers",
        str(workers),
        "-c",
        "/dev/null",
        "-ra",
        "--durations",
        "0",
    ]
    command = [sys.executable, "-m", "pytest", *options, *(f"{folder}/test_{name}.py" for name in modules)]
    wide = {**os.environ, "COLUMNS": "300"}
    return subprocess.run(command, cwd=ROOT, env=wide, capture_output=True, text=True, check=False).stdout


def test_each_outcome_and_its_output_are_reported(printed: str) -> None:
    assert "3 failed, 3 passed, 1 skipped in" in printed
    assert "test_failing.py::test_fails - AssertionError" in printed
    assert "\nit is in w" in printed
    assert "not here" in printed
    assert "[100%]" in printed


def test_what_a_dying_worker_leaves_behind_fails(printed: str) -> None:
    for name in ("test_dies", "test_comes_after"):
        assert f"test_dying.py::{name} - the worker ended by signal 9" in printed


def test_no_test_is_left_out_when_the_last_worker_dies(tmp_path: Path) -> None:
    printed = _run(tmp_path, 1, dying=_DYING, passing=_PASSING)
    assert "4 failed, 1 passed in" in printed
    assert printed.count("- no worker is left") == 2
