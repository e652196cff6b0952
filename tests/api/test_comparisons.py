"""Comparisons over the API: what is compared, who may, and what is told. The real checker compares."""

import json
from typing import Any

import pytest

from configurations.app import router as configurations_router
from headgate.foundation.ids import new_id
from headgate.runs import files
from headgate.runs.jobs.steps import JobSteps
from headgate_engine.testing.comparison import ComparisonRequest
from headgate_local.template import Template
from testing import comparisons, version_tests
from tests.support.configurations import append, create, publish
from tests.support.members import API, JoinWith, Member
from tests.support.run_outcomes import outcome
from tests.support.world import create_state_machines

COMPARISONS = f"{API}/testing/comparisons"
PIPELINE = "{receivers: [otlp], exporters: [debug]}"
YAML = f"""\
receivers: {{otlp: {{protocols: {{grpc: {{}}}}}}}}
exporters: {{debug: {{}}}}
service: {{pipelines: {{logs: {PIPELINE}}}}}
"""
OTHER = YAML.replace("logs:", "logs/other:")
TEST: dict[str, Any] = {"name": "a", "target_pipeline": "logs", "sample": "a line", "duration_seconds": 1}
TEXTS: dict[str, Any] = {"left": {"yaml": YAML}, "right": {"yaml": YAML}}


@pytest.fixture(autouse=True)
def state_machines(aws_here: Template) -> None:
    """What jobs are started in."""
    create_state_machines(aws_here)


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([configurations_router, version_tests.router, comparisons.router], "ann")


@pytest.fixture
def bob(join: JoinWith) -> Member:
    return join([configurations_router, version_tests.router, comparisons.router], "bob")


def started(member: Member, **changes: object) -> Any:
    response = member.http.post(COMPARISONS, json={**TEXTS, "tests": [TEST], **changes})
    assert response.status_code == 201, response.text
    return response.json()


def refused(member: Member, status: int, **changes: object) -> Any:
    body = {field: value for field, value in {**TEXTS, "tests": [TEST], **changes}.items() if value is not None}
    response = member.http.post(COMPARISONS, json=body)
    assert response.status_code == status, response.text
    return response.json()


def result(member: Member, job_id: str, **cases: str | dict[str, object]) -> Any:
    """The result, if the cases left these outputs, or ended like that."""
    steps = JobSteps()
    steps.prepare(job_id)
    told = outcome(1).model_dump(mode="json")
    lines = []
    for case, left in cases.items():
        said = {"outcome": told, "output": left} if isinstance(left, str) else {"outcome": told, "output": "", **left}
        lines.append(json.dumps({"id": case.replace("_", "/", 1), "stderr": "", **said}) + "\n")
    files.put(job_id, "results", "".join(lines))
    steps.record(job_id, steps.evaluate(job_id))
    answer = member.http.get(f"{COMPARISONS}/{job_id}").json()
    assert answer["status"] == "Done", answer
    return answer["result"]


def log(body: str) -> str:
    return json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": body}}]}]}]}) + "\n"


@pytest.mark.collector
def test_a_comparison_tells_what_differs(ann: Member) -> None:
    job = started(ann)

    assert job["status"] == "Queued"
    assert job["result"] is None
    told = result(ann, job["id"], left_a=log("token 1"), right_a=log("token 2"))
    assert (told["equal"], told["compared"], told["starts"]) == (False, True, None)
    assert told["signals"] == {"logs": {"left": 1, "right": 1, "same": 0, "changed": 1, "added": 0, "missing": 0}}
    [test] = told["tests"]
    assert (test["name"], test["status"], test["reason"], test["left"]["status"]) == ("a", "differs", "", "ran")
    [difference] = test["differences"]["differences"]
    change = {"path": "body", "change": "changed", "left": {"stringValue": "token 1"}}
    assert difference["fields"] == [{**change, "right": {"stringValue": "token 2"}, "cut": False}]


@pytest.mark.collector
def test_a_comparison_says_what_a_change_saves_of_its_sample(ann: Member) -> None:
    job = started(ann)["id"]
    left, right = log("order 1") + log("debug 1"), log("order 1")

    (test,) = result(ann, job, left_a=left, right_a=right)["tests"]

    saving = test["saving"]
    assert (saving["left_records"], saving["right_records"]) == (2, 1)
    assert (saving["left_bytes"], saving["right_bytes"]) == (len(left), len(right))
    assert "1 instead of 2 records (-50 %)" in saving["words"]
    assert f"of the same sample of {saving['records_in']} record" in saving["words"]


@pytest.mark.collector
def test_a_saving_is_told_by_service_where_the_sample_names_services(ann: Member) -> None:
    def of(service: str, *bodies: str) -> str:
        resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
        records = [{"body": {"stringValue": body}} for body in bodies]
        return json.dumps({"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": records}]}]}) + "\n"

    left = of("checkout", "order", "debug") + of("mail", "sent") + log("nobody's")
    right = of("checkout", "order") + of("mail", "sent") + log("nobody's")

    (test,) = result(ann, started(ann)["id"], left_a=left, right_a=right)["tests"]

    (service,) = test["saving"]["services"]
    assert (service["service"], service["left_records"], service["right_records"]) == ("checkout", 2, 1)
    assert service["left_bytes"] > service["right_bytes"] > 0
    assert service["words"].startswith("1 instead of 2 records (-50 %)")


@pytest.mark.collector
def test_what_saves_nothing_says_nothing(ann: Member) -> None:
    (test,) = result(ann, started(ann)["id"], left_a=log("x"), right_a=log("x"))["tests"]

    assert test["saving"] is None


