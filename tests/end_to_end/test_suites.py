"""Suites on the running service: the tests of a text or of a stored version, and the evidence that they leave."""

import time
from collections.abc import Iterator
from random import Random

import httpx
import pytest

from tests.support import run_support
from tests.support.cli_support import Founder
from tests.support.local_service import LocalService
from tests.support.run_support import Json, configuration

pytestmark = pytest.mark.end_to_end

RULE = {"name": "some", "condition": "true"}
TAGGED = configuration("{attributes/env: {actions: [{key: env, value: prod, action: insert}]}}", "[attributes/env]")
POLICIES = {"severities": {}, "not_suppressible": [], "rules": [], "publish_requires": ["tests"]}


@pytest.fixture(scope="module")
def client(service: LocalService) -> Iterator[httpx.Client]:
    with service.client() as made:
        yield made


def started(client: httpx.Client, **asked: object) -> str:
    answer = client.post("/testing/suites", json=asked)
    assert answer.status_code == 201, answer.text
    return f"/testing/suites/{answer.json()['id']}"


def finished(client: httpx.Client, path: str) -> Json:
    """The suite, once it has ended."""
    deadline = time.monotonic() + run_support.PATIENCE_SECONDS
    while True:
        found: Json = client.get(path).json()
        if found["status"] in run_support.FINAL:
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def suite(client: httpx.Client, **asked: object) -> Json:
    return finished(client, started(client, **asked))


def a_test(**changes: object) -> Json:
    return {"target_pipeline": "logs/app", "sample": run_support.LOGS, "rules": [RULE], **changes}


def stored(client: httpx.Client, yaml: str, **tests: Json) -> Json:
    """A suite's request of a new draft with these tests."""
    created = client.post("/configurations", json={"name": "Shop", "yaml": yaml}).json()
    for name, test in tests.items():
        answer = client.put(f"/configurations/{created['id']}/versions/1/tests/{name}", json=test)
        assert answer.status_code == 200, answer.text
    return {"configuration_id": created["id"], "version_number": 1}


def statuses(ended: Json) -> dict[str, str]:
    return {one["name"]: one["status"] for one in ended["result"]["tests"]}


def test_a_suite_tells_of_each_test_what_a_run_would(client: httpx.Client) -> None:
    yaml = configuration("{filter: {logs: {log_record: ['severity_number < 1']}}}", "[filter]")
    fails = a_test(name="fails", rules=[{"name": "none", "condition": "false"}])
    refused = a_test(name="refused", target_pipeline="logs/none")
    ended = suite(client, yaml=yaml, tests=[a_test(name="passes"), fails, refused])
    alone = run_support.run(client, run_support.request(yaml=yaml, rules=[RULE]))
    passed = ended["result"]["tests"][0]

    assert (ended["status"], ended["configuration_id"]) == ("Fail", None)
    assert statuses(ended) == {"passes": "Success", "fails": "Fail", "refused": "Error"}
    assert passed["records"] == alone["records"]
    assert passed["validation_results"] == [
        {name: value for name, value in result.items() if name != "api_owned"} for result in alone["validation_results"]
    ]
    assert "logs/none" in ended["result"]["tests"][2]["reason"]
    assert ended["result"]["tests"][2]["field"] == "target_pipeline"


def test_an_output_that_was_kept_is_expected_from_then_on(client: httpx.Client) -> None:
    first = suite(client, yaml=TAGGED, tests=[a_test(name="a")], output=True)
    output = first["result"]["tests"][0]["output"]
    golden = a_test(name="golden", rules=[], expected=output)
    same = suite(client, yaml=TAGGED, tests=[golden, {**golden, "name": "broken", "expected": "x"}])
    other = suite(client, yaml=TAGGED.replace("value: prod", "value: dev"), tests=[golden])
    changed = other["result"]["tests"][0]

    assert '"prod"' in output
    assert statuses(same) == {"golden": "Success", "broken": "Error"}
    assert same["result"]["tests"][0]["differences"]["equal"] is True
    assert same["result"]["tests"][1]["reason"].startswith("expected: line 1: ")
    assert (other["status"], changed["status"], changed["output"]) == ("Fail", "Fail", None)
    (field,) = changed["differences"]["differences"][0]["fields"]
    assert (field["path"], field["change"]) == ('attributes["env"]', "changed")


def test_what_stands_in_for_a_processor_is_a_part_of_a_test(client: httpx.Client) -> None:
    yaml = configuration(
        "{k8sattributes: {}, resource: {attributes: [{key: at, value: '${env:PLACE}', action: insert}]}}",
        "[k8sattributes, resource]",
    )
    rules = [{"name": "both", "condition": 'attributes["pod"] == "x" and attributes["at"] == "here"'}]
    rules = [{**rule, "context": "resource"} for rule in rules]
    stand_ins = {"attributes": {"k8sattributes": {"pod": "x"}}, "env": {"PLACE": "here"}}
    # Too large for the list of tests, so it is an object.
    sample = Random(1).randbytes(8_000).hex()
    ended = suite(client, **stored(client, yaml, stands_in=a_test(rules=rules, sample=sample, **stand_ins)))

    assert statuses(ended) == {"stands_in": "Success"}, ended


def test_a_version_is_published_on_the_evidence_of_its_tests(founder: Founder) -> None:
    _, admin = founder.admin("Evident")
    with admin:
        assert admin.put("/policies", json=POLICIES).status_code == 200
        asked = stored(
            admin, TAGGED, a=a_test(), b=a_test(rules=[{"name": "prod", "condition": 'attributes["env"] == "prod"'}])
        )
        version = f"/configurations/{asked['configuration_id']}/versions/1"
        refused = admin.post(f"{version}/publish")
        assert [error["code"] for error in refused.json()["errors"]] == ["tests_not_run"]

        # A text that is sent along leaves nothing with the version, and neither do some of its tests.
        inline = [{"name": name, **admin.get(f"{version}/tests/{name}").json()} for name in "ab"]
        for test in inline:
            for field in ("sha256", "updated_at", "updated_by"):
                del test[field]
        assert suite(admin, yaml=TAGGED, tests=inline)["status"] == "Success"
        assert suite(admin, **asked, tests=["a"])["status"] == "Success"
        assert admin.get(f"{version}/tests").json()["evidence"] == []

        path = started(admin, **asked)
        # While it runs, the draft changes: the evidence is of what was run.
        edited = admin.patch(version, json={"yaml": TAGGED.replace("prod", "dev")})
        ended = finished(admin, path)
        (evidence,) = admin.get(f"{version}/tests").json()["evidence"]
        late = admin.post(f"{version}/publish")
        assert (edited.status_code, ended["status"]) == (200, "Success")
        assert (evidence["passed"], evidence["current"], evidence["job_id"]) == (True, False, ended["id"])
        assert evidence["tests"] == [{"name": "a", "status": "Success"}, {"name": "b", "status": "Success"}]
        assert [error["code"] for error in late.json()["errors"]] == ["text_changed"]

        assert suite(admin, **asked)["status"] == "Fail"
        failed = admin.post(f"{version}/publish")
        assert [(error["loc"], error["code"]) for error in failed.json()["errors"]] == [
            (["tests", "b"], "test_not_passed")
        ]

        admin.patch(version, json={"yaml": TAGGED})
        assert admin.post(f"{version}/publish").json()["status"] == "published"
