"""A rollout while the table fails, at each call of a tick and of a heartbeat, in every way.

No instance gets a version that is not due, no step is left out, and once the table answers the rollout goes on to its
end by itself.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from headgate.rollouts import execution_store
from headgate_local.template import Template
from rollout_steps.app import handler
from tests.support import sizes
from tests.support.faults import aws_faults
from tests.support.faults.aws_faults import LASTING, PASSING, Aws, Fault, Kind
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.rolling import RollingGroup, Rollout
from tests.support.world import create_state_machines

__all__ = ["ann", "fleet", "now"]
pytestmark = pytest.mark.sized

Way = tuple[Kind, bool]
"""How a call fails, and whether its second attempt succeeds."""
WAYS: Final[Sequence[Way]] = [*((kind, True) for kind in PASSING), *((kind, False) for kind in LASTING)]
# Two of four take turns.
FEW: Final[Sequence[Sequence[Way]]] = [
    [("denied", False), ("throttled", True)],
    [("lost", False), ("unsure", False)],
]
# The execution's claim, the rollout, its group, its instances, when messages were refused, and what follows.
TICK: Final = ("UpdateItem", "GetItem", "GetItem", "Query", "GetItem", "TransactWriteItems")
# Token, group and instance; the counters; and what is written of both.
HEARTBEAT: Final = ("BatchGetItem", "GetItem", "TransactWriteItems")


@pytest.fixture(scope="module", autouse=True)
def state_machines(aws_here: Template) -> None:
    create_state_machines(aws_here)


@pytest.fixture
def aws(aws_here: Template) -> Iterator[Aws]:
    with aws_faults.watched() as found:
        yield found


def ways(at: int) -> Sequence[Way]:
    """How the call at this place fails."""
    return sizes.either(FEW[at % len(FEW)], WAYS)


def begun(fleet: Fleet, now: Clock, hosts: int) -> tuple[RollingGroup, Rollout]:
    """A rollout whose steps add one host each."""
    group = RollingGroup.of(fleet, now, hosts=hosts)
    steps = [{"hosts": number, "soak_seconds": 0} for number in range(1, hosts)]
    rollout = group.start({"steps": [*steps, {"percent": 100, "soak_seconds": 0}]})
    group.counted(rollout)
    return group, rollout


def tick(rollout: Rollout, aws: Aws, fault: Fault | None = None) -> None:
    """As the execution that carries the rollout out asks. It tries again what fails."""
    every = [one.execution for one in execution_store.open_rollouts()]
    (execution,) = [one for one in every if one.rollout_id == rollout["id"]]
    named = {name: getattr(execution, name) for name in ("fleet_id", "deployment_id", "rollout_id")}
    aws.begin(fault)
    with suppress(BotoCoreError, ClientError):
        handler({"step": "tick", "execution": execution.name, "ticks": 0, **named}, None)


def step_of(group: RollingGroup, rollout: Rollout, before: int) -> int:
    """The rollout's step, which has so many hosts, and follows the one before."""
    shown = group.now(rollout)
    step = int(shown["step"])
    assert before <= step <= before + 1
    assert len(group.with_new()) <= step, shown
    return step


def hear(group: RollingGroup) -> None:
    """Each host reports what it counts, in the version as well, before the next tick is late enough to interrupt."""
    for _ in range(2):
        group.beats(seconds=10)


@pytest.mark.parametrize("at", range(len(TICK)), ids=lambda at: f"{at} {TICK[at]}")
def test_a_fault_in_a_tick_gives_nobody_what_is_not_due(at: int, fleet: Fleet, now: Clock, aws: Aws) -> None:
    group, rollout = begun(fleet, now, hosts=len(ways(at)) + 1)
    for step, (kind, once) in enumerate(ways(at)):
        tick(rollout, aws, Fault(kind, at, once))
        assert (aws.hit, [call.operation for call in aws.calls[: at + 1]]) == (True, list(TICK[: at + 1]))
        aws.heal()
        reached = step_of(group, rollout, step)
        group.beats(seconds=10)
        assert step_of(group, rollout, step) == reached
        # What did not come about does with the execution's next tick, and nothing more.
        if reached == step:
            tick(rollout, aws)
        hear(group)
        assert step_of(group, rollout, step) == step + 1

    ended = group.goes_on(rollout, lambda shown: bool(shown["status"] == "completed"))
    assert ended["hosts"]["applied"] == len(group.hosts) == len(group.with_new())


@pytest.mark.parametrize("at", range(len(HEARTBEAT)), ids=lambda at: f"{at} {HEARTBEAT[at]}")
def test_a_fault_in_a_heartbeat_gives_nobody_what_is_not_due(at: int, fleet: Fleet, now: Clock, aws: Aws) -> None:
    group, rollout = begun(fleet, now, hosts=len(ways(at)) + 1)
    for step, (kind, once) in enumerate(ways(at)):
        tick(rollout, aws)
        now.moves(seconds=10)
        for host in group.hosts:
            aws.begin(Fault(kind, at, once))
            # It is answered with 503, and the host sends its message again.
            with suppress(AssertionError):
                host.beats()
            aws.heal()
            assert step_of(group, rollout, step) == step + 1
        hear(group)
        assert (step_of(group, rollout, step), len(group.with_new())) == (step + 1, step + 1)

    ended = group.goes_on(rollout, lambda shown: bool(shown["status"] == "completed"))
    assert ended["hosts"]["applied"] == len(group.hosts) == len(group.with_new())
