"""Checks of configurations inside of other texts: ConfigMaps, custom resources, Helm values."""

import json
from typing import Final

import pytest

from headgate_engine.rules.engine import Unpreparable, signals_of
from tests.support.askers import ASKER
from tests.support.members import API, JoinWith, Member
from tests.support.misplaced import of
from tests.support.validated import checked, of_code
from validation.app import router as validation_router

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.usefixtures("own_checker")]

BROKEN: Final = """\
processors:
  filter:
    logs:
      log_record:
        - body == "é" and Nope(1)
service: {pipelines: {}}
"""
SETTINGS: Final = BROKEN.replace("\n", "\n    ")
# For each text around the configuration: the text, and the line and column of the mistake.
AROUND: Final[dict[str, tuple[str, tuple[int, int | None]]]] = {
    "a resource": (f"apiVersion: opentelemetry.io/v1beta1\nkind: A\nspec:\n  config:\n    {SETTINGS}", (9, 31)),
    "a map": (f"apiVersion: v1\nkind: ConfigMap\ndata:\n  a.yaml: |\n    {SETTINGS}", (9, 31)),
    "a map with CRLF line endings": (f"data:\n  a.yaml: |\n    {SETTINGS}".replace("\n", "\r\n"), (7, 31)),
    "a text with escapes": (f"data:\n  a.yaml: {json.dumps(BROKEN)}\n", (2, None)),
    "values with a key twice": (f"config:\n    {SETTINGS}\nimage: a\nimage: b\n", (6, 31)),
    "a second document": (f"kind: A\n---\nconfig:\n    {SETTINGS}", (8, 31)),
}
STARTED: Final = "processors: {filter: {logs: {log_record: ['body == nil']}}}\n"


def test_expressions_of_a_configuration_inside_of_another_text_are_linted_at_their_places(join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")

    answers = checked(ann, {name: text for name, (text, _) in AROUND.items()}, "?lint=true")

    for name, (text, place) in AROUND.items():
        alone = ann.http.post(f"{API}/ottl/lint", json={"yaml": text}).json()
        for linted in (answers[name]["lint"], alone):
            assert (linted["valid"], linted["checked"]) == (False, 1), (name, linted)
            location = linted["items"][0]["location"]
            assert (location["line"], location["column"]) == place, name
        # One mistake is one finding.
        lines = [finding["line"] for finding in answers[name]["findings"] if "Nope" in finding["message"]]
        assert lines == [place[0]], name


def test_policies_and_starts_look_into_another_text_at_its_places(join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")
    inner = of("debug: {}", STARTED).replace("[otlp]", "[otlp], processors: [filter]").replace("\n", "\n    ")
    texts = {
        "map": f"kind: ConfigMap\ndata:\n  a.yaml: |\n    {inner}",
        "escapes": f"data:\n  a.yaml: {json.dumps(of('debug: {}'))}\n",
        "none": "apiVersion: apps/v1\nkind: Deployment\n",
    }

    answers = checked(ann, texts, "?policies=true&start=true&lint=true")

    places = {
        name: [(each["line"], each["column"]) for each in of_code(answer, "memory_limiter_missing")]
        for name, answer in answers.items()
    }
    assert places == {"map": [(10, 37)], "escapes": [(2, 11)], "none": []}
    assert answers["map"]["start"]["started"] == ["processors::filter"]
    for part in ("lint", "policies"):
        assert answers["none"][part]["problem"]["detail"].startswith("There is no configuration of a collector")
    refused = ann.http.post(f"{API}/ottl/lint", json={"yaml": texts["none"]})
    assert (refused.status_code, refused.json()["errors"][0]["loc"]) == (422, ["body", "yaml"])


def test_a_second_configuration_in_a_text_is_told_and_not_linted_as_right(join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")
    inner = of("debug: {}").replace("\n", "\n    ").rstrip() + "\n"
    text = f"data:\n  a.yaml: |\n    {inner}  b.yaml: |\n    {inner}"

    answer = checked(ann, {"it": text}, "?lint=true")["it"]

    place = next(at for at, line in enumerate(text.splitlines(), 1) if "b.yaml" in line), 11
    warning = of_code(answer, "wrapped_configuration")[-1]
    assert (warning["severity"], warning["line"], warning["column"]) == ("warning", *place)
    assert warning["message"] == "another configuration is under data.b.yaml, and not checked here: take each out"
    for linted in (answer["lint"], ann.http.post(f"{API}/ottl/lint", json={"yaml": text}).json()):
        locations = [(each["location"]["line"], each["location"]["column"]) for each in linted["skipped"]]
        assert (linted["valid"], locations) == (False, [place])


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (f"spec:\n  config:\n    {SETTINGS}", "under spec.config: take it out with `headgate config import`"),
        ("kind: Deployment\n", "it has none"),
    ],
)
def test_a_run_of_another_text_says_where_its_configuration_is(text: str, end: str) -> None:
    with pytest.raises(Unpreparable) as refused:
        signals_of(text, "logs", "logs", asker=ASKER)

    assert (refused.value.field, refused.value.message.endswith(end)) == ("target_pipeline", True)
