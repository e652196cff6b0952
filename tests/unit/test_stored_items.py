"""Items of every stored class as a release wrote them: each later release reads them the same, and writes the same."""

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest

from headgate.runs import store as runs
from tests.support.aws import aws_for
from tests.support.stored import recording, values
from tests.support.stored.flows import FLOWS, MAKES, Make

RECORDED: Final = cache(recording.recorded)

every_flow = pytest.mark.parametrize("name", FLOWS)
every_make = pytest.mark.parametrize("make", MAKES, ids=[make.start for make in MAKES])


@pytest.fixture(scope="module", autouse=True)
def _tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tables whose items docs/data.md need not list: earlier releases had others."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for _ in aws_for(monkeypatch, tmp_path_factory.mktemp("objects"), documented=False):
            yield


def lacking(value: Any, recorded: Any, place: str = "") -> list[str]:
    """What differs from what is recorded. A later release may have more attributes and fields."""
    if isinstance(recorded, dict) and isinstance(value, dict):
        missing = [f"{place}.{name} is missing" for name in recorded if name not in value]
        common = [(name, each) for name, each in recorded.items() if name in value]
        return missing + [line for name, each in common for line in lacking(value[name], each, f"{place}.{name}")]
    if isinstance(recorded, list) and isinstance(value, list) and len(recorded) == len(value):
        pairs = enumerate(zip(value, recorded, strict=True))
        return [line for n, (each, before) in pairs for line in lacking(each, before, f"{place}[{n}]")]
    if isinstance(recorded, str) and recorded[:1] in ("{", "[") and isinstance(value, str):
        return lacking(json.loads(value), json.loads(recorded), place)
    # When something expires may change with what it is kept for.
    return [] if value == recorded or place.endswith(".expires.N") else [f"{place}: {value!r} instead of {recorded!r}"]


@every_flow
@every_make
def test_items_that_an_earlier_release_wrote_are_read_the_same(name: str, make: Make) -> None:
    known = RECORDED()[name][make.start]
    recording.clear()
    recording.store(known["items"])

    read = {label: values.as_json(value) for label, value in FLOWS[name].read(make.start).items()}

    assert lacking(read, known["read"]) == []


@every_flow
@every_make
def test_items_are_written_as_an_earlier_release_wrote_them(name: str, make: Make) -> None:
    recording.clear()

    FLOWS[name].write(make)

    known = RECORDED()[name][make.start]
    assert lacking(recording.stored(), known.get("now", known["items"])) == []


@every_make
def test_a_run_that_an_earlier_release_began_is_one_that_has_not_ended(make: Make) -> None:
    items = copy.deepcopy(RECORDED()["runs"][make.start]["items"])
    for item in items["runs"]:
        item |= {"status": {"S": "Queued"}} if item["run_id"]["S"].startswith("run_") else {}
    recording.clear()
    recording.store(items)

    assert [run.id for run in runs.unfinished()] == [f"run_{make.start}"]
