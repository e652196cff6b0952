"""The steps of traced runs: what is stored of them, who reads them, and what never takes a verdict away."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from headgate import checker
from headgate.checker import CheckerFailed, NoChecker, NotInstalled, Refused
from headgate.foundation import clock
from headgate.runs import files, store, tracing, turns
from headgate.runs.model import Run
from headgate.runs.run_steps import RunSteps
from headgate_engine.rules.engine import RuleVerdict
from headgate_engine.testing.trace import LARGEST_DOCUMENT
from testing.app import router
from tests.support.members import API, JoinWith, Member
from tests.support.runs import VALID, judge, leave, queued, verdict
from tests.support.traces import document, field, of_three_records, record, step

EVALUATED = {"tallies": [], "verdicts": [RuleVerdict(**verdict(True)).model_dump()], "records": {"logs": 1}}
PREPARED = {"signals": ["logs"], "collector_yaml": "a: b", "input": "x", "records": 1, "notes": []}


class Collector:
    """Answers the operations of a run as a test wants; an exception among `answers` is raised."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {
            "prepare": {"problem": None, "refusal": "", "prepared": PREPARED},
            "evaluate": EVALUATED,
            "steps": of_three_records(),
            "describe": {"distribution": "otelcol-contrib", "reduced": False, "lacks": [], "can": ["steps"]},
        }
        self.asked: dict[str, Mapping[str, Any]] = {}

    def call(self, op: str, request: Mapping[str, Any], **_: object) -> Any:
        self.asked[op] = request
        if op == "tell":
            return {"stderr": request["noted"] + request["stderr"]}
        answer = self.answers[op]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def describe(self, _version: str, **_: object) -> Any:
        return self.call("describe", {})


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Collector:
    scripted = Collector()
    monkeypatch.setattr(checker.COLLECTORS, "call", scripted.call)
    monkeypatch.setattr(checker.COLLECTORS, "describe", scripted.describe)
    return scripted


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.fixture
def bob(join: JoinWith) -> Member:
    return join([router], "bob")


@pytest.fixture
def run(ann: Member) -> Run:
    traced = queued(ann, trace=True, status="Running", started_at=clock.now())
    files.put(traced.id, "configuration.yaml", "the: configuration\n")
    return traced


def ended(run: Run, **files: str) -> None:
    """The run ends, and the test runner has left these files."""
    leave(run, ran=True, **files)
    judge(run.id)


def read(member: Member, run: Run, further: str = "") -> Any:
    return member.http.get(f"{API}/testing/runs/{run.id}/steps{further}", follow_redirects=False)


def status_of(member: Member, run: Run) -> tuple[str, str]:
    answer = member.http.get(f"{API}/testing/runs/{run.id}").json()
    return answer["status"], answer["stderr"]


@pytest.mark.collector
def test_the_checker_is_asked_with_what_the_runner_left_and_the_users_own_text(
    run: Run, ann: Member, collector: Collector
) -> None:
    ended(run, steps="events")

    assert collector.asked["steps"] == {"events": "events", "yaml": "the: configuration\n"}
    assert status_of(ann, run) == ("Success", "")


@pytest.mark.collector
def test_the_list_has_each_step_without_its_records(run: Run, ann: Member, collector: Collector) -> None:
    ended(run, steps="events")
    answer = read(ann, run).json()
    receiver, transform, dropping = answer["items"]

    assert (answer["available"], answer["reason"], answer["complete"]) == (True, None, True)
    assert answer["left_out"] == {"records": 0, "bytes": 0}
    assert (receiver["kind"], receiver["created"], receiver["replaces"]) == ("receiver", 3, ["filelog"])
    assert (transform["n"], transform["component"], transform["exact"]) == (2, "transform/clean", True)
    assert (transform["records_in"], transform["records_out"], transform["changed"]) == (3, 3, 1)
    assert (transform["statements"][0]["matched"], transform["statements"][0]["line"]) == (2, 9)
    assert (dropping["records_out"], dropping["dropped"]) == (2, 1)
    assert "records" not in transform


@pytest.mark.collector
def test_a_step_has_its_records_in_pages(run: Run, ann: Member, collector: Collector) -> None:
    ended(run, steps="events")
    first = read(ann, run, "/2?limit=2").json()
    second = read(ann, run, f"/2?limit=2&cursor={first['next_cursor']}").json()

    assert [entry["record"] for entry in first["records"]] == [1, 2]
    assert [entry["record"] for entry in second["records"]] == [3]
    assert (first["component"], first["left_out"], second["next_cursor"]) == ("transform/clean", 0, None)
    (field,) = first["records"][0]["fields"]
    assert (field["path"], field["before"], field["after"]) == ('attributes["level"]', None, "error")
    assert field["by"]["statement"] == 'set(attributes["level"], "error")'


