"""Values of a run's variables: where they are while it is under way, and that nothing of them stays."""

import gc
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from headgate import checker
from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.runs import files, runner, store, turns
from headgate.runs.execution import RunGone
from headgate.runs.jobs import service as jobs
from headgate.runs.model import Run
from headgate.storage import aws, objects, table
from headgate_engine.testing.model import LONGEST
from run_steps.app import PassingFault, handler
from testing.app import router
from tests.support.members import API, JoinWith, Member
from tests.support.runs import VALID, end, get, leave, queued, verdict

# moto does not close the content of a version that is deleted.
pytestmark = [
    pytest.mark.filterwarnings("ignore:S3 key was not disposed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Unclosed file:ResourceWarning"),
]
SECRET = "s3cret-of-a-run"
PREPARED = {
    "problem": None,
    "refusal": "",
    "prepared": {"signals": ["logs"], "collector_yaml": SECRET, "input": "x", "records": 1, "notes": []},
}


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.fixture
def versions(ann: Member) -> Iterator[None]:
    """The bucket keeps replaced and deleted objects, as on AWS."""
    aws.s3().put_bucket_versioning(Bucket=settings().bucket, VersioningConfiguration={"Status": "Enabled"})
    yield
    gc.collect()


@pytest.fixture
def run(ann: Member, versions: None) -> Run:
    """A run under way, with variables; one of them was written twice."""
    begun = queued(ann, env_names=("TOKEN",)).start(clock.now())
    store.update(begun)
    for value in ("another", SECRET):
        files.put_input(begun, "cases", value)
    return begun


def left() -> list[str]:
    """What the bucket has of variables, of any version."""
    listed = aws.s3().list_object_versions(Bucket=settings().bucket, Prefix="variables/")
    return [entry["Key"] for entry in (*listed.get("Versions", ()), *listed.get("DeleteMarkers", ()))]


def everything() -> str:
    """All that is stored."""
    items = [*table.runs.scan("attribute_exists(run_id)", {}), *table.identity.scan("attribute_exists(pk)", {})]
    found = [repr(item) for item in items]
    for entry in aws.s3().list_object_versions(Bucket=settings().bucket).get("Versions", ()):
        key, version = entry["Key"], entry["VersionId"]
        content = aws.s3().get_object(Bucket=settings().bucket, Key=key, VersionId=version)["Body"].read()
        found.append(f"{key} {content.decode(errors='replace')}")
    return "\n".join(found)


def record(run: Run) -> None:
    leave(run, ran=True)
    end(run, verdict(True))


def fail(run: Run) -> None:
    handler({"step": "fail", "stage": "collect", "run_id": run.id, "error": {"Error": "States.Timeout"}}, None)


def settle(run: Run) -> None:
    handler({"step": "finish", "run_id": run.id}, None)


def start_the_service_again(_: Run) -> None:
    jobs.finish_unfinished()


ENDS: Mapping[str, Callable[[Run], None]] = {
    "recorded": record,
    "failed": fail,
    "lost": settle,
    "interrupted": start_the_service_again,
}


@pytest.mark.parametrize("how", ENDS)
def test_nothing_of_the_values_is_left_when_a_run_has_ended(how: str, run: Run, ann: Member) -> None:
    ENDS[how](run)
    answer = get(ann, run).json()

    assert answer["status"] in ("Success", "Error")
    assert answer["env_names"] == ["TOKEN"]
    assert left() == []
    assert SECRET not in everything()


def test_nothing_is_left_of_a_run_that_is_found_to_be_lost(run: Run, ann: Member) -> None:
    long_ago = clock.now() - LONGEST - timedelta(minutes=1)
    store.update(replace(run, created_at=long_ago, started_at=long_ago))

    assert get(ann, run).json()["status"] == "Error"
    assert left() == []


@pytest.mark.parametrize("how", ENDS)
def test_a_run_does_not_end_before_its_values_are_gone(
    how: str, run: Run, ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete = objects.delete_for_good
    monkeypatch.setattr(objects, "delete_for_good", _down)
    with pytest.raises((PassingFault, ClientError)):
        ENDS[how](run)
    monkeypatch.setattr(objects, "delete_for_good", delete)
    between = get(ann, run).json()["status"]
    ENDS[how](run)

    assert between == "Running"
    assert get(ann, run).json()["status"] in ("Success", "Error")
    assert left() == []


def test_a_run_that_cannot_be_launched_leaves_no_values(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker.COLLECTORS, "call", lambda *_, **__: PREPARED)
    monkeypatch.setattr(turns, "enter", _down)
    response = ann.http.post(f"{API}/testing/runs", json={**VALID, "env": {"TOKEN": SECRET}})

    assert (response.status_code, response.json()["code"]) == (503, "testing_unavailable")
    assert left() == []
    assert SECRET not in everything()


def test_values_are_nowhere_but_in_their_own_objects_while_a_run_is_under_way(
    ann: Member, versions: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(checker.COLLECTORS, "call", lambda _op, request, **_: asked.append(request) or PREPARED)
    monkeypatch.setattr(turns, "enter", lambda _run: None)
    body = {**VALID, "env": {"TOKEN": SECRET}, "skip": ["a"], "attributes": {"b": {"k": 1.0, "n": 5, "t": True}}}
    answer = ann.http.post(f"{API}/testing/runs", json=body, headers={"Idempotency-Key": "x"})
    run_id = answer.json()["id"]
    runner_task = handler({"step": "prepare", "run_id": run_id}, None)
    task = files.text(run_id, "task.json")
    run = store.find(run_id)
    assert run is not None
    cases = files.read_input(run, "cases")
    elsewhere = [line for line in everything().splitlines() if not line.startswith("variables/")]

    assert [request["env"] for request in asked] == [{"TOKEN": SECRET}]
    assert [repr(request["attributes"]) for request in asked] == ["{'b': {'k': 1.0, 'n': 5, 't': True}}"]
    assert (answer.json()["skip"], answer.json()["env_names"]) == (["a"], ["TOKEN"])
    assert repr(answer.json()["attributes"]) == "{'b': {'k': 1.0, 'n': 5, 't': True}}"
    assert [case["env"] for case in json.loads(cases or b"")["cases"]] == [{"TOKEN": SECRET}]
    assert task is not None
    assert "/variables/" in json.loads(task)["get"]["cases"]
    assert SECRET not in f"{answer.text} {runner_task} {task} {elsewhere}"
    handler({"step": "finish", "run_id": run_id}, None)
    assert left() == []


def test_a_step_that_goes_on_after_the_end_leaves_nothing(
    run: Run, ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Step Functions gives up on a step that takes too long, and the function goes on."""

    give = runner.give

    def while_it_is_ended(*arguments: Any) -> str:
        fail(run)
        files.put_input(run, "cases", SECRET)
        return give(*arguments)

    monkeypatch.setattr(runner, "give", while_it_is_ended)
    with pytest.raises(RunGone):
        handler({"step": "prepare", "run_id": run.id}, None)

    assert get(ann, run).json()["status"] == "Error"
    assert left() == []


def _down(*_: object) -> None:
    raise ClientError({"Error": {"Code": "ServiceUnavailable"}}, "DeleteObject")
