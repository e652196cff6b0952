"""Instances of a group in its rollout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.deployments.model import Deployment
from headgate.deployments.running import RolloutPlace, RunningRollout
from headgate.instances.counting.watch import Watch
from headgate.instances.desired.model import Desired
from headgate.instances.desired.offers import obstacle
from headgate.instances.model import Instance
from headgate.instances.state import intervals
from headgate.instances.state.intervals import longest
from headgate.instances.state.model import STALE_AFTER, Refusals, silence_begins
from headgate.rollouts.model import Progress, Rollout

Phase = Literal[
    "absent", "not_moved", "waiting", "pending", "applied", "failed", "silent", "leaving", "left", "going_back"
]
APPLY_WITHIN: Final = timedelta(minutes=5)
"""A supervisor needs some 14 seconds. An instance that has not applied the version by then has failed to."""
UPGRADE_WITHIN: Final = timedelta(minutes=15)
"""The same with a collector to fetch: 100 MB, which takes 13 minutes at a megabit a second."""
_LATE: Final = timedelta(seconds=30)
BACK_OFF: Final = timedelta(seconds=130)
"""An agent that was not answered tries again within 90 s, after the 40 s that its relay waits for an answer."""
_STOPPING: Final = ("restart", "upgrade_supervisor")
_STOPPED: Final = "It stopped before it had run the version in health for its soak"


@dataclass(frozen=True, slots=True)
class RolloutHost:
    """An instance in a rollout. `absent` ones, and those with an override, count nowhere.

    `not_moved`: the rollout upgrades collectors and cannot upgrade this one, so that it counts nowhere either.
    `waiting`: not due yet. `pending`: due, and neither applied nor failed. `leaving`: stopped or moved after its turn
    came, and may be back; `left`: it was not. `going_back`: was due, and does not report yet that it runs the version
    before in health.
    """

    instance: Instance
    place: RolloutPlace
    due: bool
    phase: Phase
    message: str = ""

    @property
    def counts(self) -> bool:
        return self.phase not in ("absent", "not_moved")

    def proved(self, desired: Desired) -> bool:
        """True if it has run the version, with these variables, healthily for a time."""
        return any(
            (healthy.assignment, healthy.variables) == (desired.assignment, desired.variables)
            for healthy in self.instance.trials.healthy
        )

    @property
    def ran(self) -> bool:
        """True if it ran the version in health before it left, or was taken out."""
        watch = self.instance.measured.watch
        return self.phase == "absent" and watch is not None and watch.applied_at is not None

    @property
    def watch(self) -> Watch:
        """The rollout's measurement of an instance whose turn has come."""
        assert self.instance.measured.watch is not None
        return self.instance.measured.watch


def quiet_after(*, quick: bool = False) -> timedelta:
    """An instance whose heartbeats are all stored is silent after this time; `quick` if its host reports quickly."""
    return timedelta(seconds=3 * longest(quick=quick)) + _LATE


def apply_within(running: RunningRollout) -> timedelta:
    return UPGRADE_WITHIN if running.collector else APPLY_WITHIN


def of_rollout(group: Deployment, running: RunningRollout) -> Desired:
    """The version that the due instances of the group are to run."""
    desired = Desired(running.to, running.revision, before=group.assignment, at=running.started_at)
    return desired.on(group, running)


_STAYS: Final = "It keeps the version, because its group had none before: change it where it runs, or roll out another"


def hosts(
    instances: Sequence[Instance], group: Deployment, rollout: Rollout, at: datetime, refused: Refusals | None = None
) -> list[RolloutHost]:
    """The instances in the order of the rollout, with those that left the group after their turn came.

    One whose message may be among the `refused` ones is not silent.

    Before `awake_since` they may have had nobody to report to, and some try again only `BACK_OFF` later.
    """
    running = group.rollout
    assert running is not None
    desired = of_rollout(group, running)

    def host(instance: Instance) -> RolloutHost:
        labels = instance.labels
        here = instance.deployment_id == group.id
        place, due = running.place(instance.id, labels), here and running.is_due(instance.id, labels)
        if instance.orders.overridden(at) or instance.reported.uninstalled or instance.orders.cut_off_at is not None:
            # Somebody pinned it to another version, removed it or cut it off: it is not the rollout's.
            return RolloutHost(instance, place, due, "absent")
        goes_back = here and rollout.status == "rolling_back"
        departure = None if due or goes_back else instance.measured.departure_from(running)
        if departure is not None:
            phase, message = _of_left(departure.well_since, departure.at, departure.words, place, rollout, at)
            return RolloutHost(instance, place, True, phase, message)
        if not here:
            return RolloutHost(instance, place, False, "absent")
        why = obstacle(instance, desired)
        if why and not instance.reported.stopped and at - instance.contact.last_seen_at <= STALE_AFTER:
            return RolloutHost(instance, place, due, "not_moved", why)
        if due:
            return RolloutHost(instance, place, due, *_of_due(instance, running, desired, rollout, place, at, refused))
        watch = instance.measured.watch_of(running)
        if watch is not None and watch.was_told:
            # Nothing is sent where no version was before this one, so that nothing can be seen to go back.
            after = instance.desired(group, at)
            back = _STAYS if instance.goes_on(group) else _of_taken_back(instance, after, rollout, at, refused)
            if back is not None:
                return RolloutHost(instance, place, due, "going_back", back)
        return RolloutHost(instance, place, due, "waiting" if _is_there(instance, at, refused) else "absent")

    # Those of a group that was observed stay so if they take no configuration.
    own = [each for each in instances if not each.stays_observed(group)]
    return sorted(map(host, own), key=lambda host: host.place)


