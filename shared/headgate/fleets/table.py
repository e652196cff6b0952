"""What the stores of fleets and of deployment groups ask of their table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from botocore.exceptions import ClientError

from headgate.fleets import keys
from headgate.foundation import errors
from headgate.settings import settings
from headgate.storage import aws, items
from headgate.storage.items import Item, Value
from headgate.storage.retry import LostRace

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, TransactWriteItemTypeDef


def get(key: keys.Key) -> Item | None:
    answer = aws.dynamodb().get_item(TableName=settings().fleets_table, Key=items.marshal(key), ConsistentRead=True)
    return items.unmarshal(answer["Item"]) if "Item" in answer else None


def query(partition: str, prefix: str, limit: int, after: str | None, *, newest_first: bool = False) -> list[Item]:
    """Up to `limit` items whose sort key begins with `prefix`, from behind the sort key `prefix` + `after`."""
    # The highest code point ends every range that a prefix begins.
    first, last = prefix, prefix + "\U0010ffff"
    values: dict[str, Value] = {":pk": partition, ":first": first, ":last": last}
    if after is None:
        range_of_keys = "sk BETWEEN :first AND :last"
    elif newest_first:
        range_of_keys, values = "sk BETWEEN :first AND :after", {**values, ":after": prefix + after}
    else:
        range_of_keys, values = "sk BETWEEN :after AND :last", {**values, ":after": prefix + after}
    # BETWEEN includes its ends, so the entry at `after` itself is read once more and dropped.
    used = {name: value for name, value in values.items() if name in f"pk = :pk {range_of_keys}"}
    answer = aws.dynamodb().query(
        TableName=settings().fleets_table,
        KeyConditionExpression=f"pk = :pk AND {range_of_keys}",
        ExpressionAttributeValues=items.marshal(used),
        ScanIndexForward=not newest_first,
        ConsistentRead=True,
        Limit=limit + (after is not None),
    )
    found = [items.unmarshal(item) for item in answer["Items"]]
    return [item for item in found if after is None or item["sk"] != prefix + after][:limit]


def read_all(wanted: Sequence[keys.Key]) -> list[Item]:
    """Items in no particular order, without those that are not there; batches of up to 100."""
    found: list[Item] = []
    name = settings().fleets_table
    for start in range(0, len(wanted), 100):
        batch: list[Mapping[str, object]] = [items.marshal(key) for key in wanted[start : start + 100]]
        while batch:
            answer = aws.dynamodb().batch_get_item(
                RequestItems={
                    name: {"Keys": cast("list[dict[str, AttributeValueTypeDef]]", batch), "ConsistentRead": True}
                }
            )
            found += [items.unmarshal(item) for item in answer["Responses"].get(name, [])]
            batch = list(answer["UnprocessedKeys"][name]["Keys"]) if name in answer["UnprocessedKeys"] else []
    return found


def put(item: Item, condition: str, values: Mapping[str, Value] | None = None) -> TransactWriteItemTypeDef:
    write: TransactWriteItemTypeDef = {
        "Put": {
            "TableName": settings().fleets_table,
            "Item": items.marshal(item),
            "ConditionExpression": condition,
        }
    }
    if values:
        write["Put"]["ExpressionAttributeValues"] = items.marshal(values)
    return write


def put_new(item: Item) -> TransactWriteItemTypeDef:
    return put(item, "attribute_not_exists(pk)")


def delete(key: keys.Key) -> TransactWriteItemTypeDef:
    return {"Delete": {"TableName": settings().fleets_table, "Key": items.marshal(key)}}


def try_to(write: TransactWriteItemTypeDef) -> None:
    """Write it unless its condition fails, or another write comes between."""
    try:
        transact([write], {})
    except LostRace:
        return


def transact(writes: list[TransactWriteItemTypeDef], refusals: Mapping[int, errors.HeadgateError]) -> None:
    """Write all or nothing. Raises the refusal of the first write whose condition failed, else LostRace.

    LostRace too when a write without a refusal failed beside it: what the change was based on is no longer so, and a
    name may be taken by the very thing that was to have it.
    """
    try:
        aws.dynamodb().transact_write_items(TransactItems=writes)
    except ClientError as error:
        codes = items.cancellation_codes(error)
        failed = [place for place, code in enumerate(codes) if code == "ConditionalCheckFailed"]
        if failed and refusals.keys() >= set(failed):
            raise refusals[failed[0]] from error
        if items.lost_a_race(error):
            raise LostRace from error
        raise
