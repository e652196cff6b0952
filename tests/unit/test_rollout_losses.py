"""Rollouts in memory whose hosts cease to report before their turn comes."""

from datetime import timedelta

from headgate.instances.state.model import STALE_AFTER
from headgate.rollouts.strategy import RolloutStep, Strategy
from tests.support.rolling_in_memory import NEW, OLD, Group

# Soaks longer than it takes to see that hosts are gone.
LONG = Strategy((RolloutStep(600, hosts=1), RolloutStep(60, percent=100)))


def waits(group: Group) -> bool:
    return (group.rollout.reason or "").startswith("Waits for ")


def test_hosts_that_are_cut_off_during_a_soak_do_not_get_the_version_unjudged() -> None:
    group = Group.of(6)
    group.start(LONG)
    group.goes_on(lambda rollout: rollout.hosts is not None and rollout.hosts.applied == 1)
    others = [host for host in group.hosts if not host.has_new]
    for host in others:
        host.here = False
    group.goes_on(lambda _: waits(group))
    assert (group.rollout.progress.step, group.stored.assignment) == (1, OLD)
    for host in others:
        host.here, host.fares = True, "fails"

    assert group.ends().status == "halted"
    assert group.stored.assignment == OLD


def test_a_rollout_that_starts_when_no_host_is_heard_waits_for_them() -> None:
    group = Group.of(4, fares="fails")
    group.at += timedelta(minutes=6)
    group.start(LONG)
    group.tick()
    assert (group.rollout.status, waits(group)) == ("in_progress", True)

    assert group.ends().status == "rolled_back"
    assert sum(host.had_new for host in group.hosts) == 1


def test_hosts_that_stay_away_do_not_keep_a_rollout_open() -> None:
    group = Group.of(4)
    group.start(LONG)
    group.goes_on(lambda rollout: rollout.hosts is not None and rollout.hosts.applied == 1)
    gone_at = group.at
    for host in group.hosts:
        host.here = host.has_new
    group.goes_on(lambda _: waits(group))

    assert group.ends().status == "completed"
    assert group.at - gone_at > STALE_AFTER
    assert group.stored.assignment == NEW
