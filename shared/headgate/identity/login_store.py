"""Logins of the command line that are under way, in the identity table.

A login stands under the hash of a secret that only the command line has. That of a device is named by its short code,
too, until it is answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from headgate.identity import keys
from headgate.storage import items, table
from headgate.storage.items import Item
from headgate.storage.stored import Stored
from headgate.storage.table import Write, identity

LoginKind = Literal["device", "code"]
LoginStatus = Literal["pending", "approved", "denied"]
_APPROVE: Final = (
    "SET #status = :status, user_id = :user_id, email = :email, approved_at = :approved_at, "
    "organization_id = :organization_id, organization_name = :organization_name"
)


@dataclass(frozen=True, slots=True)
class Approval:
    """The approval of a login: the person, the time and the organization.

    The time is None for what the version before this one stored, while a deployment goes on.
    """

    user_id: str
    email: str
    approved_at: datetime | None
    organization_id: str
    organization_name: str


@dataclass(frozen=True, slots=True)
class Login:
    """A login as it is stored.

    `client` is the network address of a device's command line, `challenge` that of a code's (PKCE); else they are
    empty. `approval` is None before the approval.
    """

    secret_hash: str
    kind: LoginKind
    status: LoginStatus
    client: str
    challenge: str
    approval: Approval | None


_APPROVALS: Final = Stored(Approval)
_NOTHING: Final = {"client": "", "challenge": ""}
_LOGINS: Final = Stored(
    Login, elsewhere=["secret_hash"], flat=["approval"], unless_default=_NOTHING.keys(), absent=_NOTHING
)


def create_device(secret_hash: str, code_hash: str, client: str, expires_at: datetime) -> None:
    """Store a pending login and its short code; one transaction."""
    key, expiry = keys.login(secret_hash), items.expiry(expires_at)
    pending = Login(secret_hash, "device", "pending", client, "", None)
    table.transact(
        [
            identity.put_new(key | _LOGINS.item(pending) | expiry),
            identity.put_new(keys.user_code(code_hash) | {"login": key["pk"], **expiry}),
        ]
    )


def create_code(secret_hash: str, challenge: str, approval: Approval, expires_at: datetime, *more: Write) -> None:
    """Store a login that is approved already, and `more`; one transaction."""
    key = keys.login(secret_hash)
    approved = Login(secret_hash, "code", "approved", "", challenge, approval)
    table.transact([identity.put_new(key | _LOGINS.item(approved) | items.expiry(expires_at)), *more])


def by_secret(secret_hash: str, at: datetime) -> Login | None:
    """One read; None for a login that has expired, too."""
    item = identity.get(keys.login(secret_hash))
    return _LOGINS.read(item, secret_hash=secret_hash) if item and not items.expired(item, at) else None


def pending(code_hash: str, at: datetime) -> Login | None:
    """The login that waits for an answer under the short code; two reads."""
    listing = identity.get(keys.user_code(code_hash))
    if listing is None:
        return None
    login = by_secret(keys.secret_hash_of(items.text(listing, "login")), at)
    return login if login and login.status == "pending" else None


def approve(login: Login, code_hash: str, approval: Approval, *more: Write) -> None:
    """Approve a pending login, delete its short code and write `more`; one transaction. Raises LostRace."""
    values = {f":{name}": value for name, value in _APPROVALS.item(approval).items()}
    _answer(login, code_hash, _APPROVE, values | {":status": "approved"}, *more)


def deny(login: Login, code_hash: str) -> None:
    """Deny a pending login and delete its short code; one transaction. Raises LostRace."""
    _answer(login, code_hash, "SET #status = :status", {":status": "denied"})


def delete(login: Login) -> None:
    """One delete."""
    table.write(identity.delete(keys.login(login.secret_hash)))


def delete_approved(login: Login) -> Write:
    """The delete of a login that is still there and approved."""
    return identity.delete(keys.login(login.secret_hash), "#status = :approved", {":approved": "approved"})


def _answer(login: Login, code_hash: str, change: str, values: Item, *more: Write) -> None:
    answered = identity.update(
        keys.login(login.secret_hash), change, "#status = :pending", values | {":pending": "pending"}
    )
    table.transact([answered, identity.delete(keys.user_code(code_hash)), *more])
