"""`ottl_reference` of every installed collector, held against what its own linter accepts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.checker import Checker
from headgate.foundation.settings import settings
from headgate_engine.checker.errors import Refused
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from tests.support.askers import ASKER
from tests.support.second_version import versions_in_turn

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

# What the linter reads without a component: conditions by the filter, statements by the transform processor.
BY_KIND = {"conditions": ("filter", "{} != nil"), "statements": ("transform", "set({0}, {0})")}


@pytest.fixture(scope="module", params=versions_in_turn(2))
def checker(request: pytest.FixtureRequest) -> Iterator[Checker]:
    opened = Checker(Installed(Path(settings().collectors_dir)), request.param, Limits(processes=1, request_seconds=60))
    yield opened
    opened.close()


def ask(checker: Checker, operation: str, **fields: object) -> dict[str, Any]:
    return checker.call(operation, fields, asker=ASKER)


def reference(checker: Checker, component: str, context: str) -> dict[str, Any]:
    return ask(checker, "ottl_reference", component=component, context=context)


@pytest.mark.parametrize("context", ["log", "span", "datapoint"])
@pytest.mark.parametrize("kind", BY_KIND)
def test_the_linter_accepts_every_path_that_is_told(checker: Checker, kind: str, context: str) -> None:
    component, pattern = BY_KIND[kind]
    paths = [
        path["path"]
        for path in reference(checker, component, context)["paths"]
        if kind == "conditions" or path["writable"]
    ]

    linted = ask(checker, "lint", context=context, **{kind: [pattern.format(path) for path in paths]})

    assert len(paths) > 30
    assert linted["valid"], [item for item in linted["items"] if item["error"]]


def test_the_list_leads_to_every_reference(checker: Checker) -> None:
    listed = ask(checker, "ottl_reference")["components"]

    assert {"transform", "filter", "tail_sampling", "count"} <= {one["component"] for one in listed}
    for one in listed:
        told = reference(checker, one["component"], one["contexts"][0])
        assert (told["component"], told["kind"], told["context"]) == (one["component"], one["kind"], one["contexts"][0])
        assert told["paths"]
        assert all(entry["description"] for name in ("paths", "functions", "enums") for entry in told[name])


def test_a_component_answers_to_its_name_in_another_version(checker: Checker) -> None:
    assert reference(checker, "signaltometrics", "span")["component"] in ("signaltometrics", "signal_to_metrics")


@pytest.mark.parametrize(
    ("component", "context", "says"),
    [("batch", "log", "transform"), ("transform", "logs", "datapoint"), ("", "log", "component is missing")],
)
def test_an_unknown_name_is_refused_with_those_that_there_are(
    checker: Checker, component: str, context: str, says: str
) -> None:
    with pytest.raises(Refused, match=says) as refused:
        reference(checker, component, context)

    assert refused.value.code == "bad_request"
