"""A folder of collectors as it is between the two stages of a build: the first program, and a file that says so.

`make test` builds the first program and names a second version, so nothing is skipped there.
"""

import json
import os
from pathlib import Path
from typing import Final

import pytest

from headgate.settings import settings
from headgate_local.options import read_options

BUILT: Final = read_options(os.environ).collectors
VERSION: Final = settings().collector_version
FIRST: Final = BUILT / f"{VERSION}.first"
WHOLE: Final = BUILT / VERSION

needs_first_program: Final = pytest.mark.skipif(
    not (FIRST / "otelcol-contrib").is_file() and "HEADGATE_SECOND_COLLECTOR" not in os.environ,
    reason="the first program is not built: `make test` builds it, and so does `make collectors`",
)


def between_the_stages(folder: Path, seconds_left: int = 660) -> Path:
    """The folder, with the first program alone and the state of a build."""
    folder.mkdir(exist_ok=True)
    (folder / FIRST.name).symlink_to(FIRST.resolve())
    report(folder, {"percent": 25, "seconds_left": seconds_left})
    return folder


def report(folder: Path, state: dict[str, object]) -> None:
    """What the build says now."""
    (folder / f"{VERSION}.building").write_text(json.dumps(state))


def end(folder: Path) -> None:
    """The whole program is there, in the order in which a build does it."""
    (folder / VERSION).symlink_to(WHOLE.resolve())
    (folder / f"{VERSION}.building").unlink()
    (folder / FIRST.name).unlink()
