"""Logins of the command line, approved in a browser: by a device code (RFC 8628), or by a code to paste (RFC 7636).

Either way a login is one item under the hash of a secret, for five minutes; redeeming it deletes it in the transaction
that begins the session, so it works once.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from headgate.audit import service as audit
from headgate.foundation import clock, errors
from headgate.identity import attempts, keys, sessions, table
from headgate.identity.hashing import hash_of
from headgate.identity.model import Caller, Session, User
from headgate.settings import settings
from headgate.storage import aws, items
from headgate.storage.items import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

LIFETIME: Final = timedelta(minutes=5)
POLL_SECONDS: Final = 2
# No vowels, so that no words come of it, and nothing that looks like another one (RFC 8628, 6.1).
_USER_CODE_ALPHABET: Final = "BCDFGHJKLMNPQRSTVWXZ"
_CODE_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_CODE_LENGTH: Final = 26
_CHECKSUM_LENGTH: Final = 4


@dataclass(frozen=True, slots=True)
class Device:
    """A login that the command line waits for."""

    device_code: str
    user_code: str


@dataclass(frozen=True, slots=True)
class Granted:
    """A new session of the command line."""

    value: str
    session: Session
    organization_id: str
    organization_name: str


class LoginNotFound(errors.NotFound):
    """Unknown, answered, used or expired; which of them is not told."""

    code = "login_not_found"

    def __init__(self) -> None:
        super().__init__("This code is not valid: it was mistyped, was used, or has expired. Start the login again")


class Pending(errors.BadRequest):
    code = "authorization_pending"

    def __init__(self) -> None:
        super().__init__("Nobody has approved this login yet")


class Denied(errors.BadRequest):
    code = "access_denied"

    def __init__(self) -> None:
        super().__init__("The login was denied in the browser")


class Expired(errors.BadRequest):
    """Also for a code that never was."""

    code = "expired_token"

    def __init__(self) -> None:
        super().__init__("This login has expired or was used already; start it again")


class InvalidGrant(errors.BadRequest):
    code = "invalid_grant"

    def __init__(self) -> None:
        super().__init__("This code is not valid: it was used already, has expired, or is of another login")


def begin_device(client: str, at: datetime) -> Device:
    """Begin a login for somebody at the network address `client`; three writes. Raises TooManyAttempts."""
    attempts.take(attempts.LOGIN_FROM_ADDRESS, client, at)
    device_code = secrets.token_urlsafe(32)
    code = "".join(secrets.choice(_USER_CODE_ALPHABET) for _ in range(8))
    expiry = table.expiry(at + LIFETIME)
    login = keys.login(hash_of(device_code))
    table.transact(
        table.put_new(login | {"kind": "device", "status": "pending", "client": client, **expiry}),
        table.put_new(_user_code(code) | {"login": login["pk"], **expiry}),
    )
    return Device(device_code, f"{code[:4]}-{code[4:]}")


def find_device(session: Session, user_code: str, at: datetime) -> str:
    """The network address of whoever began the login, to be shown to the person who is asked.

    Raises LoginNotFound, TooManyAttempts for a session that guesses.
    """
    attempts.take(attempts.USER_CODE_OF_SESSION, session.id, at)
    client = items.text(_pending(user_code, at), "client")
    attempts.give_back(attempts.USER_CODE_OF_SESSION, session.id)
    return client


def approve_device(caller: Caller, user_code: str, at: datetime) -> None:
    """Let the command line act as the caller in the caller's organization; works once. Raises LoginNotFound."""
    item = _pending(user_code, at)
    _answer(
        item,
        user_code,
        {
            ":status": "approved",
            ":user": caller.principal.id,
            ":email": caller.name,
            ":at": clock.rfc3339(at),
            **_organization(caller),
        },
        "SET #status = :status, user_id = :user, email = :email, approved_at = :at, organization_id = :organization, "
        "organization_name = :organization_name",
        audit.entry(caller, "login.approved", caller.principal.id, client=items.text(item, "client")),
    )


def deny_device(user_code: str, at: datetime) -> None:
    """Raises LoginNotFound."""
    _answer(_pending(user_code, at), user_code, {":status": "denied"}, "SET #status = :status")


