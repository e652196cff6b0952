"""The version that a deployment group goes back to: the last one that was good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from headgate.deployments.model import Deployment
from headgate.deployments.versions import Assignment
from headgate.rollouts import store
from headgate.rollouts.model import Rollout

ROLLBACK: Final = "Rollback"
"""The start of the message of an assignment that goes back, by which it is recognized."""
_TAKEN_BACK: Final = ("rolled_back", "aborted")
# Older rollouts are not read.
_MOST: Final = 100


def goes_back_to(group: Deployment) -> Assignment | None:
    """The version that a rollback assigns to a group that the caller is known to see, or None; one query."""
    # The newest decides if a host was healthy on a version: rollouts may be large.
    return good_version(group, store.rollouts(group.id, 1 if group.healthy else _MOST, None).entries)


def good_version(group: Deployment, rollouts: Sequence[Rollout]) -> Assignment | None:
    """The version that a rollback assigns to a group with these rollouts, the newest first.

    Hosts that did not go back from what was taken back try the group's own version once more, and so does a group of
    which nothing is known before, if its last rollout did not complete.
    """
    newest = rollouts[0] if rollouts else None
    if newest and newest.status in _TAKEN_BACK and newest.not_back:
        return group.assignment
    if group.healthy:
        return group.healthy[0].assignment
    good = _last_completed(rollouts, group.assignment)
    return group.assignment if good is None and newest and newest.status != "completed" else good


def _last_completed(rollouts: Sequence[Rollout], now: Assignment | None) -> Assignment | None:
    """The version that a group completed before what it runs `now`; rollouts are newest first.

    A rollback forgets what came after its version, so that the next one goes back further.
    """
    good: list[Assignment] = []
    for rollout in reversed([rollout for rollout in rollouts if rollout.status == "completed"]):
        before = rollout.before.assignment if rollout.before else None
        to = rollout.to.assignment if rollout.to else None
        if before is not None and good[-1:] != [before]:
            good.append(before)
        if (rollout.message or "").startswith(ROLLBACK) and to in good[:-1]:
            good = good[: len(good) - 1 - good[-2::-1].index(to)]
        elif to is not None and good[-1:] != [to]:
            good.append(to)
    if good[-1:] == [now]:
        good.pop()
    return good[-1] if good else None
