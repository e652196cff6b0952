"""Taking a version back: it has ended once the hosts report the version before as applied and healthy.

A host that does not within the time to apply it and the time in which it would be heard is a failure, by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from headgate.deployments.running import RolloutPlace, RunningRollout
from headgate.rollouts.gates import LONGEST_MESSAGE, MOST_FAILURES
from headgate.rollouts.hosts import RolloutHost, hosts
from headgate.rollouts.model import HostFailure, Status
from headgate.rollouts.state import RolloutState, apply_within, quiet_after


def take_back(state: RolloutState, cut: RolloutPlace, ends_as: Status) -> RolloutState:
    """Instances after `cut` go back to what they ran; the rollout ends as that once they have."""
    running = replace(state.running, cut=cut, watched=max(state.running.cut, state.running.watched))
    progress = replace(state.progress, target=cut, grown_at=state.at, soaking_since=None, promoted=False)
    # What did not go back from an earlier step has another try.
    failures = tuple(failure for failure in state.rollout.failures if failure.gate != "rollback_failed")
    going_back = state.with_rollout(status="rolling_back", ends_as=ends_as, progress=progress, failures=failures)
    return going_back.with_running(running)


def may_wait_longer(state: RolloutState) -> bool:
    """True if hosts get more time to go back for an interruption: not without end, however often there is one."""
    return state.progress.awake_since - state.progress.grown_at < _back_within(state.running)


def gone_back(state: RolloutState) -> RolloutState:
    """End a rollout whose instances have gone back; after some time also without the others, which are named."""
    still = [host for host in hosts(state) if host.phase == "going_back"]
    if still and state.at - state.since < _back_within(state.running):
        return state
    ends_as = state.rollout.ends_as or "rolled_back"
    state = state.with_rollout(status=ends_as, ends_as=None)
    if still:
        state = _with_failures(state, still)
    return state if ends_as == "halted" else state.with_rollout(finished_at=state.at)


def _back_within(running: RunningRollout) -> timedelta:
    return apply_within(running) + quiet_after(quick=True)


def _with_failures(state: RolloutState, still: Sequence[RolloutHost]) -> RolloutState:
    failures = [
        HostFailure(host.instance.id, "rollback_failed", host.message[:LONGEST_MESSAGE])
        for host in still[:MOST_FAILURES]
    ]
    minutes = _back_within(state.running).total_seconds() / 60
    instances = "1 instance has" if len(still) == 1 else f"{len(still)} instances have"
    reason = f"{instances} not gone back to the version before within {minutes:.0f} minutes"
    before = f"{state.rollout.reason}. " if state.rollout.reason else ""
    return state.with_rollout(reason=before + reason, failures=(*failures, *state.rollout.failures))
