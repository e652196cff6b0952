"""The queue of an organization's test runs: exact under real concurrency, and nothing stuck or lost by any crash."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.runs import service, store, turns
from headgate.runs.execution import RunGone
from headgate.runs.jobs import service as jobs
from headgate.runs.lifecycle import TestingUnavailable
from headgate.runs.model import Run
from headgate.runs.queue import EVERYONE, Queue, TooManyRuns
from headgate.storage import aws
from headgate_engine.rules import engine
from headgate_engine.rules.engine import Prepared
from headgate_engine.testing import cases
from headgate_engine.testing.model import LONGEST
from run_steps.app import PassingFault, handler
from testing.app import router
from tests.support.members import API, JoinWith, Member
from tests.support.runs import VALID, get, leave, queued
from tests.support.runs import end as record

PLACES, WAITING = 3, 5
OUTAGE = ClientError({"Error": {"Code": "ServiceUnavailable"}}, "StartExecution")


class Executions:
    """Step Functions, as far as it starts what is named, once."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.down = False

    def start_execution(self, *, name: str, **_: str) -> None:
        if self.down:
            raise OUTAGE
        if name in self.begun:
            raise ClientError({"Error": {"Code": "ExecutionAlreadyExists"}}, "StartExecution")
        self.begun.append(name)


@pytest.fixture(autouse=True)
def executions(monkeypatch: pytest.MonkeyPatch) -> Executions:
    made = Executions()
    monkeypatch.setenv("HEADGATE_RUNS_UNDER_WAY", str(PLACES))
    monkeypatch.setenv("HEADGATE_RUNS_WAITING", str(WAITING))
    monkeypatch.setattr(aws, "stepfunctions", lambda: made)
    settings.cache_clear()
    return made


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.fixture
def start(ann: Member) -> Callable[[], Run]:
    """Keeps a run and lets it enter."""

    def made() -> Run:
        run = queued(ann, rules=())
        turns.enter(run)
        return run

    return made


def end(run: Run) -> None:
    leave(run, ran=True)
    record(run)


def ids(runs: Sequence[Run]) -> list[str]:
    return [one.id for one in runs]


def queue_of(member: Member) -> tuple[list[str], list[str]]:
    queue = store.queue(member.organization_id)
    return [one.run_id for one in queue.places], list(queue.waiting)


