"""Sessions of people: begun by a sign-in, ended by a sign-out or after twelve hours."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from headgate import clock, dynamo
from headgate.dynamo import Item
from headgate.identity import keys, member_store, store, table
from headgate.identity.model import (
    Caller,
    Membership,
    NotAnActiveMember,
    NotAuthenticated,
    OrganizationHeaderRequired,
    Principal,
    Session,
    SessionKind,
    User,
)
from headgate.ids import is_id, new_id

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

PREFIX: Final = "ss_"
LIFETIME: Final = timedelta(hours=12)


def begin(user: User, kind: SessionKind, at: datetime) -> tuple[Session, str]:
    """Sign the person in, who was found to be it at `at`. Returns the session with its value, which nobody had before
    and cannot be had again.

    Raises NotAuthenticated when all of the person's sessions were ended since.
    """
    session, value, writes = begun(user, kind, at)
    table.transact(*writes)
    _require_not_ended(session, at)
    return session, value


def begun(user: User, kind: SessionKind, at: datetime) -> tuple[Session, str, Sequence[TransactWriteItemTypeDef]]:
    """A new session, its value, and the writes that make it, to stand in a transaction."""
    value = PREFIX + secrets.token_urlsafe(32)
    session = Session(new_id("ses", at), user, kind, at, at + LIFETIME, store.hash_of(value))
    item: Item = {
        "session_id": session.id,
        "user_id": user.id,
        "email": user.email,
        "user_created_at": clock.rfc3339(user.created_at),
        "kind": kind,
        "created_at": clock.rfc3339(at),
        **table.expiry(session.expires_at),
    }
    listing: Item = {"value_hash": session.value_hash, **table.expiry(session.expires_at)}
    writes = (
        table.put_new(keys.session(session.value_hash) | item),
        table.put_new(keys.session_listing(user.id, session.id) | listing),
    )
    return session, value, writes


def of_item(item: Item, value_hash: str) -> Session:
    """The session that an item of the table holds."""
    return Session(
        id=dynamo.text(item, "session_id"),
        user=User(
            dynamo.text(item, "user_id"),
            dynamo.text(item, "email"),
            clock.parse(dynamo.text(item, "user_created_at")),
        ),
        kind="browser" if item["kind"] == "browser" else "cli",
        created_at=clock.parse(dynamo.text(item, "created_at")),
        expires_at=clock.parse(dynamo.text(item, "expires_at")),
        value_hash=value_hash,
    )


def end(session: Session) -> None:
    """It stops at once; one transaction."""
    table.transact(
        table.delete(keys.session(session.value_hash)),
        table.delete(keys.session_listing(session.user.id, session.id)),
    )


def not_ended(user_id: str, since: datetime) -> TransactWriteItemTypeDef:
    """The condition that `end_all` did not come after `since`, to stand in a transaction."""
    condition = "attribute_not_exists(sessions_ended_at) OR sessions_ended_at <= :since"
    return table.check(keys.user(user_id), condition, {":since": clock.rfc3339(since)})


def _require_not_ended(session: Session, since: datetime) -> None:
    """End a session that was just begun for somebody who was let in at `since`, if `end_all` came later; one read.

    Not a condition of the transaction: two sign-ins of one person at once would collide at the person's item. Whichever
    comes first, one of the two sees the other: `end_all` leaves its mark before it looks for sessions, and this looks
    for the mark when the session is there. Raises NotAuthenticated.
    """
    item = table.get(keys.user(session.user.id))
    ended_at = dynamo.optional_text(item, "sessions_ended_at") if item else None
    if ended_at is not None and clock.parse(ended_at) > since:
        end(session)
        raise NotAuthenticated


def end_all(user: User) -> None:
    """All of the person's sessions stop, and what was approved before begins none: whoever has an old password shall
    have nothing else either.
    """
    values: Item = {":at": clock.rfc3339(clock.now())}
    table.transact(table.update(keys.user(user.id), "SET sessions_ended_at = :at", "attribute_exists(pk)", values))
    for item in table.query_all(dynamo.text(keys.user(user.id), "pk"), "session#"):
        listing: keys.Key = {"pk": item["pk"], "sk": item["sk"]}
        table.transact(table.delete(keys.session(dynamo.text(item, "value_hash"))), table.delete(listing))


def caller(session: Session, organization_id: str | None) -> Caller:
    """The person as a caller in the organization; one read.

    Raises OrganizationHeaderRequired for what is no organization's id, NotAnActiveMember.
    """
    if organization_id is None or not is_id("org", organization_id):
        raise OrganizationHeaderRequired
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
    )


def organizations(session: Session) -> list[Membership]:
    """The person's organizations by name."""
    return member_store.memberships(session.user.id)
