"""Sessions of people: begun by a sign-in, ended by a sign-out or after twelve hours."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.errors import HeadgateError
from headgate.foundation.hashing import hash_of
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.principal import Principal
from headgate.identity import member_store, session_store
from headgate.identity.model import (
    Membership,
    NotAnActiveMember,
    NotAuthenticated,
    OrganizationHeaderRequired,
    Session,
    SessionKind,
    User,
)
from headgate.identity.session_store import SessionPlace
from headgate.storage.retry import retry
from headgate.storage.table import Write

PREFIX: Final = "ss_"
LIFETIME: Final = timedelta(hours=12)
# A request limit is for each credential, so a person has at most this many times the limit.
MAX_SESSIONS: Final = 10


def begin(
    user: User,
    kind: SessionKind,
    at: datetime,
    organization_id: str | None = None,
    conditions: Sequence[Write] = (),
    refusal: HeadgateError | None = None,
) -> tuple[Session, str]:
    """Sign in the person, whose identity was proven at `at`; `conditions` hold in the moment that the session begins.

    Returns the session and its value, which cannot be read again. If the person has ten sessions, the oldest ends.
    Raises NotAuthenticated if all of the person's sessions were ended after `at`, `refusal` if one of the conditions
    does not hold.
    """
    session, value = retry(lambda: _begin(user, kind, at, organization_id, conditions, refusal))
    _require_not_ended(session, at)
    return session, value


def _begin(
    user: User,
    kind: SessionKind,
    at: datetime,
    organization_id: str | None,
    conditions: Sequence[Write],
    refusal: HeadgateError | None,
) -> tuple[Session, str]:
    """Take a place among the person's sessions, end those that are too many, and begin if the place still exists.

    So no more than `MAX_SESSIONS` are ever live, however many begin at once: the last to look has seen all places
    (docs/identity.md). One put, one query and one transaction. Raises LostRace if newer
    sessions took the place.
    """
    value = PREFIX + secrets.token_urlsafe(32)
    # The id holds the moment of its place, not of the sign-in: the newest places stay.
    session = Session(new_id("ses"), user, kind, organization_id, at, at + LIFETIME, hash_of(value))
    session_store.take_place(session)
    _end_the_oldest(user)
    session_store.begin(session, conditions, refusal)
    return session, value


def _end_the_oldest(user: User) -> None:
    for place in session_store.places(user.id)[:-MAX_SESSIONS]:
        session_store.end(place)


def end(session: Session) -> None:
    """End the session at once; one transaction."""
    session_store.end(SessionPlace.of(session))


def _require_not_ended(session: Session, since: datetime) -> None:
    """End a session that was just begun for somebody who signed in at `since`, if `end_all` came later; one read.

    It is not a condition of the transaction, because two sign-ins of one person at once would collide at the person's
    item. `end_all` writes its time before it looks for sessions, and this reads the time after the session is stored:
    one of the two sees the other. Raises NotAuthenticated.
    """
    ended_at = session_store.ended_at(session.user.id)
    if ended_at is not None and ended_at > since:
        end(session)
        raise NotAuthenticated


def end_all(user: User) -> None:
    """End all of the person's sessions, and let no login that was approved before begin one.

    So whoever knows the old password has no session left, either.
    """
    at = clock.now()
    retry(lambda: session_store.set_ended_at(user.id, at))
    for place in session_store.places(user.id):
        session_store.end(place)


def caller(session: Session, organization_id: str | None) -> Caller:
    """The person as a caller in the organization; one read.

    Raises OrganizationHeaderRequired for what is not an organization's id, NotAnActiveMember, also for a command line
    outside of the organization of its approval.
    """
    if organization_id is None or not is_id("org", organization_id):
        raise OrganizationHeaderRequired
    if session.kind == "cli" and session.organization_id != organization_id:
        raise NotAnActiveMember
    membership = member_store.membership(organization_id, session.user.id)
    if membership is None:
        raise NotAnActiveMember
    return Caller(
        organization_id=organization_id,
        organization_name=membership.organization_name,
        principal=Principal("user", session.user.id, session.user.email),
        name=session.user.email,
        role=membership.role,
        access="read_write",
        credential_id=session.id,
        people=(session.user.id,),
    )


def organizations(session: Session) -> list[Membership]:
    """The person's organizations by name; for a session of the command line, the one of its approval."""
    memberships = member_store.memberships(session.user.id)
    if session.kind == "browser":
        return memberships
    return [membership for membership in memberships if membership.organization_id == session.organization_id]
