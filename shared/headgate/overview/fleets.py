"""Fleets in the overview: rollouts that stand still, and collectors that could not apply their version."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from headgate.foundation.caller import Caller
from headgate.instances import service as instances
from headgate.instances.counting.fleets import CountedFleet
from headgate.instances.service import InstanceFilter, SeenInstance
from headgate.instances.state.model import InstanceState
from headgate.overview.model import Notice, NoticeKind, Recent
from headgate.rollouts import service as rollouts
from headgate.rollouts.model import Rollout, Status

MOST_FLEETS: Final = 3
"""Fleets whose failed collectors are told by name, those with the most first."""
_HOSTS: Final = 3
_UNHEARD: Final[Sequence[InstanceState]] = ("silent", "stale")
_STANDING: Final[dict[Status, NoticeKind]] = {"halted": "rollout_halted", "waiting_for_approval": "rollout_waiting"}
_SAID: Final = {
    "rollback_failed": "Collectors did not go back to the version before",
    "rollout_halted": "A gate failed",
    "rollout_rolled_back": "A gate failed",
    "rollout_waiting": "A step waits until another member approves it",
}

_ROLLED_BACK_FOR: Final = timedelta(days=7)
_GROUPS: Final = 20
"""Groups whose newest rollout is looked at, those that changed last."""

# By group and its revision: a rollout that begins or ends changes the group.
_newest: Recent[tuple[str, int], Rollout | None] = Recent(1_000)
# By fleet, the number of its failed collectors, and the minute: to find these is to read up to a megabyte.
_failed: Recent[tuple[str, int, int], Sequence[SeenInstance]] = Recent(200)


def notices(caller: Caller, counted: Sequence[CountedFleet], at: datetime) -> list[Notice]:
    """One batch read for each hundred open rollouts, and a query for each group of `_GROUPS` that has changed since.

    For each of up to `MOST_FLEETS` fleets with collectors that failed, up to a megabyte of its collectors is read: once
    a minute, and when their number has changed.
    """
    return [*_rollouts(counted), *_rolled_back(counted, at), *_failures(caller, counted, at), *_silent(counted)]


def _not_heard(number: int, total: int) -> str:
    noun, verb = "collector" if total == 1 else "collectors", "is" if number == 1 else "are"
    return f"{number:,} of {total:,} {noun} {verb} not heard"


def _silent(counted: Sequence[CountedFleet]) -> list[Notice]:
    """One notice for each fleet with collectors that are not heard, whatever they ran."""
    numbers = [(each, sum(each.instances.get(state, 0) for state in _UNHEARD)) for each in counted]
    return [
        Notice(
            kind="hosts_silent",
            subject=each.fleet.label,
            reason=_not_heard(number, each.total),
            at=None,
            fleet_id=each.fleet.id,
        )
        for each, number in numbers
        if number
    ]


def _rollouts(counted: Sequence[CountedFleet]) -> list[Notice]:
    labels = {each.fleet.id: each.fleet.label for each in counted}
    groups = {group.id: group for each in counted for group in each.groups}
    notices = []
    for rollout in rollouts.open_in(groups.values()):
        kind: NoticeKind | None = "rollback_failed" if rollout.not_back else _STANDING.get(rollout.status)
        if kind is not None:
            where = f"{labels[rollout.fleet_id]} / {groups[rollout.deployment_id].name}"
            notices.append(_of_rollout(kind, rollout, where))
    return notices


def _rolled_back(counted: Sequence[CountedFleet], at: datetime) -> list[Notice]:
    """Tell the newest rollout of each group that changed in the last days, if it was rolled back or was to be."""
    labels = {each.fleet.id: each.fleet.label for each in counted}
    ended = (group for each in counted for group in each.groups if group.rollout is None)
    changed = sorted(
        (group for group in ended if at - group.updated_at < _ROLLED_BACK_FOR),
        key=lambda group: group.updated_at,
        reverse=True,
    )
    notices = []
    for group in changed[:_GROUPS]:
        rollout = _newest.known((group.id, group.revision), partial(rollouts.newest_of, group))
        if rollout is None or at - rollout.updated_at >= _ROLLED_BACK_FOR:
            continue
        if rollout.not_back or rollout.status == "rolled_back":
            kind: NoticeKind = "rollback_failed" if rollout.not_back else "rollout_rolled_back"
            notices.append(_of_rollout(kind, rollout, f"{labels[group.fleet_id]} / {group.name}"))
    return notices


def _of_rollout(kind: NoticeKind, rollout: Rollout, where: str) -> Notice:
    return Notice(
        kind=kind,
        subject=where,
        reason=rollout.reason or _SAID[kind],
        at=rollout.updated_at,
        fleet_id=rollout.fleet_id,
        deployment_id=rollout.deployment_id,
        rollout_id=rollout.id,
    )


def _failures(caller: Caller, counted: Sequence[CountedFleet], at: datetime) -> list[Notice]:
    failing = sorted(
        (each for each in counted if each.instances.get("apply_failed")),
        key=lambda each: each.instances["apply_failed"],
        reverse=True,
    )
    return [notice for each in failing[:MOST_FLEETS] for notice in _failures_in(caller, each, at)] + [
        _only_counted(each) for each in failing[MOST_FLEETS:]
    ]


def _failures_in(caller: Caller, counted: CountedFleet, at: datetime) -> list[Notice]:
    number = counted.instances["apply_failed"]
    filters = InstanceFilter(state="apply_failed")
    failed = _failed.known(
        (counted.fleet.id, number, int(at.timestamp()) // 60),
        lambda: instances.instances(caller, counted.fleet.id, _HOSTS, None, filters).entries,
    )
    notices = [_of_host(counted, seen) for seen in failed]
    return notices if number <= len(notices) else [*notices, _only_counted(counted)]


def _of_host(counted: CountedFleet, seen: SeenInstance) -> Notice:
    instance = seen.instance
    failure = instance.trials.failure_of(seen.desired)
    since = failure.at if failure else None
    return Notice(
        kind="apply_failed",
        subject=f"{instance.called} in {counted.fleet.label}",
        reason=seen.state_message or "It did not say why",
        at=since or instance.contact.last_seen_at,
        fleet_id=counted.fleet.id,
        deployment_id=instance.deployment_id,
        instance_id=instance.id,
    )


def _only_counted(counted: CountedFleet) -> Notice:
    number = counted.instances["apply_failed"]
    return Notice(
        kind="apply_failed",
        subject=counted.fleet.label,
        reason=f"{number} {'collector' if number == 1 else 'collectors'} could not apply the assigned version",
        at=None,
        fleet_id=counted.fleet.id,
    )
