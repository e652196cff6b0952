"""Credentials: tokens and the service accounts that hold them."""

import contextlib
import ipaddress
import secrets
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from headgate.audit import service as audit
from headgate.foundation import clock
from headgate.foundation.caller import Access, Caller
from headgate.foundation.hashing import hash_of
from headgate.foundation.ids import new_id
from headgate.foundation.page import Slice
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.identity import member_store, rate_store, service_account_store, session_store, sessions
from headgate.identity.model import (
    NotAuthenticated,
    Organization,
    OwnerNotFound,
    RateWindow,
    ServiceAccount,
    ServiceAccountNotFound,
    Session,
    Token,
    User,
)
from headgate.storage.retry import retried, retry

TOKEN_PREFIX: Final = "sv_"  # noqa: S105  the specification's prefix, not a secret
# 32 random bytes in unpadded base64url.
_SECRET_LENGTH: Final = 43


def authenticate(credential: str, at: datetime, *, of_person: bool = False) -> tuple[Caller | Session, RateWindow]:
    """Authenticate `credential` and count the request in its minute; one read and one write.

    The read is consistent, so that what was deleted stops at once. What is not there, or has expired, is not counted:
    guessing leaves nothing in the table.

    A token leads to its caller; a session to a person, who becomes a caller by naming an organization
    (`sessions.caller`). With `of_person`, all sessions of a person count together, against the limit of a person.
    Raises NotAuthenticated whatever is wrong with it.
    """
    prefix, secret = credential[:3], credential[3:]
    if prefix not in (TOKEN_PREFIX, sessions.PREFIX) or len(secret) != _SECRET_LENGTH or not credential.isascii():
        raise NotAuthenticated
    minute, second = divmod(int(at.timestamp()), 60)
    # Looked up by the whole hash: nothing of the value is compared that a clock could measure.
    value_hash = hash_of(credential)
    authenticated: Caller | Session | None
    if prefix == TOKEN_PREFIX:
        authenticated = service_account_store.caller_of_token(value_hash, at)
    else:
        authenticated = session_store.get(value_hash, at)
    if authenticated is None:
        raise NotAuthenticated
    if isinstance(authenticated, Session) and authenticated.kind == "cli" and authenticated.organization_id is None:
        # Begun before sessions stored the organization of their approval: nobody can tell any more which it was.
        raise NotAuthenticated
    limit = settings().rate_limit_per_minute
    counted = authenticated.id if isinstance(authenticated, Session) else authenticated.credential_id
    if of_person and isinstance(authenticated, Session):
        limit, counted = settings().person_rate_limit_per_minute, f"person-{authenticated.user.id}"
    used = rate_store.count_use(counted, minute)
    return authenticated, RateWindow(limit=limit, used=used, reset=60 - second)


def admit_anonymous(address: str, at: datetime) -> RateWindow:
    """Count a request without a credential against the limit of its network address; one write.

    The address is hashed, so that it does not stay in the table. The first half of an IPv6 address counts:
    a client has a whole network, and could come from another address of it each time.
    """
    minute, second = divmod(int(at.timestamp()), 60)
    with contextlib.suppress(ValueError):
        parsed = ipaddress.ip_address(address)
        if parsed.version == 6 and parsed.ipv4_mapped is None:
            address = str(ipaddress.ip_network((parsed, 64), strict=False))
    used = rate_store.count_use(f"address-{hash_of(address)}", minute)
    return RateWindow(limit=settings().rate_limit_per_minute, used=used, reset=60 - second)


def create_organization(name: str, admin: User | None = None) -> Organization:
    """Create an organization, with its first Admin if there is one."""
    organization = Organization(id=new_id("org"), name=name, created_at=clock.now())
    member_store.put_organization(organization, admin, "invited")
    return organization


