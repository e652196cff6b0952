"""Measurement of an instance by a rollout with each message, and departures from a rollout by a message."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from headgate.deployments.running import RunningRollout
from headgate.instances.counting.watch import Departure, Measurements, Sums, Watch
from headgate.instances.desired.model import Desired
from headgate.instances.model import Instance
from headgate.instances.reported.host import HostCounters, HostReport

# Longer ago says little of now, so what was before counts half from then on.
_BEFORE_SECONDS: Final = 900
_MOST_SECONDS: Final = 3_600
# The host reads its counters every five seconds, so that its time between two reports differs a little from ours.
_JUMP: Final = timedelta(seconds=20)
_MOST_DEPARTURES: Final = 4


def measured(
    stored: Instance | None,
    before: Instance,
    after: Instance,
    said: HostReport | None,
    rollout: RunningRollout | None,
    desired: Desired,
    at: datetime,
) -> Measurements:
    """Measure after a message: for the `rollout` of the instance's present group, if there is one.

    `stored` is the instance before the message, `before` the same in that group.
    """
    watch = None
    if rollout is not None and is_measured(before, after, rollout):
        watch = watched(before, after, said, rollout, desired, at)
    return Measurements(watch, departures(stored, after, rollout, watch, at))


def departures(
    before: Instance | None, after: Instance, rollout: RunningRollout | None, watch: Watch | None, at: datetime
) -> tuple[Departure, ...]:
    """The newest rollouts that the instance left in its turn, one entry each, after a message.

    `rollout` is that of the group that it is in by then, `watch` what that measures: its turn may have come again.
    """
    departure = _departure(before, after, rollout, at)
    if departure is not None:
        others = [each for each in after.measured.departures if each.rollout_id != departure.rollout_id]
        return (*others[1 - _MOST_DEPARTURES :], departure)
    again = watch.rollout_id if watch and watch.is_due else None
    return tuple(departure for departure in after.measured.departures if departure.rollout_id != again)


def _departure(
    before: Instance | None, after: Instance, rollout: RunningRollout | None, at: datetime
) -> Departure | None:
    """The departure from a rollout by the message; None if it stays."""
    watch = before.measured.watch if before else None
    if before is None or watch is None or not watch.is_due:
        return None
    moved = before.deployment_id != after.deployment_id
    relabelled = (
        rollout is not None
        and (rollout.id, rollout.revision) == (watch.rollout_id, watch.revision)
        and rollout.is_due(before.id, before.labels)
        and not rollout.is_due(after.id, after.labels)
    )
    if not (moved or relabelled):
        return None
    return Departure(watch.rollout_id, watch.revision, at, watch.well_since, relabelled=not moved)


def is_measured(before: Instance, after: Instance, rollout: RunningRollout) -> bool:
    """True if the rollout measures the instance: in its place, or anywhere once it was told to run the version."""
    watch = before.measured.watch_of(rollout)
    return (watch is not None and watch.was_told) or rollout.is_watched(after.id, after.labels)


def watched(
    before: Instance, after: Instance, said: HostReport | None, rollout: RunningRollout, desired: Desired, at: datetime
) -> Watch:
    """The measurement after a message of an instance; `said` is what its host reported in it.

    Its turn has come if what it is to run, `desired`, is the rollout's.
    """
    counters, exits = (said.counters, said.exits) if said else (None, None)
    watch = before.measured.watch_of(rollout)
    if watch is None:
        watch = begun(before, rollout)
    elif watch.revision != rollout.revision:
        # A retry: what was measured under the assignment before it does not count.
        anew = Watch(rollout.id, rollout.revision, None, None, watch.before, watch.before_seconds)
        watch = replace(anew, taken_back=watch.was_told, counted_at=watch.counted_at)
    if counters is not None:
        # A process that has just started says nothing of the time before.
        jump = _jump(watch, counters, at) if after.contact.sequence_num else timedelta()
        watch = replace(watch, counted_at=at, applied_at=watch.applied_at and watch.applied_at + jump)
    if after.reported.stopped:
        # It is sent nothing, so that its turn does not come now; what it ran in health until then, it ran.
        return watch
    due = desired.revision == rollout.revision
    if not watch.is_due:
        if counters is not None and _are_of_what_runs(counters, after, at):
            watch = _waited(watch, counters)
        return replace(watch, waiting_since=at, taken_back=False) if due else watch
    if not due:
        # Taken back; if its turn comes again, it is measured anew.
        return replace(watch, waiting_since=None, applied_at=None, since=None, exits=0, taken_back=True)
    runs = (after.standing.state, after.standing.revision) == ("applied", rollout.revision)
    waiting_since = None if runs else watch.waiting_since or at
    if watch.applied_at is None:
        # The counters of this report are also those of the time before, and of the change.
        return replace(watch, waiting_since=waiting_since, applied_at=at if runs else None)
    return replace(
        watch,
        waiting_since=waiting_since,
        since=watch.since if counters is None else (watch.since or Sums()).plus(counters),
        exits=watch.exits if exits is None else exits,
    )


def _jump(watch: Watch, counters: HostCounters, at: datetime) -> timedelta:
    """The time by which this service's clock was set forward, or back if negative, since the counters before.

    By the time that the host's process counted in, whose clock cannot jump.
    """
    if watch.counted_at is None or counters.seconds > _MOST_SECONDS:
        return timedelta()
    jump = at - watch.counted_at - timedelta(seconds=counters.seconds)
    # Counters that come twice, because an answer was lost, are of more time than has passed.
    return jump if at < watch.counted_at or jump > _JUMP else timedelta()


def begun(before: Instance, rollout: RunningRollout) -> Watch:
    """The measurement of an instance that a rollout has not measured yet: what its host reported last."""
    watch = Watch(rollout.id, rollout.revision)
    counters = before.reported.host.counters
    if counters is None or not _are_of_what_runs(counters, before, before.contact.last_seen_at):
        return watch
    return replace(_waited(watch, counters), counted_at=before.contact.last_seen_at)


def _are_of_what_runs(counters: HostCounters, instance: Instance, at: datetime) -> bool:
    """True if all was counted since the instance applied what it runs, and not in a version that was taken back."""
    applied = instance.trials.last_applied()
    return (
        applied is None
        or applied.at is None
        or applied.at + timedelta(seconds=min(counters.seconds, _MOST_SECONDS)) <= at
    )


def _waited(watch: Watch, counters: HostCounters) -> Watch:
    if counters.seconds > _MOST_SECONDS:
        # As after a night without the service: an average of that says little of now.
        return watch
    sums, seconds = (watch.before or Sums()).plus(counters), watch.before_seconds + counters.seconds
    if seconds > _BEFORE_SECONDS:
        sums, seconds = sums.halved(), seconds // 2
    return replace(watch, before=sums, before_seconds=seconds)
