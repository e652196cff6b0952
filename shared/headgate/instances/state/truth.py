"""The desired, offered, tried and running versions of an instance, each with its time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from headgate.deployments.versions import Assignment
from headgate.instances.desired.model import Desired
from headgate.instances.model import Instance
from headgate.instances.timeline.model import Moment

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LastAttempt:
    """The last attempt, and its result; `reason` says why it failed."""

    assignment: Assignment | None
    at: datetime | None
    outcome: Literal["applying", "applied", "failed"]
    reason: str | None
    collector_version: str | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """`offered` and `attempted` are None if nothing was yet, `running` if it is not known, or it was stopped."""

    desired: Moment
    offered: Moment | None
    attempted: LastAttempt | None
    running: Moment | None

    @classmethod
    def of(cls, instance: Instance, desired: Desired) -> Truth:
        running = instance.running()
        return cls(
            Moment(desired.assignment, desired.at, desired.collector.version if desired.collector else None),
            _offered(instance),
            _attempted(instance),
            Moment(running.assignment, running.at, instance.reported.description.collector_version)
            if running
            else None,
        )


def _offered(instance: Instance) -> Moment | None:
    last = instance.trials.last_offered()
    return Moment(last.assignment, last.offered_at, last.collector) if last else None


def _attempted(instance: Instance) -> LastAttempt | None:
    reported = instance.reported
    applying = instance.trials.outcome_of(reported.config.config_hash) if reported.config.status == "applying" else None
    if applying is not None:
        return LastAttempt(applying.assignment, instance.reported.applying_since, "applying", None, applying.collector)
    ended = [outcome for outcome in instance.trials.outcomes if outcome.status != "offered"]
    # The newest is the first one where times are not known.
    last = max(ended, key=lambda outcome: outcome.at or _NEVER, default=None)
    if last is None:
        return None
    failed = last.status == "failed"
    return LastAttempt(
        last.assignment, last.at, "failed" if failed else "applied", last.message or None, last.collector
    )
