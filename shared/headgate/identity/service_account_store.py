"""Service accounts and their tokens in the identity table. One method, one access pattern."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final, get_args

from headgate.foundation import clock
from headgate.foundation.caller import Access, Caller
from headgate.foundation.page import Slice
from headgate.foundation.principal import Principal
from headgate.identity import keys, member_store
from headgate.identity.model import Member, ServiceAccount, ServiceAccountNotFound, Token, TokenNotFound, TooManyTokens
from headgate.storage import items, table
from headgate.storage.items import Item
from headgate.storage.stored import Stored
from headgate.storage.table import ConditionFailed, Write, identity

_ACCOUNTS: Final = Stored(ServiceAccount, names={"id": "service_account_id"}, elsewhere=["organization_id"])
_TOKENS: Final = Stored(Token, names={"id": "token_id"})
_PRINCIPALS: Final = Stored(Principal)
# A service account and two items for each of its tokens have to fit into one transaction of 100.
TOKENS_OF_ONE_ACCOUNT: Final = 40


def caller_of_token(value_hash: str, at: datetime) -> Caller | None:
    """Whom a token belongs to; one read. None for a token that has expired, too."""
    item = identity.get(keys.token(value_hash))
    if item is None or items.expired(item, at):
        return None
    token = _TOKENS.read(item)
    account = Principal("service_account", token.service_account_id, items.text(item, "service_account_name"))
    creator = item.get("account_created_by")
    account_created_by = _PRINCIPALS.read(creator) if isinstance(creator, Mapping) else None
    return Caller(
        organization_id=token.organization_id,
        organization_name=items.text(item, "organization_name"),
        principal=account,
        name=token.name,
        role="contributor",
        access=token.access,
        credential_id=token.id,
        people=_people(token, account_created_by),
    )


def _people(token: Token, account_created_by: Principal | None) -> tuple[str, ...] | None:
    """The people behind a token: who created it, who is to hold it, and who created its account."""
    if token.created_by is None:
        return None
    behind = (token.created_by, token.owner, account_created_by)
    return tuple(dict.fromkeys(person.id for person in behind if person))


def create(account: ServiceAccount, *more: Write) -> None:
    """Store a new service account and make it a member, a Contributor; one transaction."""
    item = keys.service_account(account.organization_id, account.id) | _ACCOUNTS.item(account) | {"revision": 0}
    principal = Principal("service_account", account.id, account.name)
    member = Member(account.organization_id, principal, "contributor", "active", account.created_at)
    table.transact([identity.put_new(item), member_store.put(member), *more])


def get(organization_id: str, service_account_id: str) -> tuple[ServiceAccount, int]:
    """The account and the revision of its tokens; one read. Raises ServiceAccountNotFound."""
    item = identity.get(keys.service_account(organization_id, service_account_id))
    if item is None:
        raise ServiceAccountNotFound
    return _ACCOUNTS.read(item, organization_id=organization_id), items.optional_number(item, "revision") or 0


def list_accounts(organization_id: str, limit: int, after: str | None) -> Slice[ServiceAccount]:
    """The oldest first; one query."""
    part = identity.list(keys.organization_partition(organization_id), keys.SERVICE_ACCOUNTS, limit, after)
    return Slice([_ACCOUNTS.read(item, organization_id=organization_id) for item in part.entries], part.position)


def tokens(organization_id: str, service_account_id: str) -> list[Token]:
    """All tokens of an account, the oldest first; one query."""
    return [_TOKENS.read(item) for item in _listings(organization_id, service_account_id)]


def tokens_until(organization_id: str, until: datetime) -> list[Token]:
    """The tokens of the organization's service accounts that expire `until` then; a query for each megabyte of all."""
    partition, values = keys.organization_partition(organization_id), Item({":until": clock.rfc3339(until)})
    return [_TOKENS.read(item) for item in identity.each(partition, keys.TOKENS, "#expires_at <= :until", values)]


def expiring(after: datetime, until: datetime) -> Iterator[Token]:
    """The tokens of every organization that expire after `after`, `until` at the latest; two queries of the index."""
    for access in get_args(Access):
        # A token has another item, under its hash.
        for item in table.identity.between(access, clock.rfc3339(after), clock.rfc3339(until), keys.EXPIRING):
            token = _TOKENS.read(item) if str(item["sk"]).startswith(keys.TOKENS) else None
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
    shown = _TOKENS.item(token) | (items.expiry(token.expires_at) if token.expires_at else {})
    names: Item = {"organization_name": organization_name, "service_account_name": account.name}
    if account.created_by:
        names["account_created_by"] = _PRINCIPALS.item(account.created_by)
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
