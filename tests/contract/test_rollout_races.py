"""Several at one rollout at once: ticks, people, assignments and deletes. Every change is of one state."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

import pytest

from headgate.deployments import service as deployments
from headgate.deployments.running import NOBODY
from headgate.rollouts.model import Tick
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API
from tests.support.rolling import RollingGroup, Rollout, no_executions

__all__ = ["ann", "fleet", "no_executions", "now"]
pytestmark = pytest.mark.usefixtures("no_executions")
T = TypeVar("T")
AT_ONCE = {"steps": [{"percent": 100, "soak_seconds": 0}]}


def together(*calls: Callable[[], T]) -> list[T]:
    """What each of the calls returns; they begin at one moment."""
    barrier = Barrier(len(calls))

    def one(call: Callable[[], T]) -> T:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def test_one_of_many_who_pause_a_rollout_does(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=0)
    rollout = group.start()
    answers = together(*[lambda: group.act(rollout, "pause").status_code] * 8)

    assert sorted(answers) == [200] + [409] * 7


def test_one_of_many_rollouts_started_at_once_is_left_and_the_others_are_superseded(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=0)
    started: list[Rollout] = together(*[group.start] * 4)
    statuses = {rollout["id"]: group.now(rollout)["status"] for rollout in started}
    running = deployments.of_fleet(fleet.id, fleet.deployment_id).rollout

    assert sorted(statuses.values()) == ["in_progress"] + ["superseded"] * 3
    assert running
    assert statuses[running.id] == "in_progress"


def test_ticks_at_once_begin_a_step_once(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=3)
    rollout = group.start()
    group.counted(rollout)
    together(*[lambda: group.tick(rollout)] * 6)
    group.beats()

    assert (group.now(rollout)["step"], len(group.with_new())) == (1, 1)


def test_a_tick_at_the_moment_of_an_abort_gives_no_host_the_version(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=2)
    for _ in range(5):
        rollout = group.start(AT_ONCE)
        together(
            *[lambda rollout=rollout: group.tick(rollout)] * 3, lambda rollout=rollout: group.act(rollout, "abort")
        )
        running = deployments.of_fleet(fleet.id, fleet.deployment_id).rollout
        assert group.now(rollout)["status"] in ("rolling_back", "aborted")
        assert running is None or running.cut == NOBODY
    group.beats()

    assert not any(host.had_new for host in group.hosts)


def test_an_assignment_at_the_moment_of_a_tick_holds(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=1)
    fleet.publish_up_to(3)
    for n in (3, 1, 3):
        # Without a soak, the last tick assigns the version to the group.
        rollout = group.start(AT_ONCE)
        group.tick(rollout)
        group.beats()
        together(*[lambda rollout=rollout: group.tick(rollout)] * 3, lambda n=n: fleet.assign(n))
        stored = deployments.of_fleet(fleet.id, fleet.deployment_id)

        assert (stored.rollout, stored.assignment and stored.assignment.version_number) == (None, n)
        assert group.now(rollout)["status"] in ("superseded", "completed")
        group.beats()
    assert not group.with_new()


def test_a_rollout_of_a_group_that_is_deleted_at_the_moment_of_its_ticks_is_done(fleet: Fleet, now: Clock) -> None:
    fleet.publish_up_to(2)
    fleet.deployment_id = fleet.add_group("short", 1)
    group = RollingGroup(fleet, now)
    rollout = group.start()
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}"
    answers = together(*[lambda: group.tick(rollout)] * 3, lambda: fleet.member.http.delete(path).status_code)

    # While the rollout is open, the group is in use.
    assert answers[-1] in (204, 409)
    fleet.member.http.delete(path)
    assert group.tick(rollout) == Tick(done=True)
    assert group.asks(version_number=2, strategy=AT_ONCE).status_code == 404
