"""Rollouts in memory whose hosts leave after their turn came: by a goodbye, to another group, or by other labels."""

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.instances.orders.model import Orders, PendingOrder
from headgate.rollouts import acts
from headgate.rollouts.model import Rollout
from headgate.rollouts.strategy import Gates, RolloutStep, Strategy
from tests.support.rolling_in_memory import OLD, Fare, Group, Host

AT_ONCE = Strategy((RolloutStep(120, percent=100),))
ONE_FIRST = Strategy((RolloutStep(120, hosts=1), RolloutStep(120, percent=100)))


def applied(rollout: Rollout) -> bool:
    return rollout.hosts is not None and 0 < rollout.hosts.due == rollout.hosts.applied


def step_of(host: Host, group: Group) -> int:
    assert group.stored.rollout is not None
    return group.rollout.progress.step_of(group.stored.rollout.place(host.instance.id, host.labels))


def test_hosts_that_stop_after_they_got_the_version_stop_the_rollout() -> None:
    group = Group.of(4)
    group.start(AT_ONCE)
    group.goes_on(applied)
    for host in group.hosts:
        group.leaves(host)
    ended = group.ends()

    assert (ended.status, group.stored.assignment) == ("rolled_back", OLD)
    assert [failure.gate for failure in ended.failures].count("left") == 4


@pytest.mark.parametrize("fares", ["fails", "hangs"])
def test_a_host_that_stops_before_it_applied_the_version_stops_the_rollout(fares: Fare) -> None:
    group = Group.of(2, fares=fares)
    group.start(ONE_FIRST)
    group.tick()
    group.beats()
    for host in group.hosts:
        if host.had_new:
            group.leaves(host)
    ended = group.ends()

    assert ended.status == "rolled_back"
    assert sum(host.had_new for host in group.hosts) == 1


def test_a_host_that_moves_to_another_group_before_it_was_well_for_its_soak_stops_the_rollout() -> None:
    group = Group.of(3)
    group.start(ONE_FIRST)
    group.goes_on(applied)
    group.moves(group.with_new()[0], Group.of(0, "dep_2"))
    ended = group.ends()

    assert (ended.status, [failure.gate for failure in ended.failures]) == ("rolled_back", ["left"])
    assert not any(host.had_new for host in group.hosts)


def test_a_host_whose_labels_take_it_out_of_its_step_stops_the_rollout() -> None:
    group = Group.of(3)
    canary = group.join(labels={"ring": "canary"})
    group.start(Strategy((RolloutStep(120, canaries=True), RolloutStep(120, percent=100)), {"ring": "canary"}))
    group.goes_on(applied)
    canary.labels = {}
    ended = group.ends()

    assert (ended.status, [failure.gate for failure in ended.failures]) == ("rolled_back", ["left"])


def test_a_host_that_is_back_soon_is_judged_like_the_others() -> None:
    group = Group.of(2)
    group.start(ONE_FIRST, Gates(throughput_drop=None))
    group.goes_on(applied)
    (host,) = group.with_new()
    group.leaves(host)
    group.tick()
    group.beats(2)
    host.here = True

    assert group.ends().status == "completed"


def test_no_step_begins_while_a_host_that_stopped_may_be_back() -> None:
    group = Group.of(2)
    group.start(ONE_FIRST)
    group.goes_on(applied)
    for _ in range(3):
        group.beats()
        group.tick()
    group.leaves(group.with_new()[0])
    group.beats()
    group.tick()

    assert (group.rollout.progress.step, group.rollout.reason) == (1, "Waits for 1 instance that stopped")


def test_a_host_that_was_well_for_its_soak_may_leave() -> None:
    group = Group.of(2)
    group.start(Strategy((RolloutStep(120, hosts=1), RolloutStep(600, percent=100))))
    group.goes_on(lambda rollout: rollout.progress.step == 2 and applied(rollout))
    first = next(host for host in group.hosts if step_of(host, group) == 1)
    group.leaves(first)

    assert group.ends().status == "completed"


