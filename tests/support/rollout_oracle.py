"""What a rollout may do, computed a second time from what people did and what the hosts of a simulation did.

It knows nothing of how a rollout keeps its controls: it remembers who approved what, when a host had its turn, was
well, and left, and holds each judgement against that.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from headgate.deployments.running import RunningRollout
from headgate.instances.desired.model import config_hash
from headgate.rollouts import acts
from headgate.rollouts.hosts import RolloutHost as Placed
from headgate.rollouts.hosts import hosts
from headgate.rollouts.model import FINAL, NotNow, OwnRollout, Rollout, TokenCannotApprove
from headgate.rollouts.strategy import Gates, Strategy
from tests.support.rolling_in_memory import ANN, BOB, NEW, OLD, TOKEN, Group, Host

QUIET: Final = timedelta(seconds=120)
"""Three heartbeats and half a minute."""
BACK_WITHIN: Final = timedelta(minutes=5) + QUIET
ACTS: Final[dict[str, acts.Act]] = {
    "pause": acts.pause,
    "resume": acts.resume,
    "promote": acts.promote,
    "retry": acts.retry,
    "abort": acts.abort,
    "approve": acts.approved_by(BOB),
}


@dataclass
class Turn:
    """A host in its turn, until it left, or the version was taken back.

    `well_since` is when it first reported to run the version in health, `well` whether it did last.
    """

    rollout_id: str
    revision: int
    well_since: datetime | None = None
    well: bool = False
    left_at: datetime | None = None
    taken_back: bool = False


@dataclass(repr=False)
class Oracle:
    """A group with its rollout, what was approved since its step began, and the turns of its hosts by their ids."""

    group: Group
    strategy: Strategy
    gates: Gates
    seen: Counter[str]
    approved: list[int] = field(default_factory=list)
    turns: dict[str, Turn] = field(default_factory=dict)

    @property
    def running(self) -> RunningRollout | None:
        return self.group.stored.rollout

    def act(self, name: str) -> None:
        """Somebody does it, if the status allows it."""
        awaited = self.group.rollout.progress.awaits
        with suppress(NotNow):
            self.group.act(ACTS[name])
            self.seen[name] += 1
            self._take_back()
            if name == "approve":
                self.approved.append(awaited)

    def is_not_approved_by_its_own(self) -> None:
        """Who started it, and a token, try to approve it."""
        before = self.group.rollout
        for person in (ANN, TOKEN):
            with suppress(NotNow, OwnRollout, TokenCannotApprove):
                self.group.act(acts.approved_by(person, is_admin=True))
                raise AssertionError(f"{person} approved it")
        assert self.group.rollout == before

    def messages(self, send: Callable[[], object]) -> None:
        """What hosts send, held against whose turn it is; and what it says of their turns."""
        offered = {host.instance.id: len(host.offered) for host in self.group.hosts}
        # A message that tells other labels is answered by those that were known before.
        due = {host.instance.id for host in self.group.hosts if self.is_due(host, host.instance.reported.host.labels)}
        send()
        for host in self.group.hosts:
            self._only_in_its_turn(host, offered.get(host.instance.id, 0), host.instance.id in due)
            if host.here and host.instance.deployment_id == self.group.stored.id:
                self._note(host)

    def says_goodbye(self, host: Host) -> None:
        self.group.leaves(host)
        self._left(host)

    def moves(self, host: Host, to: Oracle) -> None:
        self.group.moves(host, to.group)
        if host.here:
            # A host that is not up has told nobody.
            self._left(host)
            to._note(host)

    def judged(self) -> None:
        """A tick, held against all that may stop it."""
        stored, before = self.group.stored, self.group.rollout
        listed = self._counted() if stored.rollout else []
        due = [host for host in self.group.hosts if self.is_due(host)]
        self.group.tick()
        after = self.group.rollout
        self.seen[after.status] += 1
        self.seen["left"] += before.status not in FINAL and any(failure.gate == "left" for failure in after.failures)
        self.seen["judged"] += before.status not in FINAL
        grows = bool(stored.rollout and self.running and self.running.cut > stored.rollout.cut)
        completes = self.group.stored.assignment == NEW != stored.assignment
        if stored.rollout and (grows or completes):
            self._may_go_on(before, after, stored.rollout, due)
        if stored.rollout and grows:
            self._within_its_share(after, listed)
        self._take_back()
        if before.status == "rolling_back":
            self._is_back(after, stored.rollout)
        if before.progress.begun != after.progress.begun:
            # An approval is that of what begins next.
            self.approved.clear()

    def _only_in_its_turn(self, host: Host, since: int, was_due: bool) -> None:
        """It is offered the new version in its turn only, and what the group ran otherwise, unless that fails on it."""
        for version in host.offered[since:]:
            if self.group.stored.assignment == OLD and host.instance.deployment_id == self.group.stored.id:
                due = version == NEW and (was_due or self.is_due(host))
                assert version == OLD or due or (version is None and host.old_failed), (host, version, host.offered)

    def is_due(self, host: Host, labels: Mapping[str, str] | None = None) -> bool:
        """By the definition of a place."""
        running = self.running
        if running is None:
            return False
        tier = 0 if (host.labels if labels is None else labels).get("ring") == "canary" else 1
        rank = hashlib.sha256(f"{running.id}\0{host.instance.id}".encode()).hexdigest()[:16]
        return (tier, rank) <= (running.cut.tier, running.cut.rank)

    def _note(self, host: Host) -> None:
        running = self.running
        if running is None:
            return
        turn = self.turns.get(host.instance.id)
        if not self.is_due(host):
            self._left(host)
            return
        if turn is None or (turn.rollout_id, turn.revision) != (running.id, running.revision):
            turn = self.turns[host.instance.id] = Turn(running.id, running.revision)
        turn.left_at = None
        instance = host.instance
        turn.well = (instance.standing.state, instance.standing.revision) == ("applied", running.revision)
        if turn.well:
            turn.well_since = turn.well_since or self.group.at

    def _left(self, host: Host) -> None:
        """It left in its turn, if that was not ended by a version that was taken back."""
        turn = self.turns.get(host.instance.id)
        if turn and not turn.taken_back:
            turn.left_at = turn.left_at or self.group.at

    def _take_back(self) -> None:
        """After the cut may have shrunk."""
        for host in self.group.hosts:
            turn = self.turns.get(host.instance.id)
            if turn and not turn.left_at and not self.is_due(host):
                turn.taken_back = True

    def _gone(self, before: Rollout, running: RunningRollout) -> Iterable[tuple[str, datetime]]:
        """The hosts that left, with the time, before they were well for any soak so far."""
        soaks = [self.strategy.steps[begun.step - 1].soak_seconds for begun in before.progress.begun]
        for instance_id, turn in self.turns.items():
            if (turn.rollout_id, turn.revision) != (running.id, running.revision) or turn.left_at is None:
                continue
            well_for = turn.left_at - turn.well_since if turn.well and turn.well_since else timedelta(-1)
            if well_for < timedelta(seconds=min(soaks, default=0)):
                yield instance_id, turn.left_at

    def _may_go_on(self, before: Rollout, after: Rollout, running: RunningRollout, due: Sequence[Host]) -> None:
        at, strategy = self.group.at, self.strategy
        begins = after.progress.begun != before.progress.begun
        completes = after.status == "completed"
        assert before.status in ("in_progress", "waiting_for_approval")
        until = len(strategy.steps) if completes else after.progress.step
        for step in range(before.progress.step + 1, until + 1):
            if strategy.steps[step - 1].approval:
                assert any(approved >= step for approved in self.approved), f"nobody approved step {step}"
                self.seen["carried"] += completes or step != until
        if not completes or before.progress.step < len(strategy.steps):
            assert strategy.window is None or strategy.window.is_open(at)
        awake, gone = after.progress.awake_since, list(self._gone(before, running))
        left = {instance_id for instance_id, left_at in gone if at - max(left_at, awake) > QUIET}
        failed = {
            host.instance.id
            for host in due
            if host.instance.deployment_id == self.group.stored.id
            if host.instance.standing.state == "apply_failed" and host.instance.standing.revision == running.revision
        }
        counted = left | {host.instance.id for host in due}
        if self.gates.left is not None and len(left) > self.gates.left:
            assert len(left | failed) <= len(counted) * self.gates.tolerated_percent // 100
        if begins or completes:
            assert len(left) == len(gone), "a host that stopped may be back"

    def _within_its_share(self, after: Rollout, listed: Sequence[Placed]) -> None:
        assert self.running is not None
        step = self.strategy.steps[after.progress.step - 1]
        share = step.share(len(listed), sum("ring" in host.instance.reported.host.labels for host in listed))
        due = [host for host in listed if host.due]
        reached = [host for host in listed if host.place <= self.running.cut]
        # Hosts come and go after a cut was made, and it is not taken back for that.
        assert len(reached) <= max(share, len(due))
        assert self.strategy.max_unavailable is None or len(reached) - len(due) <= self.strategy.max_unavailable

    def _counted(self) -> list[Placed]:
        return [host for host in hosts(self.group.state()) if host.phase not in ("absent", "left", "silent")]

    def _is_back(self, after: Rollout, running: RunningRollout | None) -> None:
        assert running is not None
        waited = self.group.at - max(after.progress.grown_at, after.progress.awake_since)
        if after.status == "rolling_back":
            assert waited < BACK_WITHIN
            return
        named = {failure.instance_id for failure in after.not_back}
        self.seen["back"] += not named
        self.seen["not back"] += bool(named)
        assert not named or waited >= BACK_WITHIN
        for host in self.group.hosts:
            instance, turn = host.instance, self.turns.get(host.instance.id)
            told = turn is not None and turn.rollout_id == running.id and turn.taken_back
            if not told or instance.deployment_id != self.group.stored.id:
                continue
            reported = instance.reported
            well = reported.config.config_hash == config_hash(OLD) and reported.config.status == "applied"
            assert well or instance.id in named or len(named) >= 10
