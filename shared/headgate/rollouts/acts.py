"""Acts of people on a rollout: pure functions of it and its group, and the statuses that allow each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from headgate.deployments.running import NOBODY
from headgate.foundation.principal import Principal
from headgate.rollouts.going_back import take_back
from headgate.rollouts.model import AdminHasToApprove, NotNow, OwnRollout, Status, TokenCannotApprove
from headgate.rollouts.state import RolloutState

Act = Callable[[RolloutState], RolloutState]
_OPEN: Final[tuple[Status, ...]] = ("in_progress", "paused", "waiting_for_approval", "halted", "rolling_back")


def pause(state: RolloutState) -> RolloutState:
    """Pause: no step begins until it is resumed; the gates go on judging."""
    _require(state, "pausing", "in_progress", "waiting_for_approval")
    return state.with_rollout(status="paused", reason=None)


def resume(state: RolloutState) -> RolloutState:
    """Go on. What halted is tried again, as by `retry`."""
    _require(state, "resuming", "paused", "halted")
    if state.rollout.status == "halted":
        return retry(state)
    return state.with_rollout(status="in_progress", reason=None)


def promote(state: RolloutState) -> RolloutState:
    """End the soak of the step as soon as its instances have applied the version. Gates that fail still stop it."""
    _require(state, "promoting", "in_progress")
    return state.with_progress(promoted=True)


def retry(state: RolloutState) -> RolloutState:
    """Offer the version again where it failed, and judge the step from now on."""
    _require(state, "retrying", "in_progress", "paused", "halted")
    state = _by_its_clock(state)
    running = replace(state.running, revision=state.group.revision + 1)
    status: Status = "paused" if state.rollout.status == "paused" else "in_progress"
    progress = replace(state.progress, grown_at=state.at, soaking_since=None, promoted=False)
    return state.with_running(running).with_rollout(status=status, reason=None, failures=(), progress=progress)


def abort(state: RolloutState) -> RolloutState:
    """Every instance goes back to what the group ran before."""
    _require(state, "aborting", *_OPEN)
    state = _by_its_clock(state)
    if state.rollout.status == "rolling_back" and state.running.cut == NOBODY:
        # All of them go back already, and have no more time for it.
        return state.with_rollout(ends_as="aborted")
    return take_back(state, NOBODY, "aborted").with_rollout(reason=None)


def approved_by(person: Principal, *, is_admin: bool = False) -> Act:
    """Begin what waits for an approval.

    Raises OwnRollout for a person behind the rollout's start, AdminHasToApprove if these are not known,
    TokenCannotApprove.
    """

    def approve(state: RolloutState) -> RolloutState:
        _require(state, "approving", "waiting_for_approval")
        if person.kind != "user":
            raise TokenCannotApprove
        behind = state.rollout.people
        if person.id in (behind or ()):
            raise OwnRollout
        if behind is None and not is_admin:
            raise AdminHasToApprove
        return state.with_progress(approved=state.progress.awaits).with_rollout(status="in_progress", reason=None)

    return approve


def _by_its_clock(state: RolloutState) -> RolloutState:
    """With no time of its judging later than now: what was written before the clock was set back delays nothing."""
    at, was = state.at, state.progress
    return state.with_progress(
        ticked_at=was.ticked_at and min(was.ticked_at, at),
        awake_since=min(was.awake_since, at),
        grown_at=min(was.grown_at, at),
    )


def _require(state: RolloutState, act: str, *allowed: Status) -> None:
    if state.rollout.status not in allowed:
        raise NotNow(state.rollout.status, act, allowed)
