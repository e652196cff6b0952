"""The service's clock is set back or forward during a rollout, in memory: no control is skipped, or acts on it."""

from collections.abc import Callable
from datetime import timedelta
from random import Random

import pytest

from headgate.instances.reported.host import HostCounters
from headgate.rollouts import acts
from headgate.rollouts.model import FINAL, Rollout
from headgate.rollouts.progress import wait
from headgate.rollouts.strategy import RolloutStep, Strategy
from tests.support.rolling_in_memory import NEW, Group

SOAK = 120
STRATEGY = Strategy((RolloutStep(SOAK, hosts=1), RolloutStep(SOAK, percent=100)))
HEARTBEAT = 30
_WELL = {"logs": 7, "traces": 3}


def runs(
    group: Group, begins: int, jump: int, until: Callable[[Rollout], bool], tells_after: int = 0, dies: bool = False
) -> int:
    """Heartbeats and judgements until the rollout is so; the seconds that it took, whatever the clock says.

    From the second `begins` on, the clock is off by `jump` seconds. Hosts with the new version count nothing before the
    second `tells_after`, or are gone from `begins` on if it `dies`.
    """
    started, next_tick = group.at, 0
    due = {place: place * HEARTBEAT // 4 for place in range(len(group.hosts))}
    heard = dict.fromkeys(due, -HEARTBEAT)
    while True:
        second = min(next_tick, *due.values())
        assert second < 20_000, group.rollout
        group.at = started + timedelta(seconds=second + (jump if second >= begins else 0))
        for place, host in enumerate(group.hosts):
            host.here &= not (dies and host.has_new and second >= begins)
            if second >= due[place]:
                seconds, due[place] = second - heard[place], second + HEARTBEAT
                host.tells = not host.has_new or second >= tells_after
                if host.tells and host.here:
                    heard[place], host.elsewhere = second, _counters(seconds)
                host.beat(group.stored, group.at)
        if second >= next_tick:
            group.tick()
            next_tick = second + int(wait().total_seconds())
            if until(group.rollout):
                return second


def _counters(seconds: int) -> HostCounters:
    """What a host counted in that time, by its own clock."""
    delivered = {signal: rate * seconds for signal, rate in _WELL.items()}
    rates = 10 * seconds, 0, 10 * seconds, 0, 0, 0.0
    return HostCounters(seconds, *rates, delivered=delivered, memory=1 << 27, cpu=100 * seconds)


def group_of(hosts: int = 4) -> Group:
    group = Group.of(hosts, chance=Random(1))
    group.start(STRATEGY)
    return group


def ended(rollout: Rollout) -> bool:
    return rollout.status in {*FINAL, "halted"}


def waits(rollout: Rollout) -> bool:
    return "this service's clock was set back" in (rollout.reason or "")


@pytest.mark.parametrize("jump", [-3_600, -600, -120, -45, -25, -15, -5, 15, 25, 45, 120, 600, 3_600])
@pytest.mark.parametrize("begins", [10, 70, 130, 160, 190, 220, 250, 280, 310, 400])
def test_a_clock_that_jumps_takes_no_healthy_version_back(begins: int, jump: int) -> None:
    group = group_of()
    runs(group, begins, jump, ended)

    assert (group.rollout.status, group.rollout.failures) == ("completed", ())
    assert group.stored.assignment == NEW


@pytest.mark.parametrize("jump", [-600, -45, 45, 120, 600])
@pytest.mark.parametrize("begins", [10, 130, 220, 280, 400])
def test_a_clock_that_jumps_makes_no_soak_shorter(begins: int, jump: int) -> None:
    assert runs(group_of(), begins, jump, ended) >= runs(group_of(), begins, 0, ended)


@pytest.mark.parametrize("begins", [40, 70])
def test_a_host_has_its_minute_for_its_first_counters_also_if_the_clock_is_set_forward(begins: int) -> None:
    group = group_of()
    runs(group, begins, 600, ended, tells_after=begins + 30)

    assert (group.rollout.status, group.rollout.failures) == ("completed", ())


@pytest.mark.parametrize("jump", [-600, -120, -45, 45, 120, 600])
@pytest.mark.parametrize("begins", [130, 190, 250])
def test_hosts_that_die_when_the_clock_jumps_stop_the_rollout(begins: int, jump: int) -> None:
    group = group_of()
    runs(group, begins, jump, ended, dies=True)

    gates = {failure.gate for failure in group.rollout.failures}
    assert (group.rollout.status in ("halted", "rolled_back"), gates) == (True, {"silent", "rollback_failed"})


def test_a_rollout_that_waits_for_its_clock_says_so_and_goes_on_if_a_person_retries() -> None:
    group = group_of()
    runs(group, 130, -3_600, waits)
    assert [note for note in group.rollout.notes if "headgate rollout retry" in note]
    group.act(acts.retry)

    assert runs(group, 0, 0, ended) < 3_600
    assert group.rollout.status == "completed"


def test_a_rollout_that_waits_for_its_clock_is_aborted_at_once() -> None:
    group = group_of()
    runs(group, 130, -3_600, waits)
    group.act(acts.abort)

    assert runs(group, 0, 0, ended) < 3_600
    assert (group.rollout.status, group.with_new()) == ("aborted", [])


def test_a_host_that_falls_silent_after_the_clock_was_set_back_is_not_hidden_for_as_long() -> None:
    group = group_of(1)
    (host,) = group.hosts
    group.at -= timedelta(hours=1)
    host.beat(group.stored, group.at)

    assert host.instance.silent_from() < group.at + timedelta(minutes=10)


@pytest.mark.parametrize("act", [acts.retry, acts.abort])
def test_a_person_ends_the_wait_for_a_clock_that_was_far_ahead_and_was_set_right(act: acts.Act) -> None:
    group = group_of()
    runs(group, 130, 86_400, lambda rollout: rollout.progress.awake_since > rollout.created_at)
    group.at -= timedelta(days=1)
    runs(group, 0, 0, waits)
    group.act(act)

    assert runs(group, 0, 0, ended) < 3_600


def test_going_back_after_the_clock_was_set_back_ends_if_a_person_aborts_it() -> None:
    group = group_of()
    runs(group, 130, 0, lambda rollout: rollout.progress.soaking_since is not None)
    group.act(acts.abort)
    group.tick()
    assert group.rollout.status == "rolling_back"
    group.at -= timedelta(days=1)
    group.tick()
    group.act(acts.abort)

    assert runs(group, 0, 0, ended) < 3_600
    assert group.rollout.status == "aborted"
