"""Logins of the command line that are under way, in the identity table.

A login stands under the hash of a secret that only the command line has. That of a device is named by its short code,
too, until it is answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from headgate.foundation import clock
from headgate.identity import keys
from headgate.storage import items, table
from headgate.storage.items import Item
from headgate.storage.table import Key, Write, identity

LoginKind = Literal["device", "code"]
LoginStatus = Literal["pending", "approved", "denied"]
_APPROVE: Final = (
    "SET #status = :status, user_id = :user_id, email = :email, approved_at = :approved_at, "
    "organization_id = :organization_id, organization_name = :organization_name"
)


@dataclass(frozen=True, slots=True)
class Approval:
    """Who approved a login, when, and in which organization.

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

    key: Key
    kind: LoginKind
    status: LoginStatus
    client: str
    challenge: str
    approval: Approval | None


def create_device(secret_hash: str, code_hash: str, client: str, expires_at: datetime) -> None:
    """Store a pending login and its short code; one transaction."""
    key = keys.login(secret_hash)
    expiry = items.expiry(expires_at)
    table.transact(
        [
            identity.put_new(key | {"kind": "device", "status": "pending", "client": client, **expiry}),
            identity.put_new(keys.user_code(code_hash) | {"login": key["pk"], **expiry}),
        ]
    )


def create_code(secret_hash: str, challenge: str, approval: Approval, expires_at: datetime, *more: Write) -> None:
    """Store a login that is approved already, and `more`; one transaction."""
    item = {"kind": "code", "status": "approved", "challenge": challenge, **_attributes(approval)}
    table.transact([identity.put_new(keys.login(secret_hash) | item | items.expiry(expires_at)), *more])


def by_secret(secret_hash: str, at: datetime) -> Login | None:
    """One read; None for a login that has expired, too."""
    return _read(keys.login(secret_hash), at)


def pending(code_hash: str, at: datetime) -> Login | None:
    """The login that waits for an answer under the short code; two reads."""
    listing = identity.get(keys.user_code(code_hash))
    if listing is None:
        return None
    login = by_secret(keys.secret_hash_of(items.text(listing, "login")), at)
    return login if login and login.status == "pending" else None


def approve(login: Login, code_hash: str, approval: Approval, *more: Write) -> None:
    """Approve a pending login, delete its short code and write `more`; one transaction. Raises LostRace."""
    values = {f":{name}": value for name, value in _attributes(approval).items()}
    _answer(login, code_hash, _APPROVE, values | {":status": "approved"}, *more)


def deny(login: Login, code_hash: str) -> None:
    """Deny a pending login and delete its short code; one transaction. Raises LostRace."""
    _answer(login, code_hash, "SET #status = :status", {":status": "denied"})


def delete(login: Login) -> None:
    """One delete."""
    table.write(identity.delete(login.key))


def delete_approved(login: Login) -> Write:
    """The delete of a login that is still there and approved."""
    return identity.delete(login.key, "#status = :approved", {":approved": "approved"})


def _answer(login: Login, code_hash: str, change: str, values: Item, *more: Write) -> None:
    answered = identity.update(login.key, change, "#status = :pending", values | {":pending": "pending"})
    table.transact([answered, identity.delete(keys.user_code(code_hash)), *more])


def _read(key: Key, at: datetime) -> Login | None:
    item = identity.get(key)
    if item is None or items.expired(item, at):
        return None
    status = items.text(item, "status")
    return Login(
        key=key,
        kind="device" if item["kind"] == "device" else "code",
        status="pending" if status == "pending" else "denied" if status == "denied" else "approved",
        client=items.optional_text(item, "client") or "",
        challenge=items.optional_text(item, "challenge") or "",
        approval=_approval(item) if status == "approved" else None,
    )


def _attributes(approval: Approval) -> Item:
    return {
        "user_id": approval.user_id,
        "email": approval.email,
        "approved_at": clock.rfc3339(approval.approved_at) if approval.approved_at else None,
        "organization_id": approval.organization_id,
        "organization_name": approval.organization_name,
    }


def _approval(item: Item) -> Approval:
    approved_at = items.optional_text(item, "approved_at")
    return Approval(
        user_id=items.text(item, "user_id"),
        email=items.text(item, "email"),
        approved_at=clock.parse(approved_at) if approved_at else None,
        organization_id=items.text(item, "organization_id"),
        organization_name=items.text(item, "organization_name"),
    )
