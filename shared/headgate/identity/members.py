"""Organizations and their members: what Admins do with them."""

from __future__ import annotations

import contextlib

from headgate.audit import service as audit
from headgate.foundation import clock, errors
from headgate.foundation.ids import is_id, new_id
from headgate.identity import invitations, member_store, people, store, table
from headgate.identity.model import (
    AlreadyMember,
    Caller,
    Member,
    MemberNotFound,
    Membership,
    Organization,
    Principal,
    Role,
)
from headgate.storage.page import Slice

_TRIES = 10


class ServiceAccountsAreContributors(errors.Invalid):
    code = "service_account_role"

    def __init__(self) -> None:
        super().__init__("A service account is a Contributor; its role cannot be changed")


def members(caller: Caller, limit: int, after: str | None) -> Slice[Member]:
    """Every member may see the others."""
    return member_store.members(caller.organization_id, limit, after)


def rename_organization(caller: Caller, name: str) -> Membership:
    """Raises AdminRequired."""
    caller.require_admin()
    entry = audit.entry(caller, "organization.renamed", caller.organization_id, name=name)
    member_store.rename_organization(caller.organization_id, name, entry)
    # A token answers for its organization's name without another read, so it holds a copy.
    for item in table.query_all(f"organization#{caller.organization_id}", "token#"):
        store.rename_in_token(str(item["value_hash"]), name)
    return Membership(caller.organization_id, name, caller.role)


def create_organization(caller: Caller, name: str) -> Membership:
    """A further organization, whose first Admin the caller is. Raises AdminRequired: no Contributor makes any."""
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
    for _ in range(_TRIES):
        before = _member(caller, principal_id)
        if before.principal.kind == "service_account":
            raise ServiceAccountsAreContributors
        if before.role != role:
            entry = audit.entry(caller, "member.role_changed", principal_id, email=before.principal.name, role=role)
            try:
                member_store.change_role(before, role, entry)
            except member_store.LostRace:
                continue
        return Member(before.organization_id, before.principal, role, before.status, before.created_at)
    raise errors.Contention("Too many changes at once; nothing was saved, try again shortly")


def remove(caller: Caller, principal_id: str) -> None:
    """A person's sessions stop here at once; of a service account, the tokens too, and it stays to be added again. An
    invitation is withdrawn.

    Raises AdminRequired, MemberNotFound, LastAdmin.
    """
    caller.require_admin()
    if is_id("inv", principal_id):
        return invitations.withdraw(caller, principal_id)
    for _ in range(_TRIES):
        before = _member(caller, principal_id)
        entry = audit.entry(caller, "member.removed", principal_id, name=before.principal.name)
        if before.principal.kind == "service_account":
            account, revision = store.service_account(caller.organization_id, principal_id)
            if store.end_membership(account, revision, entry):
                return None
            continue
        try:
            member_store.remove_user(before, entry)
        except member_store.LostRace:
            continue
        return None
    raise errors.Contention("Too many changes at once; nothing was saved, try again shortly")


def add_service_account(caller: Caller, service_account_id: str) -> Member:
    """Make a removed service account a member again; its old tokens stay deleted.

    Raises AdminRequired, ServiceAccountNotFound, AlreadyMember.
    """
    caller.require_admin()
    account, _ = store.service_account(caller.organization_id, service_account_id)
    member = Member(
        account.organization_id,
        Principal("service_account", account.id, account.name),
        "contributor",
        "active",
        clock.now(),
    )
    entry = audit.entry(caller, "member.added", account.id, name=account.name)
    try:
        member_store.add_service_account(member, entry)
    except member_store.LostRace as error:
        raise errors.Contention("Another change came first; nothing was saved, try again shortly") from error
    return member


def add_first_admin(organization_id: str, email: str) -> None:
    """For whoever starts a service on their own machine and has to begin somewhere."""
    user = people.find_or_create(people.address(email), "")
    principal = Principal("user", user.id, user.email)
    with contextlib.suppress(AlreadyMember):
        member_store.add_user(Member(organization_id, principal, "admin", "active", clock.now()))


def is_member(caller: Caller, principal_id: str) -> bool:
    """One read."""
    return member_store.member(caller.organization_id, principal_id) is not None


def _member(caller: Caller, principal_id: str) -> Member:
    if not (is_id("usr", principal_id) or is_id("sva", principal_id)):
        raise MemberNotFound
    found = member_store.member(caller.organization_id, principal_id)
    if found is None:
        raise MemberNotFound
    return found
