"""Test runs without a collector: who sees a run, what becomes of one, and its files."""

from dataclasses import replace
from datetime import timedelta

import pytest
from botocore.exceptions import ClientError

from configurations.app import router as configurations_router
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.identity import service as identity
from headgate.runs import files, service, store, turns
from headgate.runs.execution import AlreadyFinal, RunGone
from headgate.runs.jobs import service as jobs
from headgate.runs.model import Run, RunRule
from headgate_engine.rules.engine import parts
from headgate_engine.testing.model import LONGEST
from run_steps.app import PassingFault, handler
from testing.app import router
from tests.support.members import API, JoinWith, Member
from tests.support.runs import RULE, VALID, end, get, leave, make_ready, queued, verdict

YAML = "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}\n"


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.fixture
def bob(join: JoinWith) -> Member:
    return join([router], "bob")


def test_a_read_only_token_starts_no_run_and_reads_them(join: JoinWith, ann: Member) -> None:
    reader = join([router], "reader", access="read")
    run = queued(ann, published=True)

    assert reader.http.post(f"{API}/testing/runs", json=VALID).status_code == 403
    assert get(reader, run).status_code == 200


def test_a_draft_of_another_member_is_404(ann: Member, bob: Member) -> None:
    body = {**VALID, "configuration_id": new_id("cfg"), "version_number": 1}
    del body["yaml"]

    response = bob.http.post(f"{API}/testing/runs", json=body)

    assert (response.status_code, response.json()["detail"]) == (404, "configuration_id: No such configuration")


@pytest.mark.collector
def test_a_run_is_the_organizations_if_its_version_was_published(
    join: JoinWith, bob: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "enter", lambda _: None)
    ann = join([router, configurations_router], "ann")
    created = ann.http.post(f"{API}/configurations", json={"name": "c", "yaml": YAML}).json()["id"]
    body = {**VALID, "configuration_id": created, "version_number": 1}
    del body["yaml"]
    answer = ann.http.post(f"{API}/testing/runs", json=body)
    assert answer.status_code == 202, answer.text
    of_draft = answer.json()["id"]
    assert ann.http.post(f"{API}/configurations/{created}/versions/1/publish").status_code == 200
    of_published = ann.http.post(f"{API}/testing/runs", json=body).json()["id"]

    statuses = [bob.http.get(f"{API}/testing/runs/{run_id}").status_code for run_id in (of_draft, of_published)]

    assert statuses == [404, 200]


def test_a_run_of_a_yaml_is_its_creators(ann: Member, bob: Member) -> None:
    run = queued(ann)

    assert (get(ann, run).status_code, get(bob, run).status_code) == (200, 404)


def test_the_sample_of_a_run_is_read_by_whoever_sees_the_run(ann: Member, bob: Member) -> None:
    run, published = queued(ann), queued(ann, published=True)
    for one in (run, published):
        files.put(one.id, "sample", "a line\n<b>ü</b>")

    seen = {
        (who, one.id): who.http.get(f"{API}/testing/runs/{one.id}/sample")
        for who in (ann, bob)
        for one in (run, published)
    }

    assert [answer.status_code for answer in seen.values()] == [200, 200, 404, 200]
    assert seen[ann, run.id].text == "a line\n<b>ü</b>"
    assert seen[ann, run.id].headers["content-type"] == "text/plain; charset=utf-8"


def test_a_run_of_a_published_version_is_the_organizations(ann: Member, bob: Member, join: JoinWith) -> None:
    stranger = join([router], "eve", organization_id=identity.create_organization("Other").id)
    run = queued(ann, published=True)

    assert (get(bob, run).status_code, get(stranger, run).status_code) == (200, 404)


def test_an_admin_sees_every_run_of_the_organization(ann: Member) -> None:
    admin = Caller(
        ann.organization_id, "Acme", Principal("user", new_id("usr"), "root@x"), "root@x", "admin", "read", "c"
    )

    assert service.get(admin, queued(ann).id).status == "Queued"


def test_an_expired_run_is_404(ann: Member) -> None:
    assert get(ann, queued(ann, created_at=clock.now() - timedelta(days=30))).status_code == 404


def test_a_run_that_is_not_there_is_404_and_so_is_what_is_not_an_id(ann: Member) -> None:
    assert ann.http.get(f"{API}/testing/runs/{new_id('run')}").status_code == 404
    assert ann.http.get(f"{API}/testing/runs/run_1").status_code == 404


