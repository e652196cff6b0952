"""Rollouts of two groups against a specification in memory: hosts that fail, vanish, come back, join, move and lie.

Whatever happens: no step begins, and no rollout ends, without its approvals, outside of its window, while it is paused,
or past a gate; a step gives the version to no more hosts than its share; a version is back when hosts say so; and every
rollout ends. tests/support/rollout_oracle.py is the specification.
"""

from collections import Counter
from datetime import timedelta
from random import Random
from typing import get_args

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from headgate.instances.reported.host import HostCounters
from headgate.rollouts.model import FINAL
from headgate.rollouts.strategy import ChangeWindow, Gates, OnFailure, RolloutStep, Strategy, preset
from tests.support.rolling_in_memory import NEW, OLD, Fare, Group, Host
from tests.support.rollout_oracle import ACTS, Oracle
from tests.support.sizes import FULL, ROLLOUTS

pytestmark = pytest.mark.sized
_STEPS = st.sampled_from(
    [
        (RolloutStep(0, percent=100),),
        (RolloutStep(0, percent=100, approval=True),),
        (RolloutStep(60, hosts=1), RolloutStep(60, percent=100)),
        (RolloutStep(30, percent=10), RolloutStep(30, percent=50), RolloutStep(30, percent=100)),
        (RolloutStep(60, hosts=1), RolloutStep(0, percent=25, approval=True), RolloutStep(60, percent=100)),
        (
            RolloutStep(60, hosts=1, approval=True),
            RolloutStep(0, percent=10, approval=True),
            RolloutStep(60, percent=100, approval=True),
        ),
        (RolloutStep(60, canaries=True), RolloutStep(0, percent=50), RolloutStep(60, percent=100)),
        tuple(preset("careful", {})),
    ]
)
# It is 12:00 at the beginning.
_WINDOWS = st.sampled_from([None, None, ChangeWindow("12:05", "12:40", "UTC")])
_FARES = st.sampled_from([fare for fares in get_args(Fare) for fare in get_args(fares)])
# Absurd, and yet of the form that a host may send.
_ABSURD = st.builds(
    HostCounters,
    *[st.sampled_from([0, 1, 300, 1 << 53])] * 6,
    st.just(0.0),
    delivered=st.sampled_from([None, {}, {"logs": 1 << 53}]),
    memory=st.sampled_from([None, 0, 1 << 53]),
    cpu=st.sampled_from([None, 0, 1 << 53]),
)
# What happened, over all courses.
_SEEN: Counter[str] = Counter()