@pytest.mark.collector
def test_a_step_tells_of_one_record_and_of_those_that_it_went_into(run: Run, ann: Member, collector: Collector) -> None:
    merged = record(1, "merged", records=[1, 3])
    collector.answers["steps"] = document(step(1, "groupbyattrs", record(2, "unchanged"), merged, record(4, "dropped")))
    ended(run, steps="events")

    assert [entry["record"] for entry in read(ann, run, "/1?record=3").json()["records"]] == [1]
    assert [entry["outcome"] for entry in read(ann, run, "/1?record=4").json()["records"]] == ["dropped"]
    assert read(ann, run, "/1?record=9").json()["records"] == []


@pytest.mark.collector
def test_a_page_ends_before_it_is_too_large_for_an_answer(run: Run, ann: Member, collector: Collector) -> None:
    collector.answers["steps"] = document(step(1, "x", *(record(n, "changed", name="x" * 600_000) for n in (1, 2, 3))))
    ended(run, steps="events")
    first = read(ann, run, "/1").json()
    second = read(ann, run, f"/1?cursor={first['next_cursor']}").json()

    assert [entry["record"] for entry in (*first["records"], *second["records"])] == [1, 2, 3]
    assert len(second["records"]) == 1


@pytest.mark.collector
def test_an_answer_that_is_too_large_leads_to_all_steps_with_their_records(
    run: Run, ann: Member, collector: Collector
) -> None:
    collector.answers["steps"] = document(step(1, "x", record(1, "changed", name="x" * 2_600_000)))
    ended(run, steps="events")
    answer = read(ann, run, "/1")
    whole = json.loads(files.text(run.id, "steps.json") or "")

    assert answer.status_code == 307
    assert f"/runs/{run.id}/steps.json?" in answer.headers["location"]
    assert [len(entry["records"]) for entry in whole["items"]] == [1]


def test_a_run_that_was_not_traced_is_404(ann: Member) -> None:
    plain = queued(ann)

    for further in ("", "/1"):
        answer = read(ann, plain, further)
        assert (answer.status_code, answer.json()["code"]) == (404, "run_not_traced")


def test_until_it_has_ended_a_run_has_no_steps(run: Run, ann: Member) -> None:
    answer = read(ann, run)

    assert (answer.status_code, answer.json()["code"]) == (404, "output_not_ready")


@pytest.mark.collector
def test_a_step_that_there_is_not_is_404(run: Run, ann: Member, collector: Collector) -> None:
    ended(run, steps="events")
    answer = read(ann, run, "/4")

    assert (answer.status_code, answer.json()["code"]) == (404, "step_not_found")
    assert answer.json()["detail"] == "No such step; this run has 3"


@pytest.mark.collector
@pytest.mark.parametrize(
    ("further", "status"),
    [
        *((path, 404) for path in ("/0", "/-1", "/01", "/x")),
        *((query, 422) for query in ("?record=0", "?record=x", "?cursor=x", "?limit=101", "?a=b")),
    ],
)
def test_what_names_no_step_is_404_and_a_wrong_query_422(
    further: str, status: int, run: Run, ann: Member, collector: Collector
) -> None:
    ended(run, steps="events")

    assert read(ann, run, further if status == 404 else f"/1{further}").status_code == status


@pytest.mark.collector
def test_the_steps_are_those_who_see_the_run_see(run: Run, ann: Member, bob: Member, collector: Collector) -> None:
    ended(run, steps="events")
    public = queued(ann, trace=True, status="Running", started_at=clock.now(), published=True)
    ended(public, steps="events")

    assert [read(member, run).status_code for member in (ann, bob)] == [200, 404]
    assert [read(member, run, "/1").status_code for member in (ann, bob)] == [200, 404]
    assert [read(member, public).status_code for member in (ann, bob)] == [200, 200]


FAILURES: dict[str, tuple[Any, str]] = {
    "the checker fails": (CheckerFailed("The collector did not answer"), "The collector did not answer"),
    "it refuses": (Refused("invalid_request", "line 2: it is not an event"), "line 2: it is not an event"),
    "it answers something else": ({"steps": 5}, "the checker's answer is not a list of steps"),
    "it answers a step without a number": (
        document({**step(1, "x"), "n": 0}),
        "the checker's answer is not a list of steps",
    ),
    "it answers a step twice": (
        document(step(1, "x"), step(1, "x")),
        "the checker's answer is not a list of steps",
    ),
    "it answers half a character": (
        document(step(1, "x", record(1, "changed", field("a", "added", None, "\ud800")))),
        "the checker's answer is not a list of steps",
    ),
    "it answers too much": (
        document(step(1, "x", record(1, "changed", name="x" * LARGEST_DOCUMENT))),
        "the steps are too large",
    ),
}


@pytest.mark.collector
@pytest.mark.parametrize("what", FAILURES)
def test_a_failure_of_the_steps_is_noted_and_takes_no_verdict_away(
    what: str, run: Run, ann: Member, collector: Collector
) -> None:
    collector.answers["steps"], reason = FAILURES[what]
    ended(run, steps="events")
    answer = read(ann, run).json()

    assert status_of(ann, run) == ("Success", f"headgate: note: this run has no steps: {reason}\n")
    assert (answer["available"], answer["reason"], answer["items"]) == (False, reason, [])


