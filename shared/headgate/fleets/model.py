"""Fleets, and what may be wrong with making one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.foundation import errors
from headgate.foundation.principal import Principal

FleetType = Literal["server-supervisor", "kubernetes-supervisor"]
ExpiresIn = Literal["180d", "1y", "2y", "never"]
Grace = Literal["none", "1d", "7d"]
InstanceState = Literal["pending_pickup", "applying", "applied", "apply_failed", "stale", "unknown"]

INSTANCE_STATES: Final[tuple[InstanceState, ...]] = (
    "pending_pickup",
    "applying",
    "applied",
    "apply_failed",
    "stale",
    "unknown",
)
_DAYS: Final[dict[ExpiresIn, int]] = {"180d": 180, "1y": 365, "2y": 730}


class FleetNotFound(errors.NotFound):
    """There is none in the caller's organization."""

    code = "fleet_not_found"

    def __init__(self) -> None:
        super().__init__("No such fleet")


class LabelTaken(errors.Conflict):
    """Labels are unique in an organization."""

    code = "label_taken"

    def __init__(self, label: str) -> None:
        super().__init__(f"A fleet labelled '{label}' already exists")


class FleetLimitReached(errors.Forbidden):
    """The organization has as many fleets as it may."""

    code = "fleet_limit_reached"

    def __init__(self, limit: int) -> None:
        super().__init__(f"The organization's fleet limit of {limit} is reached")


class FleetsNotConfigured(errors.Unavailable):
    """The server does not know its own fleet endpoint, so no collector could be told where to report."""

    code = "fleets_not_configured"
    no_fault = True

    def __init__(self) -> None:
        super().__init__("Fleet creation and collector installation are not configured on this server")


class FleetTokenExpired(errors.Conflict):
    """A command with this token could not connect."""

    code = "fleet_token_expired"

    def __init__(self) -> None:
        super().__init__("The fleet's token has expired; create a new fleet")


@dataclass(frozen=True, slots=True)
class Fleet:
    """A fleet. `token_generation` and the id are what its token is derived from; the value is kept nowhere.

    `instances` counts its collectors by state, a state without any left out; empty where they were not counted.
    """

    id: str
    organization_id: str
    label: str
    type: FleetType
    expires_in: ExpiresIn
    token_expires_at: datetime | None
    token_generation: int
    default_deployment_id: str | None
    created_by: Principal
    created_at: datetime
    instances: Mapping[InstanceState, int] = field(default_factory=dict)

    @property
    def on_kubernetes(self) -> bool:
        return self.type == "kubernetes-supervisor"


# How long the token before goes on when the next one is issued.
GRACES: Final[Mapping[Grace, timedelta]] = {
    "none": timedelta(0),
    "1d": timedelta(days=1),
    "7d": timedelta(days=7),
}


def token_lifetime(expires_in: ExpiresIn) -> timedelta | None:
    """None for ever."""
    return None if expires_in == "never" else timedelta(days=_DAYS[expires_in])
