"""A folder of collectors as it is between the two stages of a build: the first program, and a file that says so.

`make test` builds the first program and names a second version, so nothing is skipped there.
"""

import json
import os
from pathlib import Path
from typing import Final

import pytest

from headgate.foundation.settings import settings
from headgate_local.options import read_options
from tests.support.cli_support import EDGE
from tests.support.programs import cached_programs
from tests.support.service import ROOT

BUILT: Final = read_options(os.environ).collectors
VERSION: Final = settings().collector_version
FIRST: Final = BUILT / f"{VERSION}.first"
WHOLE: Final = BUILT / VERSION

KAFKA: Final = EDGE.replace("exporters:\n", "exporters:\n  kafka: {}\n", 1)
"""A text with a component that the first program lacks."""
# `list` names the packages, `run` extracts descriptions, and `build` says each package, then waits to be told to end
# by a file: `first` or `whole`, with the error if it is to fail.
_GO: Final = """#!/bin/sh
case "$1" in
  env) echo go9.0.0 ;;
  list) for n in 1 2 3 4; do echo "package$n"; done ;;
  build)
    for output; do case "$last" in -o) break ;; esac; last="$output"; done
    program="{programs}/${{output##*/}}"
    case "$*" in
      *otelcol-contrib*)
        case "$*" in *./first) stage=first program="{programs}/first" ;; *) stage=whole ;; esac
        echo package1 >&2; echo package2 >&2; echo $$ >{folder}/building
        until [ -e {folder}/$stage ]; do sleep 0.1; done
        if [ -s {folder}/$stage ]; then cat {folder}/$stage >&2; exit 1; fi ;;
    esac
    ln "$program" "$output" 2>/dev/null || cp "$program" "$output" ;;
esac
"""

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


def without_collector(folder: Path) -> dict[str, str]:
    """The variables of a service with an empty cache, whose builds end once there are the files `first` and `whole`."""
    programs, cache = folder / "programs", folder / "cache"
    programs.mkdir()
    for name, program in {**cached_programs(), "first": FIRST / "otelcol-contrib"}.items():
        (programs / name).symlink_to(program.resolve())
    (folder / "go").write_text(_GO.format(folder=folder, programs=programs))
    (folder / "go").chmod(0o755)
    return {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "HEADGATE_CACHE": str(cache),
        "HEADGATE_COLLECTORS_DIR": str(cache / "collectors"),
        "HEADGATE_BUILD": str(ROOT / "layers"),
    }