def redeem_device(device_code: str, at: datetime) -> Granted:
    """The session of an approved login; it works once. Raises Pending, Denied, Expired."""
    key = keys.login(hash_of(device_code))
    item = table.get(key)
    if item is None or table.expired(item, at) or item["kind"] != "device":
        raise Expired
    if item["status"] == "pending":
        raise Pending
    if item["status"] == "denied":
        raise Denied
    return _grant(key, item, at, Expired())


def begin_code(caller: Caller, challenge: str, at: datetime) -> str:
    """A code to paste, with its checksum, for whoever has the verifier of the challenge; one transaction."""
    code = "".join(secrets.choice(_CODE_ALPHABET) for _ in range(_CODE_LENGTH))
    item: Item = {
        "kind": "code",
        "status": "approved",
        "challenge": challenge,
        "user_id": caller.principal.id,
        "email": caller.name,
        "approved_at": clock.rfc3339(at),
        "organization_id": caller.organization_id,
        "organization_name": caller.organization_name,
        **table.expiry(at + LIFETIME),
    }
    table.transact(
        table.put_new(keys.login(hash_of(code)) | item),
        audit.entry(caller, "login.approved", caller.principal.id, client="code to paste"),
    )
    text = code + checksum(code)
    return "-".join(text[start : start + 5] for start in range(0, len(text), 5))


def redeem_code(code: str, verifier: str, at: datetime) -> Granted:
    """The session for a code; it works once, and a wrong verifier uses it up too. Raises InvalidGrant."""
    key = keys.login(hash_of(code))
    item = table.get(key)
    if item is None or table.expired(item, at) or item["kind"] != "code":
        raise InvalidGrant
    if not hmac.compare_digest(challenge_of(verifier), items.text(item, "challenge")):
        aws.dynamodb().delete_item(TableName=settings().identity_table, Key=items.marshal(key))
        raise InvalidGrant
    return _grant(key, item, at, InvalidGrant())


def challenge_of(verifier: str) -> str:
    """PKCE's S256 (RFC 7636, 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def checksum(code: str) -> str:
    """Four characters, 20 bits of SHA-256, that tell a mistyped code before it is sent anywhere."""
    number = int.from_bytes(hashlib.sha256(code.encode()).digest()[:4], "big") >> 12
    return "".join(_CODE_ALPHABET[number >> shift & 31] for shift in (15, 10, 5, 0))


def _grant(key: keys.Key, item: Item, at: datetime, used: errors.HeadgateError) -> Granted:
    user_id, email = items.text(item, "user_id"), items.text(item, "email")
    # Without the time: approved by the version before this one, while a deployment goes on.
    approved_at = items.optional_text(item, "approved_at")
    not_ended = sessions.not_ended(user_id, clock.parse(approved_at) if approved_at else at)
    login = table.delete(key, "#status = :approved", {":approved": "approved"})
    user, organization_id = User(user_id, email, at), items.text(item, "organization_id")
    try:
        session, value = sessions.begin(user, "cli", at, organization_id, not_ended, login)
    except ClientError as error:
        if items.lost_a_race(error):
            raise used from error
        raise
    return Granted(value, session, items.text(item, "organization_id"), items.text(item, "organization_name"))


def _pending(user_code: str, at: datetime) -> Item:
    marker = table.get(_user_code(user_code))
    item = table.get({"pk": marker["login"], "sk": "login"}) if marker else None
    if item is None or table.expired(item, at) or item["status"] != "pending":
        raise LoginNotFound
    return item


def _answer(item: Item, user_code: str, values: Item, change: str, *more: TransactWriteItemTypeDef) -> None:
    answered = table.update(
        {"pk": item["pk"], "sk": item["sk"]}, change, "#status = :pending", values | {":pending": "pending"}
    )
    try:
        table.transact(answered, table.delete(_user_code(user_code)), *more)
    except ClientError as error:
        if items.lost_a_race(error):
            raise LoginNotFound from error
        raise


def _user_code(text: str) -> keys.Key:
    """By its letters alone, so that it may be typed in small letters and without the dash."""
    letters = "".join(letter for letter in text.upper() if letter in _USER_CODE_ALPHABET)[:16]
    return keys.user_code(hashlib.sha256(letters.encode()).hexdigest())


def _organization(caller: Caller) -> Item:
    return {":organization": caller.organization_id, ":organization_name": caller.organization_name}
