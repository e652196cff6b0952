"""A rollout, its group and what the group's instances report, at one time: what a judgement reads and changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypedDict, Unpack

from headgate.deployments.model import Deployment
from headgate.deployments.running import RolloutPlace, RunningRollout
from headgate.instances.desired.model import Desired
from headgate.instances.model import Instance
from headgate.instances.state.intervals import longest
from headgate.instances.state.model import NEVER_REFUSED, Refusals
from headgate.rollouts.model import Begun, HostFailure, NotMoved, Progress, Rollout, RolloutHosts, Status
from headgate.rollouts.strategy import Gates, Strategy

APPLY_WITHIN: Final = timedelta(minutes=5)
"""A supervisor needs some 14 seconds. An instance that has not applied the version by then has failed to."""
UPGRADE_WITHIN: Final = timedelta(minutes=15)
"""The same with a collector to fetch: 100 MB, which takes 13 minutes at a megabit a second."""
BACK_OFF: Final = timedelta(seconds=130)
"""An agent that was not answered tries again within 90 s, after the 40 s that its relay waits for an answer."""
SETTLED_WITHIN: Final = timedelta(minutes=10)
"""A step soaks after this time at the latest, whatever its instances do."""
_LATE: Final = timedelta(seconds=30)
_RESTS: Final[frozenset[Status]] = frozenset({"paused", "waiting_for_approval", "halted"})


def quiet_after(*, quick: bool = False) -> timedelta:
    """An instance whose heartbeats are all stored is silent after this time; `quick` if its host reports quickly."""
    return timedelta(seconds=3 * longest(quick=quick)) + _LATE


def apply_within(running: RunningRollout) -> timedelta:
    return UPGRADE_WITHIN if running.collector else APPLY_WITHIN


class _RolloutChanges(TypedDict, total=False):
    status: Status
    finished_at: datetime
    progress: Progress
    hosts: RolloutHosts
    reason: str | None
    notes: Sequence[str]
    failures: Sequence[HostFailure]
    not_moved: Sequence[NotMoved]
    ends_as: Status | None


class _ProgressChanges(TypedDict, total=False):
    begun: Sequence[Begun]
    awaits: int
    approved: int
    grown_at: datetime
    soaking_since: datetime | None
    promoted: bool
    target: RolloutPlace
    ticked_at: datetime | None
    awake_since: datetime


@dataclass(frozen=True, slots=True)
class RolloutState:
    """A rollout with its group as they are stored, and what the group's instances last reported.

    Instances that left the group after their turn came are among them. `refused` is when messages of the fleet were
    refused because too many came.
    """

    rollout: Rollout
    group: Deployment
    instances: Sequence[Instance]
    at: datetime
    refused: Refusals = NEVER_REFUSED

    @property
    def running(self) -> RunningRollout:
        assert self.group.rollout is not None
        return self.group.rollout

    @property
    def desired(self) -> Desired:
        """The version that the due instances of the group are to run."""
        running = self.running
        desired = Desired(running.to, running.revision, before=self.group.assignment, at=running.started_at)
        return desired.on(self.group, running)

    @property
    def progress(self) -> Progress:
        return self.rollout.progress

    @property
    def strategy(self) -> Strategy:
        assert self.rollout.strategy is not None
        return self.rollout.strategy

    @property
    def gates(self) -> Gates:
        assert self.rollout.gates is not None
        return self.rollout.gates

    @property
    def since(self) -> datetime:
        """The time at which the cut last changed, or judging began again."""
        return max(self.progress.grown_at, self.progress.awake_since)

    @property
    def settled_within(self) -> timedelta:
        return SETTLED_WITHIN - APPLY_WITHIN + apply_within(self.running)

    @property
    def is_waking(self) -> bool:
        """True if judging has just begun again: earlier reports of hosts do not tell their health.

        Longer for hosts in their turn, or next to it, that have not tried again yet.
        """
        awake_since, quiet = self.progress.awake_since, quiet_after(quick=True)
        waited = self.at - awake_since
        return waited < quiet or (waited < quiet + BACK_OFF and any(map(self._is_awaited, self.instances)))

    def _is_awaited(self, instance: Instance) -> bool:
        watched = self.running.is_watched(instance.id, instance.labels)
        return watched and not instance.reported.stopped and instance.contact.last_seen_at < self.progress.awake_since

    @property
    def reachable_since(self) -> datetime:
        """The time at which every host could report again after the last interruption."""
        return self.progress.awake_since + BACK_OFF

    def is_silent(self, instance: Instance, heard_at: datetime) -> bool:
        """True if nothing was heard of the instance since that time, for too long."""
        quiet = quiet_after(quick=instance.is_quick)
        return self.at > self.refused.silent_from(max(heard_at, self.reachable_since), quiet)

    def with_rollout(self, **changes: Unpack[_RolloutChanges]) -> RolloutState:
        rollout, running = replace(self.rollout, **changes), self.group.rollout
        changed = replace(self, rollout=rollout)
        return changed.with_running(replace(running, rests=rollout.status in _RESTS)) if running else changed

    def with_progress(self, **changes: Unpack[_ProgressChanges]) -> RolloutState:
        return self.with_rollout(progress=replace(self.progress, **changes))

    def with_running(self, running: RunningRollout) -> RolloutState:
        return replace(self, group=replace(self.group, rollout=running))

    def with_notes(self, *notes: str) -> RolloutState:
        """With these notes as well, each once."""
        return self.with_rollout(notes=tuple(dict.fromkeys([*self.rollout.notes, *notes])))
