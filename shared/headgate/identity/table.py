"""What every store of the identity table does with it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from headgate.foundation import clock
from headgate.settings import settings
from headgate.storage import aws, items
from headgate.storage.items import Item, Value
from headgate.storage.page import Slice

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        ConditionCheckTypeDef,
        DeleteTypeDef,
        QueryInputTypeDef,
        TransactWriteItemTypeDef,
        UpdateTypeDef,
    )

Key = dict[str, Value]

# DynamoDB's own limits.
TRANSACTION_ITEMS: Final = 100
_BATCH_READ: Final = 100


def get(key: Key) -> Item | None:
    """One consistent read."""
    answer = aws.dynamodb().get_item(TableName=settings().identity_table, Key=items.marshal(key), ConsistentRead=True)
    return items.unmarshal(answer["Item"]) if "Item" in answer else None


def get_all(keys: Sequence[Key]) -> list[Item]:
    """Those of the items that exist, in no order; one consistent read for each hundred of them."""
    name = settings().identity_table
    found: list[Item] = []
    waiting = [items.marshal(key) for key in keys]
    while waiting:
        batch, waiting = waiting[:_BATCH_READ], waiting[_BATCH_READ:]
        answer = aws.dynamodb().batch_get_item(RequestItems={name: {"Keys": batch, "ConsistentRead": True}})
        found += [items.unmarshal(item) for item in answer["Responses"].get(name, [])]
        left = answer["UnprocessedKeys"].get(name)
        waiting += list(left["Keys"]) if left else []
    return found


def query(pk: str, prefix: str, limit: int, after: str | None = None, *, newest_first: bool = False) -> Slice[Item]:
    """The items of a partition whose sort keys begin with `prefix`, in order, after the sort key `after`; one query."""
    request: QueryInputTypeDef = {
        "TableName": settings().identity_table,
        "KeyConditionExpression": "pk = :pk AND begins_with(sk, :prefix)" if prefix else "pk = :pk",
        "ExpressionAttributeValues": items.marshal({":pk": pk, ":prefix": prefix or None}),
        "ConsistentRead": True,
        "ScanIndexForward": not newest_first,
        "Limit": limit + 1,
    }
    if after is not None:
        request["ExclusiveStartKey"] = items.marshal({"pk": pk, "sk": after})
    answer = aws.dynamodb().query(**request)
    rows = [items.unmarshal(item) for item in answer["Items"]]
    return Slice(rows[:limit], items.text(rows[limit - 1], "sk") if len(rows) > limit else None)


def query_all(pk: str, prefix: str) -> list[Item]:
    """All of them; one query for each hundred."""
    found: list[Item] = []
    position: str | None = None
    while True:
        part = query(pk, prefix, 100, position)
        found += part.entries
        position = part.position
        if position is None:
            return found


def put(item: Item) -> None:
    """One put, whatever was there."""
    aws.dynamodb().put_item(TableName=settings().identity_table, Item=items.marshal(item))


def transact(*writes: TransactWriteItemTypeDef) -> None:
    aws.dynamodb().transact_write_items(TransactItems=writes)


def put_new(item: Item) -> TransactWriteItemTypeDef:
    return {
        "Put": {
            "TableName": settings().identity_table,
            "Item": items.marshal(item),
            "ConditionExpression": "attribute_not_exists(pk)",
        }
    }


def put_over(item: Item) -> TransactWriteItemTypeDef:
    """A put, whatever was there."""
    return {"Put": {"TableName": settings().identity_table, "Item": items.marshal(item)}}


def update(key: Key, change: str, condition: str, values: Item) -> TransactWriteItemTypeDef:
    """An update on a condition; `#role`, `#status` and `#name` stand for what DynamoDB reserves without the sign."""
    made: UpdateTypeDef = {
        "TableName": settings().identity_table,
        "Key": items.marshal(key),
        "UpdateExpression": change,
        "ConditionExpression": condition,
        "ExpressionAttributeValues": items.marshal(values),
    }
    names = _names(change + condition)
    if names:
        made["ExpressionAttributeNames"] = names
    return {"Update": made}


def delete(key: Key, condition: str = "", values: Item | None = None) -> TransactWriteItemTypeDef:
    """A delete, on a condition if one is given."""
    made: DeleteTypeDef = {"TableName": settings().identity_table, "Key": items.marshal(key)}
    if condition:
        made["ConditionExpression"] = condition
    if values:
        made["ExpressionAttributeValues"] = items.marshal(values)
    names = _names(condition)
    if names:
        made["ExpressionAttributeNames"] = names
    return {"Delete": made}


def _names(expressions: str) -> dict[str, str]:
    return {name: name[1:] for name in ("#role", "#status", "#name") if name in expressions}


def must_exist(key: Key) -> TransactWriteItemTypeDef:
    return check(key, "attribute_exists(pk)")


def check(key: Key, condition: str, values: Item | None = None) -> TransactWriteItemTypeDef:
    """That the condition holds for the item, which stays as it is."""
    made: ConditionCheckTypeDef = {
        "TableName": settings().identity_table,
        "Key": items.marshal(key),
        "ConditionExpression": condition,
    }
    if values:
        made["ExpressionAttributeValues"] = items.marshal(values)
    return {"ConditionCheck": made}


def expiry(at: datetime) -> Item:
    """The attributes of an item that ends at `at`: for the code that reads it, and for DynamoDB that removes it."""
    return {"expires": int(at.timestamp()), "expires_at": clock.rfc3339(at)}


def expired(item: Item, at: datetime) -> bool:
    """Whether the item's own time is over; DynamoDB removes it only some days later."""
    expires_at = items.optional_text(item, "expires_at")
    return expires_at is not None and clock.parse(expires_at) <= at