def test_a_host_that_was_deleted_does_not_count() -> None:
    group = Group.of(3)
    group.start(AT_ONCE)
    group.goes_on(applied)
    group.leaves(group.hosts[0])
    del group.hosts[0]

    assert group.ends().status == "completed"


def test_a_host_that_a_person_uninstalled_does_not_count() -> None:
    group = Group.of(3)
    group.start(AT_ONCE)
    group.goes_on(applied)
    group.leaves(group.hosts[0], uninstalled=True)

    assert group.ends().status == "completed"


def test_a_host_that_is_installed_again_counts_again() -> None:
    group = Group.of(3)
    group.start(AT_ONCE, Gates(throughput_drop=None))
    group.goes_on(applied)
    host = group.hosts[0]
    group.leaves(host, uninstalled=True)
    group.tick()
    host.here = True
    group.beats()
    group.tick()
    group.leaves(host)

    assert group.ends().status == "rolled_back"


def test_a_host_that_carries_out_an_order_of_ours_may_stop_meanwhile() -> None:
    group = Group.of(2)
    group.start(AT_ONCE)
    group.goes_on(applied)
    host = group.hosts[0]
    order = replace(PendingOrder.new("upgrade_supervisor", group.at), seen_at=group.at)
    host.instance = replace(host.instance, orders=Orders((order,)))
    group.leaves(host)

    assert group.ends().status == "completed"


def test_a_host_that_says_goodbye_before_it_was_offered_the_version_does_not_count() -> None:
    group = Group.of(2)
    group.start(AT_ONCE)
    group.tick()
    group.leaves(group.hosts[0])
    ended = group.ends()

    assert (ended.status, ended.hosts and ended.hosts.total) == ("completed", 1)


@pytest.mark.parametrize(("left", "status"), [(1, "rolled_back"), (2, "completed"), (None, "completed")])
def test_a_group_whose_hosts_come_and_go_may_allow_some_to_leave(left: int | None, status: str) -> None:
    group = Group.of(4)
    group.start(AT_ONCE, Gates(left=left))
    group.goes_on(applied)
    for host in group.hosts[:2]:
        group.leaves(host)

    assert group.ends().status == status


def test_a_step_that_all_of_its_hosts_left_takes_others_in_their_place() -> None:
    group = Group.of(6)
    group.start(ONE_FIRST, Gates(left=1))
    group.goes_on(applied)
    group.leaves(group.with_new()[0])
    group.goes_on(lambda rollout: rollout.hosts is not None and rollout.hosts.applied == 1, most=20)

    assert (group.rollout.progress.step, sum(host.had_new for host in group.hosts)) == (1, 2)
    assert group.ends().status == "completed"


def test_a_retry_forgets_who_left() -> None:
    group = Group.of(4)
    group.start(replace(ONE_FIRST, on_failure="halt"))
    group.goes_on(applied)
    group.leaves(group.with_new()[0])
    assert group.ends().status == "halted"
    group.act(acts.retry)

    assert group.ends().status == "completed"


def test_an_interruption_is_not_put_down_to_a_host_that_had_just_stopped() -> None:
    group = Group.of(2)
    group.start(ONE_FIRST, Gates(throughput_drop=None))
    group.goes_on(applied)
    (host,) = group.with_new()
    group.leaves(host)
    group.at += timedelta(minutes=10)
    group.tick()
    host.here = True
    group.beats()

    assert group.ends().status == "completed"


def test_an_order_excuses_a_host_that_stopped_for_five_minutes_and_not_for_as_long_as_it_waits() -> None:
    group = Group.of(3)
    group.start(Strategy((RolloutStep(900, percent=100),)))
    group.goes_on(applied)
    host = group.hosts[0]
    host.instance = replace(host.instance, orders=Orders((PendingOrder.new("upgrade_supervisor", group.at),)))
    group.leaves(host)
    group.tick()
    group.beats(10)
    group.tick()
    assert group.rollout.status == "in_progress"
    ended = group.ends()

    assert (ended.status, ended.failures[-1].gate) == ("rolled_back", "left")
