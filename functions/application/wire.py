"""The application's own API on the wire."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, model_validator

from headgate.audit.model import AuditRecord
from headgate.foundation import clock
from headgate.foundation.caller import Access, Role
from headgate.foundation.ids import id_pattern
from headgate.foundation.principal import PrincipalKind
from headgate.http.wire import PrincipalOut
from headgate.identity.model import Invitation, Member, Membership, MemberStatus, ServiceAccount, Session, Token
from headgate_engine.wire.inputs import Input, Name, refused_as

Email = Annotated[str, StringConstraints(strict=True, min_length=3, max_length=254)]


def _time(text: str) -> str:
    try:
        at = clock.parse(text)
    except ValueError:
        raise ValueError("This must be a time such as 2026-11-20T19:32:02.123Z") from None
    if at <= clock.now():
        raise ValueError("This time has passed; give one in the future")
    return text


ServiceAccountId = Annotated[
    str,
    StringConstraints(strict=True, pattern=id_pattern("sva")),
    refused_as("This must be the id of a service account: `sva_` and 26 characters"),
]


class CreateOrganization(Input):
    name: Name


class PatchOrganization(Input):
    name: Name


class AddMember(Input):
    """A person by email address, with a role; or a service account that was removed, by its id."""

    email: Email | None = None
    role: Role | None = None
    service_account_id: ServiceAccountId | None = None

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


class OrganizationShown(BaseModel):
    id: str
    name: str
    role: Role

    @classmethod
    def of(cls, membership: Membership) -> "OrganizationShown":
        return cls(id=membership.organization_id, name=membership.organization_name, role=membership.role)


class Person(BaseModel):
    """Who is signed in, and where they are a member."""

    user_id: str
    email: str
    session_expires_at: str
    organizations: list[OrganizationShown]

    @classmethod
    def of(cls, session: Session, memberships: list[Membership]) -> "Person":
        return cls(
            user_id=session.user.id,
            email=session.user.email,
            session_expires_at=clock.rfc3339(session.expires_at),
            organizations=[OrganizationShown.of(membership) for membership in memberships],
        )


class MemberShown(BaseModel):
    id: str
    kind: PrincipalKind
    name: str
    role: Role
    status: MemberStatus
    created_at: str

    @classmethod
    def of(cls, member: Member) -> "MemberShown":
        return cls(
            id=member.principal.id,
            kind=member.principal.kind,
            name=member.principal.name,
            role=member.role,
            status=member.status,
            created_at=clock.rfc3339(member.created_at),
        )


class InvitationShown(BaseModel):
    """An organization's offer to the person who is signed in."""

    organization_id: str
    organization_name: str
    role: Role
    invited_by: str
    created_at: str
    expires_at: str

    @classmethod
    def of(cls, invitation: Invitation) -> "InvitationShown":
        return cls(
            organization_id=invitation.organization_id,
            organization_name=invitation.organization_name,
            role=invitation.role,
            invited_by=invitation.invited_by,
            created_at=clock.rfc3339(invitation.created_at),
            expires_at=clock.rfc3339(invitation.expires_at),
        )


class Invitations(BaseModel):
    """All invitations that the person can accept."""

    items: list[InvitationShown]


class ServiceAccountShown(BaseModel):
    """`created_by` is null for one that an earlier release created."""

    id: str
    name: str
    created_at: str
    created_by: PrincipalOut | None

    @classmethod
    def of(cls, account: ServiceAccount) -> "ServiceAccountShown":
        return cls(
            id=account.id,
            name=account.name,
            created_at=clock.rfc3339(account.created_at),
            created_by=PrincipalOut.of(account.created_by) if account.created_by else None,
        )


class TokenShown(BaseModel):
    """`created_by` and `owner`, who is to hold it, are null for one that an earlier release created."""

    id: str
    name: str
    access: Access
    created_at: str
    expires_at: str | None
    created_by: PrincipalOut | None
    owner: PrincipalOut | None

    @classmethod
    def of(cls, token: Token) -> "TokenShown":
        return cls(
            id=token.id,
            name=token.name,
            access=token.access,
            created_at=clock.rfc3339(token.created_at),
            expires_at=clock.rfc3339(token.expires_at) if token.expires_at else None,
            created_by=PrincipalOut.of(token.created_by) if token.created_by else None,
            owner=PrincipalOut.of(token.owner) if token.owner else None,
        )


class TokenCreated(TokenShown):
    """A new token. `value` is shown here and never again."""

    value: str

    @classmethod
    def with_value(cls, token: Token, value: str) -> "TokenCreated":
        return cls(**TokenShown.of(token).model_dump(), value=value)


class Tokens(BaseModel):
    """All tokens of a service account; it has at most 40."""

    items: list[TokenShown]


class Change(BaseModel):
    """Who changed what, when, and from which credential."""

    id: str
    at: str
    actor_kind: PrincipalKind
    actor_id: str
    actor_name: str
    credential_id: str
    credential_name: str
    action: str
    target: str
    details: dict[str, str]

    @classmethod
    def of(cls, record: AuditRecord) -> "Change":
        return cls(
            id=record.id,
            at=clock.rfc3339(record.at),
            actor_kind=record.actor.kind,
            actor_id=record.actor.id,
            actor_name=record.actor.name,
            credential_id=record.credential_id,
            credential_name=record.credential_name,
            action=record.action,
            target=record.target,
            details=dict(record.details),
        )


def expiry(body: CreateToken) -> datetime | None:
    return clock.parse(body.expires_at) if body.expires_at else None
