"""Events: what happened, to what, and when."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, get_args

from headgate.foundation.ids import new_id

EventType = Literal[
    "configuration.published",
    "test.failed",
    "rollout.started",
    "rollout.halted",
    "rollout.rolled_back",
    "rollout.rollback_failed",  # hosts did not go back to the version before
    "rollout.finished",
    "instance.apply_failed",
    "instance.silent",
    "instance.stale",
    "instance.drifted",
    "instance.stopped",
    "instance.recovered",
    "token.expiring",
    "fleet.limit_near",
    "webhook.test",  # somebody pressed the test button
]
EVENT_TYPES: Final[tuple[EventType, ...]] = get_args(EventType)


@dataclass(frozen=True, slots=True)
class About:
    """The subject of an event, by ids, and facts about it that nothing else stores; None where a field does not apply.

    `name` is that of what has no id of its own to look up: a host, a token. `reason` is a text of Headgate's own:
    nothing that a host, a collector or a configuration says may be in it. `figures` are counts by their name.
    """

    fleet_id: str | None = None
    deployment_id: str | None = None
    instance_id: str | None = None
    configuration_id: str | None = None
    version_number: int | None = None
    rollout_id: str | None = None
    job_id: str | None = None
    token_id: str | None = None
    name: str | None = None
    reason: str | None = None
    figures: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in an organization."""

    id: str
    type: EventType
    organization_id: str
    at: datetime
    about: About


def event(type: EventType, organization_id: str, about: About, at: datetime) -> Event:
    """A new event with an id of its own."""
    return Event(new_id("evt", at), type, organization_id, at, about)
