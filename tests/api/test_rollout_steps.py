"""The function of the state machine of rollouts: what an execution is told, whatever becomes of a tick."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError

from headgate.foundation.errors import Unavailable
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.rollouts import execution_store as store
from headgate.rollouts import executions, service
from headgate.rollouts.model import RolloutExecution, Tick
from headgate.storage import aws
from headgate.storage.retry import LostRace
from headgate.storage.table import transact
from headgate_local.template import Template
from rollout_steps.app import handler
from tests.support.fleet_of_agents import Clock, now
from tests.support.world import create_state_machines

__all__ = ["now"]

Judges = Callable[[Tick | Exception], list[tuple[str, ...]]]


@pytest.fixture(scope="module", autouse=True)
def state_machines(aws_here: Template) -> None:
    create_state_machines(aws_here)


@pytest.fixture
def execution(now: Clock) -> Iterator[RolloutExecution]:
    """The execution of a rollout that was just started."""
    begun = executions.new("flt_1", "dep_1", new_id("dep"))
    transact([executions.write(begun, now.at)])
    yield begun
    for one in store.open_rollouts():
        executions.end(one.execution)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Judges:
    """Makes the rollout's own judgement come to this, and gives what was judged since."""

    def comes_to(outcome: Tick | Exception) -> list[tuple[str, ...]]:
        asked: list[tuple[str, ...]] = []

        def tick(*rollout: str) -> Tick:
            asked.append(rollout)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        monkeypatch.setattr(service, "tick", tick)
        return asked

    return comes_to


def ticked(execution: RolloutExecution, ticks: int = 0) -> Any:
    named = {name: getattr(execution, name) for name in ("fleet_id", "deployment_id", "rollout_id")}
    return handler({"step": "tick", "execution": execution.name, "ticks": ticks, **named}, None)


def is_open() -> bool:
    return bool(store.open_rollouts())


@pytest.mark.parametrize(("asked", "wait_seconds"), [(0, 1), (7, 7), (86_400, 60)])
def test_an_execution_waits_as_long_as_the_rollout_says_within_a_minute(
    execution: RolloutExecution, judged: Judges, asked: int, wait_seconds: int
) -> None:
    rollouts = judged(Tick(done=False, wait_seconds=asked))

    assert ticked(execution, 3) == {"done": False, "wait_seconds": wait_seconds, "ticks": 4}
    assert rollouts == [("flt_1", "dep_1", execution.rollout_id)]
    assert is_open()


def test_a_rollout_that_has_ended_ends_its_execution(execution: RolloutExecution, judged: Judges) -> None:
    judged(Tick(done=True))

    assert ticked(execution)["done"] is True
    assert not is_open()


def test_an_execution_that_was_replaced_judges_nothing(execution: RolloutExecution, judged: Judges, now: Clock) -> None:
    rollouts = judged(Tick(done=False, wait_seconds=5))
    transact([executions.write(executions.new("flt_1", "dep_1", execution.rollout_id), now.at)])

    assert ticked(execution)["done"] is True
    assert rollouts == []
    assert is_open()


def test_an_act_while_the_last_tick_judges_keeps_the_rollout_open(
    execution: RolloutExecution, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    act = executions.new("flt_1", "dep_1", execution.rollout_id)

    def tick(*_: str) -> Tick:
        transact([executions.write(act, now.at)])
        return Tick(done=True)

    monkeypatch.setattr(service, "tick", tick)

    assert ticked(execution)["done"] is True
    assert [one.execution for one in store.open_rollouts()] == [act]


@pytest.mark.parametrize(
    "fault",
    [
        LostRace(),
        ConnectTimeoutError(endpoint_url="https://dynamodb"),
        ClientError({"Error": {"Code": "ThrottlingException"}}, "Query"),
        ClientError({"Error": {"Code": "Internal"}, "ResponseMetadata": {"HTTPStatusCode": 500}}, "Query"),
    ],
    ids=["a race", "no answer", "throttled", "AWS's own"],
)
def test_an_execution_outlives_a_fault_that_passes(
    execution: RolloutExecution, judged: Judges, fault: Exception
) -> None:
    judged(fault)

    assert ticked(execution, 3) == {"done": False, "wait_seconds": 10, "ticks": 4}
    assert is_open()


@pytest.mark.parametrize(
    "fault",
    [LookupError("a defect"), ClientError({"Error": {"Code": "AccessDeniedException"}}, "Query"), Unavailable("so")],
    ids=["a defect", "denied", "not set up"],
)
def test_what_does_not_pass_fails_for_the_alarm_to_count(
    execution: RolloutExecution, judged: Judges, fault: Exception
) -> None:
    judged(fault)

    with pytest.raises(type(fault)):
        ticked(execution)
    assert is_open()


def test_a_successor_takes_over_before_the_history_is_full(execution: RolloutExecution, judged: Judges) -> None:
    judged(Tick(done=False, wait_seconds=5))

    assert ticked(execution, executions.MOST_TICKS - 1)["done"] is False
    assert ticked(execution, executions.MOST_TICKS)["done"] is True
    (successor,) = [one.execution for one in store.open_rollouts()]
    client = aws.stepfunctions()
    started = client.list_executions(stateMachineArn=settings().rollouts_state_machine_arn)["executions"]
    (own,) = [one for one in started if one["name"] == successor.name]
    given = json.loads(client.describe_execution(executionArn=own["executionArn"])["input"])
    assert (given["rollout_id"], given["tick"]) == (execution.rollout_id, {"ticks": 0})


def test_the_sweep_of_the_template_starts_what_is_lost(
    execution: RolloutExecution, now: Clock, aws_here: Template
) -> None:
    (schedule,) = [one for one in aws_here.schedules() if one.function.logical_id == "RolloutStepsFunction"]
    now.moves(seconds=31)

    assert isinstance(schedule.event, dict)
    assert handler(schedule.event, None) == {"started": 1}


def test_a_sweep_that_aws_does_not_answer_is_made_up_for_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> int:
        raise ConnectTimeoutError(endpoint_url="https://dynamodb")

    monkeypatch.setattr(executions, "sweep", fails)

    assert handler({"step": "sweep"}, None) == {"started": 0}
