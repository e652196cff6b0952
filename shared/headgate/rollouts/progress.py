"""What a judgement makes of a rollout and its group: pure functions of what is stored and what the hosts report.

A step begins, its cut grows, its instances settle, it soaks, and the next one begins, until the group is assigned the
version. A gate that fails takes the step back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypedDict, Unpack

from headgate.deployments.model import Deployment
from headgate.deployments.running import EVERYONE, NOBODY, Place, RunningRollout
from headgate.instances.model import Instance
from headgate.instances.states import STALE_AFTER
from headgate.rollouts import gates
from headgate.rollouts.hosts import APPLY_WITHIN, Host, apply_within, hosts, lost, of_rollout, quiet_after
from headgate.rollouts.model import Begun, Failure, Hosts, NotMoved, Progress, Rollout, Status
from headgate.rollouts.strategy import Gates, Strategy

SETTLED_WITHIN: Final = timedelta(minutes=10)
"""A step soaks, or a taken back one ends, after this time at the latest, whatever its instances do."""
_MOST_NOT_MOVED: Final = 20
# Ticks are a minute apart at most.
_INTERRUPTED_AFTER: Final = timedelta(seconds=90)
_JUDGED: Final[frozenset[Status]] = frozenset({"in_progress", "paused", "waiting_for_approval"})


class _RolloutChanges(TypedDict, total=False):
    status: Status
    finished_at: datetime
    progress: Progress
    hosts: Hosts
    reason: str | None
    notes: Sequence[str]
    failures: Sequence[Failure]
    not_moved: Sequence[NotMoved]
    ends_as: Status | None


class _ProgressChanges(TypedDict, total=False):
    begun: Sequence[Begun]
    awaits: int
    approved: int
    grown_at: datetime
    soaking_since: datetime | None
    promoted: bool
    target: Place
    ticked_at: datetime
    awake_since: datetime


@dataclass(frozen=True, slots=True)
class State:
    """A rollout with its group as they are stored, and what the group's instances last reported."""

    rollout: Rollout
    group: Deployment
    instances: Sequence[Instance]
    at: datetime

    @property
    def running(self) -> RunningRollout:
        assert self.group.rollout is not None
        return self.group.rollout

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
        """When the cut last grew, or judging began again."""
        return max(self.progress.grown_at, self.progress.awake_since)

    @property
    def settled_within(self) -> timedelta:
        return SETTLED_WITHIN - APPLY_WITHIN + apply_within(self.running)

    @property
    def is_waking(self) -> bool:
        """Whether judging has just begun again: what hosts said before does not tell how they are."""
        return self.at - self.progress.awake_since < quiet_after()

    def hosts(self) -> list[Host]:
        return hosts(self.instances, self.group, self.progress.grown_at, self.progress.awake_since, self.at)

    def with_rollout(self, **changes: Unpack[_RolloutChanges]) -> State:
        return replace(self, rollout=replace(self.rollout, **changes))

    def with_progress(self, **changes: Unpack[_ProgressChanges]) -> State:
        return self.with_rollout(progress=replace(self.progress, **changes))

    def with_running(self, running: RunningRollout | None) -> State:
        return replace(self, group=replace(self.group, rollout=running))


def advance(state: State) -> State:
    """The rollout and its group after a judgement. It changes nothing of a rollout that has ended."""
    if state.rollout.is_final or state.group.rollout is None:
        return state
    ticked_at = state.progress.ticked_at
    if ticked_at and state.at - ticked_at > _INTERRUPTED_AFTER:
        state = state.with_progress(awake_since=state.at)
    state = state.with_progress(ticked_at=state.at)
    if state.rollout.status == "rolling_back":
        after = _rolled_back(state)
    elif state.rollout.status in _JUDGED:
        after = _judged(state)
    else:
        after = state
    return after if after.rollout.is_final else _counted(after, after.hosts())


def take_back(state: State, cut: Place, ends_as: Status) -> State:
    """Instances after `cut` go back to what they ran; the rollout ends as that once they have."""
    running = replace(state.running, cut=cut, watched=max(state.running.cut, state.running.watched))
    progress = replace(state.progress, target=cut, grown_at=state.at, soaking_since=None, promoted=False)
    return state.with_running(running).with_rollout(status="rolling_back", ends_as=ends_as, progress=progress)


