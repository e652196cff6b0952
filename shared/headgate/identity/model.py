"""The caller of a request, and the records that a credential leads to."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from headgate import errors

Access = Literal["read", "read_write"]
Role = Literal["contributor", "admin"]
PrincipalKind = Literal["service_account", "user"]


@dataclass(frozen=True, slots=True)
class Principal:
    """Who owns or made something: a user, or a service account whichever of its tokens was used."""

    kind: PrincipalKind
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated request: which principal, in which organization, with which access.

    `name` is the token's name or the user's email address; `credential_id` names the token or session, never its value.
    """

    organization_id: str
    organization_name: str
    principal: Principal
    name: str
    role: Role
    access: Access
    credential_id: str

    @property
    def is_admin(self) -> bool:
        return self.role == "admin"

    @property
    def can_write(self) -> bool:
        return self.access == "read_write"


@dataclass(frozen=True, slots=True)
class RateWindow:
    """One credential's use of the current calendar minute. `reset` is in seconds until the next one."""

    limit: int
    used: int
    reset: int

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)


@dataclass(frozen=True, slots=True)
class Organization:
    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    id: str
    organization_id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Token:
    """A service account's API token, as it may be shown: its value is not kept."""

    id: str
    organization_id: str
    service_account_id: str
    name: str
    access: Access
    created_at: datetime
    expires_at: datetime | None


class NotAuthenticated(errors.Unauthenticated):
    """No usable credential. One wording for every cause, so that it tells nothing of the tokens that exist."""

    def __init__(self) -> None:
        super().__init__("The credential is missing, malformed, revoked or expired")


class WriteAccessRequired(errors.Forbidden):
    """A read-only token at a write endpoint."""

    code = "write_access_required"

    def __init__(self) -> None:
        super().__init__("This endpoint requires the 'write' claim")


class RateLimited(errors.TooManyRequests):
    """The credential has used up its calendar minute."""

    def __init__(self, window: RateWindow) -> None:
        super().__init__(f"Over the limit of {window.limit} requests a minute", retry_after=window.reset)


class ServiceAccountNotFound(errors.NotFound):
    code = "service_account_not_found"

    def __init__(self) -> None:
        super().__init__("No such service account")
