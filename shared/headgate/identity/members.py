"""Organizations and their members: what Admins do with them."""

from __future__ import annotations

import contextlib

from headgate.audit import service as audit
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller, Role
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.page import Slice
from headgate.foundation.principal import Principal
from headgate.identity import invitations, member_store, people, service_account_store
from headgate.identity.model import AlreadyMember, Member, MemberNotFound, Membership, Organization
from headgate.storage.retry import retried, retry


class ServiceAccountsAreContributors(errors.Invalid):
    """A service account is a Contributor, and its role cannot be changed."""

    code = "service_account_role"
    detail = "A service account is a Contributor; its role cannot be changed"


def members(caller: Caller, limit: int, after: str | None) -> Slice[Member]:
    """Every member may see the others."""
    return member_store.members(caller.organization_id, limit, after)


def rename_organization(caller: Caller, name: str) -> Membership:
    """Raises AdminRequired."""
    caller.require_admin()
    entry = audit.entry(
        caller, "organization.renamed", caller.organization_id, before_name=caller.organization_name, name=name
    )
    retry(lambda: member_store.rename_organization(caller.organization_id, name, entry))
    # A token answers for its organization's name without another read, so it holds a copy.
    service_account_store.rename_organization(caller.organization_id, name)
    return Membership(caller.organization_id, name, caller.role)


def create_organization(caller: Caller, name: str) -> Membership:
    """Create a further organization, whose first Admin the caller is. Raises AdminRequired."""
    caller.require_admin()
    user = people.user_of(caller)
    organization = Organization(id=new_id("org"), name=name, created_at=clock.now())
    entry = audit.entry(caller, "organization.created", organization.id, name=name)
    member_store.put_organization(organization, user, "active", entry)
    return Membership(organization.id, name, "admin")


def change_role(caller: Caller, principal_id: str, role: Role) -> Member:
    """Raises AdminRequired, MemberNotFound, ServiceAccountsAreContributors, LastAdmin."""
    caller.require_admin()
    if is_id("inv", principal_id):
        return invitations.change_role(caller, principal_id, role)

    def once() -> Member:
        before = _member(caller, principal_id)
        if before.principal.kind == "service_account":
            raise ServiceAccountsAreContributors
        if before.role != role:
            details = {"email": before.principal.name, "before_role": before.role, "role": role}
            entry = audit.entry(caller, "member.role_changed", principal_id, **details)
            member_store.change_role(before, role, entry)
        return Member(before.organization_id, before.principal, role, before.status, before.created_at)

    return retry(once)


def remove(caller: Caller, principal_id: str) -> None:
    """Remove a member: a person's sessions stop here at once, and so do a service account's tokens.

    A removed service account can be added again. An invitation is withdrawn. Raises AdminRequired, MemberNotFound,
    LastAdmin.
    """
    caller.require_admin()
    if is_id("inv", principal_id):
        return invitations.withdraw(caller, principal_id)

    def once() -> None:
        before = _member(caller, principal_id)
        entry = audit.entry(caller, "member.removed", principal_id, name=before.principal.name)
        if before.principal.kind == "service_account":
            account, revision = service_account_store.get(caller.organization_id, principal_id)
            service_account_store.end_membership(account, revision, entry)
        else:
            member_store.remove_user(before, entry)

    return retry(once)


@retried
def add_service_account(caller: Caller, service_account_id: str) -> Member:
    """Make a removed service account a member again; its old tokens stay deleted.

    Raises AdminRequired, ServiceAccountNotFound, AlreadyMember.
    """
    caller.require_admin()
    account, _ = service_account_store.get(caller.organization_id, service_account_id)
    principal = Principal("service_account", account.id, account.name)
    member = Member(account.organization_id, principal, "contributor", "active", clock.now())
    member_store.add_service_account(member, audit.entry(caller, "member.added", account.id, name=account.name))
    return member


def add_first_admin(organization_id: str, email: str) -> None:
    """Make the first Admin of a local service, where nobody could invite them."""
    user = people.find_or_create(people.parse_address(email), "")
    principal = Principal("user", user.id, user.email)
    member = Member(organization_id, principal, "admin", "active", clock.now())
    with contextlib.suppress(AlreadyMember):
        retry(lambda: member_store.add_user(member))


def is_member(caller: Caller, principal_id: str) -> bool:
    """One read."""
    return member_store.member(caller.organization_id, principal_id) is not None


def _member(caller: Caller, principal_id: str) -> Member:
    if not (is_id("usr", principal_id) or is_id("sva", principal_id)):
        raise MemberNotFound
    member = member_store.member(caller.organization_id, principal_id)
    if member is None:
        raise MemberNotFound
    return member
