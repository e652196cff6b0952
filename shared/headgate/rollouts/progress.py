"""Apply a judgement to a rollout and its group: pure functions of stored facts and the hosts' reports.

A step begins, its cut grows, its instances settle, it soaks, and the next one begins, until the group is assigned the
version. A gate that fails takes the step back. An approval, or the window, holds whatever begins next: a step, or the
end of the rollout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from headgate.deployments.running import EVERYONE, NOBODY, RolloutPlace
from headgate.instances.state.intervals import longest
from headgate.instances.state.model import STALE_AFTER
from headgate.rollouts import figures, gates
from headgate.rollouts.going_back import gone_back, may_wait_longer, take_back
from headgate.rollouts.hosts import RolloutHost, hosts, lost, unheard
from headgate.rollouts.model import Begun, NotMoved, RolloutHosts, Status
from headgate.rollouts.state import RolloutState, quiet_after
from headgate.rollouts.strategy import Strategy

_MOST_NOT_MOVED: Final = 20
# So short a pause takes no host beyond the time after which it is silent, also with the agents' back-off.
_LATE: Final = timedelta(seconds=10)
_JUDGED: Final[frozenset[Status]] = frozenset({"in_progress", "paused", "waiting_for_approval"})


def advance(state: RolloutState) -> RolloutState:
    """The rollout and its group after a judgement. It changes nothing of a rollout that has ended."""
    if state.rollout.is_final or state.group.rollout is None:
        return state
    ticked_at, goes_back = state.progress.ticked_at, state.rollout.status == "rolling_back"
    since = timedelta() if ticked_at is None else state.at - ticked_at
    if since < -_LATE:
        return _set_back(state, state.at - since)
    if since > wait() + _LATE:
        state = _interrupted(state, since, starts_anew=not goes_back or may_wait_longer(state))
    state = state.with_progress(ticked_at=max(state.at, ticked_at or state.at))
    if goes_back:
        after = _counted(gone_back(state))
        # The group runs what it ran before.
        return replace(after, group=after.group.without_rollout()) if after.rollout.is_final else after
    after = _judged(state) if state.rollout.status in _JUDGED else state
    return after if after.rollout.is_final else _counted(after)


def _set_back(state: RolloutState, ticked_at: datetime) -> RolloutState:
    """Wait until the clock has caught up: till then times before and after it was set back cannot be told apart."""
    why = f"Waits until {ticked_at:%Y-%m-%d %H:%M:%S} UTC, when it was last judged: this service's clock was set back"
    state = state.with_notes(f"{why}. `headgate rollout retry` judges at once, or `abort` if it goes back")
    return state.with_rollout(reason=why) if state.rollout.status == "in_progress" else state


def _interrupted(state: RolloutState, since: timedelta, *, starts_anew: bool) -> RolloutState:
    """Judge again after so long a time. It does not count for a soak: nobody judged, or only the clock went forward."""
    soaking_since = state.progress.soaking_since
    state = state.with_progress(soaking_since=soaking_since and soaking_since + since - wait())
    return state.with_progress(awake_since=state.at) if starts_anew else state


def wait() -> timedelta:
    """From one judgement to the next."""
    return timedelta(seconds=longest(quick=True))


def _judged(state: RolloutState) -> RolloutState:
    listed = hosts(state)
    due, rest = [host for host in listed if host.due], [host for host in listed if not host.due]
    verdict = gates.judge(state.gates, due, rest, state.progress.rates, state.progress.step)
    state = state.with_rollout(failures=tuple(verdict.failures))
    if verdict.reason:
        if state.strategy.on_failure == "roll_back_step":
            state = _with_failed_step_last(state, due, rest)
        return _failed(state, verdict.reason)
    if state.rollout.status == "paused" or (state.is_waking and state.rollout.status == "waiting_for_approval"):
        return state
    # What an approval is awaited for may be something else by now, as after hosts have joined.
    state = state.with_rollout(status="in_progress")
    return _in_progress(_noted(state, verdict.notes) if _is_soaked(state) else state, listed)


def _noted(state: RolloutState, notes: Sequence[str]) -> RolloutState:
    """With these notes on the step, instead of those that it had; what was said of other steps stays."""
    mark = f"Step {state.progress.step}: "
    others = [note for note in state.rollout.notes if not note.startswith(mark)]
    return state.with_rollout(notes=(*others, *(mark + note for note in notes)))


def _in_progress(state: RolloutState, listed: Sequence[RolloutHost]) -> RolloutState:
    if state.is_waking:
        return state.with_rollout(reason="Waits for the instances to report, after an interruption")
    if state.progress.step == 0:
        return _next(state, listed)
    if state.running.cut < state.progress.target:
        return _grown(state, listed)
    if not _is_tried(host for host in listed if host.place > state.progress.previous):
        tried = _is_tried(listed)
        waiting = [host for host in listed if host.phase == "waiting"]
        # The step's hosts are gone: others take their place, at least one if the version was tried nowhere.
        least = NOBODY if tried or not waiting else waiting[0].place
        target = max(_target(state, listed, state.progress.step), least)
        if waiting and target > state.running.cut:
            return _grown(state.with_progress(target=target, soaking_since=None), listed, least)
        if not tried:
            why = "Every instance that was to run the version left or fell silent: waits for the next one"
            return _noted(state.with_rollout(reason=why), [why])
    pending = any(host.phase == "pending" for host in listed)
    if state.progress.soaking_since is None:
        if pending and state.at - state.since < state.settled_within:
            return state.with_rollout(reason=None)
        state = state.with_progress(soaking_since=state.at)
    return _next(state, listed) if _is_soaked(state) else state.with_rollout(reason=None)


def _is_soaked(state: RolloutState) -> bool:
    progress = state.progress
    if progress.soaking_since is None or progress.step == 0:
        return False
    return state.at - progress.soaking_since >= _soak(state)


def _next(state: RolloutState, listed: Sequence[RolloutHost]) -> RolloutState:
    """Begin the next step that adds instances, or end, unless something holds it.

    If most of the instances were lost, they would get the version unjudged; one that stopped may be back.
    """
    gone = lost(listed, state.at)
    if gone and len(gone) >= len(_present(listed)):
        minutes = STALE_AFTER.seconds // 60
        return state.with_rollout(
            reason=f"Waits for {len(gone)} instances that ceased to report, {minutes} minutes at most"
        )
    leaving = sum(1 for host in listed if host.phase == "leaving")
    if leaving:
        return state.with_rollout(reason=f"Waits for {_instances(leaving)} that stopped")
    ill = _ceased(state, listed)
    if ill:
        return state.with_rollout(reason=f"Waits for {_instances(ill)} to run the version in health again")
    missing = _unheard(state, listed)
    if missing:
        return state.with_rollout(reason=f"Waits to hear of {_instances(missing)} after the soak")
    unjudged = figures.unjudged(listed) if state.gates.not_judged else 0
    if unjudged:
        return state.with_rollout(reason=f"Waits for the counters of {_instances(unjudged)}")
    number = _next_step(state, listed, state.progress.step)
    unapproved = [step for step in _approvals(state, number) if step > state.progress.approved]
    if unapproved:
        waits = state.with_progress(awaits=unapproved[-1])
        return waits.with_rollout(status="waiting_for_approval", reason=_awaited(number, unapproved))
    # Once the last step has begun, the end gives the version to nobody who was not to have it.
    skips = number is not None or state.progress.step < len(state.strategy.steps)
    if skips and not _may_begin(state.strategy, state.at):
        return state.with_rollout(reason=_closed(state.strategy, number))
    state = state.with_notes(*(_carried(number, step) for step in _approvals(state, number) if step != number))
    if number is None:
        return _completed(state, listed)
    target = _target(state, listed, number)
    first = [host for host in listed if not host.due and host.place <= target] if state.progress.step == 0 else []
    blank = figures.unmeasured(first, state.running)
    if blank and state.at - max(state.rollout.created_at, state.progress.awake_since) < quiet_after():
        measured = state.with_running(replace(state.running, watched=max(target, state.running.watched)))
        return measured.with_rollout(reason=f"Waits for the counters of {_instances(blank)}")
    following = _next_step(state, listed, number)
    watched = target if following is None else _target(state, listed, following)
    progress = replace(
        state.progress,
        begun=(*state.progress.begun, Begun(number, state.running.cut)),
        # What was approved for a later step, as for a group without instances, is not approved for this course.
        approved=min(state.progress.approved, number),
        grown_at=state.at,
        soaking_since=None,
        promoted=False,
        target=target,
        rates=figures.rates([host for host in listed if not host.due]),
    )
    begun = state.with_rollout(progress=progress)
    if state.strategy.steps[number - 1].canaries and not any(_is_canary(host) for host in _present(listed)):
        begun = begun.with_notes(
            f"Step {number} began with one of the others: no instance has the labels of the canaries"
        )
    return _grown(begun.with_running(replace(state.running, watched=max(watched, state.running.cut))), listed)


def _soak(state: RolloutState) -> timedelta:
    """The time that the present step soaks for."""
    progress = state.progress
    return timedelta(seconds=0 if progress.promoted else state.strategy.steps[progress.step - 1].soak_seconds)


def _ceased(state: RolloutState, listed: Sequence[RolloutHost]) -> int:
    """The number that ran the version, and do not run it in health since the soak: they soon do, or fail a gate."""
    soaking_since = state.progress.soaking_since
    if soaking_since is None or state.progress.step == 0:
        return 0
    soaked_at = soaking_since + _soak(state)
    watches = [host.watch for host in listed if host.phase == "pending" and host.instance.measured.watch is not None]
    return sum(1 for watch in watches if watch.applied_at and watch.waiting_since and watch.waiting_since <= soaked_at)


def _unheard(state: RolloutState, listed: Sequence[RolloutHost]) -> int:
    """The number not heard since a soak, or for so long that they would be silent if nothing had been refused."""
    progress = state.progress
    if progress.soaking_since is None or progress.step == 0 or not state.gates.silent:
        return 0
    soak = _soak(state)
    # While messages are refused, hosts become silent later than otherwise.
    return unheard(listed, progress.soaking_since + soak if soak <= quiet_after() else state.at - quiet_after())


def _approvals(state: RolloutState, number: int | None) -> list[int]:
    """The steps whose approvals hold step `number`, or the end: its own, and those of the steps that are left out."""
    until = number or len(state.strategy.steps)
    steps = range(state.progress.step + 1, until + 1)
    return [step for step in steps if state.strategy.steps[step - 1].approval]


def _what(number: int | None) -> str:
    return f"step {number}" if number else "the end of the rollout"


def _awaited(number: int | None, unapproved: Sequence[int]) -> str:
    """The reason why a step, or the end, waits."""
    what = _what(number).capitalize()
    left_out = [step for step in unapproved if step != number]
    if not left_out:
        return f"{what} waits for approval"
    adds = "adds" if len(left_out) == 1 else "add"
    steps = " and ".join(f"step {step}" for step in left_out)
    own = "its approval and " if number in unapproved else ""
    return f"{what} waits for {own}the approval of {steps}, which {adds} no instance"


def _carried(number: int | None, step: int) -> str:
    return f"The approval of step {step}, which added no instance, was asked for before {_what(number)}"


def _instances(count: int) -> str:
    return "1 instance" if count == 1 else f"{count:,} instances"


def _next_step(state: RolloutState, listed: Sequence[RolloutHost], step: int) -> int | None:
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


def _reached(state: RolloutState, listed: Sequence[RolloutHost], step: int) -> RolloutPlace:
    """The place of the cut, now or when `step` has begun."""
    if step <= state.progress.step:
        return state.running.cut
    return max(state.running.cut, _target(state, listed, step))


def _target(state: RolloutState, listed: Sequence[RolloutHost], number: int) -> RolloutPlace:
    step = state.strategy.steps[number - 1]
    if step.is_last:
        return EVERYONE
    present = _present(listed)
    share = step.share(len(present), sum(1 for host in present if _is_canary(host)))
    return present[share - 1].place if present else NOBODY


def _present(listed: Sequence[RolloutHost]) -> list[RolloutHost]:
    """Those that a step can reach, or has reached."""
    return [host for host in listed if host.counts and host.phase not in ("left", "silent")]


def _is_tried(listed: Iterable[RolloutHost]) -> bool:
    """True if the version runs on one of the instances, or did in health, or is about to."""
    return any(host.due and (host.phase in ("pending", "applied", "failed", "leaving") or host.ran) for host in listed)


def _is_canary(host: RolloutHost) -> bool:
    return host.place.tier == 0


def _grown(state: RolloutState, listed: Sequence[RolloutHost], least: RolloutPlace = NOBODY) -> RolloutState:
    """Let the cut grow to the step's target, at least to `least`, as far as instances may be unavailable."""
    state = state.with_rollout(reason=None)
    if not _may_begin(state.strategy, state.at):
        return state.with_rollout(reason=_closed(state.strategy, state.progress.step))
    # Those that came meanwhile count in the step's share.
    target = max(least, min(state.progress.target, _target(state, listed, state.progress.step)))
    if target <= state.running.cut:
        return state.with_progress(target=state.running.cut)
    coming = [host.place for host in _present(listed) if not host.due and host.place <= target]
    most = state.strategy.max_unavailable
    if most is None or not coming:
        return _with_cut(state, target)
    unavailable = [host for host in listed if host.due and host.phase in ("pending", "leaving", "silent")]
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


