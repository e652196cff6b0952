"""The application's own API on the wire."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, model_validator

from headgate.foundation import clock
from headgate.foundation.caller import Access, Role
from headgate.foundation.principal import ActorKind, PrincipalKind
from headgate.http.wire import Answer, IdOf, PrincipalOut, at
from headgate.identity.model import MemberStatus
from headgate_engine.wire.inputs import Input, Name
from headgate_engine.wire.times import Time

Email = Annotated[str, StringConstraints(strict=True, min_length=3, max_length=254)]


def _time(text: str) -> str:
    try:
        at = clock.parse(text)
    except ValueError:
        raise ValueError("This must be a time such as 2026-11-20T19:32:02.123Z") from None
    if at <= clock.now():
        raise ValueError("This time has passed; give one in the future")
    return text


class CreateOrganization(Input):
    name: Name


class PatchOrganization(Input):
    name: Name


class AddMember(Input):
    """A person by email address, with a role; or a service account that was removed, by its id."""

    email: Email | None = None
    role: Role | None = None
    service_account_id: Annotated[str, IdOf("sva", "a service account")] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> "AddMember":
        person = self.email is not None and self.role is not None and self.service_account_id is None
        account = self.service_account_id is not None and self.email is None and self.role is None
        if not (person or account):
            raise ValueError("Give either `email` and `role`, or `service_account_id`")
        return self


class PatchMember(Input):
    role: Role


class CreateServiceAccount(Input):
    name: Name


class CreateToken(Input):
    """`owner` is the email address of the member who is to hold the token, by default of who creates it.

    Neither of the two may approve a rollout that it starts.
    """

    name: Name
    write_access: Annotated[bool, Field(strict=True)] = False
    expires_at: Annotated[str, AfterValidator(_time)] | None = None
    owner: Email | None = None

    @property
    def access(self) -> Access:
        return "read_write" if self.write_access else "read"


class OrganizationShown(Answer):
    id: Annotated[str, at("organization_id")]
    name: Annotated[str, at("organization_name")]
    role: Role


class Person(Answer):
    """The person who is signed in, and their memberships."""

    user_id: Annotated[str, at("user", "id")]
    email: Annotated[str, at("user", "email")]
    session_expires_at: Annotated[Time, at("expires_at")]
    organizations: list[OrganizationShown]


class MemberShown(Answer):
    id: Annotated[str, at("principal", "id")]
    kind: Annotated[PrincipalKind, at("principal", "kind")]
    name: Annotated[str, at("principal", "name")]
    role: Role
    status: MemberStatus
    created_at: Time


class InvitationShown(Answer):
    """An organization's offer to the person who is signed in."""

    organization_id: str
    organization_name: str
    role: Role
    invited_by: str
    created_at: Time
    expires_at: Time


class Invitations(BaseModel):
    """All invitations that the person can accept."""

    items: list[InvitationShown]


class ServiceAccountShown(Answer):
    """`created_by` is null for one that the operator created."""

    id: str
    name: str
    created_at: Time
    created_by: PrincipalOut | None


class TokenShown(Answer):
    """`created_by` and `owner`, who is to hold it, are null for one that the operator created."""

    id: str
    name: str
    access: Access
    created_at: Time
    expires_at: Time | None
    created_by: PrincipalOut | None
    owner: PrincipalOut | None


class TokenCreated(TokenShown):
    """A new token. `value` is shown here and never again."""

    value: str


class Tokens(BaseModel):
    """All tokens of a service account; it has at most 40."""

    items: list[TokenShown]


class Change(Answer):
    """A change: who changed what, when, and with which credential."""

    id: str
    at: Time
    actor_kind: Annotated[ActorKind, at("actor", "kind")]
    actor_id: Annotated[str, at("actor", "id")]
    actor_name: Annotated[str, at("actor", "name")]
    credential_id: str
    credential_name: str
    action: str
    target: str
    details: dict[str, str]


def expiry(body: CreateToken) -> datetime | None:
    return clock.parse(body.expires_at) if body.expires_at else None
