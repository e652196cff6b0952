"""What a build says of both of its stages, by the parts of this module that count Go's lines."""

import json
import subprocess
import sys
from typing import Any, Final

from tests.support.service import ROOT

# In a process of its own: this project does not install the package `building`.
REPORTS: Final = """
import json, sys
from building import progress
stage, modules, packages, done, compiled = sys.argv[1], *map(int, sys.argv[2:])
shown = progress.Progress("", None, getattr(progress, stage), compiled)
shown.modules, shown.packages, shown.done = modules, packages, done
print(json.dumps(shown.report()))
"""


def report(stage: str, *, modules: int = 0, packages: int = 0, done: int = 0, compiled: int = 0) -> dict[str, Any]:
    arguments = [stage, *map(str, (modules, packages, done, compiled))]
    command = [sys.executable, "-c", REPORTS, *arguments]
    printed = subprocess.run(
        command, env={"PYTHONPATH": str(ROOT / "layers" / "collector")}, stdout=subprocess.PIPE, check=True
    ).stdout
    said: dict[str, Any] = json.loads(printed)
    return said


def test_at_the_beginning_it_says_the_usual_time_of_each_stage() -> None:
    assert report("FIRST") == {"percent": 0, "seconds_left": 920, "first_seconds_left": 220}
    assert report("WHOLE") == {"percent": 0, "seconds_left": 900}


def test_the_second_stage_goes_on_where_the_first_one_ended() -> None:
    first = report("FIRST", packages=1300, done=1300)
    second = report("REST", modules=0)

    assert first["percent"] <= second["percent"] == 23
    assert second["seconds_left"] == 700


def test_what_the_first_stage_has_compiled_is_not_waited_for() -> None:
    half = report("REST", packages=5000, done=1850, compiled=1300)

    assert half["percent"] == 66
