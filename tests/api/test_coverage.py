"""Coverage jobs without a collector that runs: what starts one, its cases, and what is made of their outputs."""

import json
from typing import Any

import pytest
from httpx2 import Response

from configurations.app import router as configurations_router
from headgate.foundation.settings import settings
from headgate.runs import files, turns
from headgate.runs.jobs.steps import JobSteps
from headgate.storage import aws
from headgate_engine.testing.model import Unworkable
from testing import app, coverages, version_tests
from tests.support.members import API, JoinWith, Member
from tests.support.world import leave_results

TEXT = """\
receivers:
  filelog: {include: [/var/log/app.log]}
processors:
  transform:
    log_statements:
      - set(log.attributes["kept"], "yes")
      - set(log.attributes["seen"], "no") where log.body == "other"
exporters:
  debug:
service:
  pipelines:
    logs: {receivers: [filelog], processors: [transform], exporters: [debug]}
    logs/other: {receivers: [filelog], exporters: [debug]}
"""
RULE = {"name": "it is kept", "condition": 'log.attributes["kept"] == "yes"', "expect": "all"}
TEST = {"name": "a", "target_pipeline": "logs", "sample": "a line", "duration_seconds": 1, "rules": [RULE]}
ASKED = {"yaml": TEXT, "tests": [TEST]}
MANY = ["a/original", "a/again", "a/m00001", "a/m00002", "a/m00003", "a/m00004"]


# moto does not close the content of an object that is deleted with all its versions.
pytestmark = [
    pytest.mark.filterwarnings("ignore:S3 key was not disposed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Unclosed file:ResourceWarning"),
    pytest.mark.collector,
]


@pytest.fixture(autouse=True)
def _no_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "enter", lambda _: None)


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([configurations_router, version_tests.router, coverages.router, app.router], "ann")


def start(member: Member, **asked: object) -> Response:
    return member.http.post(f"{API}/testing/coverage", json=asked)


def begun(member: Member, **asked: Any) -> str:
    answer = start(member, **asked)
    assert answer.status_code == 201, answer.text
    job_id = str(answer.json()["id"])
    assert answer.headers["Location"].endswith(f"/testing/coverage/{job_id}")
    JobSteps().prepare(job_id)
    return job_id


def cases(job_id: str) -> list[str]:
    """The cases that the test runner is given."""
    return [case["id"] for case in json.loads(files.read(job_id, "cases") or "")["cases"]]


def ended(member: Member, job_id: str, outputs: dict[str, str]) -> dict[str, Any]:
    leave_results(job_id, outputs)
    JobSteps().record(job_id, JobSteps().evaluate(job_id))
    found: dict[str, Any] = member.http.get(f"{API}/testing/coverage/{job_id}").json()
    assert found["status"] == "Done"
    return found["result"]


def output(**attributes: str) -> str:
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    record = {"body": {"stringValue": "a line"}, "attributes": pairs}
    return json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}, separators=(",", ":")) + "\n"


def test_each_change_is_judged_by_its_output(ann: Member) -> None:
    job_id = begun(ann, **ASKED)
    whole = output(kept="yes")
    outputs = dict.fromkeys(cases(job_id), whole)
    assert list(outputs) == MANY
    outputs |= {"a/m00001": output(), "a/m00003": output(kept="yes", seen="no")}

    result = ended(ann, job_id, outputs)

    assert (result["score"], result["killed"], result["survived"], result["unreached"]) == (50.0, 1, 1, 2)
    assert result["untested_pipelines"] == ["logs/other"]
    assert result["tests"] == [{"name": "a", "usable": True, "reason": "", "steady": True, "killed": 1}]
    first, second, third, fourth = result["mutants"]
    assert (first["kind"], first["line"], first["column"], first["outcome"]) == ("statement", 6, 9, "killed")
    assert first["noticed_by"] == [{"test": "a", "rule": "it is kept"}]
    assert (second["kind"], second["line"], second["outcome"]) == ("statement", 7, "unreached")
    assert (third["kind"], third["line"], third["column"], third["outcome"]) == ("where", 7, 43, "survived")
    assert third["suggested_rule"]["condition"] == 'attributes["seen"] == "no"'
    assert third["suggested_rule"]["expect"] == "none"
    assert third["would_notice"].endswith('attributes["seen"] == "no" (expect: none) in the test a')
    assert (fourth["kind"], fourth["component"]) == ("processor", "service::pipelines::logs")


