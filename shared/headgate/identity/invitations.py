"""Invitations: a membership begins when the person accepts, and an inviter learns nothing of an address before.

What is answered, what the members' list shows and how long it takes are the same whether the address has an account or
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
from headgate.foundation.ids import encode_id
from headgate.identity import attempts, invitation_store, member_store, people, signing
from headgate.identity.model import (
    AlreadyMember,
    BrowserRequired,
    Caller,
    Invitation,
    InvitationNotFound,
    Member,
    MemberNotFound,
    Membership,
    Principal,
    Role,
    Session,
)
from headgate.storage.retry import retry

# As long as a temporary password (template.yaml).
LIFETIME: Final = timedelta(days=7)
# Making an account and mailing its password takes some tenths of a second more than finding one.
_ANSWERED_EVERY_SECONDS: Final = 2.0


def invite(caller: Caller, email: str, role: Role, url: str) -> Member:
    """Offer a membership to whoever has the address; a new one takes the place of an earlier one.

    Raises AdminRequired, Invalid for what is not an address, AlreadyMember for one that the members' list shows,
    TooManyAttempts where this organization invited the address often just now.
    """
    caller.require_admin()
    address = people.address(email)
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
        # One who was made a member by the operator, and has not come yet, is shown as invited too.
        known = member_store.member(caller.organization_id, user.id) if user else None
        if known is None or known.status != "invited":
            raise
        return known
    return offered.as_member


def of(session: Session) -> list[Invitation]:
    """What the person is invited to, by name. Raises BrowserRequired."""
    _require_browser(session)
    found = invitation_store.of_address(session.user.email)
    return sorted(found, key=lambda one: (one.organization_name.casefold(), one.organization_id))


def accept(session: Session, organization_id: str) -> Membership:
    """Become a member; of two at once, one does. Raises BrowserRequired, InvitationNotFound."""

    def once() -> Membership:
        found = _find(session, organization_id)
        entry = audit.entry_of_invited(
            organization_id, _principal(session), session.id, "member.joined", email=found.email, role=found.role
        )
        try:
            invitation_store.accept(found, session.user, entry)
        except AlreadyMember:
            # By other means, such as an import: what stands is that.
            invitation_store.end(found)
            raise
        return Membership(organization_id, found.organization_name, found.role)

    return retry(once)


def decline(session: Session, organization_id: str) -> None:
    """Raises BrowserRequired, InvitationNotFound."""

    def once() -> None:
        found = _find(session, organization_id)
        # Its own id, not the person's: the inviter does not come to know since when they have an account.
        actor = Principal("user", found.id, found.email)
        entry = audit.entry_of_invited(organization_id, actor, found.id, "invitation.declined", email=found.email)
        invitation_store.end(found, entry)

    retry(once)


def withdraw(caller: Caller, invitation_id: str) -> None:
    """Raises AdminRequired, MemberNotFound once it was answered."""
    caller.require_admin()

    def once() -> None:
        pending = _pending(caller, invitation_id)
        found = next(
            (one for one in invitation_store.of_address(pending.principal.name) if one.id == invitation_id), None
        )
        if found is None:
            raise MemberNotFound
        entry = audit.entry(caller, "invitation.withdrawn", invitation_id, email=found.email)
        invitation_store.end(found, entry)

    retry(once)


def change_role(caller: Caller, invitation_id: str, role: Role) -> Member:
    """Raises AdminRequired, MemberNotFound once it was answered."""
    caller.require_admin()

    def once() -> Member:
        before = _pending(caller, invitation_id)
        after = Member(before.organization_id, before.principal, role, before.status, before.created_at)
        if before.role != role:
            entry = audit.entry(caller, "member.role_changed", invitation_id, email=before.principal.name, role=role)
            invitation_store.change_role(before, role, entry)
        return after

    return retry(once)


def _pending(caller: Caller, invitation_id: str) -> Member:
    found = member_store.member(caller.organization_id, invitation_id)
    if found is None:
        raise MemberNotFound
    return found


def _find(session: Session, organization_id: str) -> Invitation:
    found = next((one for one in of(session) if one.organization_id == organization_id), None)
    if found is None:
        raise InvitationNotFound
    return found


def _principal(session: Session) -> Principal:
    return Principal("user", session.user.id, session.user.email)


def _require_browser(session: Session) -> None:
    if session.kind != "browser":
        raise BrowserRequired


def _id_of(organization_id: str, address: str) -> str:
    """The same for the same address, so that there is one at most; without our key it cannot be told from any other."""
    return encode_id("inv", int.from_bytes(signing.sign("invitation", f"{organization_id} {address}".encode())))


@contextmanager
def _evenly() -> Iterator[None]:
    """Answer at whole multiples of a time in which either work is done."""
    began = time.monotonic()
    try:
        yield
    finally:
        time.sleep((began - time.monotonic()) % _ANSWERED_EVERY_SECONDS)
