"""Invitations: a membership begins when the person accepts, and an inviter learns nothing about an address before.

The answer, the members' list and the time that it takes are the same whether the address has an account or
not (docs/decisions/0073-membership-by-consent.md).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from headgate.audit import service as audit
from headgate.foundation import clock
from headgate.foundation.caller import Caller, Role
from headgate.foundation.ids import encode_id
from headgate.foundation.principal import Principal
from headgate.identity import attempts, invitation_store, member_store, people, signing
from headgate.identity.model import (
    AlreadyMember,
    BrowserRequired,
    Invitation,
    InvitationNotFound,
    Member,
    MemberNotFound,
    Membership,
    Session,
)
from headgate.storage.retry import retried, retry

# As long as a temporary password (template.yaml).
LIFETIME: Final = timedelta(days=7)
# Creating an account and mailing its password takes some tenths of a second more than finding one.
_ANSWERED_EVERY_SECONDS: Final = 2.0


def invite(caller: Caller, email: str, role: Role, url: str) -> Member:
    """Offer a membership to whoever has the address; a new invitation replaces an earlier one.

    Raises AdminRequired, Invalid if it is not an address, AlreadyMember if the members' list shows the address,
    TooManyAttempts if this organization invited it often just now.
    """
    caller.require_admin()
    address = people.parse_address(email)
    attempts.take(attempts.INVITATION_OF_ACCOUNT, f"{caller.organization_id} {address}", clock.now())
    with _evenly():
        return _invite(caller, address, role, url)


def _invite(caller: Caller, address: str, role: Role, url: str) -> Member:
    user = people.mail_account(address, url)
    at = clock.now()
    offered = Invitation(
        id=_id_of(caller.organization_id, address),
        organization_id=caller.organization_id,
        organization_name=caller.organization_name,
        email=address,
        role=role,
        invited_by=caller.name,
        created_at=at,
        expires_at=at + LIFETIME,
    )
    entry = audit.entry(caller, "member.invited", offered.id, email=address, role=role)
    try:
        retry(lambda: invitation_store.put(offered, user, entry))
    except AlreadyMember:
        # A member whom the operator added, and who has not signed in yet, is shown as invited too.
        member = member_store.member(caller.organization_id, user.id) if user else None
        if member is None or member.status != "invited":
            raise
        return member
    return offered.as_member


def of_person(session: Session) -> list[Invitation]:
    """Returns the person's invitations, by the organizations' names. Raises BrowserRequired."""
    if session.kind != "browser":
        raise BrowserRequired
    invitations = invitation_store.of_address(session.user.email)
    return sorted(invitations, key=lambda each: (each.organization_name.casefold(), each.organization_id))


@retried
def accept(session: Session, organization_id: str) -> Membership:
    """Become a member; of two requests at once, one does. Raises BrowserRequired, InvitationNotFound, AlreadyMember."""
    invitation = _get(session, organization_id)
    person = Principal("user", session.user.id, session.user.email)
    details = {"email": invitation.email, "role": invitation.role}
    entry = audit.entry_of_invited(organization_id, person, session.id, "member.joined", **details)
    try:
        invitation_store.accept(invitation, session.user, entry)
    except AlreadyMember:
        # By other means, such as an import: that membership stays as it is.
        invitation_store.end(invitation)
        raise
    return Membership(organization_id, invitation.organization_name, invitation.role)


@retried
def decline(session: Session, organization_id: str) -> None:
    """Raises BrowserRequired, InvitationNotFound."""
    invitation = _get(session, organization_id)
    # The invitation's id, not the person's, which would tell the inviter since when they have an account.
    actor = Principal("user", invitation.id, invitation.email)
    entry = audit.entry_of_invited(organization_id, actor, invitation.id, "invitation.declined", email=invitation.email)
    invitation_store.end(invitation, entry)


@retried
def withdraw(caller: Caller, invitation_id: str) -> None:
    """Raises AdminRequired, MemberNotFound if it was answered."""
    caller.require_admin()
    address = _pending(caller, invitation_id).principal.name
    invitation = next((each for each in invitation_store.of_address(address) if each.id == invitation_id), None)
    if invitation is None:
        raise MemberNotFound
    entry = audit.entry(caller, "invitation.withdrawn", invitation_id, email=address)
    invitation_store.end(invitation, entry)


@retried
def change_role(caller: Caller, invitation_id: str, role: Role) -> Member:
    """Raises AdminRequired, MemberNotFound if it was answered."""
    caller.require_admin()
    before = _pending(caller, invitation_id)
    after = Member(before.organization_id, before.principal, role, before.status, before.created_at)
    if before.role != role:
        details = {"email": before.principal.name, "before_role": before.role, "role": role}
        entry = audit.entry(caller, "member.role_changed", invitation_id, **details)
        invitation_store.change_role(before, role, entry)
    return after


def _pending(caller: Caller, invitation_id: str) -> Member:
    member = member_store.member(caller.organization_id, invitation_id)
    if member is None:
        raise MemberNotFound
    return member


def _get(session: Session, organization_id: str) -> Invitation:
    invitation = next((each for each in of_person(session) if each.organization_id == organization_id), None)
    if invitation is None:
        raise InvitationNotFound
    return invitation


def _id_of(organization_id: str, address: str) -> str:
    """The same for the same address, so that there is at most one. Nobody without our key can tell the address."""
    return encode_id("inv", int.from_bytes(signing.sign("invitation", f"{organization_id} {address}".encode())))


@contextmanager
def _evenly() -> Iterator[None]:
    """Answer at whole multiples of a time, so that it does not tell whether an account was created."""
    started = time.monotonic()
    try:
        yield
    finally:
        time.sleep((started - time.monotonic()) % _ANSWERED_EVERY_SECONDS)