def _with_cut(state: RolloutState, cut: RolloutPlace) -> RolloutState:
    return state.with_running(replace(state.running, cut=cut)).with_progress(grown_at=state.at)


def _may_begin(strategy: Strategy, at: datetime) -> bool:
    return strategy.window is None or strategy.window.is_open(at)


def _closed(strategy: Strategy, number: int | None) -> str:
    window = strategy.window
    assert window is not None
    return f"{_what(number).capitalize()} waits for the window from {window.start} to {window.end}, {window.time_zone}"


def _with_failed_step_last(
    state: RolloutState, due: Sequence[RolloutHost], rest: Sequence[RolloutHost]
) -> RolloutState:
    """Without the steps after the one whose instances fail: they go back together with it."""
    begun = state.progress.begun
    while len(begun) > 1:
        earlier = [host for host in due if host.place <= begun[-1].previous]
        if gates.judge(state.gates, earlier, rest, state.progress.rates, begun[-2].step).reason is None:
            break
        begun = begun[:-1]
    return state.with_progress(begun=begun)


def _failed(state: RolloutState, reason: str) -> RolloutState:
    state = state.with_rollout(reason=reason)
    previous = state.progress.previous
    match state.strategy.on_failure:
        case "halt":
            return state.with_rollout(status="halted")
        case "roll_back_step" if previous > NOBODY:
            # Its steps before stay; what follows is the same step again, and so is its approval.
            begun = state.progress.begun[:-1]
            approved = min(state.progress.approved, begun[-1].step)
            return take_back(state, previous, "halted").with_progress(begun=begun, approved=approved)
    return take_back(state, NOBODY, "rolled_back")


