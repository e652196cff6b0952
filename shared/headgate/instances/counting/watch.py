"""A rollout's measurement of an instance: its counters before it ran the new version, and since then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from headgate.deployments.running import RunningRollout
from headgate.instances.reported.host import HostCounters


@dataclass(frozen=True, slots=True)
class Sums:
    """Log records, spans and data points together; `queue` is how full a sending queue is, in percent.

    `delivered` is by signal, None for a supervisor that does not report it. `memory` is the most that was reported, in
    MiB; `cpu` is processor time in milliseconds.
    """

    accepted: int = 0
    refused: int = 0
    sent: int = 0
    failed: int = 0
    queue: int = 0
    delivered: Mapping[str, int] | None = None
    memory: int = 0
    cpu: int = 0

    def plus(self, counters: HostCounters) -> Sums:
        """With one more report; of the queue the last one counts."""
        return Sums(
            self.accepted + counters.accepted,
            self.refused + counters.refused,
            self.sent + counters.sent,
            self.failed + counters.failed,
            round(counters.queue * 100),
            self._delivered(counters),
            max(self.memory, (counters.memory or 0) >> 20),
            self.cpu + (counters.cpu or 0),
        )

    def _delivered(self, counters: HostCounters) -> Mapping[str, int] | None:
        if counters.delivered is None:
            return self.delivered
        before = self.delivered or {}
        return {
            signal: before.get(signal, 0) + counters.delivered.get(signal, 0)
            for signal in sorted({*before, *counters.delivered})
        }

    def halved(self) -> Sums:
        delivered = self.delivered and {signal: count // 2 for signal, count in self.delivered.items()}
        return Sums(
            self.accepted // 2,
            self.refused // 2,
            self.sent // 2,
            self.failed // 2,
            self.queue,
            delivered,
            self.memory,
            self.cpu // 2,
        )


@dataclass(frozen=True, slots=True)
class Watch:
    """One instance in one rollout, by the service's clock.

    `waiting_since` is when it was told to run the new version, or ceased to run it in health; None while it does.
    `applied_at` is when it first did, `exits` how often its collector ended since then. Neither is set before its turn.
    `before` and `since` are None for a host that reported no counters. `before` are those of about `before_seconds`.
    `taken_back` is whether it was told to run the version and then to go back, `counted_at` when it last told counters.
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
    counted_at: datetime | None = None

    @property
    def is_due(self) -> bool:
        """True if the instance was told to run the new version."""
        return self.waiting_since is not None or self.applied_at is not None

    @property
    def was_told(self) -> bool:
        """True if it was told to run the new version, also if it is to go back by now."""
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


@dataclass(frozen=True, slots=True)
class Measurements:
    """Rollouts' measurements of an instance. `departures` are the newest ones that it left after its turn came."""

    watch: Watch | None = field(default=None, compare=False)
    departures: Sequence[Departure] = ()

    def watch_of(self, rollout: RunningRollout) -> Watch | None:
        """The measurement by the rollout; None if it has not measured the instance yet."""
        return self.watch if self.watch and self.watch.rollout_id == rollout.id else None

    def departure_from(self, rollout: RunningRollout) -> Departure | None:
        """The departure from the rollout since the last assignment or retry; None if there was none."""
        key = (rollout.id, rollout.revision)
        return next(
            (departure for departure in self.departures if (departure.rollout_id, departure.revision) == key), None
        )


NOT_MEASURED: Final = Measurements()