class Rollouts(RuleBasedStateMachine):
    """People, hosts and time in any order, in two groups of a fleet."""

    groups: list[Oracle]

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.groups = []
        chance = Random(data.draw(st.integers(0, 1 << 32)))
        for deployment_id in ("dep_1", "dep_2"):
            group = Group.of(data.draw(st.integers(0, 12)), deployment_id, chance)
            for _ in range(data.draw(st.integers(0, 3))):
                group.join(labels={"ring": "canary"})
            strategy = Strategy(
                data.draw(_STEPS),
                {"ring": "canary"},
                data.draw(st.sampled_from([None, None, 1, 3])),
                data.draw(_WINDOWS),
                data.draw(st.sampled_from(get_args(OnFailure))),
            )
            gates = Gates(
                tolerated_percent=data.draw(st.sampled_from([0, 2, 30])),
                left=data.draw(st.sampled_from([0, 0, 1, None])),
            )
            group.start(strategy, gates)
            self.groups.append(Oracle(group, strategy, gates, _SEEN))

    @rule(data=st.data(), fares=_FARES)
    def fares(self, data: st.DataObject, fares: Fare) -> None:
        self.some(data)[1].fares = fares

    @rule(data=st.data(), counters=_ABSURD)
    def lies(self, data: st.DataObject, counters: HostCounters) -> None:
        self.some(data)[1].elsewhere = counters

    @rule(data=st.data())
    def comes_or_goes(self, data: st.DataObject) -> None:
        host = self.some(data)[1]
        host.here = not host.here

    @rule(data=st.data())
    def is_shut_down(self, data: st.DataObject) -> None:
        oracle, host = self.some(data)
        oracle.says_goodbye(host)

    @rule(data=st.data(), labels=st.sampled_from([{}, {"ring": "canary"}]))
    def has_other_labels(self, data: st.DataObject, labels: dict[str, str]) -> None:
        self.some(data)[1].labels = dict(labels)

    @rule(data=st.data())
    def moves(self, data: st.DataObject) -> None:
        oracle, host = self.some(data)
        oracle.moves(host, next(other for other in self.groups if other is not oracle))

    @rule(data=st.data())
    def does_not_go_back(self, data: st.DataObject) -> None:
        host = self.some(data)[1]
        host.old_fails = not host.old_fails

    @rule(data=st.data(), labels=st.sampled_from([{}, {}, {"ring": "canary"}]), fares=_FARES)
    def joins(self, data: st.DataObject, labels: dict[str, str], fares: Fare) -> None:
        oracle = data.draw(st.sampled_from(self.groups))
        if len(oracle.group.hosts) < 20:
            oracle.messages(lambda: oracle.group.join(labels=dict(labels), fares=fares))

    @rule(data=st.data(), act=st.sampled_from(sorted(ACTS)))
    def somebody_acts(self, data: st.DataObject, act: str) -> None:
        data.draw(st.sampled_from(self.groups)).act(act)

    @rule(data=st.data())
    def is_not_approved_by_its_own(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.groups)).is_not_approved_by_its_own()

    @rule(times=st.integers(1, 4))
    def time_passes(self, times: int) -> None:
        for _ in range(times):
            self.beats()

    @rule(minutes=st.integers(1, 40))
    def is_interrupted(self, minutes: int) -> None:
        """Nothing ticks, and nobody takes what hosts report."""
        for oracle in self.groups:
            oracle.group.at += timedelta(minutes=minutes)

    def beats(self) -> None:
        for oracle in self.groups:
            oracle.messages(oracle.group.beats)
            oracle.judged()

    def some(self, data: st.DataObject) -> tuple[Oracle, Host]:
        oracle = data.draw(st.sampled_from(self.groups))
        if not oracle.group.hosts:
            oracle.messages(oracle.group.join)
        return oracle, data.draw(st.sampled_from(oracle.group.hosts))

    def teardown(self) -> None:
        """They end, if people do what they wait for; and then hosts run what is assigned."""
        if not hasattr(self, "groups"):
            return
        answers = {"waiting_for_approval": "approve", "paused": "resume", "halted": "abort"}
        for _ in range(1_500):
            open_ones = [oracle for oracle in self.groups if oracle.group.rollout.status not in FINAL]
            if not open_ones:
                break
            for oracle in open_ones:
                if oracle.group.rollout.status in answers:
                    oracle.act(answers[oracle.group.rollout.status])
                if "waits for the next one" in (oracle.group.rollout.reason or ""):
                    _SEEN["next"] += 1
                    oracle.messages(oracle.group.join)
                if "waits for the window" in (oracle.group.rollout.reason or ""):
                    _SEEN["window"] += 1
                    at = oracle.group.at
                    opens = at.replace(hour=12, minute=5)
                    opens += timedelta(days=opens <= at)
                    for other in self.groups:
                        other.group.at = opens
            self.beats()
        for oracle in self.groups:
            assert oracle.group.rollout.status in FINAL
            self.runs_what_is_assigned(oracle)

    def runs_what_is_assigned(self, oracle: Oracle) -> None:
        stored, completed = oracle.group.stored, oracle.group.rollout.status == "completed"
        assert (stored.assignment, stored.rollout) == (NEW if completed else OLD, None)
        for host in oracle.group.hosts:
            host.here, host.old_fails = True, False
        for _ in range(3):
            oracle.messages(oracle.group.beats)
        for host in oracle.group.hosts:
            # What failed on a host is not offered to it again.
            assert host.runs == stored.assignment or host.instance.trials.failure_of(
                host.desired(stored, oracle.group.at)
            )


TestRollouts = Rollouts.TestCase
TestRollouts.settings = settings(
    max_examples=ROLLOUTS,
    stateful_step_count=30,
    # What fails is printed step by step; making it shorter takes many minutes.
    phases=[Phase.reuse, Phase.generate],
)


@pytest.mark.skipif(not FULL, reason="too few courses for all transitions; `make trust` runs more")
def test_the_courses_came_to_all_that_they_are_to_try() -> None:
    tried = {
        "carried",
        "left",
        "window",
        "back",
        "not back",
        "next",
        "completed",
        "halted",
        "rolled_back",
        "aborted",
    }

    assert {what for what in tried if not _SEEN[what]} == set()
    print(f"{_SEEN['judged']:,} judgements: {dict(_SEEN)}")
