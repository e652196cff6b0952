"""Tests are the same on every machine: no program, hook or proxy of its own changes what they do."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support import sizes
from tests.support.own_path import HIDDEN, own_path
from tests.support.service import ROOT

# A program of somebody's machine, which notes that it was called.
DECOY: Final = '#!/bin/sh\necho "$0 $*" >>{called}\nexit 1\n'
# Modules that look for programs; in full all of them.
FINDING: Final = sizes.either(
    ("tests/contract/test_deployment_commands.py", "tests/contract/test_chart.py"), ("tests",)
)
# A test whose machine has no other engine than the one that does not answer, so it would look for the next.
LOOKING: Final = "test_without_a_container_engine_it_says_what_will_not_work"


def write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def called(tmp_path: Path) -> Path:
    """What the decoys note; they come first on the PATH."""
    called = tmp_path / "called"
    called.touch()
    return called


@pytest.fixture
def somebodys(tmp_path: Path, called: Path) -> dict[str, str]:
    """The environment of a machine with all of these programs, git hooks for every repository, and a proxy."""
    programs, hooks = tmp_path / "programs", tmp_path / "hooks"
    programs.mkdir()
    hooks.mkdir()
    for name in HIDDEN:
        write(programs / name, DECOY.format(called=called))
    for name in ("pre-commit", "post-commit", "post-checkout", "reference-transaction"):
        write(hooks / name, DECOY.format(called=called))
    (tmp_path / "gitconfig").write_text(f"[core]\n\thooksPath = {hooks}\n")
    proxy = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_CONFIG", "PYTEST"))},
        **proxy,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig"),
    }


def pytest_under(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def test_a_folder_with_such_a_program_gives_way_to_links_to_its_others(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, names in ((one, ("podman", "tool")), (other, ("another",))):
        folder.mkdir()
        for name in names:
            write(folder / name, f"#!/bin/sh\necho {name}\n")
    links = tmp_path / "links"
    links.mkdir()
    path = own_path(f"{one}:{other}:/nonexistent", links)

    assert path == f"{links / '0'}:{other}:/nonexistent"
    assert sorted(entry.name for entry in (links / "0").iterdir()) == ["tool"]
    assert subprocess.check_output(["tool"], env={"PATH": path}, text=True) == "tool\n"


@pytest.mark.sized
def test_the_suite_is_collected_without_any_of_them_and_tests_find_an_engine_of_their_own(
    somebodys: dict[str, str], called: Path
) -> None:
    done = pytest_under(somebodys, *FINDING, "-k", LOOKING)

    assert done.returncode == 0, done.stdout[-4000:]
    assert "1 passed" in done.stdout
    assert called.read_text() == ""
