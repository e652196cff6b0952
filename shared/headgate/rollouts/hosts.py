"""Instances of a group in its rollout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from headgate.deployments.running import RolloutPlace, RunningRollout
from headgate.instances.counting.watch import Watch
from headgate.instances.desired.model import Desired
from headgate.instances.desired.offers import obstacle
from headgate.instances.model import Instance
from headgate.instances.state import intervals
from headgate.instances.state.model import STALE_AFTER
from headgate.rollouts.state import APPLY_WITHIN, RolloutState, apply_within, quiet_after

Phase = Literal[
    "absent", "not_moved", "waiting", "pending", "applied", "failed", "silent", "leaving", "left", "going_back"
]
_LATE: Final = timedelta(seconds=30)
_NEVER: Final = datetime.min.replace(tzinfo=UTC)
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
    awake_since: datetime = _NEVER

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


_STAYS: Final = "It keeps the version, because its group had none before: change it where it runs, or roll out another"


def hosts(state: RolloutState) -> list[RolloutHost]:
    """The instances in the order of the rollout, with those that left the group after their turn came."""
    desired = state.desired
    # Those of a group that was observed stay so if they take no configuration.
    own = [each for each in state.instances if not each.stays_observed(state.group)]
    return sorted((_host(state, each, desired) for each in own), key=lambda host: host.place)


def _host(state: RolloutState, instance: Instance, desired: Desired) -> RolloutHost:
    group, running, at = state.group, state.running, state.at
    labels, here = instance.labels, instance.deployment_id == group.id
    place, due = running.place(instance.id, labels), here and running.is_due(instance.id, labels)
    if instance.orders.overridden(at) or instance.reported.uninstalled or instance.orders.cut_off_at is not None:
        # Somebody pinned it to another version, removed it or cut it off: it is not the rollout's.
        return RolloutHost(instance, place, due, "absent")
    goes_back = here and state.rollout.status == "rolling_back"
    departure = None if due or goes_back else instance.measured.departure_from(running)
    if departure is not None:
        phase, message = _of_left(state, place, departure.well_since, departure.at, departure.words)
        return RolloutHost(instance, place, True, phase, message)
    if not here:
        return RolloutHost(instance, place, False, "absent")
    why = obstacle(instance, desired)
    if why and not instance.reported.stopped and at - instance.contact.last_seen_at <= STALE_AFTER:
        return RolloutHost(instance, place, due, "not_moved", why)
    if due:
        return RolloutHost(instance, place, due, *_of_due(state, instance, desired, place), state.progress.awake_since)
    watch = instance.measured.watch_of(running)
    if watch is not None and watch.was_told:
        # Nothing is sent where no version was before this one, so that nothing can be seen to go back.
        back = _STAYS if instance.goes_on(group) else _of_taken_back(state, instance)
        if back is not None:
            return RolloutHost(instance, place, due, "going_back", back)
    return RolloutHost(instance, place, due, "waiting" if _is_there(state, instance, at) else "absent")


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


def _is_there(state: RolloutState, instance: Instance, at: datetime) -> bool:
    """True if it reported at that time, or shortly before, and was not shut down since."""
    quiet = timedelta(seconds=intervals.quiet_after(quick=instance.is_quick)) + _LATE
    return not instance.reported.stopped and at <= state.refused.silent_from(instance.contact.last_seen_at, quiet)


def _of_due(state: RolloutState, instance: Instance, desired: Desired, place: RolloutPlace) -> tuple[Phase, str]:
    at, running, progress = state.at, state.running, state.progress
    watch = instance.measured.watch_of(running)
    has_it = watch is not None and watch.is_due
    # One that got the version before a retry is judged also if it was silent by then.
    if watch is None or not has_it or watch.revision != running.revision:
        if instance.reported.stopped or not (has_it or _is_there(state, instance, progress.grown_at)):
            return "absent", ""
        if not state.is_silent(instance, progress.grown_at):
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
        return _of_left(state, place, watch.well_since, instance.contact.last_seen_at, _STOPPED)
    if not instance.reported.stopped and state.is_silent(instance, instance.contact.last_seen_at):
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
    state: RolloutState, place: RolloutPlace, well_since: datetime | None, left_at: datetime, words: str
) -> tuple[Phase, str]:
    """The phase of an instance that left at that time: absent if it was well for the soak of its step before."""
    step, strategy = state.progress.step_of(place), state.rollout.strategy
    soak = timedelta(seconds=strategy.steps[step - 1].soak_seconds) if step and strategy else timedelta()
    if well_since is not None and left_at - well_since >= soak:
        return "absent", ""
    if state.at - max(left_at, state.reachable_since) <= quiet_after():
        return "leaving", words
    return "left", f"{words} and is not back"


def _of_taken_back(state: RolloutState, instance: Instance) -> str | None:
    """The reason why an instance is not back yet; None once it reports in health what it is to run now."""
    desired = instance.desired(state.group, state.at)
    if instance.standing.state in ("applied", "idle", "running") and instance.standing.revision == desired.revision:
        return None
    if instance.reported.stopped:
        last = instance.trials.last_applied()
        if last and last.at and last.at >= state.progress.grown_at and last.config_hash == desired.config_hash:
            return None
        return "It stopped, and nothing was heard of it since"
    if state.is_silent(instance, instance.contact.last_seen_at):
        return "Nothing was heard of it since it was to go back"
    why = instance.standing.message if instance.standing.revision == desired.revision else None
    return why or "It does not report that it runs the version before in health"


def _is(instance: Instance, state: str, running: RunningRollout) -> bool:
    return instance.standing.state == state and instance.standing.revision == running.revision
