"""Credentials, service accounts and their tokens in the identity table. One method, one access pattern."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from headgate.foundation import clock
from headgate.identity import keys, table
from headgate.identity.model import (
    ServiceAccount,
    ServiceAccountNotFound,
    Token,
    TokenNotFound,
    TooManyTokens,
)
from headgate.identity.table import delete, must_exist, put_new, transact, update
from headgate.settings import settings
from headgate.storage import aws, items
from headgate.storage.items import Item
from headgate.storage.page import Slice

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

# A service account and two items for each of its tokens have to fit into one transaction of 100.
TOKENS_OF_ONE_ACCOUNT: Final = 40


def count_use(credential_id: str, minute: int) -> int:
    """How often the credential was used in the calendar `minute`, with this time; one write.

    A minute has an item of its own, so adding needs no condition, and of uses at once each gets a number of its own.
    DynamoDB removes the item some time after its minute.
    """
    answer = aws.dynamodb().update_item(
        TableName=settings().identity_table,
        Key=items.marshal(keys.rate(credential_id, minute)),
        UpdateExpression="ADD used :one SET expires = :expires",
        ExpressionAttributeValues=items.marshal({":one": 1, ":expires": (minute + 1) * 60}),
        ReturnValues="UPDATED_NEW",
    )
    return items.number(items.unmarshal(answer["Attributes"]), "used")


def put_service_account(account: ServiceAccount, *more: TransactWriteItemTypeDef) -> None:
    """Keep a new service account and make it a member, a Contributor; one transaction."""
    created_at = clock.rfc3339(account.created_at)
    transact(
        put_new(
            keys.service_account(account.organization_id, account.id)
            | {"service_account_id": account.id, "name": account.name, "created_at": created_at, "revision": 0}
        ),
        put_new(
            keys.member(account.organization_id, account.id)
            | {
                "principal_id": account.id,
                "kind": "service_account",
                "name": account.name,
                "role": "contributor",
                "status": "active",
                "created_at": created_at,
            }
        ),
        *more,
    )


def service_account(organization_id: str, service_account_id: str) -> tuple[ServiceAccount, int]:
    """The account and the revision of its tokens; one read. Raises ServiceAccountNotFound."""
    item = table.get(keys.service_account(organization_id, service_account_id))
    if item is None:
        raise ServiceAccountNotFound
    return _service_account(organization_id, item), items.optional_number(item, "revision") or 0


def service_accounts(organization_id: str, limit: int, after: str | None) -> Slice[ServiceAccount]:
    """In the order of their making; one query."""
    partition = items.text(keys.organization(organization_id), "pk")
    part = table.query(partition, "service_account#", limit, after)
    return Slice([_service_account(organization_id, item) for item in part.entries], part.position)


def tokens(organization_id: str, service_account_id: str) -> list[Token]:
    """All tokens of an account in the order of their making; one query."""
    return [_token(item) for item in _listings(organization_id, service_account_id)]


def put_token(
    token: Token,
    value_hash: str,
    organization_name: str,
    service_account_name: str,
    revision: int,
    *more: TransactWriteItemTypeDef,
) -> bool:
    """Keep a new token by its hash and list it under its account, while account and membership exist.

    One query and one transaction. False if the account's tokens changed since `revision` was read. Raises
    ServiceAccountNotFound when account or membership is gone, TooManyTokens.
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
        **(table.expiry(token.expires_at) if token.expires_at else {}),
    }
    names: Item = {"organization_name": organization_name, "service_account_name": service_account_name}
    listing = keys.token_listing(token.organization_id, token.service_account_id, token.id)
    try:
        transact(
            _next_revision(token.organization_id, token.service_account_id, revision),
            must_exist(keys.member(token.organization_id, token.service_account_id)),
            put_new(keys.token(value_hash) | shown | names),
            put_new(listing | shown | {"value_hash": value_hash}),
            *more,
        )
    except ClientError as error:
        if items.cancellation_codes(error)[1:2] == ["ConditionalCheckFailed"]:
            raise ServiceAccountNotFound from error
        if items.lost_a_race(error):
            return False
        raise
    return True


def delete_token(organization_id: str, service_account_id: str, token_id: str, *more: TransactWriteItemTypeDef) -> None:
    """Delete a token with its listing; one read and one transaction. Raises TokenNotFound."""
    listing = keys.token_listing(organization_id, service_account_id, token_id)
    item = table.get(listing)
    if item is None:
        raise TokenNotFound
    try:
        transact(delete(listing, "attribute_exists(pk)"), delete(keys.token(items.text(item, "value_hash"))), *more)
    except ClientError as error:
        if items.cancellation_codes(error)[:1] == ["ConditionalCheckFailed"]:
            raise TokenNotFound from error
        raise


def delete_service_account(account: ServiceAccount, revision: int, *more: TransactWriteItemTypeDef) -> bool:
    """Delete the account, its membership and its tokens; one query and one transaction, so all stop at one moment.

    False if the account's tokens changed since `revision` was read.
    """
    changed = delete(
        keys.service_account(account.organization_id, account.id),
        "attribute_exists(pk) AND (attribute_not_exists(revision) OR revision = :seen)",
        {":seen": revision},
    )
    return _with_all_tokens(account, changed, delete(keys.member(account.organization_id, account.id)), *more)


def end_membership(account: ServiceAccount, revision: int, *more: TransactWriteItemTypeDef) -> bool:
    """Take the account out of the organization and delete its tokens; one query and one transaction.

    False if the account's tokens changed since `revision` was read.
    """
    changed = _next_revision(account.organization_id, account.id, revision)
    member = delete(keys.member(account.organization_id, account.id), "attribute_exists(pk)")
    return _with_all_tokens(account, changed, member, *more)


def _with_all_tokens(account: ServiceAccount, *writes: TransactWriteItemTypeDef) -> bool:
    deletes = [
        delete(key)
        for item in _listings(account.organization_id, account.id)
        for key in (
            keys.token(items.text(item, "value_hash")),
            keys.token_listing(account.organization_id, account.id, items.text(item, "token_id")),
        )
    ]
    try:
        transact(*writes, *deletes)
    except ClientError as error:
        if items.lost_a_race(error):
            return False
        raise
    return True


def _next_revision(organization_id: str, service_account_id: str, revision: int) -> TransactWriteItemTypeDef:
    return update(
        keys.service_account(organization_id, service_account_id),
        "SET revision = :next",
        "attribute_exists(pk) AND (attribute_not_exists(revision) OR revision = :seen)",
        {":next": revision + 1, ":seen": revision},
    )


def _listings(organization_id: str, service_account_id: str) -> Sequence[Item]:
    partition = items.text(keys.organization(organization_id), "pk")
    return table.query(partition, keys.token_listings(service_account_id), TOKENS_OF_ONE_ACCOUNT + 1).entries


def _service_account(organization_id: str, item: Item) -> ServiceAccount:
    return ServiceAccount(
        id=items.text(item, "service_account_id"),
        organization_id=organization_id,
        name=items.text(item, "name"),
        created_at=clock.parse(items.text(item, "created_at")),
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
    )


def rename_in_token(value_hash: str, organization_name: str) -> None:
    """Set the name that a token answers with, unless the token is gone; one update."""
    with contextlib.suppress(aws.dynamodb().exceptions.ConditionalCheckFailedException):
        aws.dynamodb().update_item(
            TableName=settings().identity_table,
            Key=items.marshal(keys.token(value_hash)),
            UpdateExpression="SET organization_name = :name",
            ConditionExpression="attribute_exists(pk)",
            ExpressionAttributeValues=items.marshal({":name": organization_name}),
        )
