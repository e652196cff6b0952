"""Rollouts in memory whose steps need an approval: whatever happens to the step, the approval stays."""

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.rollouts import acts
from headgate.rollouts.model import Rollout
from headgate.rollouts.strategy import ChangeWindow, RolloutStep, Strategy, preset
from tests.support.rolling_in_memory import BOB, NEW, OLD, Group

APPROVED_ALL = Strategy((RolloutStep(0, percent=100, approval=True),))
APPROVED_SECOND = Strategy((RolloutStep(0, hosts=1), RolloutStep(0, percent=100, approval=True)))


def waits(rollout: Rollout) -> bool:
    return rollout.status == "waiting_for_approval"


@pytest.mark.parametrize("hosts", range(8))
def test_the_preset_careful_asks_in_a_group_of_any_size(hosts: int) -> None:
    group = Group.of(hosts)
    group.start(Strategy([replace(step, soak_seconds=60) for step in preset("careful", {})]))

    waiting = group.goes_on(waits)
    assert group.stored.assignment == OLD
    assert "approval of step 3" in (waiting.reason or "")
    group.act(acts.approved_by(BOB))
    assert group.ends().status == "completed"


def test_a_step_that_adds_no_host_leaves_its_approval_to_the_end() -> None:
    group = Group.of(1)
    group.start(APPROVED_SECOND)

    waiting = group.goes_on(waits)
    assert waiting.reason == "The end of the rollout waits for the approval of step 2, which adds no instance"
    assert group.stored.assignment == OLD
    group.act(acts.approved_by(BOB))
    ended = group.ends()
    note = "The approval of step 2, which added no instance, was asked for before the end of the rollout"
    assert (ended.status, ended.notes[-1]) == ("completed", note)


def test_a_step_that_adds_no_host_leaves_its_approval_to_the_next_step() -> None:
    group = Group.of(2)
    group.start(
        Strategy((RolloutStep(0, hosts=1), RolloutStep(0, percent=10, approval=True), RolloutStep(0, percent=100)))
    )

    waiting = group.goes_on(waits)
    assert waiting.reason == "Step 3 waits for the approval of step 2, which adds no instance"
    assert len(group.with_new()) == 1


def test_a_host_that_joins_a_group_without_hosts_does_not_get_a_version_that_nobody_approved() -> None:
    group = Group.of(0)
    group.start(APPROVED_ALL)
    group.tick()
    joined = group.join()
    for _ in range(2):
        group.beats()
        group.tick()

    assert (joined.runs, group.stored.assignment) == (OLD, OLD)
    assert group.goes_on(waits).reason == "Step 1 waits for approval"


def test_the_approval_of_an_empty_group_is_not_that_of_the_hosts_that_join_before_it_counts() -> None:
    group = Group.of(0)
    group.start(
        Strategy((RolloutStep(0, hosts=1), RolloutStep(0, percent=50), RolloutStep(0, percent=100, approval=True)))
    )
    group.goes_on(waits)
    group.act(acts.approved_by(BOB))
    for _ in range(10):
        group.join()
    group.beats()

    waiting = group.goes_on(waits)
    assert (waiting.progress.step, waiting.reason, len(group.with_new())) == (2, "Step 3 waits for approval", 5)


def test_hosts_that_join_while_an_approval_is_awaited_begin_with_the_first_step() -> None:
    group = Group.of(0)
    group.start(Strategy((RolloutStep(0, hosts=1), RolloutStep(0, percent=100, approval=True))))
    group.goes_on(waits)
    for _ in range(10):
        group.join()
    group.beats()
    group.goes_on(lambda rollout: rollout.progress.step == 1)
    group.beats()

    assert len(group.with_new()) == 1
    assert group.goes_on(waits).reason == "Step 2 waits for approval"


def test_a_step_that_was_taken_back_needs_another_approval() -> None:
    group = Group.of(4)
    group.start(APPROVED_SECOND)
    group.goes_on(waits)
    early = group.with_new()
    for host in group.hosts:
        host.fares = "well" if host in early else "fails"
    group.act(acts.approved_by(BOB))
    assert group.ends().status == "halted"
    group.act(acts.retry)

    assert group.goes_on(waits).reason == "Step 2 waits for approval"
    assert group.with_new() == early


@pytest.mark.parametrize("act", ["pause and resume", "promote", "retry"])
def test_no_other_act_stands_for_an_approval(act: str) -> None:
    group = Group.of(1)
    group.start(Strategy((RolloutStep(60, hosts=1), RolloutStep(0, percent=100, approval=True))))
    group.tick()
    group.beats()
    if act == "pause and resume":
        group.act(acts.pause)
        group.act(acts.resume)
    else:
        group.act(acts.promote if act == "promote" else acts.retry)

    group.goes_on(waits)
    assert group.stored.assignment == OLD
    group.act(acts.pause)
    group.act(acts.resume)
    group.goes_on(waits)
    assert group.stored.assignment == OLD


def test_a_group_without_hosts_is_assigned_the_version_in_the_window_only() -> None:
    group = Group.of(0)
    # It is 12:00.
    group.start(Strategy((RolloutStep(0, percent=100),), window=ChangeWindow("13:00", "14:00", "UTC")))
    for _ in range(5):
        group.tick()
        group.beats()
    assert group.rollout.reason == "The end of the rollout waits for the window from 13:00 to 14:00, UTC"
    assert group.stored.assignment == OLD
    group.at += timedelta(hours=1)

    assert group.ends().status == "completed"
    assert group.stored.assignment == NEW