def long_after(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    later = clock.now() + by
    monkeypatch.setattr(clock, "now", lambda: later)


def test_so_many_begin_at_once_and_the_rest_in_their_order(
    ann: Member, start: Callable[[], Run], executions: Executions
) -> None:
    runs = [start() for _ in range(PLACES + WAITING)]
    assert executions.begun == ids(runs[:PLACES])
    assert get(ann, runs[-1]).json()["status"] == "Queued"
    assert get(ann, runs[-1]).json()["started_at"] is None

    for ended in range(len(runs)):
        end(runs[ended])
        assert executions.begun == ids(runs[: ended + 1 + PLACES])

    assert queue_of(ann) == ([], [])


def test_one_too_many_is_429_and_leaves_nothing(
    ann: Member, start: Callable[[], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [start() for _ in range(PLACES + WAITING)]
    before = aws.dynamodb().scan(TableName=settings().runs_table)["Count"]
    monkeypatch.setattr(engine, "prepare", lambda *_, **__: pytest.fail("the collector was asked"))

    refused = ann.http.post(f"{API}/testing/runs", json=VALID)

    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_runs_waiting")
    assert int(refused.headers["Retry-After"]) >= 1
    assert aws.dynamodb().scan(TableName=settings().runs_table)["Count"] == before
    assert queue_of(ann) == (ids(runs[:PLACES]), ids(runs[PLACES:]))


def test_a_start_that_loses_the_last_place_is_429_and_leaves_nothing(
    ann: Member, start: Callable[[], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def prepared_meanwhile(*_: object, **__: object) -> Prepared:
        for _ in range(PLACES + WAITING):
            start()
        return Prepared(signals=["logs"], collector_yaml="", input="", records=1, notes=[])

    monkeypatch.setattr(engine, "prepare", prepared_meanwhile)
    monkeypatch.setattr(cases, "not_installed", lambda *_: None)

    refused = ann.http.post(f"{API}/testing/runs", json=VALID)

    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_runs_waiting")
    places, waiting = queue_of(ann)
    assert (len(places), len(waiting)) == (PLACES, WAITING)


def test_another_organization_has_a_queue_of_its_own(
    start: Callable[[], Run], join: JoinWith, executions: Executions
) -> None:
    for _ in range(PLACES + 1):
        start()
    eve = join([router], "eve", organization_id=identity.create_organization("Other").id)
    other = queued(eve)
    turns.enter(other)

    assert executions.begun[-1] == other.id


def test_of_many_at_once_never_more_begin_than_may_and_all_end(
    ann: Member, executions: Executions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADGATE_RUNS_WAITING", "100")
    settings.cache_clear()
    runs = [queued(ann, rules=()) for _ in range(16)]
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(turns.enter, runs))
        by_id = {one.id: one for one in runs}
        ended: set[str] = set()
        while len(ended) < len(runs):
            under_way = [one for one in executions.begun if one not in ended]
            assert 0 < len(under_way) <= PLACES
            list(threads.map(end, [by_id[one] for one in under_way]))
            ended |= set(under_way)

    assert len(executions.begun) == len(set(executions.begun)) == len(runs)
    assert queue_of(ann) == ([], [])


@pytest.mark.parametrize(
    "step",
    [
        {"step": "fail", "stage": "collect", "error": {}},
        {"step": "fail", "stage": "prepare", "error": {}},
        {"step": "finish"},
    ],
)
def test_a_run_that_ends_in_another_way_makes_room_too(
    step: dict[str, Any], start: Callable[[], Run], executions: Executions
) -> None:
    first, *_, last = [start() for _ in range(PLACES + 1)]

    handler({**step, "run_id": first.id}, None)

    assert executions.begun[-1] == last.id


def test_a_step_that_fails_between_the_end_and_the_next_is_tried_again(
    ann: Member, start: Callable[[], Run], executions: Executions
) -> None:
    first, *_, last = [start() for _ in range(PLACES + 1)]
    executions.down = True
    leave(first, ran=True)
    with pytest.raises(PassingFault):
        record(first)
    executions.down = False

    with pytest.raises(RunGone):
        record(first)
    handler({"step": "fail", "stage": "record", "run_id": first.id, "error": {}}, None)

    assert executions.begun[-1] == last.id
    assert get(ann, first).json()["status"] in ("Success", "Fail")


def test_an_execution_that_was_begun_before_the_queue_said_so_is_not_begun_twice(
    ann: Member, start: Callable[[], Run], executions: Executions, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_, last = [start() for _ in range(PLACES + 1)]
    keep = store.save_queue

    def fails(*_: object) -> None:
        raise OUTAGE

    monkeypatch.setattr(store, "save_queue", fails)
    with pytest.raises(PassingFault):
        handler({"step": "finish", "run_id": first.id}, None)
    monkeypatch.setattr(store, "save_queue", keep)
    handler({"step": "finish", "run_id": first.id}, None)

    assert executions.begun.count(last.id) == 1
    assert queue_of(ann)[1] == []


def test_a_run_that_has_a_place_and_never_began_begins_when_it_is_looked_at(
    ann: Member, executions: Executions, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = queued(ann)
    executions.down = True
    with pytest.raises(ClientError):
        turns.enter(run)
    executions.down = False
    long_after(monkeypatch, timedelta(minutes=2))

    assert get(ann, run).json()["status"] == "Queued"
    assert executions.begun == [run.id]


def test_a_run_that_never_came_into_the_queue_ends_as_error_when_it_is_looked_at(
    ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = queued(ann)
    assert get(ann, run).json()["status"] == "Queued"
    long_after(monkeypatch, timedelta(minutes=2))

    assert get(ann, run).json()["status"] == "Error"


def test_a_place_whose_run_ended_unheard_is_given_on_when_a_waiting_run_is_looked_at(
    ann: Member, start: Callable[[], Run], executions: Executions, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_, last = [start() for _ in range(PLACES + 1)]
    store.update(first.fail("by another way", clock.now()))
    long_after(monkeypatch, timedelta(minutes=3))

    assert get(ann, last).json()["status"] == "Queued"
    assert executions.begun[-1] == last.id


def test_waiting_does_not_count_as_being_lost(
    ann: Member, start: Callable[[], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [start() for _ in range(PLACES + 1)]
    long_after(monkeypatch, LONGEST + timedelta(minutes=1))

    assert get(ann, runs[-1]).json()["status"] == "Queued"
    assert get(ann, runs[0]).json()["status"] == "Error"


def test_a_waiting_run_that_has_expired_is_passed_over(start: Callable[[], Run], executions: Executions) -> None:
    first, *_, gone, last = [start() for _ in range(PLACES + 2)]
    store.delete(gone.id)

    handler({"step": "finish", "run_id": first.id}, None)

    assert executions.begun[-1] == last.id


def test_when_no_execution_can_be_started_nobody_waits_for_the_place(
    ann: Member, start: Callable[[], Run], executions: Executions
) -> None:
    executions.down = True
    run = replace(queued(ann), id=new_id("run"))

    with pytest.raises(TestingUnavailable):
        service.RUNS.launch(run, lambda: store.create(run))

    executions.down = False
    assert queue_of(ann) == ([], [])
    assert start().id == executions.begun[-1]


def test_a_service_that_starts_ends_what_had_begun_and_begins_what_waited(
    ann: Member, start: Callable[[], Run], executions: Executions
) -> None:
    runs = [start() for _ in range(PLACES + 2)]
    executions.begun.clear()

    jobs.finish_unfinished()

    assert [one for one in executions.begun if one in ids(runs)] == ids(runs[PLACES:])
    assert [get(ann, one).json()["status"] for one in runs] == ["Error"] * PLACES + ["Queued"] * 2


def test_a_queue_that_is_full_says_how_many_wait(start: Callable[[], Run], ann: Member) -> None:
    for _ in range(PLACES + WAITING):
        start()

    with pytest.raises(TooManyRuns, match="5 test runs of this organization wait"):
        turns.enter(queued(ann))


def test_jobs_beyond_their_number_wait_and_runs_pass_them() -> None:
    """Fourteen coverage jobs of one organization made a run of another last four times as long, on one machine."""
    jobs, runs = [new_id("job") for _ in range(3)], [new_id("run") for _ in range(3)]
    queue = Queue("org").enter(jobs[0]).enter(jobs[1]).enter(runs[0]).enter(jobs[2]).enter(runs[1]).enter(runs[2])
    begun = []
    while (turn := queue.next(3, 1)) is not None:
        queue = queue.begin(turn, clock.now())
        begun.append(turn)

    assert begun == [jobs[0], runs[0], runs[1]]
    assert queue.leave(runs[0]).next(3, 1) == runs[2]
    assert queue.leave(jobs[0]).next(3, 1) == jobs[1]


def test_a_job_that_waits_beside_free_places_counts_as_waiting() -> None:
    queue = Queue("org").enter(new_id("job")).begin(new_id("job"), clock.now())

    with pytest.raises(TooManyRuns):
        queue.require_room(1, 10)
    queue.require_room(2, 10)


SHARED = 4


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_ALL_RUNS_UNDER_WAY", str(SHARED))
    settings.cache_clear()
    # Tests share the tables, and other ones the places.
    store.save_queues((store.queue(EVERYONE), Queue(EVERYONE)))


@pytest.fixture
def members(ann: Member, join: JoinWith) -> list[Member]:
    """Of three organizations."""
    others = [join([router], name, organization_id=identity.create_organization(name).id) for name in ("bob", "eve")]
    return [ann, *others]


@pytest.mark.usefixtures("shared")
def test_organizations_share_places_and_take_turns(members: list[Member], executions: Executions) -> None:
    runs = [[queued(member, rules=()) for _ in range(PLACES)] for member in members]
    for run in [run for of_member in runs for run in of_member]:
        turns.enter(run)

    assert executions.begun == [*ids(runs[0]), runs[1][0].id]

    for run in runs[0]:
        end(run)

    # The two that wait, one run of each after the other.
    assert executions.begun[SHARED:] == [runs[1][1].id, runs[2][0].id, runs[1][2].id]


@pytest.mark.usefixtures("shared")
def test_of_many_organizations_at_once_never_more_begin_than_share_places(
    members: list[Member], executions: Executions
) -> None:
    runs = {run.id: run for member in members for run in [queued(member, rules=()) for _ in range(5)]}
    with ThreadPoolExecutor(15) as threads:
        list(threads.map(turns.enter, runs.values()))
        ended: set[str] = set()
        while len(ended) < len(runs):
            under_way = [run_id for run_id in executions.begun if run_id not in ended]
            assert 0 < len(under_way) <= SHARED
            list(threads.map(end, [runs[run_id] for run_id in under_way]))
            ended |= set(under_way)

    assert len(executions.begun) == len(set(executions.begun)) == len(runs)
    assert [queue_of(member) for member in members] == [([], [])] * 3
    assert replace(store.queue(EVERYONE), revision=0) == Queue(EVERYONE)


@pytest.mark.usefixtures("shared")
def test_a_shared_place_that_nobody_gives_back_ends_by_itself(
    members: list[Member], executions: Executions, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run in [queued(members[0], rules=()) for _ in range(PLACES)] + [queued(members[1], rules=())]:
        turns.enter(run)
    waits = queued(members[2], rules=())
    turns.enter(waits)
    assert waits.id not in executions.begun

    long_after(monkeypatch, LONGEST + timedelta(seconds=1))
    turns.make_room(members[1].organization_id)

    assert executions.begun[-1] == waits.id


@pytest.mark.usefixtures("shared")
def test_a_run_that_finds_no_shared_place_and_may_not_wait_is_429_with_the_reason(
    members: list[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    for run in [queued(members[0], rules=()) for _ in range(PLACES)] + [queued(members[1], rules=())]:
        turns.enter(run)
    monkeypatch.setenv("HEADGATE_RUNS_WAITING", "0")
    settings.cache_clear()

    refused = members[2].http.post(f"{API}/testing/runs", json=VALID)

    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_runs_waiting")
    assert "all 4 places that the organizations of this service share are taken" in refused.json()["detail"]