def create_service_account(organization_id: str, name: str, *, by: Caller | None = None) -> ServiceAccount:
    """Create a service account, a member and Contributor. Raises AdminRequired."""
    if by is not None:
        by.require_admin()
    account = ServiceAccount(
        id=new_id("sva"),
        organization_id=organization_id,
        name=name,
        created_at=clock.now(),
        created_by=by.principal if by else None,
    )
    entries = [audit.entry(by, "service_account.created", account.id, name=name)] if by else []
    service_account_store.create(account, *entries)
    return account


def service_accounts(caller: Caller, limit: int, after: str | None) -> Slice[ServiceAccount]:
    """Raises AdminRequired."""
    caller.require_admin()
    return service_account_store.list_accounts(caller.organization_id, limit, after)


def service_account(caller: Caller, service_account_id: str) -> ServiceAccount:
    """Raises AdminRequired, ServiceAccountNotFound."""
    caller.require_admin()
    return service_account_store.get(caller.organization_id, service_account_id)[0]


@retried
def delete_service_account(caller: Caller, service_account_id: str) -> None:
    """Delete it with its membership and tokens, which stop at once. Raises AdminRequired, ServiceAccountNotFound."""
    caller.require_admin()
    account, revision = service_account_store.get(caller.organization_id, service_account_id)
    entry = audit.entry(caller, "service_account.deleted", account.id, name=account.name)
    service_account_store.delete(account, revision, entry)


def tokens(caller: Caller, service_account_id: str) -> list[Token]:
    """All of an account's tokens. Raises AdminRequired, ServiceAccountNotFound."""
    account = service_account(caller, service_account_id)
    return service_account_store.tokens(caller.organization_id, account.id)


def expiring_tokens(after: datetime, until: datetime) -> Iterator[Token]:
    """The tokens of every organization that expire after `after`, `until` at the latest; two queries."""
    return service_account_store.expiring(after, until)


def tokens_until(caller: Caller, at: datetime) -> list[Token]:
    """The tokens of the organization's service accounts that expire at that time at the latest, for Admins.

    A query for each megabyte of its tokens. Raises AdminRequired.
    """
    caller.require_admin()
    return service_account_store.tokens_until(caller.organization_id, at)


@retried
def create_token(
    organization_id: str,
    service_account_id: str,
    *,
    name: str,
    access: Access,
    expires_at: datetime | None = None,
    owner: str | None = None,
    by: Caller | None = None,
) -> tuple[Token, str]:
    """Create a token. Returns it with its value, which cannot be read again.

    `owner` is the address of the member who is to hold it, by default who creates it. Neither may approve what it
    starts. Raises AdminRequired, ServiceAccountNotFound, OwnerNotFound, TooManyTokens.
    """
    if by is not None:
        by.require_admin()
    account, revision = service_account_store.get(organization_id, service_account_id)
    organization_name = member_store.organization_name(organization_id)
    if organization_name is None:
        raise ServiceAccountNotFound
    creator = by.principal if by else None
    value = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = Token(
        id=new_id("tok"),
        organization_id=organization_id,
        service_account_id=service_account_id,
        name=name,
        access=access,
        created_at=clock.now(),
        expires_at=expires_at,
        created_by=creator,
        owner=_owner(organization_id, owner) if owner else creator,
    )
    details = {"name": name, "access": access} | ({"owner": token.owner.name} if token.owner else {})
    entries = [audit.entry(by, "token.created", token.id, **details)] if by else []
    service_account_store.create_token(token, hash_of(value), organization_name, account, revision, *entries)
    return token, value


def _owner(organization_id: str, address: str) -> Principal:
    """Two reads. Raises OwnerNotFound."""
    user = member_store.user_by_email(address.strip().lower())
    member = member_store.member(organization_id, user.id) if user else None
    if member is None or member.status != "active":
        raise OwnerNotFound
    return member.principal


def delete_token(caller: Caller, service_account_id: str, token_id: str) -> None:
    """Delete a token, which stops working at once. Raises AdminRequired, TokenNotFound."""
    caller.require_admin()
    entry = audit.entry(caller, "token.deleted", token_id, service_account_id=service_account_id)
    retry(lambda: service_account_store.delete_token(caller.organization_id, service_account_id, token_id, entry))
