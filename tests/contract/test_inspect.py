"""`inspect`, `rename` and `describe` of every installed collector, over the configurations of the linked modules."""

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.checker import Checker
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from tests.support.askers import ASKER
from tests.support.second_version import versions_in_turn
from tests.support.sizes import either
from tests.support.verdict_parity import BROKEN, configurations_of_the_modules

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

FLOWS = Path(__file__).resolve().parents[2] / "flows"
# The collector builds the pipelines in no fixed order, so that some texts get one of several answers.
TRIES = 30


@pytest.fixture(scope="module", params=versions_in_turn(1))
def checker(request: pytest.FixtureRequest) -> Iterator[Checker]:
    opened = Checker(Installed(Path(settings().collectors_dir)), request.param, Limits(processes=1, request_seconds=60))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    found = dict(configurations_of_the_modules(settings().collector_version))
    found |= {path.name: path.read_text() for path in sorted(BROKEN.glob("*.yaml"))}
    found |= {str(path.relative_to(FLOWS)): path.read_text() for path in sorted(FLOWS.rglob("*.yaml"))}
    assert len(found) > 300
    return dict(list(found.items())[:: either(8, 1)])


def ask(checker: Checker, operation: str, **fields: object) -> dict[str, Any]:
    return checker.call(operation, fields, asker=ASKER)


def findings(result: dict[str, Any]) -> list[list[tuple[Any, ...]]]:
    return [
        [(one["message"], one["component_path"], one["line"], one["column"]) for one in result[kind]]
        for kind in ("errors", "warnings")
    ]


def test_the_verdict_and_the_findings_are_those_of_validate(checker: Checker, texts: dict[str, str]) -> None:
    differing, lacking = [], 0
    for name, text in texts.items():
        inspected = ask(checker, "inspect", yaml=text, env={})
        if inspected["not_in_build"]:
            lacking += 1
            assert inspected["valid"] is (False if inspected["errors"] else None), name
            continue
        for _ in range(TRIES):
            validated = ask(checker, "validate", yaml=text, env={})
            if (inspected["valid"], findings(inspected)) == (validated["valid"], findings(validated)):
                break
        else:
            differing.append(name)

    assert differing == []
    assert len(texts) - lacking > len(texts) // 10


def test_the_answer_is_the_same_again_and_says_nothing_of_the_machine(checker: Checker, texts: dict[str, str]) -> None:
    # A shorter name of a host is a part of many words.
    facts = [fact for fact in (socket.gethostname(), str(Path.home())) if len(fact) > 5 and fact != "localhost"]
    unlike, telling = [], []
    for name, text in texts.items():
        first, second = (ask(checker, "inspect", yaml=text, env={})["components"] for _ in range(2))
        if [component["defaults"] for component in first] != [component["defaults"] for component in second]:
            unlike.append(name)
        told = json.dumps([component["defaults"] for component in first])
        telling += [name for fact in facts if fact in told]
        assert not re.search(r"0x[0-9a-f]{6,}", told), name

    assert unlike == []
    assert telling == []


def test_renaming_changes_only_names_and_nothing_the_second_time(checker: Checker, texts: dict[str, str]) -> None:
    names = {
        component["deprecated_type"]: component["type"]
        for component in ask(checker, "describe")["components"]
        if component["deprecated_type"]
    }
    renamed = 0
    for name, text in texts.items():
        before = ask(checker, "inspect", yaml=text, env={})
        if not before["components"]:
            continue  # not a configuration
        result = ask(checker, "rename", yaml=text, env={})
        renamed += bool(result["renames"])
        assert {one["from"]: one["to"] for one in result["renames"]}.items() <= names.items(), name
        assert (result["yaml"] == text) == (not result["renames"]), name
        again = ask(checker, "rename", yaml=result["yaml"], env={})
        assert (again["yaml"], again["renames"]) == (result["yaml"], []), name
        after = ask(checker, "inspect", yaml=result["yaml"], env={})
        kept = {one["component_path"] for one in result["not_renamed"]}
        assert {one["component_path"] for one in after["components"] if one["renamed_to"]} <= kept, name
        assert (before["valid"], len(before["errors"])) == (after["valid"], len(after["errors"])), name

    assert bool(renamed) == bool(names)


def test_every_component_has_a_module_and_every_gate_a_stage(checker: Checker) -> None:
    described = ask(checker, "describe")

    kinds = {"receiver", "processor", "exporter", "connector", "extension", "provider"}
    assert {component["kind"] for component in described["components"]} == kinds
    assert [component for component in described["components"] if " v" not in component["module"]] == []
    assert len({(component["kind"], component["type"]) for component in described["components"]}) == len(
        described["components"]
    )
    assert described["reduced"] == bool(described["lacks"])
    assert {gate["stage"] for gate in described["feature_gates"]} <= {"Alpha", "Beta", "Stable", "Deprecated"}
    assert len(described["feature_gates"]) > 50
    assert all(re.fullmatch(r"v\d+\.\d+\.\d+(-\w+)?|", gate["from_version"]) for gate in described["feature_gates"])