@pytest.mark.collector
def test_equal_outputs_are_equal(ann: Member) -> None:
    told = result(ann, started(ann)["id"], left_a=log("x") + log("y"), right_a=log("y") + log("x"))

    assert told["equal"]
    assert told["compared"]


@pytest.mark.collector
def test_a_side_without_the_pipeline_puts_nothing_out(ann: Member) -> None:
    job = started(ann, left={"yaml": OTHER})

    told = result(ann, job["id"], right_a=log("x"))

    [test] = told["tests"]
    assert test["status"] == "differs"
    assert test["reason"].startswith("left: ")
    assert "logs" in test["reason"]
    assert test["left"]["status"] == "refused"
    assert told["signals"]["logs"]["added"] == 1


@pytest.mark.collector
def test_a_side_that_does_not_run_is_not_compared(ann: Member) -> None:
    crashed = {"outcome": outcome(1, ran=False, reason="it stopped").model_dump(mode="json")}
    job = started(ann, tests=[TEST, {**TEST, "name": "b"}])

    told = result(ann, job["id"], left_a=log("x"), right_a=crashed, left_b=log("x"), right_b=log("x"))

    assert (told["equal"], told["compared"]) == (False, False)
    assert [(test["status"], test["reason"][:7]) for test in told["tests"]] == [
        ("not_compared", "right: "),
        ("equal", ""),
    ]
    assert told["tests"][0]["differences"] is None


@pytest.mark.collector
def test_what_is_ignored_is_that_of_the_request_or_of_the_test(ann: Member) -> None:
    for more in ({"ignore": ["body"]}, {"tests": [{**TEST, "ignore": ["body"]}]}):
        assert result(ann, started(ann, **more)["id"], left_a=log("x"), right_a=log("y"))["equal"]
    job = started(ann, tests=[{**TEST, "ignore": ["body"]}], ignore=["severity_text"])
    assert not result(ann, job["id"], left_a=log("x"), right_a=log("y"))["equal"]


def test_the_tests_are_those_of_the_right_version(ann: Member) -> None:
    configuration_id = create(ann, yaml=YAML)
    for name in ("one", "two"):
        test = {"target_pipeline": "logs", "sample": "a line", "expected": ""}
        path = f"{API}/configurations/{configuration_id}/versions/1/tests/{name}"
        assert ann.http.put(path, json=test).status_code == 200
    version = {"configuration_id": configuration_id, "version_number": 1}

    def asked_tests(**changes: object) -> list[str]:
        job = started(ann, tests=None, **changes)
        content = files.read(job["id"], "request.json") or b""
        request = ComparisonRequest.model_validate_json(content)
        assert "expected" not in request.tests[0].text
        return [test.name for test in request.tests]

    assert asked_tests(right=version) == ["one", "two"]
    assert asked_tests(left=version) == ["one", "two"]
    assert asked_tests(left=version, right=version, test_names=["two"]) == ["two"]
    problem = refused(ann, 422, tests=None, right=version, test_names=["three"])
    assert problem["code"] == "no_tests"
    assert "there is no test three" in problem["detail"].lower()
    assert refused(ann, 422, tests=None)["code"] == "no_tests"


def test_a_draft_of_another_is_not_found(ann: Member, bob: Member) -> None:
    draft = {"configuration_id": create(ann, yaml=YAML), "version_number": 1}

    for side in ("left", "right"):
        problem = refused(bob, 404, **{side: draft})
        assert problem["detail"].startswith(f"{side}: ")
    strange = {"configuration_id": new_id("cfg"), "version_number": 1}
    assert refused(bob, 404, right=strange)["code"] == "configuration_not_found"


def test_a_comparison_of_published_versions_is_for_everyone(ann: Member, bob: Member) -> None:
    configuration_id = create(ann, yaml=YAML)
    publish(ann, configuration_id, 1)
    append(ann, configuration_id, yaml=OTHER)
    first, second = ({"configuration_id": configuration_id, "version_number": n} for n in (1, 2))
    own = started(ann, left=first, right=second)["id"]
    shared = started(ann, left=first, right=first)
    publish(ann, configuration_id, 2)

    assert (shared["configuration_id"], shared["version_number"]) == (configuration_id, 1)
    assert bob.http.get(f"{COMPARISONS}/{own}").status_code == 404
    assert bob.http.get(f"{COMPARISONS}/{shared['id']}").status_code == 200
    assert ann.http.get(f"{COMPARISONS}/{own}").status_code == 200
    assert ann.http.get(f"{COMPARISONS}/{new_id('job')}").status_code == 404


@pytest.mark.collector
@pytest.mark.parametrize(
    ("changes", "loc", "says"),
    [
        ({"left": {"yaml": YAML, "collector_version": "0.1.0"}}, ["left", "collector_version"], "installed: "),
        ({"right": {"yaml": YAML, "version_number": 1}}, ["right"], "go together"),
        ({"right": {}}, ["right"], "or `yaml`"),
        ({"ignore": ["attributes[x]"]}, ["ignore"], "write a path as OTTL does"),
        ({"tests": []}, ["tests"], "must not be empty"),
        ({"tests": [TEST, TEST]}, ["tests"], "used twice"),
        ({"tests": [{**TEST, "name": "../a"}]}, ["tests", 0, "name"], "pattern"),
        ({"test_names": ["a"]}, [], "excludes `tests`"),
        ({"tests": [{**TEST, "target_pipeline": "events"}]}, ["target_pipeline"], "logs"),
    ],
)
def test_a_mistake_is_named_by_its_place(ann: Member, changes: dict[str, object], loc: list[object], says: str) -> None:
    problem = refused(ann, 422, **changes)

    [error] = problem["errors"]
    assert error["loc"] == ["body", *loc]
    assert says in error["message"]