def _judged(state: State) -> State:
    listed = state.hosts()
    due, rest = [host for host in listed if host.due], [host for host in listed if not host.due]
    verdict = gates.judge(state.gates, due, rest, state.progress.rates, state.progress.step)
    state = state.with_rollout(failures=tuple(verdict.failures))
    if verdict.reason:
        if state.strategy.on_failure == "roll_back_step":
            state = _with_failed_step_last(state, due, rest)
        return _failed(state, verdict.reason)
    if state.rollout.status != "in_progress":
        return state
    return _in_progress(_noted(state, verdict.notes) if _is_soaked(state) else state, listed)


def _noted(state: State, notes: Sequence[str]) -> State:
    """With these notes on the step, instead of those that it had; what was said of other steps stays."""
    mark = f"Step {state.progress.step}: "
    others = [note for note in state.rollout.notes if not note.startswith(mark)]
    return state.with_rollout(notes=(*others, *(mark + note for note in notes)))


def _in_progress(state: State, listed: Sequence[Host]) -> State:
    if state.is_waking:
        return state.with_rollout(reason="Waits for the instances to report, after an interruption")
    if state.progress.step == 0:
        return _next(state, listed)
    if state.running.cut < state.progress.target:
        return _grown(state, listed)
    pending = any(host.phase == "pending" for host in listed)
    if state.progress.soaking_since is None:
        if pending and state.at - state.since < state.settled_within:
            return state.with_rollout(reason=None)
        state = state.with_progress(soaking_since=state.at)
    return _next(state, listed) if _is_soaked(state) else state.with_rollout(reason=None)


def _is_soaked(state: State) -> bool:
    progress = state.progress
    if progress.soaking_since is None or progress.step == 0:
        return False
    soak = timedelta(seconds=state.strategy.steps[progress.step - 1].soak_seconds)
    return progress.promoted or state.at - progress.soaking_since >= soak


def _next(state: State, listed: Sequence[Host]) -> State:
    """Begin the next step that adds instances, or end; unless most of them were lost, who would get it unjudged."""
    gone = lost(listed, state.at)
    if gone and len(gone) >= len(_present(listed)):
        minutes = STALE_AFTER.seconds // 60
        return state.with_rollout(
            reason=f"Waits for {len(gone)} instances that ceased to report, {minutes} minutes at most"
        )
    number = _next_step(state, listed, state.progress.step)
    if number is None:
        return _completed(state, listed)
    if state.strategy.steps[number - 1].approval and state.progress.approved < number:
        state = state.with_progress(awaits=number)
        return state.with_rollout(status="waiting_for_approval", reason=f"Step {number} waits for approval")
    if not _may_begin(state.strategy, state.at):
        return state.with_rollout(reason=_closed(state.strategy, number))
    target = _target(state, listed, number)
    following = _next_step(state, listed, number)
    watched = target if following is None else _target(state, listed, following)
    progress = replace(
        state.progress,
        begun=(*state.progress.begun, Begun(number, state.running.cut)),
        grown_at=state.at,
        soaking_since=None,
        promoted=False,
        target=target,
        rates=gates.rates([host for host in listed if not host.due]),
    )
    begun = state.with_rollout(progress=progress)
    if state.strategy.steps[number - 1].canaries and not any(_is_canary(host) for host in _present(listed)):
        note = f"Step {number} began with one of the others: no instance has the labels of the canaries"
        begun = begun.with_rollout(notes=tuple(dict.fromkeys([*state.rollout.notes, note])))
    return _grown(begun.with_running(replace(state.running, watched=max(watched, state.running.cut))), listed)


def _next_step(state: State, listed: Sequence[Host], step: int) -> int | None:
    """The number of the next step after `step` that adds instances; None if all are due."""
    if not any(not host.due for host in _present(listed)):
        return None
    for number in range(step + 1, len(state.strategy.steps) + 1):
        target = _target(state, listed, number)
        if any(not host.due and host.place <= target for host in _present(listed)) and target > _reached(
            state, listed, step
        ):
            return number
    return None


def _reached(state: State, listed: Sequence[Host], step: int) -> Place:
    """Where the cut is, or will be when `step` has begun."""
    if step <= state.progress.step:
        return state.running.cut
    return max(state.running.cut, _target(state, listed, step))


def _target(state: State, listed: Sequence[Host], number: int) -> Place:
    step = state.strategy.steps[number - 1]
    if step.is_last:
        return EVERYONE
    present = _present(listed)
    share = step.share(len(present), sum(1 for host in present if _is_canary(host)))
    return present[share - 1].place if present else NOBODY


def _present(listed: Sequence[Host]) -> list[Host]:
    return [host for host in listed if host.counts]


def _is_canary(host: Host) -> bool:
    return host.place.tier == 0


