"""The identity table. One method, one access pattern."""

import contextlib
import hashlib
import secrets
from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from headgate import aws, clock, dynamo
from headgate.dynamo import Item
from headgate.identity import keys
from headgate.identity.model import Organization, ServiceAccount, ServiceAccountNotFound, Token
from headgate.settings import settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


def hash_of(value: str) -> str:
    """What is kept of a credential. Its 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(value.encode()).hexdigest()


def take(key: keys.Key, minute: int) -> tuple[Item, int] | None:
    """The credential at `key`, and how often it was used in the calendar `minute` with this time; None if it is gone.

    The window stands in the credential's own item, so finding it and counting is one conditional update; the first
    request of a minute takes two. An update reads the current item: a deleted credential stops at once.
    """
    for _ in range(10):
        for condition, change in (
            ("rate_minute = :minute", "SET rate_used = rate_used + :one"),
            (
                "attribute_not_exists(rate_minute) OR rate_minute <> :minute",
                "SET rate_used = :one, rate_minute = :minute",
            ),
        ):
            try:
                answer = aws.dynamodb().update_item(
                    TableName=settings().identity_table,
                    Key=dynamo.marshal(key),
                    UpdateExpression=change,
                    ConditionExpression=f"attribute_exists(pk) AND ({condition})",
                    ExpressionAttributeValues=dynamo.marshal({":one": 1, ":minute": minute}),
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                if not dynamo.condition_failed(error):
                    raise
                if not dynamo.current_item(error):
                    return None
            else:
                item = dynamo.unmarshal(answer["Attributes"])
                return item, dynamo.number(item, "rate_used")
    raise RuntimeError("the rate window changed ten times within one request")


def put_organization(organization: Organization) -> None:
    """Keep a new organization; one put."""
    aws.dynamodb().put_item(
        TableName=settings().identity_table,
        Item=dynamo.marshal(
            keys.organization(organization.id)
            | {
                "organization_id": organization.id,
                "name": organization.name,
                "created_at": clock.rfc3339(organization.created_at),
            }
        ),
        ConditionExpression="attribute_not_exists(pk)",
    )


def organization_name(organization_id: str) -> str | None:
    """The organization's name; one read. None if there is no such organization."""
    item = _get(keys.organization(organization_id))
    return dynamo.text(item, "name") if item else None


def put_service_account(account: ServiceAccount) -> None:
    """Keep a new service account and make it a member, a Contributor; one transaction."""
    created_at = clock.rfc3339(account.created_at)
    _transact(
        _put_new(
            keys.service_account(account.organization_id, account.id)
            | {"service_account_id": account.id, "name": account.name, "created_at": created_at}
        ),
        _put_new(
            keys.member(account.organization_id, account.id)
            | {"kind": "service_account", "name": account.name, "role": "contributor", "created_at": created_at}
        ),
    )


def service_account(organization_id: str, service_account_id: str) -> ServiceAccount:
    """One read. Raises ServiceAccountNotFound."""
    item = _get(keys.service_account(organization_id, service_account_id))
    if item is None:
        raise ServiceAccountNotFound
    return ServiceAccount(
        id=service_account_id,
        organization_id=organization_id,
        name=dynamo.text(item, "name"),
        created_at=clock.parse(dynamo.text(item, "created_at")),
    )


def put_token(token: Token, value_hash: str, organization_name: str, service_account_name: str) -> None:
    """Keep a new token by its hash and list it under its account, while account and membership exist; one transaction.

    Raises ServiceAccountNotFound when either is gone.
    """
    shown: Item = {
        "token_id": token.id,
        "organization_id": token.organization_id,
        "service_account_id": token.service_account_id,
        "name": token.name,
        "access": token.access,
        "created_at": clock.rfc3339(token.created_at),
        "expires_at": clock.rfc3339(token.expires_at) if token.expires_at else None,
        "expires": int(token.expires_at.timestamp()) if token.expires_at else None,
    }
    names: Item = {"organization_name": organization_name, "service_account_name": service_account_name}
    listing = keys.token_listing(token.organization_id, token.service_account_id, token.id)
    try:
        _transact(
            _must_exist(keys.service_account(token.organization_id, token.service_account_id)),
            _must_exist(keys.member(token.organization_id, token.service_account_id)),
            _put_new(keys.token(value_hash) | shown | names),
            _put_new(listing | shown | {"value_hash": value_hash}),
        )
    except ClientError as error:
        if "ConditionalCheckFailed" in dynamo.cancellation_codes(error)[:2]:
            raise ServiceAccountNotFound from error
        raise


def signing_key() -> bytes:
    """The deployment's own 256-bit secret, made by whoever needs it first; one read, and one write once ever."""
    item = _get(keys.signing_key())
    if item is None:
        with contextlib.suppress(aws.dynamodb().exceptions.ConditionalCheckFailedException):
            aws.dynamodb().put_item(
                TableName=settings().identity_table,
                Item=dynamo.marshal(keys.signing_key() | {"secret": secrets.token_bytes(32)}),
                ConditionExpression="attribute_not_exists(pk)",
            )
        item = _get(keys.signing_key()) or {}
    secret = item.get("secret")
    if not isinstance(secret, bytes):
        raise TypeError("the signing key in the identity table is not binary")
    return secret


def expired(item: Item, at: datetime) -> bool:
    """Whether the item's own time is over; DynamoDB removes it only some days later."""
    expires_at = dynamo.optional_text(item, "expires_at")
    return expires_at is not None and clock.parse(expires_at) <= at


def _get(key: keys.Key) -> Item | None:
    answer = aws.dynamodb().get_item(TableName=settings().identity_table, Key=dynamo.marshal(key), ConsistentRead=True)
    return dynamo.unmarshal(answer["Item"]) if "Item" in answer else None


def _transact(*writes: "TransactWriteItemTypeDef") -> None:
    aws.dynamodb().transact_write_items(TransactItems=writes)


def _put_new(item: Item) -> "TransactWriteItemTypeDef":
    return {
        "Put": {
            "TableName": settings().identity_table,
            "Item": dynamo.marshal(item),
            "ConditionExpression": "attribute_not_exists(pk)",
        }
    }


def _must_exist(key: keys.Key) -> "TransactWriteItemTypeDef":
    return {
        "ConditionCheck": {
            "TableName": settings().identity_table,
            "Key": dynamo.marshal(key),
            "ConditionExpression": "attribute_exists(pk)",
        }
    }
