"""Credentials and those who hold them."""

import hashlib
import hmac
import secrets
from datetime import datetime
from functools import cache
from typing import Final

from headgate import clock, dynamo
from headgate.identity import keys, store
from headgate.identity.model import (
    Access,
    Caller,
    NotAuthenticated,
    Organization,
    Principal,
    RateWindow,
    ServiceAccount,
    ServiceAccountNotFound,
    Token,
)
from headgate.ids import new_id
from headgate.settings import settings

TOKEN_PREFIX: Final = "sv_"  # noqa: S105  the specification's prefix, no secret
# 32 random bytes in unpadded base64url.
_SECRET_LENGTH: Final = 43


def authenticate(credential: str, at: datetime) -> tuple[Caller, RateWindow]:
    """Who presents `credential`, and what is left of its minute; one write, a second one once a minute.

    Raises NotAuthenticated whatever is wrong with it.
    """
    if not credential.startswith(TOKEN_PREFIX) or len(credential) != len(TOKEN_PREFIX) + _SECRET_LENGTH:
        raise NotAuthenticated
    minute, second = divmod(int(at.timestamp()), 60)
    # Looked up by the whole hash: nothing of the value is compared that a clock could measure.
    taken = store.take(keys.token(store.hash_of(credential)), minute)
    if taken is None or store.expired(taken[0], at):
        raise NotAuthenticated
    item, used = taken
    caller = Caller(
        organization_id=dynamo.text(item, "organization_id"),
        organization_name=dynamo.text(item, "organization_name"),
        principal=Principal(
            "service_account", dynamo.text(item, "service_account_id"), dynamo.text(item, "service_account_name")
        ),
        name=dynamo.text(item, "name"),
        role="contributor",
        access="read_write" if dynamo.text(item, "access") == "read_write" else "read",
        credential_id=dynamo.text(item, "token_id"),
    )
    return caller, RateWindow(limit=settings().rate_limit_per_minute, used=used, reset=60 - second)


def create_organization(name: str) -> Organization:
    organization = Organization(id=new_id("org"), name=name, created_at=clock.now())
    store.put_organization(organization)
    return organization


def create_service_account(organization_id: str, name: str) -> ServiceAccount:
    account = ServiceAccount(id=new_id("sva"), organization_id=organization_id, name=name, created_at=clock.now())
    store.put_service_account(account)
    return account


def create_token(
    organization_id: str,
    service_account_id: str,
    *,
    name: str,
    access: Access,
    expires_at: datetime | None = None,
) -> tuple[Token, str]:
    """Make a token. Returns it with its value, which cannot be had again. Raises ServiceAccountNotFound."""
    account = store.service_account(organization_id, service_account_id)
    organization_name = store.organization_name(organization_id)
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
    store.put_token(token, store.hash_of(value), organization_name, account.name)
    return token, value


def sign(purpose: str, message: bytes) -> bytes:
    """A 16-byte HMAC-SHA256 of `message`, good for this deployment and `purpose` only."""
    return hmac.digest(_signing_key(), purpose.encode() + b"\0" + message, hashlib.sha256)[:16]


def signed(purpose: str, message: bytes, signature: bytes) -> bool:
    """Whether `sign` made the signature."""
    return hmac.compare_digest(sign(purpose, message), signature)


@cache
def _signing_key() -> bytes:
    return store.signing_key()
