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
from typing import Final

from headgate.audit import service as audit
from headgate.foundation import errors, ids
from headgate.foundation.caller import Caller
from headgate.foundation.hashing import hash_of
from headgate.identity import attempts, login_store, session_store, sessions
from headgate.identity.login_store import Approval, Login
from headgate.identity.model import Session, User
from headgate.storage.retry import retried, retry

LIFETIME: Final = timedelta(minutes=5)
POLL_SECONDS: Final = 2
# No vowels, so that it spells no words, and no characters that look alike (RFC 8628, 6.1).
_USER_CODE_ALPHABET: Final = "BCDFGHJKLMNPQRSTVWXZ"
_CODE_ALPHABET: Final = ids.ALPHABET.upper()
_CODE_LENGTH: Final = 26


@dataclass(frozen=True, slots=True)
class DeviceLogin:
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
    detail = "This code is not valid: it was mistyped, was used, or has expired. Start the login again"


class Pending(errors.BadRequest):
    code = "authorization_pending"
    detail = "Nobody has approved this login yet"


class Denied(errors.BadRequest):
    code = "access_denied"
    detail = "The login was denied in the browser"


class Expired(errors.BadRequest):
    """Also for a code that never existed."""

    code = "expired_token"
    detail = "This login has expired or was used already; start it again"


class InvalidGrant(errors.BadRequest):
    code = "invalid_grant"
    detail = "This code is not valid: it was used already, has expired, or belongs to another login"


def begin_device(client: str, at: datetime) -> DeviceLogin:
    """Begin a login for somebody at the network address `client`; three writes. Raises TooManyAttempts."""
    attempts.take(attempts.LOGIN_FROM_ADDRESS, client, at)
    device_code = secrets.token_urlsafe(32)
    code = "".join(secrets.choice(_USER_CODE_ALPHABET) for _ in range(8))
    login_store.create_device(hash_of(device_code), _hash_of_user_code(code), client, at + LIFETIME)
    return DeviceLogin(device_code, written(code))


def find_device(session: Session, user_code: str, at: datetime) -> str:
    """The network address where the login began, to be shown to the person who is asked.

    Raises LoginNotFound, TooManyAttempts for a session that guesses.
    """
    attempts.take(attempts.USER_CODE_OF_SESSION, session.id, at)
    client = _pending(user_code, at).client
    attempts.give_back(attempts.USER_CODE_OF_SESSION, session.id)
    return client


@retried
def approve_device(caller: Caller, user_code: str, at: datetime) -> None:
    """Let the command line act as the caller in the caller's organization; works once. Raises LoginNotFound."""
    login = _pending(user_code, at)
    entry = audit.entry(caller, "login.approved", caller.principal.id, client=login.client)
    login_store.approve(login, _hash_of_user_code(user_code), _approval(caller, at), entry)


def deny_device(user_code: str, at: datetime) -> None:
    """Raises LoginNotFound."""
    retry(lambda: login_store.deny(_pending(user_code, at), _hash_of_user_code(user_code)))


def redeem_device(device_code: str, at: datetime) -> Granted:
    """The session of an approved login; it works once. Raises Pending, Denied, Expired."""
    login = login_store.by_secret(hash_of(device_code), at)
    if login is None or login.kind != "device":
        raise Expired
    if login.status == "pending":
        raise Pending
    if login.approval is None:
        raise Denied
    return _grant(login, login.approval, at, Expired())


def begin_code(caller: Caller, challenge: str, at: datetime) -> str:
    """A code to paste, with its checksum, for whoever has the verifier of the challenge; one transaction."""
    code = "".join(secrets.choice(_CODE_ALPHABET) for _ in range(_CODE_LENGTH))
    entry = audit.entry(caller, "login.approved", caller.principal.id, client="code to paste")
    login_store.create_code(hash_of(code), challenge, _approval(caller, at), at + LIFETIME, entry)
    text = code + checksum(code)
    return "-".join(text[start : start + 5] for start in range(0, len(text), 5))


def redeem_code(code: str, verifier: str, at: datetime) -> Granted:
    """The session for a code; it works once, and a wrong verifier uses it up too. Raises InvalidGrant."""
    login = login_store.by_secret(hash_of(code), at)
    if login is None or login.kind != "code" or login.approval is None:
        raise InvalidGrant
    if not hmac.compare_digest(challenge_of(verifier), login.challenge):
        login_store.delete(login)
        raise InvalidGrant
    return _grant(login, login.approval, at, InvalidGrant())


def challenge_of(verifier: str) -> str:
    """PKCE's S256 (RFC 7636, 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def checksum(code: str) -> str:
    """Four characters, 20 bits of SHA-256, that tell a mistyped code before it is sent anywhere."""
    number = int.from_bytes(hashlib.sha256(code.encode()).digest()[:4], "big") >> 12
    return "".join(_CODE_ALPHABET[number >> shift & 31] for shift in (15, 10, 5, 0))


def _grant(login: Login, approval: Approval, at: datetime, used: errors.HeadgateError) -> Granted:
    """Begin the session and delete the login, in one transaction.

    Raises `used` if another request was first, or if all of the person's sessions were ended after the approval.
    """
    conditions = [
        session_store.not_ended_since(approval.user_id, approval.approved_at or at),
        login_store.delete_approved(login),
    ]
    user = User(approval.user_id, approval.email, at)
    session, value = sessions.begin(user, "cli", at, approval.organization_id, conditions, used)
    return Granted(value, session, approval.organization_id, approval.organization_name)


def _pending(user_code: str, at: datetime) -> Login:
    login = login_store.pending(_hash_of_user_code(user_code), at)
    if login is None:
        raise LoginNotFound
    return login


def _approval(caller: Caller, at: datetime) -> Approval:
    return Approval(caller.principal.id, caller.name, at, caller.organization_id, caller.organization_name)


def written(user_code: str) -> str:
    """A user code as the command line shows it, whatever else is in a link that holds it."""
    letters = _letters(user_code)
    return f"{letters[:4]}-{letters[4:]}"


def _hash_of_user_code(text: str) -> str:
    return hash_of(_letters(text))


def _letters(user_code: str) -> str:
    """The letters of the code alone, so that it may be typed in small letters and without the dash."""
    return "".join(letter for letter in user_code.upper() if letter in _USER_CODE_ALPHABET)[:16]
