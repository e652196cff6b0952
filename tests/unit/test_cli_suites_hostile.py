"""`headgate test suite` against a server that answers what it should not."""

import random
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.answering import Server
from tests.support.cli_in_process import Run
from tests.support.suites_served import (
    CHANGED,
    DIFFERENT,
    ERRORED,
    FAILED,
    OUTPUT,
    RULE,
    TEST,
    YAML,
    serve,
)

pytestmark = pytest.mark.usefixtures("suites_at_once")


def test_a_hostile_server_forges_no_command_of_a_workflow(server: Server, run: Run, folder: Path) -> None:
    forged = "x\n::error::FORGED\n##[error]FORGED"
    rule = RULE | {"passed": False, "name": forged, "message": forged, "condition": forged, "expect": forged}
    record = CHANGED | {"name": forged, "signal": forged, "fields": [{"path": forged, "left": forged}]}
    hostile = FAILED | {"validation_results": [rule], "differences": DIFFERENT | {"differences": [record]}}
    serve(server, {"one": hostile, forged: ERRORED | {"stderr": forged}})
    for line in ("test suite edge.yaml", "test suite edge.yaml --format github", "test suite edge.yaml --json"):
        _, out, err = run(line)
        commands = [one for one in (out + err).splitlines() if one.lstrip().startswith("::") or "##[" in one]
        assert [one for one in commands if not one.startswith("::error file=edge.")] == []


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_of_another_shape_breaks_no_report(server: Server, run: Run, folder: Path, seed: int) -> None:
    (folder / "edge.tests" / "one.yaml").write_text(f"{TEST}expected: '{{}}'\n")
    chance = random.Random(seed)
    whole = FAILED | {"differences": DIFFERENT, "output": OUTPUT}
    answers = [{field: garbled(part, chance) for field, part in whole.items()} for _ in range(4)]
    for number in range(3):
        (folder / f"n{number}.yaml").write_text(YAML)
        shutil.copytree(folder / "edge.tests", folder / f"n{number}.tests")
    serve(server, *({"one": answer} for answer in answers))
    for more in ("--format github --junit report.xml", "--json", "--update --yes"):
        _, _, err = run(f"test suite {more}")
        assert "Traceback" not in err
    ElementTree.fromstring((folder / "report.xml").read_bytes())


def garbled(value: Any, chance: random.Random) -> Any:
    """The value with some of its parts replaced by what does not belong there."""
    if chance.random() < 0.04:
        return chance.choice([None, True, -1, 1e300, "", "x\n::y", [], {}, [[]], [{}], {"a": []}, "\ud800"])
    if isinstance(value, dict):
        return {key: garbled(part, chance) for key, part in value.items()}
    return [garbled(part, chance) for part in value] if isinstance(value, list) else value
