"""Requests for test runs that are refused, and why no run is made."""

from dataclasses import replace

import pytest
from botocore.exceptions import ClientError

from configurations.app import router as configurations_router
from headgate import checker
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.runs import files, service, store
from headgate.runs.lifecycle import TestingUnavailable
from headgate.storage import aws
from testing.app import router, rules_router
from tests.support.members import API, JoinWith, Member
from tests.support.runs import VALID, get, queued


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


REFUSED = {
    "no source": {"yaml": None},
    "two sources": {"configuration_id": new_id("cfg"), "version_number": 1},
    "a version without its configuration": {"yaml": None, "version_number": 1},
    "a configuration without its version": {"yaml": None, "configuration_id": new_id("cfg")},
    "an id that is not a configuration's": {"yaml": None, "configuration_id": "x", "version_number": 1},
    "an empty yaml": {"yaml": ""},
    "no sample": {"sample": None},
    "a sample that is a number": {"sample": 5},
    "an empty list of documents": {"sample": []},
    "an unknown signal": {"signal_type": "events"},
    "no duration": {"duration_seconds": 0},
    "a duration over a minute": {"duration_seconds": 61},
    "a duration as text": {"duration_seconds": "5"},
    "a duration as a truth value": {"duration_seconds": True},
    "a collector version in words": {"collector_version": "latest"},
    "an unknown distribution": {"collector_distribution": "otelcol"},
    "no rules in a list": {"rules": []},
    "too many rules": {"rules": [{"name": str(n), "condition": "true"} for n in range(21)]},
    "two rules of one name": {"rules": [{"name": "a", "condition": "true"}] * 2},
    "a rule without a condition": {"rules": [{"name": "a"}]},
    "a condition that is too long": {"rules": [{"name": "a", "condition": "x" * 4097}]},
    "an unknown expectation": {"rules": [{"name": "a", "condition": "true", "expect": "most"}]},
    "a count without bounds": {"rules": [{"name": "a", "condition": "true", "expect": "count"}]},
    "bounds without a count": {"rules": [{"name": "a", "condition": "true", "min": 1}]},
    "a negative bound": {"rules": [{"name": "a", "condition": "true", "expect": "count", "min": -1}]},
    "a bound that no engine holds": {"rules": [{"name": "a", "condition": "true", "expect": "count", "max": 10**30}]},
    "bounds the wrong way round": {
        "rules": [{"name": "a", "condition": "true", "expect": "count", "min": 2, "max": 1}]
    },
    "an unknown context": {"rules": [{"name": "a", "condition": "true", "context": "event"}]},
    "an unknown field of a rule": {"rules": [{"name": "a", "condition": "true", "severity": "high"}]},
    "rules and saved rules": {"rules": [{"name": "a", "condition": "true"}], "use_saved_rules": True},
    "saved rules of a yaml": {"use_saved_rules": True},
    "an unknown format": {"sample_format": "xml"},
    "an empty name of the sample": {"sample_name": ""},
    "a name of the sample without an end": {"sample_name": "/" + "x" * 1_024},
    "a name of the sample that is a list": {"sample_name": ["/x"]},
    "a feature gate that is not in a list": {"feature_gates": "a"},
    "an empty feature gate": {"feature_gates": [""]},
    "a feature gate without an end": {"feature_gates": ["a" * 201]},
    "too many feature gates": {"feature_gates": ["a"] * 21},
    "an output pipeline that is not in a list": {"output_pipelines": "logs"},
    "an empty name of an output pipeline": {"output_pipelines": [""]},
    "too many output pipelines": {"output_pipelines": [f"logs/{n}" for n in range(21)]},
    "an unknown field": {"samples": "x"},
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_request_that_is_not_right_is_422(what: str, ann: Member) -> None:
    body = {name: value for name, value in {**VALID, **REFUSED[what]}.items() if value is not None}

    response = ann.http.post(f"{API}/testing/runs", json=body)

    assert response.status_code == 422, response.text
    assert response.json()["errors"]


@pytest.mark.parametrize("sample", [5, None, True, [], [5]])
def test_a_sample_of_another_type_is_told_once_what_it_may_be(sample: object, ann: Member) -> None:
    (error,) = ann.http.post(f"{API}/testing/runs", json={**VALID, "sample": sample}).json()["errors"]

    assert error["loc"] == ["body", "sample"]
    assert error["message"].startswith("This must be text, an OTLP/JSON document or a list of such documents")


def test_an_unknown_distribution_is_told_in_the_words_of_the_specification(ann: Member) -> None:
    response = ann.http.post(f"{API}/testing/runs", json={**VALID, "collector_distribution": "otelcol"})

    assert response.json()["detail"] == "Unknown collector distribution: 'otelcol'"


def test_when_the_checker_cannot_be_asked_no_run_is_made(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", "/nonexistent")
    settings.cache_clear()
    checker.close()

    response = ann.http.post(f"{API}/testing/runs", json=VALID)

    assert response.status_code == 503, response.text
    assert response.json()["detail"].endswith("; no test run was made, try again shortly")
    assert (
        aws.dynamodb().scan(
            TableName=settings().runs_table,
            FilterExpression="organization_id = :mine",
            ExpressionAttributeValues={":mine": {"S": ann.organization_id}},
        )["Count"]
        == 0
    )


def test_what_is_too_costly_is_named_by_what_the_request_says_of_it(
    join: JoinWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> dict[str, object]:
        raise checker.Refused("too_costly", "It has 3,000 components")

    http = join([router, rules_router, configurations_router]).http
    created = http.post(f"{API}/configurations", json={"name": "c", "yaml": VALID["yaml"]}).json()["id"]
    monkeypatch.setattr(checker.COLLECTORS, "call", refuse)
    of_text = http.post(f"{API}/testing/runs", json=VALID).json()
    stored = {name: value for name, value in VALID.items() if name != "yaml"}
    stored |= {"configuration_id": created, "version_number": 1}
    of_version = http.post(f"{API}/testing/runs", json=stored).json()
    rules = {"signal_type": "logs", "rules": [{"name": "r", "condition": "true"}]}
    of_rules = http.put(f"{API}/configurations/{created}/versions/1/validation-pipelines/logs", json=rules).json()

    assert {answer["code"] for answer in (of_text, of_version, of_rules)} == {"yaml_too_costly"}
    assert of_text["errors"][0]["loc"] == ["body", "yaml"]
    assert of_version["errors"][0]["loc"] == ["body", "version_number"]
    assert of_rules["errors"][0]["loc"] == ["path", "n"]


def test_where_testing_is_not_set_up_no_run_is_made_and_all_else_is_there(
    ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = queued(ann)
    monkeypatch.setenv("HEADGATE_TEST_RUNS", "no")
    settings.cache_clear()

    response = ann.http.post(f"{API}/testing/runs", json=VALID)

    assert (response.status_code, response.json()["code"]) == (503, "testing_not_set_up")
    assert response.json()["detail"] == "Testing is not set up on this deployment; no test run was made"
    assert get(ann, run).status_code == 200


def test_when_no_execution_can_be_started_no_run_is_left(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    run = replace(queued(ann), id=new_id("run"))
    monkeypatch.setattr(aws, "stepfunctions", _Down)

    with pytest.raises(TestingUnavailable):
        service.RUNS.launch(run, lambda: files.put(run.id, "sample", "x"))

    assert store.find(run.id) is None
    assert files.text(run.id, "sample") is None


class _Down:
    """Step Functions, out of reach."""

    def start_execution(self, **_: str) -> None:
        raise ClientError({"Error": {"Code": "ServiceUnavailable"}}, "StartExecution")
