"""Suites without a collector: what starts one, and what evidence it leaves."""

from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError
from httpx2 import Response

from configurations.app import router as configurations_router
from headgate.foundation.settings import settings
from headgate.runs import turns
from headgate.runs.jobs.steps import JobSteps
from headgate.storage import aws, objects, table
from headgate.version_tests.model import text_digest
from headgate_engine.rules import engine, outputs
from headgate_engine.rules.engine import Prepared, Results, RuleVerdict, Sample
from headgate_engine.rules.outputs import Differences, Incomparable
from testing import app, version_tests
from tests.support.configurations import YAML, create, get, patch, publish
from tests.support.events import waiting
from tests.support.members import API, JoinWith, Member
from tests.support.world import leave_results

# moto does not close the content of an object that is deleted with all its versions.
pytestmark = [
    pytest.mark.filterwarnings("ignore:S3 key was not disposed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Unclosed file:ResourceWarning"),
]
RULE = {"name": "some", "condition": "true"}
TEST = {"target_pipeline": "logs", "sample": "a line", "duration_seconds": 1, "rules": [RULE]}
NAMED = {"name": "a", **TEST}
SAME = Differences(equal=True, signals={}, differences=[], left_out=0)


class Judge:
    """The collector's checker: which rules pass, and how an output compares with the expected one."""

    def __init__(self) -> None:
        self.passed = True
        self.compared: Differences | Incomparable = SAME
        self.asked: list[dict[str, Any]] = []

    def evaluate(self, _signals: object, rules: Any, _output: str, **_: object) -> Results:
        verdict = RuleVerdict(matched=int(self.passed), total=1, passed=self.passed, message="seen")
        return Results(verdicts=[verdict] * len(rules), records={"logs": 1})

    def compare(self, left: str, right: str, **more: Any) -> Differences:
        self.asked.append({"left": left, "right": right, **more})
        if isinstance(self.compared, Incomparable):
            raise self.compared
        return self.compared


@pytest.fixture(autouse=True)
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    judge = Judge()
    monkeypatch.setattr(engine, "prepare", prepared)
    monkeypatch.setattr(engine, "require_compilable", lambda *_, **__: None)
    monkeypatch.setattr(engine, "evaluate", judge.evaluate)
    monkeypatch.setattr(outputs, "compare", judge.compare)
    monkeypatch.setattr("headgate_engine.testing.cases.not_installed", lambda *_: None)
    monkeypatch.setattr(turns, "enter", lambda _: None)
    return judge


def prepared(_yaml: str, _pipeline: str, _signal: str, sample: Sample, **_: object) -> Prepared:
    return Prepared(signals=["logs"], collector_yaml="", input=sample.text, records=1, notes=[], idle_milliseconds=1)


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([configurations_router, version_tests.router, app.router], "ann")


@pytest.fixture
def bob(join: JoinWith) -> Member:
    return join([configurations_router, version_tests.router, app.router], "bob")


@pytest.fixture
def draft(ann: Member) -> str:
    """The id of a configuration whose draft has the tests `a` and `b`."""
    configuration_id = create(ann)
    for name in ("a", "b"):
        put(ann, configuration_id, name)
    return configuration_id


def put(member: Member, configuration_id: str, name: str, **fields: object) -> None:
    path = f"{API}/configurations/{configuration_id}/versions/1/tests/{name}"
    assert member.http.put(path, json={**TEST, **fields}).status_code == 200


def start(member: Member, **asked: object) -> Response:
    return member.http.post(f"{API}/testing/suites", json=asked)


def of_version(configuration_id: str, **more: object) -> dict[str, object]:
    return {"configuration_id": configuration_id, "version_number": 1, **more}


def run(member: Member, **asked: Any) -> dict[str, Any]:
    """A suite that has run: each test put out the same."""
    job_id = begun(member, **asked)
    end(member, job_id, **asked)
    found: dict[str, Any] = member.http.get(f"{API}/testing/suites/{job_id}").json()
    return found


def begun(member: Member, **asked: Any) -> str:
    answer = start(member, **asked)
    assert answer.status_code == 201, answer.text
    job_id = str(answer.json()["id"])
    JobSteps().prepare(job_id)
    return job_id


