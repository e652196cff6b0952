"""Fleets and their tokens, and why a request about a fleet is refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.foundation import errors
from headgate.foundation.principal import Principal

FleetType = Literal["server-supervisor", "kubernetes-supervisor"]
ExpiresIn = Literal["180d", "1y", "2y", "never"]
Grace = Literal["none", "1d", "7d", "unused"]
"""Validity of the previous token after a renewal; `unused` is until no host uses it, and 30 days at most."""
FleetMode = Literal["managed", "observed"]
"""An observed fleet lists collectors that others install and configure, and sends them no configuration."""

DAYS: Final[dict[ExpiresIn, int]] = {"180d": 180, "1y": 365, "2y": 730}


class FleetNotFound(errors.NotFound):
    """The caller's organization has no such fleet."""

    code = "fleet_not_found"
    detail = "No such fleet"


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
    detail = "Fleet creation and collector installation are not configured on this server"


class FleetTokenExpired(errors.Conflict):
    """A command with this token could not connect."""

    code = "fleet_token_expired"
    detail = "The token has expired; an Admin can renew that of the fleet, or the group's own"


class FleetObserved(errors.Conflict):
    """Headgate configures no collector of the fleet."""

    code = "fleet_observed"
    detail = (
        "Collectors of this fleet are observed: Headgate sends them no configuration. `headgate fleet mode FLEET "
        "managed` changes that for agents that accept remote configuration; on other hosts install the supervisor of a "
        "managed fleet"
    )


@dataclass(frozen=True, slots=True)
class FleetToken:
    """The stored facts of a token, under its hash. `expires_at` is None for one that never expires.

    A group's own token has its `deployment_id`, and is valid for that group alone. `superseded_at` is when the next one
    was issued, None for the present one.
    """

    fleet_id: str
    organization_id: str
    expires_at: datetime | None
    deployment_id: str | None = None
    superseded_at: datetime | None = None

    @property
    def scope(self) -> str:
        """The id of the group, or of the fleet, that the token opens."""
        return self.deployment_id or self.fleet_id


@dataclass(frozen=True, slots=True)
class Fleet:
    """A fleet. Its token is derived from its id and `token_generation`; the token itself is not stored.

    `groups_added` counts the groups that were ever added to it. `previous_token_ends_at` is when the token before the
    last renewal ends, or ended; None if it ended at once. With `previous_while_used` it ends before, once no host uses
    it.
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
    groups_added: int = 0
    # What created it, by its own words.
    managed_by: str | None = None
    previous_token_ends_at: datetime | None = None
    mode: FleetMode = "managed"
    previous_while_used: bool = False

    @property
    def observed(self) -> bool:
        return self.mode == "observed"

    def require_managed(self) -> None:
        """Raises FleetObserved."""
        if self.observed:
            raise FleetObserved

    @property
    def on_kubernetes(self) -> bool:
        return self.type == "kubernetes-supervisor"

    @property
    def token(self) -> FleetToken:
        """The present token, as it is stored."""
        return FleetToken(self.id, self.organization_id, self.token_expires_at)

    def token_expired(self, at: datetime) -> bool:
        return self.token_expires_at is not None and self.token_expires_at <= at


# How long the previous token stays valid after a renewal.
GRACES: Final[Mapping[Grace, timedelta]] = {
    "none": timedelta(0),
    "1d": timedelta(days=1),
    "7d": timedelta(days=7),
    "unused": timedelta(days=30),
}