def test_a_test_that_does_not_pass_is_told_and_not_used(ann: Member) -> None:
    job_id = begun(ann, **ASKED)

    result = ended(ann, job_id, dict.fromkeys(cases(job_id), output()))

    assert (result["score"], result["reason"]) == (None, "no test passes without a change")
    assert result["tests"][0]["reason"] == "it does not pass without a change: it is kept"
    assert result["mutants"] == []


def test_a_text_that_the_collector_refuses_ends_in_error(ann: Member) -> None:
    job_id = start(ann, yaml=TEXT.replace("transform:", "nothing:"), tests=[TEST]).json()["id"]

    with pytest.raises(Unworkable) as refused:
        JobSteps().prepare(job_id)
    JobSteps().fail(job_id, "prepare", "Unworkable", str(refused.value))

    found = ann.http.get(f"{API}/testing/coverage/{job_id}").json()
    assert (found["status"], found["result"]) == ("Error", None)
    assert found["reason"].startswith("the collector refuses the configuration: correct it first: line 4: unknown type")


def test_many_tests_share_the_runs_of_a_job(ann: Member) -> None:
    tests = [{**TEST, "name": f"t{place}"} for place in range(50)]

    found = cases(begun(ann, yaml=TEXT, tests=tests, max_mutants=100))

    assert len(found) == 200
    assert sum(case.endswith(("/original", "/again")) for case in found) == 100


@pytest.mark.parametrize(
    ("asked", "loc"),
    [
        ({**ASKED, "max_mutants": 0}, ["body", "max_mutants"]),
        ({**ASKED, "max_mutants": 101}, ["body", "max_mutants"]),
        ({**ASKED, "collector_version": "0.1.0"}, ["body", "collector_version"]),
        ({"yaml": TEXT, "tests": ["a"]}, ["body"]),
        ({**ASKED, "output": True}, ["body", "output"]),
    ],
)
def test_a_request_that_cannot_be_meant_is_refused(ann: Member, asked: dict[str, Any], loc: list[str]) -> None:
    answer = start(ann, **asked)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == loc


def test_the_tests_of_a_version_are_measured(ann: Member) -> None:
    made = ann.http.post(f"{API}/configurations", json={"name": "edge", "yaml": TEXT}).json()
    path = f"{API}/configurations/{made['id']}/versions/1/tests/kept"
    test = {name: value for name, value in TEST.items() if name != "name"}
    assert ann.http.put(path, json=test).status_code == 200

    job_id = begun(ann, configuration_id=made["id"], version_number=1, max_mutants=1)

    assert cases(job_id) == ["kept/original", "kept/again", "kept/m00001"]


def test_variables_of_a_test_are_not_left_in_what_stays_of_a_job(ann: Member) -> None:
    job_id = begun(ann, yaml=TEXT, tests=[{**TEST, "env": {"TOKEN": "t0p-secret"}}])
    ended(ann, job_id, dict.fromkeys(MANY, output(kept="yes")))
    client, bucket = aws.s3(), settings().bucket
    versions = client.list_object_versions(Bucket=bucket).get("Versions", [])
    read = [
        client.get_object(Bucket=bucket, Key=one["Key"], VersionId=one["VersionId"])["Body"].read() for one in versions
    ]

    assert read
    assert [content for content in read if b"t0p-secret" in content] == []