def end(member: Member, job_id: str, **asked: Any) -> None:
    tests = asked.get("tests") or [one["name"] for one in listed(member, asked["configuration_id"])["items"]]
    leave_results(job_id, {one if isinstance(one, str) else one["name"]: "out\n" for one in tests})
    JobSteps().record(job_id, JobSteps().evaluate(job_id))


def listed(member: Member, configuration_id: str) -> dict[str, Any]:
    found: dict[str, Any] = get(member, f"/{configuration_id}/versions/1/tests").json()
    return found


def error_of(answer: Response) -> tuple[int, list[object], str]:
    error = answer.json()["errors"][0]
    return answer.status_code, error["loc"], error["message"]


@pytest.mark.parametrize(
    ("asked", "loc", "says"),
    [
        ({}, ["body"], "Either `configuration_id` with `version_number` is needed, or `yaml`"),
        ({"yaml": "a: 1"}, ["body"], "`tests` of a `yaml` are the tests themselves"),
        ({"yaml": "a: 1", "tests": []}, ["body", "tests"], "must not be empty"),
        ({"yaml": "a: 1", "tests": ["a"]}, ["body"], "`tests` of a `yaml` are the tests themselves"),
        ({"yaml": "a: 1", "tests": [NAMED, {**NAMED, "name": "A"}]}, ["body"], "The test name 'a' is used twice"),
        ({"yaml": "a: 1", "tests": [TEST]}, ["body", "tests", 0, "name"], "This field is required"),
        ({"yaml": "a: 1", "tests": [{**NAMED, "name": "../a"}]}, ["body", "tests", 0, "name"], "match the pattern"),
        (
            {"yaml": "a: 1", "tests": [NAMED, {**NAMED, "name": "b", "rules": [{**RULE, "condition": ""}]}]},
            ["body", "tests", 1, "rules", 0, "condition"],
            "This must not be empty",
        ),
        ({"yaml": "a: 1", "tests": [{**NAMED, "rules": []}]}, ["body", "tests", 0], "A test needs `rules`"),
        ({"version_number": 1, "tests": ["a"]}, ["body"], "`configuration_id` and `version_number` go together"),
        ({"yaml": "a: 1", "tests": [{**NAMED, "name": f"{n}"} for n in range(51)]}, ["body", "tests"], "at most 50"),
        ({"yaml": "a: 1", "tests": [5]}, ["body", "tests", 0], "an object"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_a_suite_is_refused_by_its_place(
    ann: Member, asked: dict[str, object], loc: list[object], says: str
) -> None:
    status, at, message = error_of(start(ann, **asked))

    assert (status, at) == (422, loc)
    assert says in message


def test_tests_of_a_stored_version_are_names(ann: Member, draft: str) -> None:
    assert "are names" in error_of(start(ann, **of_version(draft, tests=[NAMED])))[2]
    assert error_of(start(ann, **of_version(draft, tests=["a", "none"]))) == (
        422,
        ["body", "tests", 1],
        "Version 1 has no test 'none'",
    )


def test_a_version_without_tests_has_no_suite(ann: Member) -> None:
    status, loc, message = error_of(start(ann, **of_version(create(ann))))

    assert (status, loc) == (422, ["body", "version_number"])
    assert "Version 1 has no tests" in message


def test_drafts_of_others_have_no_suites(ann: Member, bob: Member, draft: str) -> None:
    unseen = start(bob, **of_version(draft))
    suite = run(ann, **of_version(draft))
    assert (unseen.status_code, unseen.json()["code"]) == (404, "configuration_not_found")
    assert bob.http.get(f"{API}/testing/suites/{suite['id']}").status_code == 404

    publish(ann, draft)
    published = run(bob, **of_version(draft))
    assert ann.http.get(f"{API}/testing/suites/{published['id']}").json() == published


def test_a_suite_of_all_tests_of_a_version_leaves_evidence(ann: Member, draft: str) -> None:
    patch(ann, draft, 1, feature_gates=["+service.profilesSupport"])
    suite = run(ann, **of_version(draft))
    found = listed(ann, draft)

    assert (suite["status"], suite["result"]["passed"]) == ("Success", True)
    assert [{name: one[name] for name in one if name != "finished_at"} for one in found["evidence"]] == [
        {
            "passed": True,
            "current": True,
            "text_sha256": text_digest(YAML),
            "tests_sha256": found["tests_sha256"],
            "collector_version": settings().collector_version,
            "feature_gates": ["+service.profilesSupport"],
            "tests": [{"name": "a", "status": "Success"}, {"name": "b", "status": "Success"}],
            "job_id": suite["id"],
        }
    ]


def test_a_suite_that_fails_leaves_evidence_too(ann: Member, draft: str, judge: Judge) -> None:
    judge.passed = False
    suite = run(ann, **of_version(draft))

    assert (suite["status"], listed(ann, draft)["evidence"][0]["passed"]) == ("Fail", False)
    (told,) = waiting(ann.organization_id)
    assert (told.type, told.about.job_id, told.about.figures) == ("test.failed", suite["id"], {"failed": 2, "tests": 2})


def test_a_test_has_what_came_of_it_with_each_text(ann: Member, draft: str, judge: Judge) -> None:
    run(ann, **of_version(draft))
    patch(ann, draft, 1, yaml=YAML + "# changed\n")
    judge.passed = False
    run(ann, **of_version(draft))

    (_, b) = listed(ann, draft)["items"]
    history = [(outcome["status"], outcome["current"], outcome["collector_version"]) for outcome in b["history"]]
    on = settings().collector_version
    assert (b["name"], history) == ("b", [("Success", False, on), ("Fail", True, on)])


def test_a_suite_that_passes_or_is_of_a_text_is_not_an_event(ann: Member, draft: str, judge: Judge) -> None:
    run(ann, **of_version(draft))
    judge.passed = False
    run(ann, yaml=YAML, tests=[NAMED])

    assert waiting(ann.organization_id) == []


def test_naming_all_tests_is_a_suite_of_all(ann: Member, draft: str) -> None:
    run(ann, **of_version(draft, tests=["b", "a"]))

    assert listed(ann, draft)["evidence"][0]["current"] is True


def test_some_tests_and_tests_of_a_text_leave_no_evidence(ann: Member, draft: str) -> None:
    run(ann, **of_version(draft, tests=["a"]))
    run(ann, yaml=YAML, tests=[NAMED, {**NAMED, "name": "b"}])

    assert listed(ann, draft)["evidence"] == []


def test_a_step_that_is_repeated_leaves_evidence_once(ann: Member, draft: str) -> None:
    job_id = begun(ann, **of_version(draft))
    leave_results(job_id, {"a": "", "b": ""})
    for _ in range(2):
        evaluation = JobSteps().evaluate(job_id)
    JobSteps().record(job_id, evaluation)

    assert len(listed(ann, draft)["evidence"]) == 1


@pytest.mark.parametrize("lost", ["result.json", "evidence.json", "the job"])
def test_a_suite_that_cannot_be_stored_leaves_no_evidence_and_makes_room(
    ann: Member, draft: str, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    job_id = begun(ann, **of_version(draft))
    leave_results(job_id, {"a": "", "b": ""})
    left: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(objects, "write", refusing(objects.write, f"/{lost}"))
        patch.setattr(table, "transact", refusing(table.transact, "job_" if lost == "the job" else "never"))
        with pytest.raises(ConnectionClosedError):
            JobSteps().record(job_id, JobSteps().evaluate(job_id))
    monkeypatch.setattr(turns, "make_room", lambda _, left_by: left.append(left_by))
    JobSteps().fail(job_id, "evaluate", "PassingFault", None)

    assert ann.http.get(f"{API}/testing/suites/{job_id}").json()["status"] == "Error"
    assert listed(ann, draft)["evidence"] == []
    assert left == [job_id]


def refusing(call: Any, what: str) -> Any:
    """The call, which fails where its arguments have this in them."""

    def called(*arguments: Any, **more: Any) -> Any:
        if what in str(arguments):
            raise ConnectionClosedError(endpoint_url="https://aws")
        return call(*arguments, **more)

    return called


def test_evidence_is_of_what_was_run_whatever_has_changed_meanwhile(ann: Member, draft: str) -> None:
    before = listed(ann, draft)["tests_sha256"]
    job_id = begun(ann, **of_version(draft))
    patch(ann, draft, 1, yaml="a: 2")
    put(ann, draft, "a", sample="another")
    leave_results(job_id, {"a": "", "b": ""})
    JobSteps().record(job_id, JobSteps().evaluate(job_id))
    (evidence,) = listed(ann, draft)["evidence"]

    assert (evidence["text_sha256"], evidence["tests_sha256"]) == (text_digest(YAML), before)
    assert evidence["current"] is False


def test_a_suite_on_another_collector_says_so(ann: Member, draft: str) -> None:
    suite = run(ann, **of_version(draft, collector_version="0.158.0"))
    (evidence,) = listed(ann, draft)["evidence"]

    assert (suite["result"]["collector_version"], evidence["collector_version"]) == ("0.158.0", "0.158.0")
    assert evidence["current"] is False


def test_an_expected_output_is_compared_as_the_test_says(ann: Member, judge: Judge) -> None:
    test = {**NAMED, "rules": [], "expected": "want\n", "ignore": ['attributes["id"]']}
    suite = run(ann, yaml=YAML, tests=[test, {**NAMED, "name": "b"}])
    (asked,) = judge.asked

    assert (asked["left"], asked["right"], list(asked["ignore"])) == ("want\n", "out\n", ['attributes["id"]'])
    assert suite["result"]["tests"][0]["differences"] == SAME.model_dump()
    assert suite["result"]["tests"][1]["differences"] is None


def test_an_output_that_differs_fails_though_rules_pass(ann: Member, judge: Judge) -> None:
    judge.compared = SAME.model_copy(update={"equal": False})
    suite = run(ann, yaml=YAML, tests=[{**NAMED, "expected": ""}])

    assert suite["result"]["tests"][0]["status"] == "Fail"


@pytest.mark.parametrize(
    ("code", "message", "reason", "field"),
    [
        ("not_otlp", "left: line 3: no OTLP", "expected: line 3: no OTLP", "expected"),
        ("bad_path", "ignore[0]: no such path", "ignore[0]: no such path", "ignore"),
        ("too_large", "the outputs are too large", "expected: the outputs are too large", "expected"),
    ],
)
def test_what_cannot_be_compared_is_an_error_that_names_the_field(
    ann: Member, judge: Judge, code: str, message: str, reason: str, field: str
) -> None:
    judge.compared = Incomparable(code, message)
    (test,) = run(ann, yaml=YAML, tests=[{**NAMED, "expected": "x"}])["result"]["tests"]

    assert (test["status"], test["reason"], test["field"]) == ("Error", reason, field)
    assert test["stderr"].startswith(f"headgate: {reason}\n")


def test_outputs_are_there_if_they_were_asked_for(ann: Member) -> None:
    asked = run(ann, yaml=YAML, tests=[NAMED], output=True)["result"]["tests"][0]
    unasked = run(ann, yaml=YAML, tests=[NAMED])["result"]["tests"][0]

    assert (asked["output"], unasked["output"], unasked["output_left_out"]) == ("out\n", None, False)


def test_variables_of_a_test_are_not_left_in_what_stays_of_a_suite(ann: Member) -> None:
    run(ann, yaml=YAML, tests=[{**NAMED, "env": {"TOKEN": "t0p-secret"}}])
    client, bucket = aws.s3(), settings().bucket
    versions = client.list_object_versions(Bucket=bucket).get("Versions", [])
    read = [
        client.get_object(Bucket=bucket, Key=one["Key"], VersionId=one["VersionId"])["Body"].read() for one in versions
    ]

    assert read
    assert [content for content in read if b"t0p-secret" in content] == []


def test_tests_run_with_the_gates_of_their_version_unless_they_name_their_own(
    ann: Member, draft: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gates: list[object] = []

    def preparing(*asked: Any, **named: Any) -> Prepared:
        gates.append(list(named["feature_gates"]))
        return prepared(*asked, **named)

    monkeypatch.setattr(engine, "prepare", preparing)
    put(ann, draft, "b", feature_gates=["-own.gate"])
    assert patch(ann, draft, 1, feature_gates=["+of.version"]).status_code == 200

    begun(ann, **of_version(draft))

    assert gates == [["+of.version"], ["-own.gate"]]
