"""What a rollout measures on an instance: its counters before it ran the new version, and since then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from headgate.deployments.running import RunningRollout
    from headgate.instances.desired import Desired
    from headgate.instances.host import Counters, HostReport
    from headgate.instances.model import Instance

# Longer ago says little of now, so what was before counts half from then on.
_BEFORE_SECONDS: Final = 900
_MOST_SECONDS: Final = 3_600
_MOST_DEPARTURES: Final = 4


@dataclass(frozen=True, slots=True)
class Sums:
    """Log records, spans and data points together; `queue` is how full a sending queue is, in percent."""

    accepted: int = 0
    refused: int = 0
    sent: int = 0
    failed: int = 0
    queue: int = 0

    def plus(self, counters: Counters) -> Sums:
        """With one more report; of the queue the last one counts."""
        return Sums(
            self.accepted + counters.accepted,
            self.refused + counters.refused,
            self.sent + counters.sent,
            self.failed + counters.failed,
            round(counters.queue * 100),
        )

    def halved(self) -> Sums:
        return Sums(self.accepted // 2, self.refused // 2, self.sent // 2, self.failed // 2, self.queue)


@dataclass(frozen=True, slots=True)
class Watch:
    """One instance in one rollout, by the service's clock.

    `waiting_since` is when it was told to run the new version, or ceased to run it in health; None while it does.
    `applied_at` is when it first did, `exits` how often its collector ended since then. Neither is set before its turn.
    `before` and `since` are None for a host that reported no counters. `before` are those of about `before_seconds`.
    `taken_back` is whether it was told to run the version and then to go back.
    """

    rollout_id: str
    revision: int
    waiting_since: datetime | None = None
    applied_at: datetime | None = None
    before: Sums | None = None
    before_seconds: int = 0
    since: Sums | None = None
    exits: int = 0
    taken_back: bool = False

    @property
    def is_due(self) -> bool:
        """Whether the instance was told to run the new version."""
        return self.waiting_since is not None or self.applied_at is not None

    @property
    def was_told(self) -> bool:
        """Whether it was told to run the new version, also if it is to go back by now."""
        return self.is_due or self.taken_back

    @property
    def well_since(self) -> datetime | None:
        """Since when it runs the new version in health; None if it does not."""
        return self.applied_at if self.waiting_since is None else None


@dataclass(frozen=True, slots=True)
class Departure:
    """An instance left a rollout at that time, after it was told to run the version under that revision.

    `well_since` is since when it ran the version in health then. `relabelled` is whether its labels took it out, and
    not a move to another group.
    """

    rollout_id: str
    revision: int
    at: datetime
    well_since: datetime | None
    relabelled: bool

    @property
    def words(self) -> str:
        what = "Its labels took it out of its step" if self.relabelled else "It moved to another group"
        return f"{what} before it had run the version in health for its soak"


def departures(
    before: Instance | None, after: Instance, rollout: RunningRollout | None, watch: Watch | None, at: datetime
) -> tuple[Departure, ...]:
    """The newest rollouts that the instance left in its turn, one entry each, after a message.

    `rollout` is that of the group that it is in by then, `watch` what that measures: its turn may have come again.
    """
    departure = _departure(before, after, rollout, at)
    if departure is not None:
        others = [other for other in after.departures if other.rollout_id != departure.rollout_id]
        return (*others[1 - _MOST_DEPARTURES :], departure)
    again = watch.rollout_id if watch and watch.is_due else None
    return tuple(other for other in after.departures if other.rollout_id != again)


def _departure(
    before: Instance | None, after: Instance, rollout: RunningRollout | None, at: datetime
) -> Departure | None:
    """How the message takes the instance out of a rollout; None if it does not."""
    watch = before.watch if before else None
    if before is None or watch is None or not watch.is_due:
        return None
    moved = before.deployment_id != after.deployment_id
    relabelled = (
        rollout is not None
        and (rollout.id, rollout.revision) == (watch.rollout_id, watch.revision)
        and rollout.is_due(before.id, before.host.labels)
        and not rollout.is_due(after.id, after.host.labels)
    )
    if not (moved or relabelled):
        return None
    return Departure(watch.rollout_id, watch.revision, at, watch.well_since, relabelled=not moved)


def is_measured(before: Instance, after: Instance, rollout: RunningRollout) -> bool:
    """Whether the rollout measures the instance: in its place, or anywhere once it was told to run the version."""
    told = before.watch is not None and before.watch.rollout_id == rollout.id and before.watch.was_told
    return told or rollout.is_watched(after.id, after.host.labels)


def watched(
    before: Instance, after: Instance, said: HostReport | None, rollout: RunningRollout, desired: Desired, at: datetime
) -> Watch:
    """The measurement after a message of an instance; `said` is what its host reported in it.

    Its turn has come if what it is to run, `desired`, is the rollout's.
    """
    counters, exits = (said.counters, said.exits) if said else (None, None)
    watch = before.watch
    elapsed = max(0, int((at - before.last_seen_at).total_seconds()))
    if watch is None or watch.rollout_id != rollout.id:
        watch, elapsed = _begun(before, rollout), counters.seconds if counters else 0
    elif watch.revision != rollout.revision:
        # A retry: what was measured under the assignment before it does not count.
        anew = Watch(rollout.id, rollout.revision, None, None, watch.before, watch.before_seconds)
        watch = replace(anew, taken_back=watch.was_told)
    if after.stopped:
        # It is sent nothing, so that its turn does not come now; what it ran in health until then, it ran.
        return watch
    due = desired.revision == rollout.revision
    if not watch.is_due:
        watch = _waited(watch, counters, elapsed)
        return replace(watch, waiting_since=at, taken_back=False) if due else watch
    if not due:
        # Taken back; if its turn comes again, it is measured anew.
        return replace(watch, waiting_since=None, applied_at=None, since=None, exits=0, taken_back=True)
    runs = after.state == "applied" and after.state_revision == rollout.revision
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


def _begun(before: Instance, rollout: RunningRollout) -> Watch:
    watch = Watch(rollout.id, rollout.revision)
    counters = before.host.counters
    return watch if counters is None else _waited(watch, counters, counters.seconds)


def _waited(watch: Watch, counters: Counters | None, seconds: int) -> Watch:
    if counters is None and watch.before is None:
        return watch
    sums = watch.before or Sums()
    sums = sums if counters is None else sums.plus(counters)
    seconds = watch.before_seconds + min(seconds, _MOST_SECONDS)
    if seconds > _BEFORE_SECONDS:
        sums, seconds = sums.halved(), seconds // 2
    return replace(watch, before=sums, before_seconds=seconds)
