"""`/api/v1/app`: what people manage in the application. It takes sessions, never tokens."""

from fastapi import Request, Response

from application.filters import WantedChanges
from application.wire import (
    AddMember,
    Change,
    CreateOrganization,
    CreateServiceAccount,
    CreateToken,
    Invitations,
    InvitationShown,
    MemberShown,
    OrganizationShown,
    PatchMember,
    PatchOrganization,
    Person,
    ServiceAccountShown,
    TokenCreated,
    Tokens,
    TokenShown,
    expiry,
)
from headgate.audit import service as audit
from headgate.http.browser import public_url
from headgate.http.credentials import SessionAdmin, SessionMember, SignedIn
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import MemberId, OrganizationId, ServiceAccountId, TokenId
from headgate.http.paths import APPLICATION
from headgate.http.routing import application_router, recorded
from headgate.identity import invitations, members, sessions
from headgate.identity import service as identity

router = application_router()


@router.get("/session")
def get_session(session: SignedIn) -> Person:
    """Show the person who is signed in, and their organizations."""
    return Person.of(session, organizations=sessions.organizations(session))


@router.delete("/session", status_code=204)
def end_session(session: SignedIn) -> None:
    """Sign out: the session stops at once."""
    sessions.end(session)


@router.post("/organizations", status_code=201, **recorded("organization.created"))
def create_organization(body: CreateOrganization, caller: SessionAdmin, response: Response) -> OrganizationShown:
    """Create a further organization. The caller is its first Admin."""
    response.headers["Location"] = f"{APPLICATION}/organization"
    return OrganizationShown.of(members.create_organization(caller, body.name))


@router.get("/organization")
def get_organization(caller: SessionMember) -> OrganizationShown:
    """The organization that the request names."""
    return OrganizationShown.of(caller)


@router.patch("/organization", **recorded("organization.renamed"))
def patch_organization(body: PatchOrganization, caller: SessionAdmin) -> OrganizationShown:
    """Rename the organization."""
    return OrganizationShown.of(members.rename_organization(caller, body.name))


@router.get("/members")
def list_members(caller: SessionMember, paging: Paging) -> Page[MemberShown]:
    """The organization's service accounts and people."""
    return paging.page(members.members(caller, paging.limit, paging.after), MemberShown.of)


@router.post("/members", status_code=201, **recorded("member.invited", "member.added", 409))
def add_member(body: AddMember, caller: SessionAdmin, request: Request, response: Response) -> MemberShown:
    """Invite a person, who becomes a member by accepting, or make a removed service account a member again.

    The answer is the same whether the address has an account or not. A person who has no account, or has not chosen a
    password yet, gets a mail with a temporary password; inviting them again sends another.
    """
    if body.service_account_id is not None:
        added = members.add_service_account(caller, body.service_account_id)
    else:
        assert body.email is not None
        assert body.role is not None
        added = invitations.invite(caller, body.email, body.role, public_url(request))
    response.headers["Location"] = f"{APPLICATION}/members/{added.principal.id}"
    return MemberShown.of(added)


@router.get("/invitations")
def list_invitations(session: SignedIn) -> Invitations:
    """List the person's invitations."""
    return Invitations(items=[InvitationShown.of(invitation) for invitation in invitations.of_person(session)])


@router.post("/invitations/{organization_id}/accept", **recorded("member.joined", 409))
def accept_invitation(organization_id: OrganizationId, session: SignedIn) -> OrganizationShown:
    """Accept an invitation and become a member."""
    return OrganizationShown.of(invitations.accept(session, organization_id))


@router.delete("/invitations/{organization_id}", status_code=204, **recorded("invitation.declined"))
def decline_invitation(organization_id: OrganizationId, session: SignedIn) -> None:
    """Decline an invitation. The organization's Admins see that in its record of changes."""
    invitations.decline(session, organization_id)


@router.patch("/members/{member_id}", **recorded("member.role_changed", 409))
def patch_member(member_id: MemberId, body: PatchMember, caller: SessionAdmin) -> MemberShown:
    """Change a person's role, or the role that they are invited to."""
    return MemberShown.of(members.change_role(caller, member_id, body.role))


@router.delete("/members/{member_id}", status_code=204, **recorded("member.removed", "invitation.withdrawn", 409))
def remove_member(member_id: MemberId, caller: SessionAdmin) -> None:
    """Remove a member, whose sessions and tokens stop here at once, or withdraw an invitation."""
    members.remove(caller, member_id)


@router.get("/service-accounts")
def list_service_accounts(caller: SessionAdmin, paging: Paging) -> Page[ServiceAccountShown]:
    """The organization's service accounts."""
    return paging.page(identity.service_accounts(caller, paging.limit, paging.after), ServiceAccountShown.of)


@router.post("/service-accounts", status_code=201, **recorded("service_account.created"))
def create_service_account(body: CreateServiceAccount, caller: SessionAdmin, response: Response) -> ServiceAccountShown:
    """Create a service account, a Contributor."""
    account = identity.create_service_account(caller.organization_id, body.name, by=caller)
    response.headers["Location"] = f"{APPLICATION}/service-accounts/{account.id}"
    return ServiceAccountShown.of(account)


@router.get("/service-accounts/{service_account_id}")
def get_service_account(service_account_id: ServiceAccountId, caller: SessionAdmin) -> ServiceAccountShown:
    """One service account."""
    return ServiceAccountShown.of(identity.service_account(caller, service_account_id))


@router.delete("/service-accounts/{service_account_id}", status_code=204, **recorded("service_account.deleted"))
def delete_service_account(service_account_id: ServiceAccountId, caller: SessionAdmin) -> None:
    """Delete a service account with its tokens, which stop at once."""
    identity.delete_service_account(caller, service_account_id)


@router.get("/service-accounts/{service_account_id}/tokens")
def list_tokens(service_account_id: ServiceAccountId, caller: SessionAdmin) -> Tokens:
    """The account's tokens, without their values."""
    return Tokens(items=[TokenShown.of(token) for token in identity.tokens(caller, service_account_id)])


@router.post("/service-accounts/{service_account_id}/tokens", status_code=201, **recorded("token.created", 409))
def create_token(
    service_account_id: ServiceAccountId, body: CreateToken, caller: SessionAdmin, response: Response
) -> TokenCreated:
    """Create a token. Its value is in this answer and cannot be read again."""
    token, value = identity.create_token(
        caller.organization_id,
        service_account_id,
        name=body.name,
        access=body.access,
        expires_at=expiry(body),
        owner=body.owner,
        by=caller,
    )
    response.headers["Location"] = f"{APPLICATION}/service-accounts/{service_account_id}/tokens/{token.id}"
    return TokenCreated.of(token, value=value)


@router.delete("/service-accounts/{service_account_id}/tokens/{token_id}", status_code=204, **recorded("token.deleted"))
def delete_token(service_account_id: ServiceAccountId, token_id: TokenId, caller: SessionAdmin) -> None:
    """Delete a token. It stops at once."""
    identity.delete_token(caller, service_account_id, token_id)


@router.get("/changes")
def list_changes(caller: SessionAdmin, paging: Paging, filters: WantedChanges) -> Page[Change]:
    """The record of changes, newest first.

    With `by` or `about`, a page has what is found among up to 1,000 records: it may be short, and still have a next
    one.
    """
    return paging.page(audit.records(caller, paging.limit, paging.after, filters), Change.of)
