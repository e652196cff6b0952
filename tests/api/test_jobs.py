"""Jobs without a collector: who sees one, what a test runner may leave of it, how it ends, and what stays of it."""

import gc
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.runs import files, keys, runner
from headgate.runs.jobs import service, store
from headgate.runs.jobs.kinds import KINDS
from headgate.runs.jobs.model import MAX_REQUEST_BYTES, Job, JobTooLarge
from headgate.storage import aws, objects
from headgate_engine.rules import engine
from headgate_engine.rules.engine import Prepared, Results, Sample
from headgate_engine.testing.model import LONGEST, MAX_CASES, Case, Unworkable
from run_steps.app import PassingFault, handler
from testing.app import router
from tests.support.members import API, JoinWith, Member
from tests.support.run_outcomes import outcome

# moto does not close the content of an object that is deleted with all its versions.
pytestmark = [
    pytest.mark.filterwarnings("ignore:S3 key was not disposed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Unclosed file:ResourceWarning"),
]
LINE = '{"resourceLogs":[]}\n'
CASES = ("one", "two", "refused")


class Counting:
    """A kind whose cases are named in the request, and whose result is what came of each."""

    def __init__(self) -> None:
        self.unworkable = ""
        self.size = 0

    def cases(self, request: Any, _asker: object) -> list[Case]:
        if self.unworkable:
            raise Unworkable(self.unworkable)
        return [Case(name, "a: b", "logs", "logs", Sample("x", is_otlp=False), "0.139.0") for name in request["cases"]]

    def conclude(self, _begun: object, _request: Any, results: Any, _asker: object) -> Any:
        return [[one.case.id, one.status, one.reason, one.output] for one in results] + ["x" * self.size]


@pytest.fixture(autouse=True)
def kind(monkeypatch: pytest.MonkeyPatch) -> Counting:
    counting = Counting()
    monkeypatch.setitem(KINDS, "suite", counting)
    monkeypatch.setattr(engine, "prepare", prepared)
    monkeypatch.setattr(engine, "evaluate", lambda *_, **__: Results(verdicts=[], records={"logs": 0}))
    return counting


def prepared(_yaml: str, _pipeline: str, _signal: str, sample: Sample, **_: object) -> Prepared:
    return Prepared(signals=["logs"], collector_yaml="", input=sample.text, records=1, notes=[], idle_milliseconds=1)


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.fixture
def job(ann: Member) -> Job:
    """One that is Running, and whose third case cannot be run."""
    made = queued(ann)
    handler({"step": "prepare", "run_id": made.id}, None)
    ready = json.loads(files.read(made.id, "prepared.json") or b"")
    ready[2]["reason"] = "it is refused"
    files.put(made.id, "prepared.json", json.dumps(ready))
    return made


def queued(member: Member, cases: tuple[str, ...] = CASES, **changes: Any) -> Job:
    """A job of a text, kept."""
    by = Principal("service_account", member.service_account_id, "ann")
    made = Job(
        id=new_id("job"),
        organization_id=member.organization_id,
        created_by=by,
        published=False,
        kind="suite",
        status="Queued",
        configuration_id=None,
        version_number=None,
        created_at=clock.now(),
    )
    made = replace(made, **changes)
    store.create(made, service.path(made))
    files.put_input(made, "request.json", json.dumps({"cases": cases}))
    return made


def said(case: str, **changes: object) -> dict[str, object]:
    """What an honest runner says of a case that ran for its five seconds, but for what is changed."""
    told = outcome(5).model_dump(mode="json")
    return {"id": case, "outcome": told | changes, "output": LINE, "stderr": ""}


def leave(job: Job, *results: Mapping[str, object]) -> None:
    lines = "".join(json.dumps(result) + "\n" for result in results)
    objects.write(keys.file(job.id, "results"), lines.encode())


def end(job: Job) -> Job:
    evaluation = handler({"step": "evaluate", "run_id": job.id}, None)
    handler({"step": "record", "run_id": job.id, "evaluation": evaluation}, None)
    return now(job)


