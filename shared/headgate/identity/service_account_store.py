"""Service accounts and their tokens in the identity table. One method, one access pattern."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import datetime
from typing import Final, get_args

from headgate.foundation import clock
from headgate.foundation.caller import Access, Caller
from headgate.foundation.principal import Principal
from headgate.identity import keys
from headgate.identity.model import ServiceAccount, ServiceAccountNotFound, Token, TokenNotFound, TooManyTokens
from headgate.storage import items, principals, table
from headgate.storage.items import Item
from headgate.storage.page import Slice
from headgate.storage.table import ConditionFailed, Write, identity

# A service account and two items for each of its tokens have to fit into one transaction of 100.
TOKENS_OF_ONE_ACCOUNT: Final = 40


def caller_of_token(value_hash: str, at: datetime) -> Caller | None:
    """Whom a token belongs to; one read. None for a token that has expired, too."""
    item = identity.get(keys.token(value_hash))
    if item is None or items.expired(item, at):
        return None
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
        people=_people(item),
    )


def _people(item: Item) -> tuple[str, ...] | None:
    """The people behind a token: who created it, who is to hold it, and who created its account."""
    creator = _principal(item, "created_by")
    if creator is None:
        return None
    behind = (creator, _principal(item, "owner"), _principal(item, "account_created_by"))
    return tuple(dict.fromkeys(person.id for person in behind if person))


def _principal(item: Item, name: str) -> Principal | None:
    return principals.read(item, name) if item.get(name) else None


def _by(name: str, principal: Principal | None) -> Item:
    return {name: principals.attribute(principal)} if principal else {}


def create(account: ServiceAccount, *more: Write) -> None:
    """Store a new service account and make it a member, a Contributor; one transaction."""
    created_at = clock.rfc3339(account.created_at)
    item: Item = {"service_account_id": account.id, "name": account.name, "created_at": created_at, "revision": 0}
    item |= _by("created_by", account.created_by)
    member: Item = {
        "principal_id": account.id,
        "kind": "service_account",
        "name": account.name,
        "role": "contributor",
        "status": "active",
        "created_at": created_at,
    }
    table.transact(
        [
            identity.put_new(keys.service_account(account.organization_id, account.id) | item),
            identity.put_new(keys.member(account.organization_id, account.id) | member),
            *more,
        ]
    )


def get(organization_id: str, service_account_id: str) -> tuple[ServiceAccount, int]:
    """The account and the revision of its tokens; one read. Raises ServiceAccountNotFound."""
    item = identity.get(keys.service_account(organization_id, service_account_id))
    if item is None:
        raise ServiceAccountNotFound
    return _service_account(organization_id, item), items.optional_number(item, "revision") or 0


def list_accounts(organization_id: str, limit: int, after: str | None) -> Slice[ServiceAccount]:
    """The oldest first; one query."""
    part = identity.list(keys.organization_partition(organization_id), keys.SERVICE_ACCOUNTS, limit, after)
    return Slice([_service_account(organization_id, item) for item in part.entries], part.position)


def tokens(organization_id: str, service_account_id: str) -> list[Token]:
    """All tokens of an account, the oldest first; one query."""
    return [_token(item) for item in _listings(organization_id, service_account_id)]


def tokens_until(organization_id: str, until: datetime) -> list[Token]:
    """The tokens of the organization's service accounts that expire `until` then; a query for each megabyte of all."""
    partition, values = keys.organization_partition(organization_id), Item({":until": clock.rfc3339(until)})
    return [_token(item) for item in identity.each(partition, keys.TOKENS, "#expires_at <= :until", values)]


def expiring(after: datetime, until: datetime) -> Iterator[Token]:
    """The tokens of every organization that expire after `after`, `until` at the latest; two queries of the index."""
    for access in get_args(Access):
        # A token has another item, under its hash.
        for item in table.identity.between(access, clock.rfc3339(after), clock.rfc3339(until), keys.EXPIRING):
            token = _token(item) if str(item["sk"]).startswith(keys.TOKENS) else None
            if token is not None and token.expires_at is not None and token.expires_at > after:
                yield token