def test_a_queued_run_has_neither_success_nor_results(ann: Member) -> None:
    answer = get(ann, queued(ann)).json()

    assert (answer["status"], answer["success"], answer["validation_results"]) == ("Queued", None, None)


def test_the_output_is_404_until_the_run_has_ended(ann: Member) -> None:
    run = queued(ann)
    before = ann.http.get(f"{API}/testing/runs/{run.id}/output")
    leave(run, ran=True, output='{"resourceLogs":[]}\n')
    end(run, verdict(True))
    after = ann.http.get(f"{API}/testing/runs/{run.id}/output")

    assert (before.status_code, before.json()["code"]) == (404, "output_not_ready")
    assert (after.status_code, after.text) == (200, '{"resourceLogs":[]}\n')
    assert after.headers["content-type"] == "text/plain; charset=utf-8"


def test_a_large_output_is_served_by_a_link(ann: Member) -> None:
    run = queued(ann)
    leave(run, ran=True, output="x" * 3_000_000)
    end(run, verdict(True))

    response = ann.http.get(f"{API}/testing/runs/{run.id}/output", follow_redirects=False)

    assert response.status_code == 307
    assert f"runs/{run.id}/output" in response.headers["location"]


@pytest.mark.parametrize(("passed", "status"), [(True, "Success"), (False, "Fail")])
def test_a_run_ends_by_its_rules(passed: bool, status: str, ann: Member) -> None:
    run = queued(ann)
    make_ready(run, notes="headgate: note: a note\n")
    leave(run, ran=True, stderr="warned")
    end(run, verdict(passed))
    answer = get(ann, run).json()

    assert (answer["status"], answer["success"]) == (status, passed)
    assert answer["stderr"] == "headgate: note: a note\nwarned\n"
    assert answer["validation_results"] == [
        {
            "name": "some",
            "passed": passed,
            "context": "log",
            "condition": "true",
            "expect": "any",
            "min": None,
            "max": None,
            "matched": int(passed),
            "total": 1,
            "message": "seen",
            "api_owned": True,
        }
    ]


def test_a_run_tells_what_went_in_and_what_came_out(ann: Member) -> None:
    run = queued(ann, status="Running", records_in=6)
    before = get(ann, run).json()["records"]
    leave(run, ran=True, stderr="warned\n")
    end(run, verdict(True), out=4)
    answer = get(ann, run).json()

    assert before is None
    assert (answer["records"], answer["stderr"]) == ({"in": {"logs": 6}, "out": {"logs": 4}}, "warned\n")


@pytest.mark.collector
def test_a_run_in_which_nothing_came_out_says_so_first(ann: Member) -> None:
    run = queued(ann, status="Running", records_in=6)
    leave(run, ran=True, stderr="warned\n")
    end(run, verdict(True), out=0)
    answer = get(ann, run).json()

    assert answer["records"] == {"in": {"logs": 6}, "out": {"logs": 0}}
    assert answer["stderr"].startswith("headgate: nothing came out of the pipeline; most often a filter ")
    assert answer["stderr"].endswith("\nwarned\n")


def test_a_run_without_rules_succeeds(ann: Member) -> None:
    run = queued(ann, rules=())
    leave(run, ran=True)
    end(run)

    assert get(ann, run).json()["success"] is True


def test_a_collector_that_did_not_run_as_it_should_is_an_error_with_its_stderr(ann: Member) -> None:
    run = queued(ann)
    leave(run, ran=False, reason="it exited", cause="no such key", stderr="boom\n")
    end(run)
    answer = get(ann, run).json()

    assert (answer["status"], answer["success"], answer["validation_results"]) == ("Error", False, [])
    assert answer["stderr"] == "headgate: it exited: no such key\nboom\n"


def test_a_collector_that_was_never_started_is_told_in_the_words_of_the_specification(ann: Member) -> None:
    run = queued(ann)
    leave(run, ran=False, executed=False, reason="collector 9.9.9 is not installed on the test runner")
    end(run)

    assert get(ann, run).json()["stderr"] == (
        "The test was never executed: collector 9.9.9 is not installed on the test runner"
    )


