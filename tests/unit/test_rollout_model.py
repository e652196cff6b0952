"""Rollouts against a specification in memory: hosts that fail, vanish, come back, join and lie, and people that act.

Whatever happens: a step gives the version to no more hosts than its share, no host gets a version whose turn has not
come, none gets one older than what the group ran, and every rollout ends.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import get_args

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from headgate.deployments.model import Deployment
from headgate.instances.host import Counters
from headgate.rollouts import acts
from headgate.rollouts.model import FINAL, NotNow
from headgate.rollouts.strategy import Gates, OnFailure, Step, Strategy
from tests.support.rolling_in_memory import BOB, NEW, OLD, Fare, Group, Host
from tests.support.sizes import ROLLOUTS

pytestmark = pytest.mark.sized
_STEPS = st.sampled_from(
    [
        (Step(0, percent=100),),
        (Step(60, hosts=1), Step(60, percent=100)),
        (Step(30, percent=10), Step(30, percent=50), Step(30, percent=100)),
        (Step(60, hosts=1), Step(0, percent=25, approval=True), Step(60, percent=100)),
        (Step(60, canaries=True), Step(0, percent=50), Step(60, percent=100)),
    ]
)
_FARES = st.sampled_from(get_args(Fare))
# Absurd, and yet of the form that a host may send.
_ABSURD = st.builds(
    lambda seconds, *counts: Counters(seconds, *counts, 0.0),
    *[st.sampled_from([0, 1, 300, 1 << 53]) for _ in range(6)],
)
_ACTS = {
    "pause": acts.pause,
    "resume": acts.resume,
    "promote": acts.promote,
    "retry": acts.retry,
    "abort": acts.abort,
    "approve": acts.approved_by(BOB),
}


class Rollouts(RuleBasedStateMachine):
    """People, hosts and time in any order; `judged` and `offers` hold what follows against the specification."""

    group: Group
    strategy: Strategy
    gates: Gates

    @initialize(
        hosts=st.integers(0, 12),
        canaries=st.integers(0, 3),
        steps=_STEPS,
        most=st.sampled_from([None, None, 1, 3]),
        on_failure=st.sampled_from(get_args(OnFailure)),
        tolerated=st.sampled_from([0, 2, 30]),
    )
    def begin(
        self,
        hosts: int,
        canaries: int,
        steps: tuple[Step, ...],
        most: int | None,
        on_failure: OnFailure,
        tolerated: int,
    ) -> None:
        self.group = Group.of(hosts)
        for _ in range(canaries):
            self.group.join(labels={"ring": "canary"})
        self.strategy = Strategy(steps, {"ring": "canary"}, most, None, on_failure)
        self.gates = Gates(tolerated_percent=tolerated)
        self.group.start(self.strategy, self.gates)

    @rule(data=st.data(), fares=_FARES)
    def fares(self, data: st.DataObject, fares: Fare) -> None:
        self.some(data).fares = fares

    @rule(data=st.data(), counters=_ABSURD)
    def lies(self, data: st.DataObject, counters: Counters) -> None:
        self.some(data).elsewhere = counters

    @rule(data=st.data())
    def comes_or_goes(self, data: st.DataObject) -> None:
        host = self.some(data)
        host.here = not host.here

    @rule(data=st.data())
    def is_shut_down(self, data: st.DataObject) -> None:
        host = self.some(data)
        host.say(self.group.stored, self.group.at, leaves=True)
        host.here = False

    @rule(data=st.data())
    def calls_itself_a_canary(self, data: st.DataObject) -> None:
        self.some(data).labels = {"ring": "canary"}

    @rule(labels=st.sampled_from([{}, {}, {"ring": "canary"}]), fares=_FARES)
    def joins(self, labels: dict[str, str], fares: Fare) -> None:
        if len(self.group.hosts) < 20:
            self.offers(lambda: self.group.join(labels=dict(labels), fares=fares))

    @rule(act=st.sampled_from(sorted(_ACTS)))
    def somebody_acts(self, act: str) -> None:
        with suppress(NotNow):
            self.group.act(_ACTS[act])

    @rule(times=st.integers(1, 4))
    def time_passes(self, times: int) -> None:
        for _ in range(times):
            self.offers(self.group.beats)
            self.judged()

    @rule(minutes=st.integers(1, 40))
    def is_interrupted(self, minutes: int) -> None:
        """Nothing ticks, and nobody takes what hosts report."""
        self.group.at += timedelta(minutes=minutes)

    def offers(self, messages: Callable[[], object]) -> None:
        """Each host is offered the version only if its turn has come, and nothing older than what the group ran."""
        before = {host.instance.id: len(host.offered) for host in self.group.hosts}
        messages()
        for host in self.group.hosts:
            for version in host.offered[before.get(host.instance.id, 0) :]:
                if self.stored.assignment == OLD:
                    assert version == OLD or (version == NEW and self.is_due(host))

    def judged(self) -> None:
        """A tick, held against what a step may give."""
        running, status = self.stored.rollout, self.group.rollout.status
        present = [host for host in self.group.state().hosts() if host.phase != "absent"] if running else []
        due = [host for host in present if host.due]
        self.group.tick()
        after = self.stored.rollout
        if running is None or after is None or after.cut <= running.cut:
            return
        assert status == "in_progress"
        step = self.strategy.steps[self.group.rollout.progress.step - 1]
        share = step.share(len(present), sum("ring" in host.instance.host.labels for host in present))
        reached = [host for host in present if host.place <= after.cut]
        # Hosts come and go after a cut was made, and it is not taken back for that.
        assert len(reached) <= max(share, len(due))
        assert self.strategy.max_unavailable is None or len(reached) - len(due) <= self.strategy.max_unavailable
        failed = [host for host in due if host.instance.state == "apply_failed"]
        assert len(failed) <= len(due) * self.gates.tolerated_percent // 100

    def is_due(self, host: Host) -> bool:
        """By the definition of a place, computed here once more."""
        running = self.stored.rollout
        if running is None:
            return False
        tier = 0 if host.labels.get("ring") == "canary" else 1
        rank = hashlib.sha256(f"{running.id}\0{host.instance.id}".encode()).hexdigest()[:16]
        return (tier, rank) <= (running.cut.tier, running.cut.rank)

    def some(self, data: st.DataObject) -> Host:
        if not self.group.hosts:
            return self.group.join()
        return data.draw(st.sampled_from(self.group.hosts))

    @property
    def stored(self) -> Deployment:
        return self.group.stored

    def teardown(self) -> None:
        """It ends, if people do what it waits for; and then hosts run what is assigned."""
        if not hasattr(self, "group"):
            return
        answers = {"waiting_for_approval": "approve", "paused": "resume", "halted": "abort"}
        for _ in range(300):
            if self.group.rollout.status in FINAL:
                break
            if self.group.rollout.status in answers:
                self.group.act(_ACTS[answers[self.group.rollout.status]])
            self.offers(self.group.beats)
            self.judged()
        assert self.group.rollout.status in FINAL
        completed = self.group.rollout.status == "completed"
        assert (self.stored.assignment, self.stored.rollout) == (NEW if completed else OLD, None)
        for host in self.group.hosts:
            host.here = True
        for _ in range(3):
            self.offers(self.group.beats)
        assert all(NEW in host.offered if completed else host.runs == OLD for host in self.group.hosts)


TestRollouts = Rollouts.TestCase
TestRollouts.settings = settings(
    max_examples=ROLLOUTS,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    # What fails is printed step by step; making it shorter takes many minutes.
    phases=[Phase.reuse, Phase.generate],
)