def create_token(
    token: Token,
    value_hash: str,
    organization_name: str,
    account: ServiceAccount,
    revision: int,
    *more: Write,
) -> None:
    """Store a new token by its hash and list it under its account, while account and membership exist.

    One query and one transaction. Raises LostRace if the account's tokens changed since `revision` was read,
    ServiceAccountNotFound if the membership is gone, TooManyTokens.
    """
    if len(_listings(token.organization_id, token.service_account_id)) >= TOKENS_OF_ONE_ACCOUNT:
        raise TooManyTokens(TOKENS_OF_ONE_ACCOUNT)
    shown: Item = {
        "token_id": token.id,
        "organization_id": token.organization_id,
        "service_account_id": token.service_account_id,
        "name": token.name,
        "access": token.access,
        "created_at": clock.rfc3339(token.created_at),
        **(items.expiry(token.expires_at) if token.expires_at else {}),
        **_by("created_by", token.created_by),
        **_by("owner", token.owner),
    }
    names: Item = {"organization_name": organization_name, "service_account_name": account.name}
    names |= _by("account_created_by", account.created_by)
    listing = keys.token_listing(token.organization_id, token.service_account_id, token.id)
    table.transact(
        [
            _next_revision(token.organization_id, token.service_account_id, revision),
            identity.must_exist(keys.member(token.organization_id, token.service_account_id)),
            identity.put_new(keys.token(value_hash) | shown | names),
            identity.put_new(listing | shown | {"value_hash": value_hash}),
            *more,
        ],
        {1: ServiceAccountNotFound()},
    )


def delete_token(organization_id: str, service_account_id: str, token_id: str, *more: Write) -> None:
    """Delete a token with its listing; one read and one transaction. Raises TokenNotFound, LostRace."""
    listing = keys.token_listing(organization_id, service_account_id, token_id)
    item = identity.get(listing)
    if item is None:
        raise TokenNotFound
    token = keys.token(items.text(item, "value_hash"))
    table.transact(
        [identity.delete(listing, "attribute_exists(pk)"), identity.delete(token), *more], {0: TokenNotFound()}
    )


def delete(account: ServiceAccount, revision: int, *more: Write) -> None:
    """Delete the account, its membership and its tokens; one query and one transaction, so all stop at one moment.

    Raises LostRace if the account's tokens changed since `revision` was read.
    """
    deleted = identity.delete(
        keys.service_account(account.organization_id, account.id), _SAME_REVISION, {":seen": revision}
    )
    member = identity.delete(keys.member(account.organization_id, account.id))
    table.transact([deleted, member, *more, *_delete_tokens(account)])


def end_membership(account: ServiceAccount, revision: int, *more: Write) -> None:
    """Take the account out of the organization and delete its tokens; one query and one transaction.

    Raises LostRace if the account's tokens changed since `revision` was read.
    """
    changed = _next_revision(account.organization_id, account.id, revision)
    member = identity.delete(keys.member(account.organization_id, account.id), "attribute_exists(pk)")
    table.transact([changed, member, *more, *_delete_tokens(account)])


def rename_organization(organization_id: str, name: str) -> None:
    """Set the organization's name in all of its tokens, which hold a copy; one query, and one update for each."""
    for item in identity.each(keys.organization_partition(organization_id), keys.TOKENS):
        token = keys.token(items.text(item, "value_hash"))
        # A token that was deleted meanwhile stays deleted.
        with contextlib.suppress(ConditionFailed):
            table.write(
                identity.update(token, "SET organization_name = :name", "attribute_exists(pk)", {":name": name})
            )


_SAME_REVISION: Final = "attribute_exists(pk) AND (attribute_not_exists(revision) OR revision = :seen)"


def _next_revision(organization_id: str, service_account_id: str, revision: int) -> Write:
    return identity.update(
        keys.service_account(organization_id, service_account_id),
        "SET revision = :next",
        _SAME_REVISION,
        {":next": revision + 1, ":seen": revision},
    )


def _delete_tokens(account: ServiceAccount) -> list[Write]:
    return [
        identity.delete(key)
        for item in _listings(account.organization_id, account.id)
        for key in (
            keys.token(items.text(item, "value_hash")),
            keys.token_listing(account.organization_id, account.id, items.text(item, "token_id")),
        )
    ]


def _listings(organization_id: str, service_account_id: str) -> list[Item]:
    partition = keys.organization_partition(organization_id)
    return identity.list_all(partition, keys.token_listings(service_account_id))


def _service_account(organization_id: str, item: Item) -> ServiceAccount:
    return ServiceAccount(
        id=items.text(item, "service_account_id"),
        organization_id=organization_id,
        name=items.text(item, "name"),
        created_at=clock.parse(items.text(item, "created_at")),
        created_by=_principal(item, "created_by"),
    )


def _token(item: Item) -> Token:
    expires_at = items.optional_text(item, "expires_at")
    return Token(
        id=items.text(item, "token_id"),
        organization_id=items.text(item, "organization_id"),
        service_account_id=items.text(item, "service_account_id"),
        name=items.text(item, "name"),
        access="read_write" if items.text(item, "access") == "read_write" else "read",
        created_at=clock.parse(items.text(item, "created_at")),
        expires_at=clock.parse(expires_at) if expires_at else None,
        created_by=_principal(item, "created_by"),
        owner=_principal(item, "owner"),
    )
