"""Each open rollout has an execution that carries it out, whatever ended in between."""

import json
from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError

from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.rollouts import execution_store as store
from headgate.rollouts import executions
from headgate.rollouts.model import RolloutExecution
from headgate.storage import aws
from headgate.storage.table import transact
from headgate_local.template import Template
from tests.support.fleet_of_agents import Clock, now

__all__ = ["now"]


@pytest.fixture(scope="module", autouse=True)
def state_machine(aws_here: Template) -> None:
    definition = {"StartAt": "Only", "States": {"Only": {"Type": "Succeed"}}}
    name = str(aws_here.resolve({"Fn::Sub": "${AWS::StackName}-rollouts"}))
    aws.stepfunctions().create_state_machine(
        name=name, definition=json.dumps(definition), roleArn="arn:aws:iam::123456789012:role/local"
    )


def started(opened: RolloutExecution) -> list[str]:
    """The names of the rollout's executions, in the order of their starts."""
    arn = settings().rollouts_state_machine_arn
    every = aws.stepfunctions().list_executions(stateMachineArn=arn)["executions"]
    return [one["name"] for one in reversed(every) if one["name"].startswith(opened.rollout_id)]


@pytest.fixture
def opened(now: Clock) -> Iterator[RolloutExecution]:
    """The execution of a rollout whose transaction was written. It was not started yet."""
    execution = executions.new("flt_1", "dep_1", new_id("dep"))
    transact([executions.write(execution, now.at)])
    yield execution
    for one in store.open_rollouts():
        executions.end(one.execution)


def carrying_out() -> RolloutExecution:
    """The execution that the one open rollout names."""
    (one,) = store.open_rollouts()
    return one.execution


@pytest.fixture
def step_functions_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def start_execution(self, **_: object) -> None:
            raise ClientError({"Error": {"Code": "AccessDeniedException"}}, "StartExecution")

    monkeypatch.setattr(aws, "stepfunctions", Failing)


def test_an_execution_is_given_its_rollout(opened: RolloutExecution) -> None:
    executions.begin(opened)

    assert started(opened) == [opened.name]
    (described,) = [
        aws.stepfunctions().describe_execution(executionArn=one["executionArn"])
        for one in aws.stepfunctions().list_executions(stateMachineArn=settings().rollouts_state_machine_arn)[
            "executions"
        ]
        if one["name"] == opened.name
    ]
    assert json.loads(described["input"]) == {
        "fleet_id": "flt_1",
        "deployment_id": "dep_1",
        "rollout_id": opened.rollout_id,
        "tick": {"ticks": 0},
    }


def test_a_rollout_whose_execution_was_never_started_gets_one(opened: RolloutExecution, now: Clock) -> None:
    assert executions.sweep() == 0, "the request may still start it"
    now.moves(seconds=31)

    assert executions.sweep() == 1
    assert started(opened) == [carrying_out().name]
    assert not executions.may_tick(opened)


@pytest.mark.usefixtures("step_functions_fail")
def test_a_request_does_not_depend_on_step_functions(opened: RolloutExecution) -> None:
    executions.begin(opened)

    assert carrying_out() == opened


@pytest.mark.usefixtures("step_functions_fail")
def test_the_sweep_tells_that_no_execution_starts_and_tries_again(opened: RolloutExecution, now: Clock) -> None:
    for _ in range(2):
        now.moves(seconds=31)
        with pytest.raises(ClientError):
            executions.sweep()


def test_an_execution_that_ticks_is_left_alone_and_one_that_does_not_is_replaced(
    opened: RolloutExecution, now: Clock
) -> None:
    executions.begin(opened)
    for _ in range(3):
        now.moves(minutes=3)
        assert executions.may_tick(opened)
        assert executions.sweep() == 0

    now.moves(minutes=5)

    assert executions.sweep() == 1
    assert started(opened) == [opened.name, carrying_out().name]


def test_an_execution_that_was_replaced_neither_ticks_nor_ends_the_rollout(
    opened: RolloutExecution, now: Clock
) -> None:
    act = executions.new(opened.fleet_id, opened.deployment_id, opened.rollout_id)
    transact([executions.write(act, now.at)])

    assert not executions.may_tick(opened)
    executions.end(opened)
    assert carrying_out() == act
    assert executions.may_tick(act)


def test_of_two_sweeps_at_once_one_starts_an_execution(
    opened: RolloutExecution, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    now.moves(seconds=31)
    seen = store.open_rollouts()
    assert executions.sweep() == 1

    with monkeypatch.context() as patch:
        # What the other one has read before.
        patch.setattr(store, "open_rollouts", lambda: seen)
        again = executions.sweep()

    assert again == 0
    assert len(started(opened)) == 1


def test_a_rollout_that_has_ended_gets_no_execution(opened: RolloutExecution, now: Clock) -> None:
    executions.end(opened)
    now.moves(hours=1)

    assert (executions.sweep(), executions.resume()) == (0, 0)


def test_a_service_that_starts_again_resumes_at_once(opened: RolloutExecution) -> None:
    assert executions.may_tick(opened)

    assert executions.resume() == 1
    assert started(opened) == [carrying_out().name]