@pytest.mark.parametrize(
    ("stage", "error", "stderr"),
    [
        (
            "prepare",
            {"Error": "PassingFault", "Cause": '{"errorMessage": "It is busy", "errorType": "PassingFault"}'},
            "The test was never executed: preparing the run failed: It is busy",
        ),
        (
            "collect",
            {"Error": "States.Timeout", "Cause": ""},
            "headgate: the test runner failed: it took too long; run the test again\n",
        ),
        (
            "collect",
            {"Error": "States.TaskFailed", "Cause": "arn:aws:ecs: no room"},
            "headgate: the test runner failed: it ended with an error; run the test again\n",
        ),
        (
            "collect",
            {"Error": "ECS.AmazonECSException", "Cause": '{"errorMessage": "arn:aws:sts", "errorType": "x"}'},
            "headgate: the test runner failed: it could not be started; run the test again\n",
        ),
        (
            "collect",
            {"Error": "AmazonECS.Unknown", "Cause": "Capacity is unavailable at this time"},
            "headgate: the test runner failed: it could not be started; run the test again\n",
        ),
        (
            "evaluate",
            {"Error": "KeyError", "Cause": '{"errorMessage": "a text", "errorType": "KeyError"}'},
            "headgate: evaluating the rules failed: it ended with an error; run the test again\n",
        ),
    ],
)
def test_a_failure_of_the_state_machine_is_recorded_with_its_reason(
    stage: str, error: dict[str, str], stderr: str, ann: Member
) -> None:
    run = queued(ann)
    handler({"step": "fail", "stage": stage, "run_id": run.id, "error": dict(error)}, None)
    answer = get(ann, run).json()

    assert (answer["status"], answer["stderr"]) == ("Error", stderr)


def test_a_run_that_has_ended_is_not_ended_again(ann: Member) -> None:
    run = queued(ann)
    leave(run, ran=True)
    end(run, verdict(True))
    handler({"step": "fail", "stage": "record", "run_id": run.id, "error": {}}, None)
    handler({"step": "finish", "run_id": run.id}, None)

    assert get(ann, run).json()["status"] == "Success"
    with pytest.raises(AlreadyFinal):
        store.update(run)


def test_a_run_whose_execution_is_gone_ends_as_error_when_it_is_looked_at(ann: Member) -> None:
    lost = queued(ann, created_at=clock.now() - LONGEST - timedelta(seconds=1), status="Running")
    young = queued(ann, status="Running")

    assert get(ann, lost).json()["status"] == "Error"
    assert get(ann, lost).json()["stderr"].startswith("The test run was interrupted")
    assert get(ann, young).json()["status"] == "Running"


def test_an_execution_that_ended_without_a_word_settles_its_run(ann: Member) -> None:
    run = queued(ann, status="Running")
    handler({"step": "finish", "run_id": run.id}, None)

    assert get(ann, run).json()["status"] == "Error"


def test_a_service_that_starts_settles_what_the_last_one_left(ann: Member) -> None:
    left, ended = queued(ann, status="Running"), queued(ann, status="Success")
    assert jobs.finish_unfinished() >= 1

    assert (get(ann, left).json()["status"], get(ann, ended).json()["status"]) == ("Error", "Success")


def test_a_step_of_an_unknown_kind_or_of_no_run_is_not_carried_out(ann: Member) -> None:
    with pytest.raises(ValueError, match="step"):
        handler({"step": "explode", "run_id": "run_1"}, None)
    with pytest.raises(RunGone):
        handler({"step": "evaluate", "run_id": new_id("run")}, None)


def test_a_fault_of_aws_is_one_that_is_tried_again(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_run_id: str) -> Run | None:
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "GetItem")

    monkeypatch.setattr(store, "find", broken)

    with pytest.raises(PassingFault):
        handler({"step": "evaluate", "run_id": new_id("run")}, None)


def test_a_run_of_the_longest_rules_is_kept_whole(ann: Member) -> None:
    conditions = ["".join(chr(0x1F300 + (7 * n + m * m) % 700) for m in range(4_096)) for n in range(20)]
    rules = tuple(RunRule(replace(RULE, name=str(n), condition=text), True) for n, text in enumerate(conditions))
    run = queued(ann, rules=rules)

    assert store.find(run.id) == replace(run, created_at=clock.parse(clock.rfc3339(run.created_at)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [""]),
        ("a\nb\n", ["a\nb\n"]),
        ("aaa\nbbb\ncc", ["aaa\n", "bbb\n", "cc"]),
        ("aaaaaaaa\nb\n", ["aaaaaaaa\n", "b\n"]),
        ("aaaaaaaa", ["aaaaaaaa", ""]),
    ],
)
def test_a_large_output_is_judged_in_parts_of_whole_lines(text: str, expected: list[str]) -> None:
    assert list(parts(text, 5)) == expected