def lost(listed: Sequence[RolloutHost], at: datetime) -> list[RolloutHost]:
    """Those that are not due and ceased to report, as hosts whose network is gone: they may be back at any moment."""
    return [
        host
        for host in listed
        if host.phase == "absent"
        and not (host.due or host.instance.reported.stopped or host.instance.orders.overridden(at))
        and host.instance.orders.cut_off_at is None
        and at - host.instance.contact.last_seen_at <= STALE_AFTER
    ]


def unheard(listed: Sequence[RolloutHost], since: datetime) -> int:
    """The number on the version, or due for it, that were not heard since then and may not be silent yet."""
    running = [host.instance for host in listed if host.phase in ("applied", "pending")]
    return sum(1 for instance in running if not instance.reported.stopped and instance.contact.last_seen_at < since)


def _is_there(instance: Instance, at: datetime, refused: Refusals | None) -> bool:
    """True if it reported at that time, or shortly before, and was not shut down since."""
    quiet = timedelta(seconds=intervals.quiet_after(quick=instance.is_quick)) + _LATE
    return not instance.reported.stopped and at - silence_begins(instance.contact.last_seen_at, quiet, refused) <= quiet


def _of_due(
    instance: Instance,
    running: RunningRollout,
    desired: Desired,
    rollout: Rollout,
    place: RolloutPlace,
    at: datetime,
    refused: Refusals | None,
) -> tuple[Phase, str]:
    watch, progress = instance.measured.watch_of(running), rollout.progress
    quiet = quiet_after(quick=instance.is_quick)
    has_it = watch is not None and watch.is_due
    # One that got the version before a retry is judged also if it was silent by then.
    if watch is None or not has_it or watch.revision != running.revision:
        if instance.reported.stopped or not (has_it or _is_there(instance, progress.grown_at, refused)):
            return "absent", ""
        if at - silence_begins(max(progress.grown_at, _reachable_since(progress)), quiet, refused) <= quiet:
            return "pending", ""
        if not has_it:
            # It was silent before the version could reach it.
            return "absent", ""
        return "silent", "Nothing was heard since its turn came"
    failed = instance.trials.failure_of(desired) or _is(instance, "apply_failed", running)
    if instance.reported.stopped and not failed:
        ordered = any(order.do in _STOPPING and order.waits(at) for order in instance.orders.pending)
        if ordered and at - max(instance.contact.last_seen_at, progress.awake_since) <= APPLY_WITHIN:
            return "pending", ""
        return _of_left(watch.well_since, instance.contact.last_seen_at, _STOPPED, place, rollout, at)
    heard_at = max(instance.contact.last_seen_at, _reachable_since(progress))
    if not instance.reported.stopped and at - silence_begins(heard_at, quiet, refused) > quiet:
        return "silent", "Nothing was heard since it was told to run the version"
    if failed:
        return "failed", instance.standing.message or "The host says that it failed"
    if _is(instance, "applied", running):
        return "applied", ""
    within = apply_within(running)
    if watch.waiting_since is not None and at - max(watch.waiting_since, progress.awake_since) > within:
        minutes = within.total_seconds() / 60
        return "failed", f"It does not run the version in health for {minutes:.0f} minutes"
    return "pending", ""


def _of_left(
    well_since: datetime | None, left_at: datetime, words: str, place: RolloutPlace, rollout: Rollout, at: datetime
) -> tuple[Phase, str]:
    """The phase of an instance that left at that time: absent if it was well for the soak of its step before."""
    step, strategy = rollout.progress.step_of(place), rollout.strategy
    soak = timedelta(seconds=strategy.steps[step - 1].soak_seconds) if step and strategy else timedelta()
    if well_since is not None and left_at - well_since >= soak:
        return "absent", ""
    if at - max(left_at, _reachable_since(rollout.progress)) <= quiet_after():
        return "leaving", words
    return "left", f"{words} and is not back"


def _reachable_since(progress: Progress) -> datetime:
    """The time at which every host could report again after the last interruption."""
    return progress.awake_since + BACK_OFF


def _of_taken_back(
    instance: Instance, desired: Desired, rollout: Rollout, at: datetime, refused: Refusals | None
) -> str | None:
    """The reason why an instance is not back yet; None once it reports in health what it is to run now."""
    if instance.standing.state in ("applied", "idle", "running") and instance.standing.revision == desired.revision:
        return None
    if instance.reported.stopped:
        last = instance.trials.last_applied()
        if last and last.at and last.at >= rollout.progress.grown_at and last.config_hash == desired.config_hash:
            return None
        return "It stopped, and nothing was heard of it since"
    heard_at = max(instance.contact.last_seen_at, _reachable_since(rollout.progress))
    quiet = quiet_after(quick=instance.is_quick)
    if at - silence_begins(heard_at, quiet, refused) > quiet:
        return "Nothing was heard of it since it was to go back"
    why = instance.standing.message if instance.standing.revision == desired.revision else None
    return why or "It does not report that it runs the version before in health"


def _is(instance: Instance, state: str, running: RunningRollout) -> bool:
    return instance.standing.state == state and instance.standing.revision == running.revision
