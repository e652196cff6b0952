"""Test runs after public bug reports, in which a Success had lost something without a word: what they tell."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.service import Service, running_service

pytestmark = [pytest.mark.contract, pytest.mark.collector]

FIELD: Final = Path(__file__).parent / "field"
# More attributes: beside another reference a value is a text, and a default is read like a value.
VARIABLES: Final = """\
      - {key: b, value: "${env:ID}${env:NONE:-}", action: upsert}
      - {key: c, value: "${env:OTHER:-00032}", action: upsert}
"""


PROFILES: Final = """\
receivers:
  otlp: {protocols: {grpc: }}
processors:
  transform:
    profile_statements:
      - set(profile.original_payload_format, "pprof")
exporters:
  debug:
service:
  pipelines:
    profiles: {receivers: [otlp], processors: [transform], exporters: [debug]}
"""
# As 0.139.0 writes profiles; 0.158.0 names the list of samples otherwise.
OF_PROFILES: Final = {
    "resourceProfiles": [
        {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
            "scopeProfiles": [{"profiles": [{"sample": [{"values": ["1"]}, {"values": ["2"]}]}]}],
        }
    ],
    "dictionary": {"stringTable": [""]},
}
PROFILED: Final = {
    "yaml": PROFILES,
    "sample": OF_PROFILES,
    "signal_type": "profiles",
    "target_pipeline": "profiles",
    "duration_seconds": 1,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


def run_of(service: Service, name: str, signal: str, more: str = "", **env: str) -> dict[str, Any]:
    """Run the report's configuration, with `more` behind its processor."""
    folder = FIELD / name
    (sample,) = folder.glob("sample.*")
    asked = {
        "yaml": (folder / "config.yaml").read_text().replace("exporters:", f"{more}exporters:", 1),
        "sample": sample.read_text(),
        "signal_type": signal,
        "target_pipeline": signal,
        "duration_seconds": 1,
        "env": env,
    }
    return ended(service, asked)


def ended(service: Service, asked: dict[str, Any]) -> dict[str, Any]:
    with service.client() as http:
        started = http.post("/testing/runs", json=asked)
        assert started.status_code == 202, started.text
        until = time.monotonic() + 300
        while time.monotonic() < until:
            run: dict[str, Any] = http.get(f"/testing/runs/{started.json()['id']}").json()
            if run["status"] not in ("Queued", "Running"):
                return run
            time.sleep(0.2)
    raise AssertionError("the run does not end")


def test_an_operators_error_is_told_by_its_component(service: Service) -> None:
    run = run_of(service, "55-severity-parse-ints", "logs")

    assert run["status"] == "Success"
    told = [(one["component"], one["count"], one["message"]) for one in run["component_errors"]]
    assert (
        "receivers::filelog",
        2,
        "json_parser: Failed to process entry: severity parser: parse: type int64 cannot be a severity",
    ) in told


def test_a_variable_that_becomes_a_number_is_told_without_its_value(service: Service) -> None:
    run = run_of(service, "36-env-leading-zero", "logs", VARIABLES, ID="00031")
    with service.client() as http:
        output = http.get(f"/testing/runs/{run['id']}/output").text

    said = [one["message"] for one in run["notes"] if one["code"] == "changed_value"]
    assert [one.partition(" is read as a number")[0] for one in said] == [
        "the value of ${env:ID} at processors::resource::attributes::0::value",
        "the default of ${env:OTHER} at processors::resource::attributes::2::value",
    ]
    assert "31" not in "".join(said)
    # What the collector makes of each: of the way out, too.
    for key, value in (("account.id", '"intValue":"25"'), ("b", '"stringValue":"00031"'), ("c", '"intValue":"26"')):
        assert f'{{"key":"{key}","value":{{{value}}}}}' in output
    assert said[0].endswith('"${env:ID}${env:NONE:-}"')


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("06-count-default-emits-nothing", "connectors::count has no settings and puts out no metrics"),
        ("60-log-sampling-without-trace-id", "drops log records without a trace ID, and the sample has such"),
    ],
)
def test_a_note_names_what_lost_the_records(service: Service, name: str, words: str) -> None:
    run = run_of(service, name, "logs")

    assert run["records"]["out"].get("logs", 0) == run["records"]["out"].get("metrics", 0) == 0
    assert run["notes"][0]["code"] == "nothing_came_out"
    (dropped,) = [one["message"] for one in run["notes"] if one["code"] == "drops_records"]
    assert words in dropped


def test_a_pipeline_of_profiles_runs_with_rules_on_profiles_and_their_samples(service: Service) -> None:
    rules = [
        {"name": "set", "condition": 'profile.original_payload_format == "pprof"', "expect": "all"},
        {"name": "samples", "condition": "true", "context": "profilesample", "expect": "count", "min": 2, "max": 2},
        {"name": "resource", "condition": 'attributes["service.name"] == "shop"', "context": "resource"},
    ]

    run = ended(service, PROFILED | {"rules": rules, "trace": True})

    assert run["status"] == "Success", run["stderr"]
    assert run["records"] == {"in": {"profiles": 2}, "out": {"profiles": 2}}
    assert [one["message"] for one in run["validation_results"]] == [
        "1 of 1 profile matched",
        "2 of 2 samples of profiles matched",
        "1 of 1 resource matched",
    ]
    assert [(one["code"], one["message"]) for one in run["notes"]] == [
        ("no_steps", "this run has no steps: profiles are not traced")
    ]


@pytest.mark.parametrize(
    ("more", "place", "words"),
    [
        ({"feature_gates": ["-service.profilesSupport"]}, ["body", "feature_gates"], "leave out -service"),
        ({"sample": {"resourceLogs": []}}, ["body", "sample"], "contains logs, but the run is for profiles"),
        ({"rules": [{"name": "a", "condition": "true", "context": "log"}]}, ["body", "rules", 0, "context"], "profile"),
        (
            {"sample": json.loads(json.dumps(OF_PROFILES).replace('"sample"', '"samples"'))},
            ["body", "sample"],
            "whose form another release wrote",
        ),
    ],
    ids=["without their gate", "a sample of logs", "a rule on logs", "another release's form"],
)
def test_a_run_of_profiles_that_cannot_be_is_refused_with_the_field(
    more: dict[str, Any], place: list[str | int], words: str, service: Service
) -> None:
    with service.client() as http:
        refused = http.post("/testing/runs", json=PROFILED | more)

    assert refused.status_code == 422
    assert (refused.json()["errors"][0]["loc"], words in refused.json()["detail"]) == (place, True)