def _completed(state: RolloutState, listed: Sequence[RolloutHost]) -> RolloutState:
    """Assign the version to the group: for instances that run it already, nothing changes."""
    running = state.running
    if not _present(listed):
        state = _noted(state, ["no instance of the group reports, so that nothing was judged"])
    # So that it can be gone back to, also if another version is assigned before a host reports again.
    desired = state.desired
    proven = any(host.due and host.phase == "applied" and host.proved(desired) for host in listed)
    done = _counted(state).with_rollout(status="completed", reason=None, finished_at=state.at)
    group = replace(
        state.group,
        assignment=running.to,
        assigned_revision=running.revision,
        assigned_at=state.at,
        healthy=state.group.healthy_before(running.to, running.variables),
        proven_revision=running.revision if proven else state.group.proven_revision,
        rollout=None,
        collector=running.collector or state.group.collector,
        variables=running.variables or state.group.variables,
    )
    return replace(done, group=group)


def _counted(state: RolloutState) -> RolloutState:
    """With the number of instances, as they are to be shown."""
    listed = hosts(state)
    present = [host for host in listed if host.counts]
    due = [host for host in present if host.due]
    others = [host for host in listed if host.phase == "not_moved"]
    counts = RolloutHosts(
        total=len(present),
        due=len(due),
        applied=sum(1 for host in due if host.phase == "applied"),
        failed=sum(1 for host in due if host.phase in ("failed", "silent", "left")),
        not_moved=len(others),
    )
    return state.with_rollout(hosts=counts, not_moved=tuple(map(_not_moved, others[:_MOST_NOT_MOVED])))


def _not_moved(host: RolloutHost) -> NotMoved:
    return NotMoved(host.instance.id, host.instance.called, host.message)
