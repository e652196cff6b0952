"""How the instances of a group stand in its rollout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.deployments.model import Deployment
from headgate.deployments.running import Place, RunningRollout
from headgate.instances.desired import Desired
from headgate.instances.model import Instance
from headgate.instances.obstacles import obstacle
from headgate.instances.states import SAVED_EVERY, STALE_AFTER
from headgate.instances.watch import Watch
from headgate.settings import settings

Phase = Literal["absent", "not_moved", "waiting", "pending", "applied", "failed", "silent"]
APPLY_WITHIN: Final = timedelta(minutes=5)
"""A supervisor needs some 14 seconds. An instance that has not applied the version by then has failed to."""
UPGRADE_WITHIN: Final = timedelta(minutes=15)
"""The same with a collector to fetch: 100 MB, which takes 13 minutes at a megabit a second."""
_LATE: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Host:
    """An instance in a rollout. `absent` ones, and those with an override, count nowhere.

    `not_moved`: the rollout upgrades collectors and cannot upgrade this one, so that it counts nowhere either.
    `waiting`: not due yet. `pending`: due, and neither applied nor failed.
    """

    instance: Instance
    place: Place
    due: bool
    phase: Phase
    message: str = ""

    @property
    def counts(self) -> bool:
        return self.phase not in ("absent", "not_moved")

    @property
    def watch(self) -> Watch:
        """What the rollout measured on an instance whose turn has come."""
        assert self.instance.watch is not None
        return self.instance.watch

    def runs(self, version: Desired) -> bool:
        """Whether it says that it runs this version, or is about to."""
        reported = self.instance.reported
        return reported.config_hash == version.config_hash and reported.status != "failed"


def quiet_after() -> timedelta:
    """An instance whose heartbeats are all stored is silent after this time."""
    return timedelta(seconds=3 * settings().fleet_heartbeat_seconds) + _LATE


def apply_within(running: RunningRollout) -> timedelta:
    return UPGRADE_WITHIN if running.collector else APPLY_WITHIN


def of_rollout(group: Deployment, running: RunningRollout) -> Desired:
    """What the due instances of the group are to run."""
    desired = Desired(running.to, running.revision, before=group.assignment, at=running.started_at)
    return desired.on(running.collector or group.collector, group)


def hosts(
    instances: Sequence[Instance], group: Deployment, grown_at: datetime, awake_since: datetime, at: datetime
) -> list[Host]:
    """The instances in the order of the rollout; `grown_at` is when its cut last grew.

    Before `awake_since` they may have had nobody to report to.
    """
    running = group.rollout
    assert running is not None
    wanted = of_rollout(group, running)

    def host(instance: Instance) -> Host:
        labels = instance.host.labels
        place, due = running.place(instance.id, labels), running.is_due(instance.id, labels)
        if instance.overridden(at):
            # Somebody pinned it to another version: it is not the rollout's.
            return Host(instance, place, due, "absent")
        why = obstacle(instance, wanted.collector)
        if why and not instance.stopped and at - instance.last_seen_at <= STALE_AFTER:
            return Host(instance, place, due, "not_moved", why)
        if not due:
            return Host(instance, place, due, "waiting" if _is_there(instance, at) else "absent")
        return Host(instance, place, due, *_of_due(instance, running, wanted, grown_at, awake_since, at))

    return sorted((host(instance) for instance in instances), key=lambda host: host.place)


def lost(listed: Sequence[Host], at: datetime) -> list[Host]:
    """Those that are not due and ceased to report, as hosts whose network is gone: they may be back at any moment."""
    return [
        host
        for host in listed
        if host.phase == "absent"
        and not (host.due or host.instance.stopped or host.instance.overridden(at))
        and at - host.instance.last_seen_at <= STALE_AFTER
    ]


def _is_there(instance: Instance, at: datetime) -> bool:
    """Whether it reported at that time, or shortly before, and was not shut down since."""
    quiet = SAVED_EVERY + 2 * timedelta(seconds=settings().fleet_heartbeat_seconds) + _LATE
    return not instance.stopped and at - instance.last_seen_at <= quiet


def _of_due(
    instance: Instance,
    running: RunningRollout,
    wanted: Desired,
    grown_at: datetime,
    awake_since: datetime,
    at: datetime,
) -> tuple[Phase, str]:
    watch = instance.watch
    told = watch is not None and watch.rollout_id == running.id and watch.revision == running.revision
    if instance.stopped:
        return "absent", ""
    if watch is None or not told or not watch.is_due:
        if not _is_there(instance, grown_at):
            return "absent", ""
        if at - max(grown_at, awake_since) <= quiet_after():
            return "pending", ""
        return "silent", "Nothing was heard since its turn came"
    if at - max(instance.last_seen_at, awake_since) > quiet_after():
        return "silent", "Nothing was heard since it was told to run the version"
    if instance.failure_of(wanted) or _is(instance, "apply_failed", running):
        return "failed", instance.state_message or "The host says that it failed"
    if _is(instance, "applied", running):
        return "applied", ""
    within = apply_within(running)
    if watch.waiting_since is not None and at - max(watch.waiting_since, awake_since) > within:
        minutes = within.total_seconds() / 60
        return "failed", f"It does not run the version in health for {minutes:.0f} minutes"
    return "pending", ""


def _is(instance: Instance, state: str, running: RunningRollout) -> bool:
    return instance.state == state and instance.state_revision == running.revision
