"""The six tables, and every call to DynamoDB. What an item means is known to the stores; docs/data.md lists them.

A write is built first (`put_new`, `update`, `delete` and so on) and carried out alone (`write`) or with others as one
transaction (`transact`). In a change, a condition or a filter, `#name` stands for the attribute `name`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from botocore.exceptions import ClientError

from headgate.foundation import errors
from headgate.foundation.page import Entry, Slice
from headgate.foundation.settings import settings
from headgate.storage import aws, items, retry
from headgate.storage.items import Item, Value

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        AttributeValueTypeDef,
        GetTypeDef,
        TransactGetItemsOutputTypeDef,
        TransactGetItemTypeDef,
        TransactWriteItemTypeDef,
    )

Key: TypeAlias = dict[str, Value]
Write: TypeAlias = "TransactWriteItemTypeDef"
"""One put, update, delete or check, in the form in which a transaction takes it."""
Returned: TypeAlias = Literal["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"]

# DynamoDB's own limits.
TRANSACTION_ITEMS: Final = 100
_BATCH_READ: Final = 100
# Below and above every key of ours.
_LOWEST: Final = "\0"
_HIGHEST: Final = "\U0010ffff"
# A condition no longer holds, or two transactions collided.
_RACE: Final = {"None", "ConditionalCheckFailed", "TransactionConflict"}
_NAME: Final = re.compile(r"#(\w+)", re.ASCII)


class ConditionFailed(ClientError):
    """The condition of a single write does not hold. `item` is what is stored, empty if there is nothing."""

    def __init__(self, error: ClientError) -> None:
        super().__init__(error.response, error.operation_name)
        self.item = items.unmarshal(cast("Mapping[str, AttributeValueTypeDef]", error.response.get("Item", {})))


def key_of_one(partition: Callable[[str], str], sort: str) -> Callable[[str], Key]:
    """The key, by an owner's id, of the one item with that sort key in the owner's partition."""

    def key(owner: str) -> Key:
        return {"pk": partition(owner), "sk": sort}

    return key


def key_of_each(partition: Callable[[str], str], prefix: str) -> Callable[[str, str], Key]:
    """The key, by an owner's id and its own id, of an item whose sort key is the prefix and that id."""

    def key(owner: str, each: str) -> Key:
        return {"pk": partition(owner), "sk": f"{prefix}{each}"}

    return key


