"""Publishing where an organization requires evidence that a version's tests passed. Nothing is run here."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from httpx2 import Response

from configurations.app import router as configurations_router
from configurations.policies import router as policies_router
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.version_tests import service as evidence
from headgate.version_tests.model import MAX_EVIDENCE, Evidence, TestVerdict, Verdict, text_digest
from testing import version_tests
from tests.support.configurations import YAML, append, create, get, patch, publish
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith, Member, application
from tests.support.scripted_policies import NOTHING, Engine, found, scripted
from tests.support.world import joined, session_of

TEST = {"target_pipeline": "logs", "sample": "a line", "rules": [{"name": "some", "condition": "true"}]}
Require = Callable[..., None]


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = scripted(monkeypatch)
    engine.answers["policies"] = NOTHING
    return engine


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([configurations_router, version_tests.router], "ann")


@pytest.fixture
def require(organization_id: str) -> Require:
    headers = dict(session_of(joined(organization_id, "admin"), organization_id))
    admin = TestClient(application([policies_router]), headers=headers)

    def save(*requires: str) -> None:
        body = {"severities": {"insecure_tls": "error"}, "not_suppressible": [], "rules": []}
        answer = admin.put(f"{API}/policies", json={**body, "publish_requires": list(requires)})
        assert answer.status_code == 200, answer.text

    return save


@pytest.fixture
def draft(ann: Member, require: Require) -> str:
    """The id of a configuration whose draft has a test, where tests are required."""
    require("tests")
    configuration_id = create(ann)
    put(ann, configuration_id, "a")
    return configuration_id


def put(ann: Member, configuration_id: str, name: str, n: int = 1, **fields: object) -> Response:
    path = f"{API}/configurations/{configuration_id}/versions/{n}/tests/{name}"
    return ann.http.put(path, json={**TEST, **fields})


def listed(ann: Member, configuration_id: str, n: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = get(ann, f"/{configuration_id}/versions/{n}/tests").json()
    return found


def ended(ann: Member, configuration_id: str, verdict: Verdict = "Success", n: int = 1, **fields: Any) -> Evidence:
    """Evidence of a suite of the version as it is now, recorded."""
    tests = listed(ann, configuration_id, n)
    made = Evidence(
        **{
            "job_id": new_id("run"),
            "text_sha256": text_digest(get(ann, f"/{configuration_id}/versions/{n}").json()["yaml"]),
            "tests_sha256": tests["tests_sha256"],
            "collector_version": settings().collector_version,
            "tests": tuple(TestVerdict(one["name"], verdict) for one in tests["items"]),
            "finished_at": clock.now(),
            **fields,
        }
    )
    evidence.record(configuration_id, n, made)
    return made


def missing(answer: Response) -> list[str]:
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (409, "publish_requirements"), answer.text
    return [error["code"] for error in problem["errors"]]


def test_a_version_whose_tests_passed_is_published(ann: Member, draft: str) -> None:
    ended(ann, draft)

    assert publish(ann, draft).json()["status"] == "published"
    assert publish(ann, draft).status_code == 200


def test_where_nothing_is_required_a_request_may_ask_for_tests_that_passed(ann: Member) -> None:
    def publishes(configuration_id: str) -> Response:
        return ann.http.post(f"{API}/configurations/{configuration_id}/versions/1/publish?if_tests_pass=true")

    without, tested = create(ann), create(ann)
    put(ann, tested, "a")

    assert publishes(without).status_code == 200
    assert missing(publishes(tested)) == ["tests_not_run"]
    ended(ann, tested, "Fail")
    answer = publishes(tested)
    assert missing(answer) == ["test_not_passed"]
    assert answer.json()["detail"].startswith("The request publishes only versions whose tests passed: ")
    ended(ann, tested)
    assert publishes(tested).status_code == 200


def test_a_version_without_tests_is_not(ann: Member, require: Require) -> None:
    require("tests")
    answer = publish(ann, create(ann))

    assert missing(answer) == ["no_tests"]
    assert answer.json()["detail"] == (
        "Your organization publishes only versions whose tests passed: This version has no tests. "
        "Save one first: `PUT …/tests/{name}`"
    )


def test_tests_that_the_first_program_of_a_collector_ran_are_not_evidence(ann: Member, draft: str) -> None:
    ended(ann, draft, first_build=True)
    refused = publish(ann, draft)

    assert missing(refused) == ["other_collector"]
    assert f"while collector {settings().collector_version} was being built: run them again" in refused.text
    ended(ann, draft)
    assert publish(ann, draft).json()["status"] == "published"


def test_tests_that_were_not_run_are_not_evidence(ann: Member, draft: str) -> None:
    refused = publish(ann, draft)

    assert missing(refused) == ["tests_not_run"]
    assert refused.json()["detail"].endswith(
        "No suite of all tests of this version has ended yet. "
        "Run all of them: `POST /testing/suites` with the version and without `tests`"
    )
    assert get(ann, f"/{draft}/versions/1").json()["status"] == "draft"


@pytest.mark.parametrize("verdict", ["Fail", "Error"])
def test_tests_that_did_not_pass_are_named(ann: Member, draft: str, verdict: Verdict) -> None:
    put(ann, draft, "b")
    ended(ann, draft, tests=(TestVerdict("a", "Success"), TestVerdict("b", verdict)))
    answer = publish(ann, draft)

    assert missing(answer) == ["test_not_passed"]
    assert answer.json()["errors"][0]["loc"] == ["tests", "b"]
    assert f"The test b ended with {verdict}" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda ann, id_: put(ann, id_, "a", sample="another"), "tests_changed"),
        (lambda ann, id_: put(ann, id_, "b"), "tests_changed"),
        (lambda ann, id_: patch(ann, id_, 1, yaml=YAML + "# more"), "text_changed"),
        (lambda ann, id_: patch(ann, id_, 1, collector_version="0.158.0"), "other_collector"),
        (lambda ann, id_: patch(ann, id_, 1, feature_gates=["+a.gate"]), "other_feature_gates"),
    ],
    ids=["a test", "one more test", "the text", "the collector", "the feature gates"],
)
def test_evidence_of_something_else_is_none(
    ann: Member, draft: str, change: Callable[[Member, str], Response], code: str
) -> None:
    ended(ann, draft)
    assert change(ann, draft).status_code == 200

    assert missing(publish(ann, draft)) == [code]


def test_what_is_as_it_was_tested_again_is_published(ann: Member, draft: str) -> None:
    ended(ann, draft)
    patch(ann, draft, 1, yaml=YAML + "# more")
    put(ann, draft, "b")
    assert missing(publish(ann, draft)) == ["text_changed", "tests_changed"]
    patch(ann, draft, 1, yaml=YAML)
    ann.http.delete(f"{API}/configurations/{draft}/versions/1/tests/b")

    assert publish(ann, draft).status_code == 200


def test_evidence_names_its_feature_gates_and_a_plus_makes_no_other_gate(ann: Member, draft: str) -> None:
    patch(ann, draft, 1, feature_gates=["a.gate", "-b.gate"])
    ended(ann, draft, feature_gates=("-b.gate", "+a.gate"))
    ended(ann, draft, "Fail", feature_gates=("+a.gate",))
    shown = listed(ann, draft)["evidence"]

    assert {(*one["feature_gates"], one["current"]) for one in shown} == {
        ("-b.gate", "+a.gate", True),
        ("+a.gate", False),
    }
    patch(ann, draft, 1, feature_gates=[])
    refused = publish(ann, draft)
    assert missing(refused) == ["other_feature_gates"]
    assert "this version has none" in refused.text
    patch(ann, draft, 1, feature_gates=["-b.gate", "a.gate"])
    assert publish(ann, draft).status_code == 200


def test_the_newest_suite_of_the_same_decides(ann: Member, draft: str) -> None:
    ended(ann, draft)
    ended(ann, draft, "Fail", finished_at=clock.now() + timedelta(seconds=1))

    assert missing(publish(ann, draft)) == ["test_not_passed"]
    ended(ann, draft, finished_at=clock.now() - timedelta(seconds=1))
    assert missing(publish(ann, draft)) == ["test_not_passed"]


def test_evidence_on_another_collector_does_not_replace_that_on_the_versions_own(ann: Member, draft: str) -> None:
    ended(ann, draft)
    ended(ann, draft, "Fail", collector_version="0.158.0")

    assert publish(ann, draft).status_code == 200


def test_a_suite_of_some_tests_is_not_evidence_of_all(ann: Member, draft: str) -> None:
    one = listed(ann, draft)["tests_sha256"]
    put(ann, draft, "b")
    ended(ann, draft, tests_sha256=one, tests=(TestVerdict("a", "Success"),))

    assert missing(publish(ann, draft)) == ["tests_changed"]


def test_evidence_is_not_carried_over_to_the_next_version(ann: Member, draft: str) -> None:
    ended(ann, draft)
    append(ann, draft, YAML)

    assert listed(ann, draft, 2)["evidence"] == []
    assert missing(publish(ann, draft, 2)) == ["tests_not_run"]


def test_evidence_is_shown_with_the_version(ann: Member, draft: str) -> None:
    first = ended(ann, draft, "Fail")
    put(ann, draft, "a", sample="another")
    second = ended(ann, draft, finished_at=first.finished_at + timedelta(seconds=1))
    shown = listed(ann, draft)["evidence"]

    assert [(one["job_id"], one["passed"], one["current"]) for one in shown] == [
        (second.job_id, True, True),
        (first.job_id, False, False),
    ]
    assert shown[0]["tests"] == [{"name": "a", "status": "Success"}]
    assert shown[0]["tests_sha256"] == listed(ann, draft)["tests_sha256"]


def test_recording_a_suite_again_changes_nothing(ann: Member, draft: str) -> None:
    made = ended(ann, draft)
    for _ in range(2):
        evidence.record(draft, 1, made)

    assert len(listed(ann, draft)["evidence"]) == 1


def test_of_many_suites_that_end_at_once_the_newest_are_kept(ann: Member, draft: str) -> None:
    texts = [f"{number:064}" for number in range(MAX_EVIDENCE + 4)]
    at = clock.now()

    def end(number: int) -> None:
        ended(ann, draft, text_sha256=texts[number], finished_at=at + timedelta(seconds=number))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(end, range(len(texts))))

    assert [one["text_sha256"] for one in listed(ann, draft)["evidence"]] == texts[: -MAX_EVIDENCE - 1 : -1]


def test_policies_and_tests_are_told_together(ann: Member, require: Require, engine: Engine) -> None:
    require("policies", "tests")
    engine.answers["policies"] = NOTHING | {"findings": [found("insecure_tls", 2)]}
    answer = publish(ann, create(ann))

    assert missing(answer) == ["no_tests", "insecure_tls"]
    assert "whose tests passed: This version has no tests." in answer.json()["detail"]
    assert "without policy errors: It breaks insecure_tls." in answer.json()["detail"]


@pytest.mark.parametrize("other", ["test", "verdict"])
def test_what_changes_between_the_look_and_the_publish_is_looked_at(
    ann: Member, draft: str, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    ended(ann, draft)
    look, late = evidence.proof, [True]

    def changed_late(*arguments: Any) -> Any:
        seen = look(*arguments)
        if late.pop() if late else False:
            if other == "test":
                assert put(ann, draft, "a", sample="late").status_code == 200
            else:
                ended(ann, draft, "Fail", finished_at=clock.now() + timedelta(seconds=1))
        return seen

    monkeypatch.setattr(evidence, "proof", changed_late)

    assert missing(publish(ann, draft)) == ["tests_changed" if other == "test" else "test_not_passed"]
    assert get(ann, f"/{draft}/versions/1").json()["status"] == "draft"


def test_changes_that_race_a_publish_never_publish_what_was_not_tested(ann: Member, require: Require) -> None:
    require("tests")
    outcomes = set()
    with ThreadPoolExecutor(3) as pool:
        for number in range(12):
            configuration_id = create(ann)
            put(ann, configuration_id, "a")
            ended(ann, configuration_id)
            changes = [
                pool.submit(put, ann, configuration_id, "a", sample=f"{number}"),
                pool.submit(patch, ann, configuration_id, 1, yaml=YAML + "# more"),
            ]
            published = pool.submit(publish, ann, configuration_id).result().status_code
            outcomes.add((published, *sorted(one.result().status_code for one in changes)))
            now = listed(ann, configuration_id)

            assert published in (200, 409)
            if published == 200:
                assert [one["current"] for one in now["evidence"]] == [True]
                assert {one.result().status_code for one in changes} == {409}

    assert outcomes <= {(200, 409, 409), (409, 200, 200)}