def _grown(state: State, listed: Sequence[Host]) -> State:
    """Let the cut grow to the step's target, as far as instances may be unavailable."""
    state = state.with_rollout(reason=None)
    if not _may_begin(state.strategy, state.at):
        return state.with_rollout(reason=_closed(state.strategy, state.progress.step))
    # Those that came meanwhile count in the step's share.
    target = min(state.progress.target, _target(state, listed, state.progress.step))
    if target <= state.running.cut:
        return state.with_progress(target=state.running.cut)
    coming = [host.place for host in _present(listed) if not host.due and host.place <= target]
    most = state.strategy.max_unavailable
    if most is None or not coming:
        return _with_cut(state, target)
    unavailable = [host for host in listed if host.due and host.phase in ("pending", "silent")]
    room = most - len(unavailable)
    if room >= len(coming):
        return _with_cut(state, target)
    if room > 0:
        return _with_cut(state, coming[room - 1])
    if state.at - state.since >= state.settled_within or all(host.phase == "silent" for host in unavailable):
        return _failed(
            state, f"Step {state.progress.step}: {len(unavailable)} instances are unavailable, {most} may be"
        )
    return state


def _with_cut(state: State, cut: Place) -> State:
    return state.with_running(replace(state.running, cut=cut)).with_progress(grown_at=state.at)


def _may_begin(strategy: Strategy, at: datetime) -> bool:
    return strategy.window is None or strategy.window.is_open(at)


def _closed(strategy: Strategy, number: int) -> str:
    window = strategy.window
    assert window is not None
    return f"Step {number} waits for the window from {window.start} to {window.end}, {window.time_zone}"


def _with_failed_step_last(state: State, due: Sequence[Host], rest: Sequence[Host]) -> State:
    """Without the steps after the one whose instances fail: they go back together with it."""
    begun = state.progress.begun
    while len(begun) > 1:
        earlier = [host for host in due if host.place <= begun[-1].previous]
        if gates.judge(state.gates, earlier, rest, state.progress.rates, begun[-2].step).reason is None:
            break
        begun = begun[:-1]
    return state.with_progress(begun=begun)


def _failed(state: State, reason: str) -> State:
    state = state.with_rollout(reason=reason)
    previous = state.progress.previous
    match state.strategy.on_failure:
        case "halt":
            return state.with_rollout(status="halted")
        case "roll_back_step" if previous > NOBODY:
            # Its steps before stay; what follows is the same step again.
            return take_back(state, previous, "halted").with_progress(begun=state.progress.begun[:-1])
    return take_back(state, NOBODY, "rolled_back")


def _rolled_back(state: State) -> State:
    """End a rollout whose instances have gone back; after some time also without the others."""
    to = of_rollout(state.group, state.running)
    still = [host for host in state.hosts() if not host.due and host.phase == "waiting" and host.runs(to)]
    if (still and state.at - state.since < state.settled_within) or state.is_waking:
        return state
    ends_as = state.rollout.ends_as or "rolled_back"
    state = state.with_rollout(status=ends_as, ends_as=None)
    if still:
        minutes = state.settled_within.seconds // 60
        state = _noted(state, [f"{len(still)} instances had not gone back after {minutes} minutes"])
    if ends_as == "halted":
        return state
    return _counted(state, state.hosts()).with_rollout(finished_at=state.at).with_running(None)


def _completed(state: State, listed: Sequence[Host]) -> State:
    """Assign the version to the group: for instances that run it already, nothing changes."""
    running = state.running
    if not _present(listed):
        state = _noted(state, ["no instance of the group reports, so that nothing was judged"])
    done = _counted(state, listed).with_rollout(status="completed", reason=None, finished_at=state.at)
    group = replace(
        state.group,
        assignment=running.to,
        assigned_revision=running.revision,
        assigned_at=state.at,
        rollout=None,
        collector=running.collector or state.group.collector,
    )
    return replace(done, group=group)


def _counted(state: State, listed: Sequence[Host]) -> State:
    """With the number of instances, as they are to be shown."""
    present = _present(listed)
    due = [host for host in present if host.due]
    others = [host for host in listed if host.phase == "not_moved"]
    counts = Hosts(
        total=len(present),
        due=len(due),
        applied=sum(1 for host in due if host.phase == "applied"),
        failed=sum(1 for host in due if host.phase in ("failed", "silent")),
        not_moved=len(others),
    )
    return state.with_rollout(hosts=counts, not_moved=tuple(map(_not_moved, others[:_MOST_NOT_MOVED])))


def _not_moved(host: Host) -> NotMoved:
    instance = host.instance
    name = instance.host.name or instance.description.host_name or instance.id
    return NotMoved(instance.id, name, host.message)