@dataclass(frozen=True, slots=True)
class TableIndex:
    """A secondary index: its name, and the attributes that are its partition and sort key.

    Sort values must be unique in a partition: the position in a list is one of them.
    """

    name: str
    partition: str
    sort: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table and its key attributes; `sort` is empty if it has none. Every read of it is consistent."""

    _name: Callable[[], str]
    partition: str
    sort: str = ""

    @property
    def name(self) -> str:
        """The name of the table in this deployment."""
        return self._name()

    def get(self, key: Key, *attributes: str) -> Item | None:
        """One read; of the named attributes alone, if any are named. None if there is no such item."""
        answer = aws.dynamodb().get_item(**self._get(key, attributes), ConsistentRead=True)
        return items.unmarshal(answer["Item"]) if "Item" in answer else None

    def find(self, key: Key, read: Callable[[Item], Entry]) -> Entry | None:
        """One read of an item by `read`. None if there is no such item."""
        item = self.get(key)
        return None if item is None else read(item)

    def get_all(self, keys: Sequence[Key]) -> Items:
        """Those of the items that exist, in no order; one read for each hundred keys. Raises Unavailable."""
        read: Items = []
        waiting = [items.marshal(key) for key in keys]
        pauses = retry.pauses()
        while waiting:
            batch, waiting = waiting[:_BATCH_READ], waiting[_BATCH_READ:]
            answer = aws.dynamodb().batch_get_item(RequestItems={self.name: {"Keys": batch, "ConsistentRead": True}})
            read += [items.unmarshal(item) for item in answer["Responses"].get(self.name, [])]
            unprocessed = answer["UnprocessedKeys"].get(self.name)
            if unprocessed:
                waiting += list(unprocessed["Keys"])
                _pause(pauses)
        return read

    def list(
        self,
        pk: str,
        prefix: str,
        limit: int,
        after: str | None = None,
        *,
        newest_first: bool = False,
        index: TableIndex | None = None,
    ) -> Slice[Item]:
        """Up to `limit` items whose sort keys begin with `prefix`, after the sort key `after`; one query.

        In the order of their sort keys, with `newest_first` in reverse order. The slice's position is a sort key.
        """
        sort = index.sort if index else self.sort
        first, last = prefix or _LOWEST, prefix + _HIGHEST
        if after is not None:
            first, last = (first, min(last, after)) if newest_first else (max(first, after), last)
            if first > last:
                return Slice([], None)
        # The range includes `after` itself, and one more tells whether another slice comes.
        answer = aws.dynamodb().query(
            **self._query(pk, first, last, index),
            ScanIndexForward=not newest_first,
            Limit=limit + 1 + (after is not None),
        )
        rows = [items.unmarshal(item) for item in answer["Items"]]
        rows = [row for row in rows if row[sort] != after]
        entries = rows[:limit]
        # DynamoDB also ends a page after a megabyte.
        more = len(rows) > limit or "LastEvaluatedKey" in answer
        return Slice(entries, items.text(entries[-1], sort) if more and entries else None)

    def page(
        self,
        pk: str,
        prefix: str,
        limit: int,
        after: str | None,
        read: Callable[[Item], Entry],
        *,
        newest_first: bool = False,
    ) -> Slice[Entry]:
        """Read entries by `list`. Positions, also `after`, are what follows the prefix in a sort key, as an id."""
        start = None if after is None else f"{prefix}{after}"
        rows = self.list(pk, prefix, limit, start, newest_first=newest_first)
        position = None if rows.position is None else rows.position.removeprefix(prefix)
        return Slice([read(item) for item in rows.entries], position)

    def matching(
        self,
        pk: str,
        prefix: str,
        condition: str,
        values: Item,
        limit: int,
        after: str | None,
        index: TableIndex,
        most: int,
    ) -> Slice[Item]:
        """Up to `limit` items of the index whose sort keys begin with `prefix` and that meet the condition, newest
        first, after the sort key `after`.

        At most `most` items are read, in queries of up to a megabyte each: a slice may be short or empty and still
        have a position, the sort key of the item that was read last.
        """
        request = _filtered(self._query(pk, prefix, after or prefix + _HIGHEST, index), condition, values)
        rows: Items = []
        read, at_once = 0, limit + 2
        while read < most:
            answer = aws.dynamodb().query(**request, ScanIndexForward=False, Limit=min(at_once, most - read))
            rows += [row for row in map(items.unmarshal, answer["Items"]) if row[index.sort] != after]
            if len(rows) > limit:
                return Slice(rows[:limit], items.text(rows[limit - 1], index.sort))
            if "LastEvaluatedKey" not in answer:
                return Slice(rows, None)
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
            read, at_once = read + answer["ScannedCount"], most
        return Slice(rows, items.text(items.unmarshal(request["ExclusiveStartKey"]), index.sort))

    def each(self, pk: str, prefix: str = "", condition: str = "", values: Item | None = None) -> Iterator[Item]:
        """Every item whose sort key begins with `prefix` and that meets the condition, in order.

        One query for each megabyte, of those that do not meet it too.
        """
        request = _filtered(self._query(pk, prefix or _LOWEST, prefix + _HIGHEST, None), condition, values or {})
        for page in aws.dynamodb().get_paginator("query").paginate(**request):
            yield from map(items.unmarshal, page["Items"])

    def between(self, pk: str, low: str, high: str, index: TableIndex | None = None) -> Iterator[Item]:
        """Every item, of the index if there is one, with a sort key from `low` to `high`, in order.

        One query for each megabyte.
        """
        for page in aws.dynamodb().get_paginator("query").paginate(**self._query(pk, low, high, index)):
            yield from map(items.unmarshal, page["Items"])

    def list_all(self, pk: str, prefix: str = "") -> Items:
        """All of these items."""
        return [*self.each(pk, prefix)]

    def scan(self, condition: str, values: Item, *attributes: str) -> Iterator[Item]:
        """Every item of the table that meets the condition, its named attributes alone if any are named.

        Reads the whole table: for the start of a service that runs alone, and for operators.
        """
        request = _without_empty(
            TableName=self.name,
            FilterExpression=condition,
            ProjectionExpression=_projection(attributes),
            ExpressionAttributeNames=_names(condition, _projection(attributes)),
            ExpressionAttributeValues=items.marshal(values),
        )
        for page in aws.dynamodb().get_paginator("scan").paginate(**request, ConsistentRead=True):
            yield from map(items.unmarshal, page["Items"])

    def put(self, item: Item) -> None:
        """One put, whatever was there."""
        write(self.put_over(item))

    def put_over(self, item: Item) -> Write:
        """A put, whatever was there."""
        return self._write("Put", {"Item": items.marshal(item)})

    def put_new(self, item: Item) -> Write:
        """A put, if there is no item with that key."""
        return self.put_if(item, f"attribute_not_exists({self.partition})")

    def put_if(self, item: Item, condition: str, values: Item | None = None) -> Write:
        """A put, if the condition holds for what is there."""
        return self._write("Put", {"Item": items.marshal(item)}, values, ConditionExpression=condition)

    def at_revision(self, revision: int) -> tuple[str, Item]:
        """The condition that what is there has that revision, or that nothing is there if it is 0."""
        if revision == 0:
            return f"attribute_not_exists({self.partition})", {}
        return "revision = :revision", {":revision": revision}

    def update(self, key: Key, change: str, condition: str = "", values: Item | None = None) -> Write:
        """An update, if the condition holds."""
        return self._write(
            "Update", {"Key": items.marshal(key)}, values, UpdateExpression=change, ConditionExpression=condition
        )

    def delete(self, key: Key, condition: str = "", values: Item | None = None) -> Write:
        """A delete, if the condition holds."""
        return self._write("Delete", {"Key": items.marshal(key)}, values, ConditionExpression=condition)

    def must_exist(self, key: Key) -> Write:
        """Require that the item exists, without a write: otherwise the transaction fails."""
        return self.check(key, f"attribute_exists({self.partition})")

    def check(self, key: Key, condition: str, values: Item | None = None) -> Write:
        """Require the condition of the item, without a write: otherwise the transaction fails."""
        return self._write("ConditionCheck", {"Key": items.marshal(key)}, values, ConditionExpression=condition)

    def _get(self, key: Key, attributes: Sequence[str] = ()) -> dict[str, Any]:
        projection = _projection(attributes)
        return _without_empty(
            TableName=self.name,
            Key=items.marshal(key),
            ProjectionExpression=projection,
            ExpressionAttributeNames=_names(projection),
        )

    def _query(self, pk: str, first: str, last: str, index: TableIndex | None) -> dict[str, Any]:
        """The items of a partition from the sort key `first` to `last`. An index cannot be read consistently."""
        keys = index or self
        return _without_empty(
            TableName=self.name,
            IndexName=index.name if index else "",
            ConsistentRead=index is None,
            KeyConditionExpression="#partition = :partition AND #sort BETWEEN :first AND :last",
            ExpressionAttributeNames={"#partition": keys.partition, "#sort": keys.sort},
            ExpressionAttributeValues=items.marshal({":partition": pk, ":first": first, ":last": last}),
        )

    def _write(
        self,
        kind: Literal["Put", "Update", "Delete", "ConditionCheck"],
        subject: Mapping[str, object],
        values: Item | None = None,
        **expressions: str,
    ) -> Write:
        request = _without_empty(
            TableName=self.name,
            **subject,
            **expressions,
            ExpressionAttributeNames=_names(*expressions.values()),
            ExpressionAttributeValues=items.marshal(values or {}),
        )
        return cast("Write", {kind: request})


Items: TypeAlias = list[Item]

configurations: Final = Table(lambda: settings().configurations_table, "organization_id", "configuration_id")
versions: Final = Table(lambda: settings().versions_table, "configuration_id", "item")
identity: Final = Table(lambda: settings().identity_table, "pk", "sk")
fleets: Final = Table(lambda: settings().fleets_table, "pk", "sk")
runs: Final = Table(lambda: settings().runs_table, "run_id")
events: Final = Table(lambda: settings().events_table, "pk", "sk")


def warm() -> None:
    """Create the client before its first use, which takes tens of milliseconds."""
    aws.dynamodb()


def get_together(*places: tuple[Table, Key]) -> list[Item | None]:
    """Items of any tables as they were at one moment, in this order, None if there is no such item; one transaction.

    DynamoDB refuses it while one of them is being written, so it is repeated. Raises Contention after 15 seconds.
    """
    reads: list[TransactGetItemTypeDef] = [{"Get": cast("GetTypeDef", table._get(key))} for table, key in places]

    def once() -> TransactGetItemsOutputTypeDef:
        try:
            return aws.dynamodb().transact_get_items(TransactItems=reads)
        except ClientError as error:
            if _is_race(_cancellation_codes(error)):
                raise retry.LostRace from error
            raise

    rows = retry.retry(once)["Responses"]
    return [items.unmarshal(row["Item"]) if row.get("Item") else None for row in rows]


def write(write: Write, returned: Returned = "NONE") -> Item:
    """Carry out a single put, update or delete. Returns the attributes that `returned` asks for.

    Raises ConditionFailed.
    """
    client = aws.dynamodb()
    ((kind, content),) = write.items()
    request = {**cast("Mapping[str, object]", content)}
    if returned != "NONE":
        request["ReturnValues"] = returned
    if "ConditionExpression" in request:
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    operations = {"Put": client.put_item, "Update": client.update_item, "Delete": client.delete_item}
    operation = cast("Callable[..., Mapping[str, dict[str, AttributeValueTypeDef]]]", operations[kind])
    try:
        return items.unmarshal(operation(**request).get("Attributes", {}))
    except ClientError as error:
        if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
            raise ConditionFailed(error) from error
        raise


def transact(writes: Sequence[Write], refusals: Mapping[int, Exception] | None = None) -> None:
    """Carry out all of the writes or none. `refusals` says, by a write's place, what to raise if its condition fails.

    Raises the refusal of the first write that failed, if every write that failed has one. Otherwise LostRace: what the
    change was based on has changed, and this change itself may have taken the name that is refused.
    """
    try:
        aws.dynamodb().transact_write_items(TransactItems=writes)
    except ClientError as error:
        codes = _cancellation_codes(error)
        failed = [place for place, code in enumerate(codes) if code == "ConditionalCheckFailed"]
        if failed and refusals and refusals.keys() >= set(failed):
            raise refusals[failed[0]] from error
        if _is_race(codes):
            raise retry.LostRace from error
        raise


def _cancellation_codes(error: ClientError) -> list[str]:
    """The reason of each refused write of a cancelled transaction, "None" for others. Empty for other errors."""
    if error.response["Error"]["Code"] != "TransactionCanceledException":
        return []
    reasons = cast("Sequence[Mapping[str, object]]", error.response.get("CancellationReasons", []))
    return [str(reason.get("Code", "None")) for reason in reasons]


def _is_race(codes: Sequence[str]) -> bool:
    return bool(codes) and set(codes) <= _RACE


def _pause(pauses: Iterator[float]) -> None:
    pause = next(pauses, None)
    if pause is None:
        raise errors.Unavailable("The tables have more requests than they can answer; try again shortly")
    time.sleep(pause)


def _filtered(query: dict[str, Any], condition: str, values: Item) -> dict[str, Any]:
    """The query, of items that meet the condition only."""
    if condition:
        query["FilterExpression"] = condition
        query["ExpressionAttributeNames"] |= _names(condition)
        query["ExpressionAttributeValues"] |= items.marshal(values)
    return query


def _projection(attributes: Sequence[str]) -> str:
    return ", ".join(f"#{name}" for name in attributes)


def _names(*expressions: str) -> dict[str, str]:
    """The attribute that each `#name` of the expressions stands for."""
    return {f"#{name}": name for expression in expressions for name in _NAME.findall(expression)}


def _without_empty(**request: object) -> dict[str, Any]:
    """DynamoDB refuses an empty expression, and one's names and values without it."""
    return {name: value for name, value in request.items() if value not in ("", {})}