def now(job: Job) -> Job:
    found = store.find(job.id)
    assert found is not None
    return found


def read(member: Member, job: Job) -> Any:
    return member.http.get(f"{API}/testing/suites/{job.id}")


def test_a_job_ends_with_what_came_of_each_case_in_their_order(job: Job) -> None:
    short = outcome(0.7).model_dump(mode="json") | {"idle": True}
    leave(job, said("two", ran=False, reason="it broke", cause="why"), {"id": "one", "outcome": short, "output": LINE})

    ended = end(job)

    assert (ended.status, ended.reason, ended.cases) == ("Done", "", 3)
    assert service.result(ended) == [
        ["one", "ran", "", LINE],
        ["two", "error", "it broke: why", LINE],
        ["refused", "refused", "it is refused", ""],
        "",
    ]


LIES: dict[str, tuple[Any, str]] = {
    "no results": (None, "the test runner left no results"),
    "a line that is not a result": (lambda: [{"id": "one"}], "a line of its results is not a result"),
    "a number as text": (lambda: [said("one", ran="true")], "a line of its results is not a result"),
    "a case that nobody asked for": (lambda: [said("three")], "a result is of no case, or of one that has a result"),
    "a case that was refused": (lambda: [said("refused")], "a result is of no case, or of one that has a result"),
    "a case twice": (lambda: [said("one"), said("one")], "a result is of no case, or of one that has a result"),
    "a case left out": (lambda: [said("one")], "1 cases have no result"),
    "it ran and says why not": (lambda: [said("one", reason="x")], "an outcome contradicts itself"),
    "it ran without being executed": (lambda: [said("one", executed=False)], "an outcome contradicts itself"),
    "it ran in no time": (
        lambda: [said("one", started_at=outcome(0).started_at.isoformat())],
        "a case is said to have run for its duration, in less time than that",
    ),
    "it ran before the job": (
        lambda: [said("one", started_at="2026-01-01T00:00:00Z", finished_at="2026-01-01T00:00:09Z")],
        "its times are before or after its execution",
    ),
    "its times have no zone": (lambda: [said("one", started_at="2026-01-01T00:00:00")], "its times have no time zone"),
    "more words than any collector has": (
        lambda: [said("one") | {"stderr": "x" * 66_001}],
        "a result is larger than a run's",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_of_the_test_runner_ends_the_job_in_error(lie: str, job: Job) -> None:
    tell, reason = LIES[lie]
    if tell is not None:
        leave(job, *tell())

    ended = end(job)

    assert ended.status == "Error"
    assert ended.reason.endswith(reason)
    assert service.result(ended) is None


def test_a_case_that_waits_for_time_cannot_have_ended_early(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    def waiting(*arguments: Any, **named: Any) -> Prepared:
        return prepared(*arguments, **named).model_copy(update={"idle_milliseconds": 0})

    monkeypatch.setattr(engine, "prepare", waiting)
    job = queued(ann, ("one",))
    handler({"step": "prepare", "run_id": job.id}, None)
    leave(job, said("one", idle=True, started_at=outcome(1).started_at.isoformat()))

    assert end(job).status == "Error"


def test_results_without_end_are_not_read(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "LARGEST_RESULTS", 100)
    leave(job, said("one"), said("two"))

    assert end(job).reason == "the test runner's answer cannot be right: results are larger than 100 bytes"


def test_a_request_that_cannot_be_worked_on_ends_in_its_own_words(ann: Member, kind: Counting) -> None:
    kind.unworkable = "there is nothing to test"
    job = queued(ann)
    with pytest.raises(Unworkable) as raised:
        handler({"step": "prepare", "run_id": job.id}, None)
    cause = json.dumps({"errorType": "Unworkable", "errorMessage": str(raised.value)})
    handler(
        {"step": "fail", "stage": "prepare", "run_id": job.id, "error": {"Error": "Unworkable", "Cause": cause}}, None
    )

    assert (now(job).status, now(job).reason) == ("Error", "there is nothing to test")


def test_too_many_cases_and_too_large_results_are_said(ann: Member, job: Job, kind: Counting) -> None:
    many = queued(ann, tuple(map(str, range(MAX_CASES + 1))))
    with pytest.raises(Unworkable, match="it would have 201 cases, and may have 200"):
        handler({"step": "prepare", "run_id": many.id}, None)
    kind.size = 6_000_000
    leave(job, said("one"), said("two"))
    with pytest.raises(Unworkable, match=r"its result is over 5\.5 MB"):
        handler({"step": "evaluate", "run_id": job.id}, None)


def test_a_fault_is_an_error_with_its_reason_and_makes_room(ann: Member) -> None:
    job = queued(ann)
    cause = json.dumps({"errorType": PassingFault.__name__, "errorMessage": "the checker is down"})
    for error, told in ((PassingFault.__name__, cause), ("States.Timeout", "")):
        failed = {"Error": error, "Cause": told}
        handler({"step": "fail", "stage": "prepare", "run_id": job.id, "error": {**failed}}, None)

    assert (now(job).status, now(job).reason) == ("Error", "preparing the job failed: the checker is down")


def test_a_job_whose_execution_is_gone_ends_when_it_is_read(ann: Member) -> None:
    job = queued(ann, status="Running", started_at=clock.now() - LONGEST - timedelta(seconds=1))

    assert (read(ann, job).json()["status"], now(job).status) == ("Error", "Error")


def test_an_execution_that_ended_without_a_result_ends_the_job(ann: Member) -> None:
    job = queued(ann)
    for _ in range(2):
        handler({"step": "finish", "run_id": job.id}, None)

    assert now(job).reason == "The job was interrupted: its execution did not come to an end"


def test_who_sees_a_job(ann: Member, join: JoinWith) -> None:
    bob = join([router], "bob")
    eve = join([router], "eve", organization_id=identity.create_organization("Other").id)
    own, shared, old = (
        queued(ann),
        queued(ann, published=True),
        queued(ann, created_at=clock.now() - timedelta(days=30)),
    )

    assert [read(who, own).status_code for who in (ann, bob, eve)] == [200, 404, 404]
    assert [read(who, shared).status_code for who in (ann, bob, eve)] == [200, 200, 404]
    assert read(ann, old).status_code == 404
    assert ann.http.get(f"{API}/testing/runs/{own.id}").status_code == 404


def test_a_secret_request_is_gone_for_good_before_the_job_has_ended(ann: Member) -> None:
    job = queued(ann, ("one",), secret=True)
    handler({"step": "prepare", "run_id": job.id}, None)
    leave(job, said("one"))
    assert {"request.json", "cases"} <= set(names(f"variables/{job.id}/"))

    ended = end(job)

    assert ended.status == "Done"
    assert names(f"variables/{job.id}/") == []
    gc.collect()
    assert not {"request.json", "cases"} & set(names(f"runs/{job.id}/"))


def test_a_request_without_end_is_413_and_leaves_nothing(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    before = aws.dynamodb().scan(TableName=settings().runs_table)["Count"]
    with pytest.raises(JobTooLarge):
        service.start(caller(ann), "suite", "x" * (MAX_REQUEST_BYTES + 1), published=False)

    assert aws.dynamodb().scan(TableName=settings().runs_table)["Count"] == before


def names(prefix: str) -> list[str]:
    """The names of the objects there, once for each version."""
    listed = aws.s3().list_object_versions(Bucket=settings().bucket, Prefix=prefix)
    return [one["Key"].removeprefix(prefix) for one in (*listed.get("Versions", ()), *listed.get("DeleteMarkers", ()))]


def caller(member: Member) -> Any:
    from headgate.foundation.caller import Caller

    by = Principal("service_account", member.service_account_id, "ann")
    return Caller(member.organization_id, "Acme", by, "t", "contributor", "read_write", "tok")
