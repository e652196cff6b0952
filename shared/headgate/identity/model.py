"""The organizations, people, service accounts and credentials of a request, and what can be wrong with them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from headgate.foundation import errors
from headgate.foundation.caller import Access, Role
from headgate.foundation.principal import Principal

MemberStatus = Literal["invited", "active"]
SessionKind = Literal["browser", "cli"]


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
    """`created_by` is None for one that the operator created."""

    id: str
    organization_id: str
    name: str
    created_at: datetime
    created_by: Principal | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """A service account's API token, as it may be shown: its value is not stored.

    `created_by` saw its value, `owner` is the person who is to hold it. Both are None for one that the operator
    created.
    """

    id: str
    organization_id: str
    service_account_id: str
    name: str
    access: Access
    created_at: datetime
    expires_at: datetime | None
    created_by: Principal | None = None
    owner: Principal | None = None


@dataclass(frozen=True, slots=True)
class User:
    """A person. Only Cognito has their password."""

    id: str
    email: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody in an organization. If `invited`, they may do nothing there until they have accepted."""

    organization_id: str
    principal: Principal
    role: Role
    status: MemberStatus
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Invitation:
    """An organization's offer to whoever has the address. It does not tell whether the address has an account."""

    id: str
    organization_id: str
    organization_name: str
    email: str
    role: Role
    invited_by: str
    created_at: datetime
    expires_at: datetime

    @property
    def as_member(self) -> Member:
        """The invited person in a list of members."""
        principal = Principal("user", self.id, self.email)
        return Member(self.organization_id, principal, self.role, "invited", self.created_at)


@dataclass(frozen=True, slots=True)
class Membership:
    """An organization of a person."""

    organization_id: str
    organization_name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Session:
    """A person signed in. `id` names it in logs and records; its value is not stored.

    A session of the command line is limited to the `organization_id` of its approval; for a browser's it is None.
    """

    id: str
    user: User
    kind: SessionKind
    organization_id: str | None
    created_at: datetime
    expires_at: datetime
    value_hash: str


class NotAuthenticated(errors.Unauthenticated):
    """No usable credential. All causes have the same message, so that it tells nothing about the tokens that exist."""

    detail = "The credential is missing, malformed, revoked or expired"


class WriteAccessRequired(errors.Forbidden):
    """A read-only token at a write endpoint."""

    code = "write_access_required"
    detail = "This endpoint requires the 'write' claim"


class SessionRequired(errors.Forbidden):
    """A token was sent to an endpoint of the application, which people use."""

    code = "session_required"
    detail = "This endpoint requires a session; an API token cannot use it"


class OrganizationHeaderRequired(errors.BadRequest):
    """A session's request does not name an organization by its id."""

    code = "organization_header"
    detail = "The header X-Service-Org must hold the id of one of your organizations"


class NotAnActiveMember(errors.Forbidden):
    """A session names an organization of others; one that does not exist is answered the same."""

    code = "not_an_active_member"
    detail = "You are not an active member of this organization"


class RateLimited(errors.TooManyRequests):
    """The credential has used up its calendar minute."""

    def __init__(self, window: RateWindow) -> None:
        super().__init__(f"Over the limit of {window.limit} requests a minute", retry_after=window.reset)


class ServiceAccountNotFound(errors.NotFound):
    code = "service_account_not_found"
    detail = "No such service account"


class TokenNotFound(errors.NotFound):
    code = "token_not_found"
    detail = "No such token"


class OwnerNotFound(errors.Invalid):
    """A token is held by a person of the organization."""

    code = "owner_not_found"
    detail = "No member of the organization has this address: a token is held by one of its people"
    at = ("body", "owner")


class MemberNotFound(errors.NotFound):
    code = "member_not_found"
    detail = "No such member"


class InvitationNotFound(errors.NotFound):
    """Unknown, for another address, expired, withdrawn or answered; which of them is not told."""

    code = "invitation_not_found"
    detail = "There is no such invitation for you: it has expired, was withdrawn, or was answered already"


class BrowserRequired(errors.Forbidden):
    """A command line, which acts in one organization, asks for what concerns others."""

    code = "browser_required"
    detail = "A session of the command line cannot do this; sign in with a browser"


class LastAdmin(errors.Conflict):
    """Without an Admin nobody could manage the organization any more."""

    code = "last_admin"
    detail = "The last Admin of an organization can neither be removed nor become a Contributor"


class AlreadyMember(errors.Conflict):
    """The person or service account is a member of the organization already."""

    code = "already_member"
    detail = "This person or service account is a member of the organization already"


class TooManyTokens(errors.Conflict):
    """All tokens of a service account are deleted with it in one transaction, which has a limit."""

    code = "too_many_tokens"

    def __init__(self, limit: int) -> None:
        super().__init__(f"A service account has at most {limit} tokens; delete one first")
