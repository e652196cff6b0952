"""The checker where the platform refuses the kernel's walls, as Lambda does, and where only a call of it fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import like_lambda
from tests.support.faulty import install

START = """
import sys
from pathlib import Path
from headgate_engine.checker.check_process import Child
from headgate_engine.checker.errors import ProcessFailed
from headgate_engine.checker.limits import Limits

try:
    child = Child.start(Path(sys.argv[1]), Limits())
except ProcessFailed as error:
    print(error)
else:
    print(child.held_by, child.ask("any", {"echo": "b"}, 10)["echo"])
    child.kill()
"""
ON_LAMBDA = {"AWS_LAMBDA_FUNCTION_NAME": "checker"}
PLATFORM = {"HEADGATE_CONFINED_BY": "platform"}
OF_ROOT = ["user"] if os.geteuid() == 0 else []


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    return install(tmp_path)


def started(binary: Path, variables: dict[str, str], *allow: str) -> str:
    """What a checker says that was started under a filter like Lambda's."""
    allowed = ["--allow", ",".join(allow)] if allow else []
    command = [sys.executable, like_lambda.__file__, *allowed, sys.executable, "-c", START, str(binary)]
    env = {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": "/tmp", **variables}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


@pytest.mark.parametrize("variables", [{}, ON_LAMBDA, PLATFORM], ids=["elsewhere", "no variable", "not on Lambda"])
def test_where_the_platform_is_not_the_wall_no_collector_starts_without_the_kernels(
    binary: Path, variables: dict[str, str]
) -> None:
    said = started(binary, variables)

    assert "could not" in said or "cannot be closed" in said, said


@pytest.mark.parametrize(
    ("allow", "walls"),
    [
        ((), ["platform", *OF_ROOT]),
        (("prctl",), ["platform", *OF_ROOT, "system calls"]),
        (("prctl", "seccomp"), ["platform", *OF_ROOT, "system calls"]),
        (("prctl", "chroot"), ["platform", *(["root directory"] if OF_ROOT else []), *OF_ROOT, "system calls"]),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else "",
)
def test_on_lambda_it_starts_and_tells_which_walls_hold(binary: Path, allow: tuple[str, ...], walls: list[str]) -> None:
    assert started(binary, ON_LAMBDA | PLATFORM, *allow) == f"{', '.join(walls)} b"


@pytest.mark.parametrize("name", ["seccomp", "landlock_create_ruleset", "ptrace", "unshare"])
def test_on_lambda_no_single_call_that_is_usable_keeps_it_from_starting(binary: Path, name: str) -> None:
    assert started(binary, ON_LAMBDA | PLATFORM, name).endswith(" b")
