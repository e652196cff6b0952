"""The states of an instance, and how they follow from the time when it was last heard."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, get_args

from headgate.instances.state.intervals import quiet_after

InstanceState = Literal[
    "pending_pickup",
    "applying",
    "applied",
    "apply_failed",
    "idle",
    "running",
    "unhealthy",
    "stopped",
    "silent",
    "stale",
    "unknown",
]
"""`running` and `unhealthy` are those of a collector that takes no configuration from Headgate, by its own report."""
INSTANCE_STATES: Final[tuple[InstanceState, ...]] = get_args(InstanceState)
STALE_AFTER: Final = timedelta(minutes=15)
"""Specified: no heartbeat for more than this."""
COUNTED_FOR: Final = timedelta(minutes=10)
"""Time for which the counters name instances that became stale, for the sweep that reports them."""
FORGOTTEN_AFTER: Final = timedelta(days=30)
"""Hosts and pods come and go under new ids; one that is silent for so long is no longer listed."""
_MARK: Final = 10
_DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class Refusals:
    """A time in which messages were refused; `until` is when the last of them is sent again.

    It has pauses that are too short for a host to be silent in one.
    """

    since: datetime
    until: datetime

    def silent_from(self, heard_at: datetime, quiet: timedelta) -> datetime:
        """The time from which an instance is silent: the time `quiet` after its last message, or after the refusals.

        One that was silent when they began stays silent, and who causes refusals without end hides none for longer
        than until it is stale.
        """
        silent_at = heard_at + quiet
        return silent_at if self.since > silent_at else max(silent_at, min(self.until + quiet, heard_at + STALE_AFTER))


NEVER_REFUSED: Final = Refusals(datetime.min.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC))


def mark_of(at: datetime) -> int:
    """The time in units of ten seconds since 1970: instances are counted by it."""
    return int(at.timestamp()) // _MARK


def day_of(mark: int) -> int:
    return mark * _MARK // _DAY


def stale(mark: int, at: datetime) -> bool:
    """True if an instance last heard at `mark` is Stale, or Unknown."""
    return at.timestamp() - mark * _MARK > STALE_AFTER.total_seconds()


def shown(
    state: InstanceState, mark: int, at: datetime, refused: Refusals = NEVER_REFUSED, *, current: bool, quick: bool
) -> InstanceState:
    """The state of an instance last heard at `mark` that is not stale.

    `current` says whether the state belongs to what is assigned now, `quick` whether its host reports quickly. A host
    that said that it stops is not silent.
    """
    if state == "stopped":
        return state
    if at > _silent_from(mark, refused, quick=quick):
        return "silent"
    return state if current else "pending_pickup"


def silent_from(last_seen_at: datetime, refused: Refusals = NEVER_REFUSED, *, quick: bool = False) -> datetime:
    """The time from which an instance is silent, last heard at that time; `quick` if its host reports quickly."""
    return _silent_from(mark_of(last_seen_at), refused, quick=quick)


def _silent_from(mark: int, refused: Refusals, *, quick: bool) -> datetime:
    heard_at = datetime.fromtimestamp((mark + 1) * _MARK, UTC)
    return refused.silent_from(heard_at, timedelta(seconds=quiet_after(quick=quick)))


def quiet_from(mark: int, refused: Refusals = NEVER_REFUSED, *, quick: bool) -> tuple[datetime, datetime]:
    """The times from which an instance last heard at `mark` is silent and stale."""
    stale_from = datetime.fromtimestamp(mark * _MARK, UTC) + STALE_AFTER
    return min(_silent_from(mark, refused, quick=quick), stale_from), stale_from


def forgotten(day: int, at: datetime) -> bool:
    """True if an instance last heard on that day (since 1970) is no longer listed and counted."""
    return at.timestamp() >= expires(day)


def expires(day: int) -> int:
    """The expiry of an instance last heard on that day, in seconds since 1970."""
    return (day + 1) * _DAY + int(FORGOTTEN_AFTER.total_seconds())
