"""Between the two stages of a build: what the first program can answer, and what nobody can answer yet."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from headgate_engine.checker.errors import BeingBuilt, BuildFailed
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from headgate_engine.checker.supervisor import Checker
from tests.support import first_program
from tests.support.askers import ASKER
from tests.support.first_program import VERSION, needs_first_program

pytestmark = [pytest.mark.contract, pytest.mark.collector, needs_first_program]

COMMON: Final = """\
receivers: {otlp: {protocols: {grpc: {}}}}
processors:
  transform: {log_statements: ['set(log.severity_text, "ERROR")']}
exporters: {debug: {}}
service: {pipelines: {logs: {receivers: [otlp], processors: [transform], exporters: [debug]}}}
"""
KAFKA: Final = COMMON.replace("exporters: {debug: {}}", "exporters: {debug: {}, kafka: {}}")
# Each operation that reads a configuration, with the fields that it needs besides.
READING: Final[dict[str, dict[str, Any]]] = {
    "validate": {},
    "lint": {},
    "graph": {},
    "inspect": {},
    "policies": {},
    "rename": {},
    "mutants": {"pipelines": ["logs"], "max": 5},
    "prepare": {"target_pipeline": "logs", "signal_type": "logs", "sample": {"text": "a line"}},
}


@pytest.fixture
def collectors(tmp_path: Path) -> Path:
    return first_program.between_the_stages(tmp_path / "collectors")


@pytest.fixture
def checker(collectors: Path) -> Iterator[Checker]:
    made = Checker(Installed(collectors), VERSION, Limits(processes=1))
    yield made
    made.close()


def test_its_components_and_what_it_lacks_are_together_those_of_the_whole_one(checker: Checker) -> None:
    first = checker.describe(VERSION, asker=ASKER)
    whole = Checker(Installed(first_program.BUILT), VERSION, Limits(processes=1)).describe(VERSION, asker=ASKER)

    def named(entries: Any) -> set[tuple[str, str]]:
        types = ((one["kind"], one.get(name)) for one in entries for name in ("type", "deprecated_type"))
        return {(kind, type_) for kind, type_ in types if type_}

    assert named(first["components"]) | named(first["lacks"]) == named(whole["components"]) | named(whole["lacks"])
    assert not named(first["components"]) & named(first["lacks"])
    assert first["reduced"] is True


@pytest.mark.parametrize(("written", "valid"), [("", True), ("s", False)])
def test_a_text_of_its_components_has_the_verdict_of_the_whole_one(
    collectors: Path, checker: Checker, written: str, valid: bool
) -> None:
    yaml = COMMON.replace("grpc", f"grpc{written}")
    first = checker.call("validate", {"yaml": yaml}, asker=ASKER)
    first_program.end(collectors)
    whole = checker.call("validate", {"yaml": yaml}, asker=ASKER)

    assert first == whole | {"reduced": True}
    assert whole["valid"] is valid


@pytest.mark.parametrize("op", READING)
def test_whatever_is_asked_of_a_text_with_another_component_is_not_checked_yet(checker: Checker, op: str) -> None:
    with pytest.raises(BeingBuilt) as raised:
        checker.call(op, {"yaml": KAFKA, **READING[op]}, asker=ASKER)

    assert raised.value.detail == (
        f"exporters::kafka: the first build of collector {VERSION} lacks the exporter kafka; "
        "not checked yet: the whole collector is ready in about 11 minutes"
    )
    assert raised.value.retry_after == 15


@pytest.mark.parametrize("op", ["lint", "graph", "inspect", "rename", "mutants"])
def test_what_is_asked_of_a_text_of_its_components_is_answered(checker: Checker, op: str) -> None:
    assert checker.call(op, {"yaml": COMMON, **READING[op]}, asker=ASKER)


def test_once_the_whole_one_is_there_the_same_checker_asks_it(collectors: Path, checker: Checker) -> None:
    with pytest.raises(BeingBuilt):
        checker.call("validate", {"yaml": KAFKA}, asker=ASKER)
    assert [one.whole_in_seconds for one in checker.described(asker=ASKER)] == [660]
    first_program.end(collectors)

    assert checker.call("validate", {"yaml": KAFKA}, asker=ASKER)["valid"] is True
    [described] = checker.described(asker=ASKER)
    assert described.whole_in_seconds is None
    assert (described.description or {})["reduced"] is False


def test_if_the_whole_one_cannot_be_built_the_reason_is_said(collectors: Path, checker: Checker) -> None:
    first_program.report(collectors, {"failed": "no space left"})
    with pytest.raises(BuildFailed, match=r"kafka, and the whole collector could not be built: no space left$"):
        checker.call("lint", {"yaml": KAFKA}, asker=ASKER)

    assert checker.call("validate", {"yaml": COMMON}, asker=ASKER)["valid"] is True
