"""Credentials: tokens and the service accounts that hold them."""

import secrets
from datetime import datetime
from typing import Final

from headgate.audit import service as audit
from headgate.foundation import clock, errors
from headgate.foundation.ids import new_id
from headgate.identity import keys, member_store, sessions, store, table
from headgate.identity.hashing import hash_of
from headgate.identity.model import (
    Access,
    Caller,
    NotAuthenticated,
    Organization,
    Principal,
    RateWindow,
    ServiceAccount,
    ServiceAccountNotFound,
    Session,
    Token,
    User,
)
from headgate.settings import settings
from headgate.storage import items
from headgate.storage.items import Item
from headgate.storage.page import Slice

TOKEN_PREFIX: Final = "sv_"  # noqa: S105  the specification's prefix, no secret
# 32 random bytes in unpadded base64url.
_SECRET_LENGTH: Final = 43
# Of a change that another one came before.
_TRIES: Final = 10


def authenticate(credential: str, at: datetime) -> tuple[Caller | Session, RateWindow]:
    """Who presents `credential`, and what is left of its minute; one read and one write.

    The read is consistent, so that what was deleted stops at once. What is not there, or has expired, is not counted:
    guessing leaves nothing in the table.

    A token leads to its caller; a session to a person, who becomes a caller by naming an organization
    (`sessions.caller`). Raises NotAuthenticated whatever is wrong with it.
    """
    prefix, secret = credential[:3], credential[3:]
    if prefix not in (TOKEN_PREFIX, sessions.PREFIX) or len(secret) != _SECRET_LENGTH or not credential.isascii():
        raise NotAuthenticated
    minute, second = divmod(int(at.timestamp()), 60)
    # Looked up by the whole hash: nothing of the value is compared that a clock could measure.
    value_hash = hash_of(credential)
    item = table.get(keys.token(value_hash) if prefix == TOKEN_PREFIX else keys.session(value_hash))
    if item is None or table.expired(item, at):
        raise NotAuthenticated
    found = sessions.of_item(item, value_hash) if prefix == sessions.PREFIX else _caller(item)
    if isinstance(found, Session) and found.kind == "cli" and found.organization_id is None:
        # Begun before sessions kept the organization of their approval: nobody can tell any more which it was.
        raise NotAuthenticated
    used = store.count_use(found.id if isinstance(found, Session) else found.credential_id, minute)
    return found, RateWindow(limit=settings().rate_limit_per_minute, used=used, reset=60 - second)


def _caller(item: Item) -> Caller:
    """Whom the token that an item holds belongs to."""
    return Caller(
        organization_id=items.text(item, "organization_id"),
        organization_name=items.text(item, "organization_name"),
        principal=Principal(
            "service_account", items.text(item, "service_account_id"), items.text(item, "service_account_name")
        ),
        name=items.text(item, "name"),
        role="contributor",
        access="read_write" if items.text(item, "access") == "read_write" else "read",
        credential_id=items.text(item, "token_id"),
    )


def create_organization(name: str, admin: User | None = None) -> Organization:
    """Make an organization, with its first Admin; without one it has to be given tokens by the caller's own means."""
    organization = Organization(id=new_id("org"), name=name, created_at=clock.now())
    member_store.put_organization(organization, admin, "invited")
    return organization


def create_service_account(organization_id: str, name: str, *, by: Caller | None = None) -> ServiceAccount:
    """Make a service account, a member and Contributor. Raises AdminRequired."""
    if by is not None:
        by.require_admin()
    account = ServiceAccount(id=new_id("sva"), organization_id=organization_id, name=name, created_at=clock.now())
    store.put_service_account(
        account, *([audit.entry(by, "service_account.created", account.id, name=name)] if by else [])
    )
    return account


def service_accounts(caller: Caller, limit: int, after: str | None) -> Slice[ServiceAccount]:
    """Raises AdminRequired."""
    caller.require_admin()
    return store.service_accounts(caller.organization_id, limit, after)


def service_account(caller: Caller, service_account_id: str) -> ServiceAccount:
    """Raises AdminRequired, ServiceAccountNotFound."""
    caller.require_admin()
    return store.service_account(caller.organization_id, service_account_id)[0]


def delete_service_account(caller: Caller, service_account_id: str) -> None:
    """Delete it with its membership and tokens, which stop at once. Raises AdminRequired, ServiceAccountNotFound."""
    caller.require_admin()
    for _ in range(_TRIES):
        account, revision = store.service_account(caller.organization_id, service_account_id)
        entry = audit.entry(caller, "service_account.deleted", account.id, name=account.name)
        if store.delete_service_account(account, revision, entry):
            return
    raise errors.Contention("Too many changes at once; nothing was saved, try again shortly")


def tokens(caller: Caller, service_account_id: str) -> list[Token]:
    """All of an account's tokens. Raises AdminRequired, ServiceAccountNotFound."""
    account = service_account(caller, service_account_id)
    return store.tokens(caller.organization_id, account.id)


def create_token(
    organization_id: str,
    service_account_id: str,
    *,
    name: str,
    access: Access,
    expires_at: datetime | None = None,
    by: Caller | None = None,
) -> tuple[Token, str]:
    """Make a token. Returns it with its value, which cannot be had again.

    Raises AdminRequired, ServiceAccountNotFound, TooManyTokens.
    """
    if by is not None:
        by.require_admin()
    for _ in range(_TRIES):
        account, revision = store.service_account(organization_id, service_account_id)
        organization_name = member_store.organization_name(organization_id)
        if organization_name is None:
            raise ServiceAccountNotFound
        value = TOKEN_PREFIX + secrets.token_urlsafe(32)
        token = Token(
            id=new_id("tok"),
            organization_id=organization_id,
            service_account_id=service_account_id,
            name=name,
            access=access,
            created_at=clock.now(),
            expires_at=expires_at,
        )
        entries = [audit.entry(by, "token.created", token.id, name=name, access=access)] if by else []
        if store.put_token(token, hash_of(value), organization_name, account.name, revision, *entries):
            return token, value
    raise errors.Contention("Too many changes at once; nothing was saved, try again shortly")


def delete_token(caller: Caller, service_account_id: str, token_id: str) -> None:
    """It stops at once. Raises AdminRequired, TokenNotFound."""
    caller.require_admin()
    entry = audit.entry(caller, "token.deleted", token_id, service_account_id=service_account_id)
    store.delete_token(caller.organization_id, service_account_id, token_id, entry)
