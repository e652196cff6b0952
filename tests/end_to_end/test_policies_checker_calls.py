"""Requests for which a function asks the checker's function, as on AWS; test_policies.py looks at what they called."""

import base64
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.app import handler
from headgate.checker import Asker, published
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.runs import runner
from headgate.storage import aws
from headgate_engine.rules import engine
from headgate_engine.rules.model import Rule
from headgate_local import callers, template
from tests.support import recorded_here
from tests.support.aws import read_template
from tests.support.cloudformation import taking_answers
from tests.support.lambda_invocations import Invocations, answering, running
from tests.support.recorded_here import API, YAML, People, created
from tests.support.runs import run_of
from validation import checker_answers

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module", autouse=True)
def recording(aws_here: template.Template, recorded_calls: Path) -> Iterator[None]:
    with recorded_here.recording(recorded_calls / "checker.jsonl"):
        yield


@pytest.fixture
def people(aws_here: template.Template) -> People:
    return recorded_here.people(aws_here)


@pytest.fixture
def in_a_function(people: People, monkeypatch: pytest.MonkeyPatch) -> Iterator[Invocations]:
    """The collector is asked as on AWS. S3 is in this process: only the rule arrives of a question that S3 keeps."""
    rule = {"name": "any", "condition": "true", "context": "log", "expect": "any", "min": None, "max": None}
    request = {"signals": ["logs"], "rules": [rule], "documents": "", "tallies": None}
    kept = {"op": "evaluate", "request": request, "organization_id": "org", "credential_id": "run"}
    arn = f"arn:aws:lambda:us-east-1:123456789012:function:{read_template().name_of('CheckerFunction')}:live"
    with running(answering(lambda event: handler(kept if "url" in event else event, None))) as served:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", served.url)
        monkeypatch.setenv("HEADGATE_CHECKER_FUNCTION", arn)
        settings.cache_clear()
        aws.forget_clients()
        yield served
    monkeypatch.undo()
    settings.cache_clear()
    aws.forget_clients()


def test_the_collector_is_asked_in_a_function_of_its_own(people: People, in_a_function: Invocations) -> None:
    configuration = created(people.ann.post(f"{API}/configurations", json={"name": "Edge", "yaml": YAML}))
    version = f"{API}/configurations/{configuration}/versions/1"
    fleet = created(people.ann.post(f"{API}/fleets", json={"label": new_id("flt"), "type": "server-supervisor"}))
    rules = {"signal_type": "logs", "rules": [{"name": "any", "condition": "true"}]}
    group = {"name": "edge", "configuration_id": configuration, "version_number": 1}

    answers = [
        people.ann.post(f"{API}/validate", json={"yaml": YAML}),
        people.ann.post(f"{API}/ottl/lint", json={"yaml": YAML}),
        people.ann.get(f"{API}/components"),
        people.ann.patch(f"{version}?validate=true", json={"yaml": f"#\n{YAML}"}),
        people.ann.put(f"{version}/validation-pipelines/logs", json=rules),
        people.ann.post(f"{version}/publish"),
        people.ann.post(f"{API}/fleets/{fleet}/deployments", json=group),
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 200, 200, 201]
    assert answers[-1].json()["warnings"] == []
    assert len(in_a_function.invoked) >= 7
    # It ran in an execution environment that reads nobody's text.
    assert in_a_function.invoked[2][1] == "reference"


PUBLISHED = "0.138.0"


@pytest.fixture
def published_version(in_a_function: Invocations, monkeypatch: pytest.MonkeyPatch) -> str:
    """A version that is in the bucket. The default collector answers for it, since nothing is fetched here."""
    descriptor = {"version": PUBLISHED, "sha256": "0" * 64, "size": 1, "binary_sha256": "0" * 64, "binary_size": 1}
    key = published.key(PUBLISHED, published.architecture(), published.DESCRIPTOR)
    aws.s3().put_object(
        Bucket=settings().bucket, Key=key, Body=json.dumps({**descriptor, "describe": {"version": PUBLISHED}}).encode()
    )

    def answer(event: dict[str, Any]) -> object:
        assert event.pop("collector", {"version": PUBLISHED})["version"] == PUBLISHED
        return handler({**event, "version": None}, None)

    in_a_function.answer = answering(answer)
    monkeypatch.setenv("HEADGATE_COLLECTOR_VERSIONS", PUBLISHED)
    settings.cache_clear()
    return PUBLISHED


def test_whoever_asks_signs_the_link_to_a_published_collector(people: People, published_version: str) -> None:
    configuration = created(people.ann.post(f"{API}/configurations", json={"name": "Edge", "yaml": YAML}))
    version = f"{API}/configurations/{configuration}/versions/1"
    fleet = created(people.ann.post(f"{API}/fleets", json={"label": new_id("flt"), "type": "server-supervisor"}))
    rules = {"signal_type": "logs", "rules": [{"name": "any", "condition": "true"}]}
    requests = [
        ("POST", f"{API}/validate", {"yaml": YAML, "version": published_version}),
        ("GET", f"{API}/components?version={published_version}", None),
        ("PATCH", f"{version}?validate=true", {"collector_version": published_version}),
        ("PUT", f"{version}/validation-pipelines/logs", rules),
        ("POST", f"{version}/publish", None),
        (
            "POST",
            f"{API}/fleets/{fleet}/deployments",
            {"name": "e", "configuration_id": configuration, "version_number": 1},
        ),
    ]

    answers = []
    for method, path, body in requests:
        # In a process of its own, each function reads what is published.
        published.forget()
        answers.append(people.ann.request(method, path, json=body))
    with callers.acting("RunStepsFunction"):
        published.forget()
        run = run_of(collector_version=published_version)
        runner.give(run, [run.collector_version])

    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 200, 201]
    assert answers[0].json()["version"] == published_version


def test_a_deployment_asks_the_new_version_of_the_collectors_function(in_a_function: Invocations) -> None:
    with taking_answers() as (url, answers), callers.acting("CheckerAnswersFunction"):
        event = {"RequestType": "Create", "ResponseURL": url, "ResourceProperties": {}}
        checker_answers.handler(event | dict.fromkeys(("StackId", "RequestId", "LogicalResourceId"), "x"), None)

    assert [answer["Status"] for answer in answers] == ["SUCCESS"]
    assert in_a_function.invoked


def test_a_large_output_is_judged_in_a_function_of_its_own(in_a_function: Invocations) -> None:
    output = base64.b64encode(random.Random(1).randbytes(6_000_000)).decode()
    with callers.acting("RunStepsFunction"):
        engine.evaluate(["logs"], [Rule("any", "true", "log", "any")], output, asker=Asker(new_id("org"), "run_1"))

    assert in_a_function.invoked[0][2] < 10_000
    assert aws.s3().list_objects_v2(Bucket=settings().bucket, Prefix="checks/")["KeyCount"] == 0
