"""The collector and the supervisor, compiled again with an empty build cache: in `make trust` only, 20 minutes."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.service import ROOT

pytestmark = pytest.mark.full
LAYERS = ROOT / "layers"


def built(module: str, *arguments: str, **variables: str) -> str:
    """The SHA-256 of the program whose path the build prints as its last line."""
    path = os.pathsep.join(str(LAYERS / name) for name in ("collector", "supervisor"))
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=os.environ | {"PYTHONPATH": path} | variables,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    with Path(done.stdout.splitlines()[-1]).open("rb") as program:
        return hashlib.file_digest(program, "sha256").hexdigest()


@pytest.mark.parametrize(
    "build", [("supervisor_build", "supervisor"), ("building", "collector")], ids=["supervisor", "collector"]
)
def test_the_same_sources_compiled_again_are_the_same_program(build: tuple[str, ...], tmp_path: Path) -> None:
    first = built(*build)
    again = built(
        *build,
        HEADGATE_CACHE=str(tmp_path / "cache"),
        HEADGATE_COLLECTORS_DIR=str(tmp_path / "collectors"),
        GOCACHE=str(tmp_path / "go-build"),
    )

    assert again == first
