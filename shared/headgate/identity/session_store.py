"""Sessions in the identity table: each by the hash of its value, and listed among those of its person.

The listing is the session's place: no more sessions than places begin (docs/identity.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from botocore.exceptions import ClientError

from headgate.foundation import clock
from headgate.foundation.errors import HeadgateError
from headgate.identity import keys
from headgate.identity.model import NotAuthenticated, Session
from headgate.storage import items, table
from headgate.storage.items import Item
from headgate.storage.retry import retry
from headgate.storage.stored import Stored
from headgate.storage.table import Write, identity

_SESSIONS: Final = Stored(
    Session, names={"id": "session_id"}, flat={"user": {"created_at": "user_created_at"}}, elsewhere=["value_hash"]
)


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """A session as its person's list names it; it may have ended, or not have begun."""

    user_id: str
    session_id: str
    value_hash: str

    @classmethod
    def of(cls, session: Session) -> SessionPlace:
        return cls(session.user.id, session.id, session.value_hash)


def get(value_hash: str, at: datetime) -> Session | None:
    """One read; None for a session that has expired, too."""
    item = identity.get(keys.session(value_hash))
    if item is None or items.expired(item, at):
        return None
    return _SESSIONS.read(item, value_hash=value_hash)


def take_place(session: Session) -> None:
    """List a session that is about to begin; one put."""
    listing = keys.session_listing(session.user.id, session.id)
    identity.put({**listing, "value_hash": session.value_hash, **items.expiry(session.expires_at)})


def places(user_id: str) -> list[SessionPlace]:
    """All places of the person, the oldest first; one query."""
    listed = identity.list_all(keys.user_partition(user_id), keys.SESSIONS)
    return [
        SessionPlace(user_id, keys.session_id_of(items.text(item, "sk")), items.text(item, "value_hash"))
        for item in listed
    ]


def begin(session: Session, conditions: Sequence[Write], refusal: Exception | None) -> None:
    """Store the session if its place still exists and the `conditions` hold, else end its place; one transaction.

    Raises `refusal` if one of the conditions does not hold, LostRace.
    """
    place = SessionPlace.of(session)
    item = _SESSIONS.item(session) | items.expiry(session.expires_at)
    writes = [identity.must_exist(_listing(place)), identity.put_new(keys.session(session.value_hash) | item)]
    refusals = {len(writes) + number: refusal for number in range(len(conditions))} if refusal else {}
    try:
        table.transact([*writes, *conditions], refusals)
    except (ClientError, HeadgateError):
        # Whatever the error, nobody has the value.
        end(place)
        raise


def end(place: SessionPlace) -> None:
    """Delete the session and its listing; one transaction, repeated if another one collides with it."""
    deletes = [identity.delete(keys.session(place.value_hash)), identity.delete(_listing(place))]
    retry(lambda: table.transact(deletes))


def ended_at(user_id: str) -> datetime | None:
    """Returns when all of the person's sessions were last ended, None for never; one read."""
    item = identity.get(keys.user(user_id))
    at = items.optional_text(item, "sessions_ended_at") if item else None
    return clock.parse(at) if at else None


def set_ended_at(user_id: str, at: datetime) -> None:
    """One transaction of one update. Raises NotAuthenticated if there is no such person, LostRace."""
    values: Item = {":at": clock.rfc3339(at)}
    ended = identity.update(keys.user(user_id), "SET sessions_ended_at = :at", "attribute_exists(pk)", values)
    table.transact([ended], {0: NotAuthenticated()})


def not_ended_since(user_id: str, since: datetime) -> Write:
    """The condition that the person's sessions were not all ended after `since`."""
    condition = "attribute_not_exists(sessions_ended_at) OR sessions_ended_at <= :since"
    return identity.check(keys.user(user_id), condition, {":since": clock.rfc3339(since)})


def _listing(place: SessionPlace) -> table.Key:
    return keys.session_listing(place.user_id, place.session_id)
