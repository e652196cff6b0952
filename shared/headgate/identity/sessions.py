"""Sessions of people: begun by a sign-in, ended by a sign-out or after twelve hours."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from headgate.foundation import clock
from headgate.foundation.ids import is_id, new_id
from headgate.identity import keys, member_store, table
from headgate.identity.hashing import hash_of
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
from headgate.storage import items
from headgate.storage.items import Item
from headgate.storage.retry import LostRace, retry

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

PREFIX: Final = "ss_"
LIFETIME: Final = timedelta(hours=12)


# A request limit is for each credential, so this is also how many times it a person may have.
MOST: Final = 10


def begin(
    user: User,
    kind: SessionKind,
    at: datetime,
    organization_id: str | None = None,
    *conditions: TransactWriteItemTypeDef,
) -> tuple[Session, str]:
    """Sign the person in, who was found to be it at `at`; `conditions` hold in the moment that the session begins.

    Returns the session with its value, which nobody had before and cannot be had again. The oldest ends where the
    person had as many as there may be. Raises NotAuthenticated when all of the person's sessions were ended since, and
    botocore's error with the conditions' codes at its end where one of them fails.
    """
    session, value = retry(lambda: _begin(user, kind, at, organization_id, conditions))
    _require_not_ended(session, at)
    return session, value


def _begin(
    user: User,
    kind: SessionKind,
    at: datetime,
    organization_id: str | None,
    conditions: Sequence[TransactWriteItemTypeDef],
) -> tuple[Session, str]:
    """Take a place among the person's sessions, end those that are too many, and only then begin, if the place is kept.

    So no more than `MOST` are ever live, however many begin at once: of any that are, the last to look has seen the
    places of all (docs/decisions/0072-at-most-ten-sessions.md). One put, one query and one transaction. Raises
    LostRace when newer ones took the place.
    """
    value = PREFIX + secrets.token_urlsafe(32)
    # By the moment of its place, not of the sign-in: the newest places stay.
    session = Session(new_id("ses"), user, kind, organization_id, at, at + LIFETIME, hash_of(value))
    place = keys.session_listing(user.id, session.id)
    table.put({**place, "value_hash": session.value_hash, **table.expiry(session.expires_at)})
    _end_the_oldest(user)
    item: Item = {
        "session_id": session.id,
        "user_id": user.id,
        "email": user.email,
        "user_created_at": clock.rfc3339(user.created_at),
        "kind": kind,
        "organization_id": organization_id,
        "created_at": clock.rfc3339(at),
        **table.expiry(session.expires_at),
    }
    try:
        table.transact(table.must_exist(place), table.put_new(keys.session(session.value_hash) | item), *conditions)
    except ClientError as error:
        if items.cancellation_codes(error)[:1] == ["ConditionalCheckFailed"]:
            raise LostRace from error
        # Whatever the error, nobody has the value.
        _end_listed({**place, "value_hash": session.value_hash})
        if "TransactionConflict" in items.cancellation_codes(error):
            raise LostRace from error
        raise
    return session, value


def _end_the_oldest(user: User) -> None:
    listed = table.query_all(items.text(keys.user(user.id), "pk"), "session#")
    for item in listed[:-MOST]:
        _end_listed(item)


def of_item(item: Item, value_hash: str) -> Session:
    """The session that an item of the table holds."""
    return Session(
        id=items.text(item, "session_id"),
        user=User(
            items.text(item, "user_id"),
            items.text(item, "email"),
            clock.parse(items.text(item, "user_created_at")),
        ),
        kind="browser" if item["kind"] == "browser" else "cli",
        organization_id=items.optional_text(item, "organization_id"),
        created_at=clock.parse(items.text(item, "created_at")),
        expires_at=clock.parse(items.text(item, "expires_at")),
        value_hash=value_hash,
    )


def end(session: Session) -> None:
    """It stops at once; one transaction."""
    _end_listed({**keys.session_listing(session.user.id, session.id), "value_hash": session.value_hash})


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
    ended_at = items.optional_text(item, "sessions_ended_at") if item else None
    if ended_at is not None and clock.parse(ended_at) > since:
        end(session)
        raise NotAuthenticated


def end_all(user: User) -> None:
    """All of the person's sessions stop, and what was approved before begins none: whoever has an old password shall
    have nothing else either.
    """
    values: Item = {":at": clock.rfc3339(clock.now())}
    table.transact(table.update(keys.user(user.id), "SET sessions_ended_at = :at", "attribute_exists(pk)", values))
    for item in table.query_all(items.text(keys.user(user.id), "pk"), "session#"):
        _end_listed(item)


def _end_listed(item: Item) -> None:
    listing: keys.Key = {"pk": item["pk"], "sk": item["sk"]}
    session = table.delete(keys.session(items.text(item, "value_hash")))

    def once() -> None:
        try:
            table.transact(session, table.delete(listing))
        except ClientError as error:
            if items.lost_a_race(error):
                raise LostRace from error
            raise

    retry(once)


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
    )


def organizations(session: Session) -> list[Membership]:
    """The person's organizations by name; of a command line's session, the one that it is held to."""
    found = member_store.memberships(session.user.id)
    return (
        found if session.kind == "browser" else [one for one in found if one.organization_id == session.organization_id]
    )