@pytest.mark.collector
def test_steps_that_no_collector_can_have_left_are_noted(
    run: Run, ann: Member, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "LARGEST_STEPS", 5)
    ended(run, steps="events")

    reason = "the test runner left more than 5 bytes of them"
    assert "steps" not in collector.asked
    assert status_of(ann, run) == ("Success", f"headgate: note: this run has no steps: {reason}\n")


@pytest.mark.collector
def test_a_storage_that_does_not_take_the_steps_takes_no_verdict_away(
    run: Run, ann: Member, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = files.put

    def put_file(run_id: str, name: str, text: str) -> None:
        if name == "steps.json":
            raise EndpointConnectionError(endpoint_url="https://s3")
        whole(run_id, name, text)

    monkeypatch.setattr(files, "put", put_file)
    ended(run, steps="events")

    assert status_of(ann, run) == (
        "Success",
        "headgate: note: this run has no steps: the service's storage did not answer\n",
    )
    assert read(ann, run).json()["available"] is False


@pytest.mark.collector
def test_a_run_of_which_no_steps_were_left_says_so(run: Run, ann: Member, collector: Collector) -> None:
    ended(run)

    reason = "the run ended before its steps were recorded"
    assert status_of(ann, run) == ("Success", f"headgate: note: this run has no steps: {reason}\n")
    assert read(ann, run).json()["reason"] == reason
    assert read(ann, run, "/1").json()["detail"] == f"The steps of this run are not available: {reason}"


def test_a_collector_that_failed_has_the_steps_until_then(run: Run, ann: Member, collector: Collector) -> None:
    leave(run, ran=False, reason="the collector exited", steps="events")
    judge(run.id)

    assert status_of(ann, run)[0] == "Error"
    assert len(read(ann, run).json()["items"]) == 3


def started(member: Member, monkeypatch: pytest.MonkeyPatch, **asked: Any) -> Run:
    """A run that was asked for, and begun."""
    monkeypatch.setattr(turns, "enter", lambda _run: None)
    answer = member.http.post(f"{API}/testing/runs", json={**VALID, **asked})
    assert answer.status_code == 202, answer.text
    run = store.find(answer.json()["id"])
    assert run is not None
    store.update(run.start(clock.now()))
    return run


def case_of(run: Run) -> Any:
    (case,) = json.loads(files.read_input(run, "cases") or b"")["cases"]
    return case


def test_the_test_runner_is_told_to_trace_only_if_asked_for(
    ann: Member, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced, plain = (case_of(started(ann, monkeypatch, trace=trace)) for trace in (True, False))

    assert (traced.get("trace"), plain.get("trace")) == (True, None)


UNABLE: dict[str, tuple[Any, str]] = {
    "an official release": (
        NoChecker("x"),
        "collector 0.139.0 is an official release, whose components cannot be observed",
    ),
    "a version that is gone": (NotInstalled("0.139.0", ()), "collector 0.139.0 is not installed; installed: none"),
    "an older build": (
        {"distribution": "otelcol-contrib", "reduced": False, "lacks": []},
        "this build of collector 0.139.0 cannot record steps; build it again",
    ),
}


@pytest.mark.parametrize("what", UNABLE)
def test_a_collector_that_records_no_steps_runs_without(
    what: str, ann: Member, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector.answers["describe"], reason = UNABLE[what]
    collector.answers["evaluate"] = {**EVALUATED, "verdicts": []}
    run = started(ann, monkeypatch, trace=True)
    ended(run)

    assert "trace" not in case_of(run)
    assert status_of(ann, run) == ("Success", f"headgate: note: this run has no steps: {reason}\n")
    assert read(ann, run).json()["reason"] == reason


def test_the_pipelines_whose_output_is_wanted_reach_the_checker(
    ann: Member, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(ann, monkeypatch, output_pipelines=["logs/a"])

    assert collector.asked["prepare"]["output_pipelines"] == ["logs/a"]
    assert ann.http.get(f"{API}/testing/runs/{run.id}").json()["output_pipelines"] == ["logs/a"]


def test_the_first_answer_of_prepare_is_what_runs(
    ann: Member, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(ann, monkeypatch, sample_name="/var/log/0.log", feature_gates=["+a.b"])
    del collector.asked["prepare"]
    RunSteps().prepare(run.id)

    assert "prepare" not in collector.asked
    case = case_of(run)
    assert (case["sample_name"], case["feature_gates"], case["collector_yaml"]) == ("/var/log/0.log", ["+a.b"], "a: b")


def test_a_run_says_whether_it_is_traced(ann: Member, run: Run) -> None:
    plain = queued(ann)

    traced = [ann.http.get(f"{API}/testing/runs/{one.id}").json()["trace"] for one in (run, plain)]
    assert traced == [True, False]
