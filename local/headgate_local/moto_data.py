"""The items and objects that moto holds, as changes to save, and back again."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, cast

from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table as MotoTable
from moto.s3.models import FakeBucket, FakeKey, S3Backend, s3_backends

from headgate_local import moto_reads
from headgate_local.database import DatabaseChange, Json
from headgate_local.errors import CannotStart
from headgate_local.template import TableTemplate, TemplateBucket

ACCOUNT: Final = "123456789012"
REGION: Final = "us-east-1"

# AWS removes an expired item "within a few days"; until then code that reads it has to look at the time itself.
_EXPIRED_FOR: Final = timedelta(hours=1)

Attributes = Mapping[str, Mapping[str, object]]


class UnknownPlace(CannotStart):
    """The data contain a table or bucket that this version of the template does not define."""


class MotoData:
    """Read moto's content of the given tables and buckets. Call it with moto's lock held."""

    def __init__(self, tables: list[TableTemplate], buckets: list[TemplateBucket]) -> None:
        self._tables = tables
        self._buckets = buckets

    @property
    def dynamodb(self) -> DynamoDBBackend:
        return dynamodb_backends[ACCOUNT][REGION]

    @property
    def s3(self) -> S3Backend:
        return s3_backends[ACCOUNT]["aws"]

    def item_key(self, table_name: str, attributes: Attributes) -> str | None:
        """The key of an item as text, or None if moto will refuse the call: no such table, or an incomplete key."""
        table = self.dynamodb.tables.get(table_name)
        if table is None:
            return None
        names = [name for name in (table.hash_key_attr, table.range_key_attr) if name]
        if not all(isinstance(attributes.get(name), dict) for name in names):
            return None
        key = {name: _stored(attributes[name]) for name in names}
        return json.dumps(key, separators=(",", ":"), sort_keys=True, ensure_ascii=False)

    def item(self, table_name: str, key: str) -> DatabaseChange:
        """The item at that key now."""
        item = self._stored(table_name, key)
        value = None if item is None else moto_reads.value(item, _item_value)
        return DatabaseChange(f"table/{table_name}", key, value)

    def forget(self, keys: Iterable[tuple[str, str]]) -> None:
        """Compute anew what the items at those keys of tables are: a call may change them where they are."""
        moto_reads.forget([self._stored(*key) for key in keys])

    def object(self, bucket_name: str, key: str) -> DatabaseChange:
        """The object at that key now."""
        stored = self.s3.get_bucket(bucket_name).keys.get(key)
        if not isinstance(stored, FakeKey):
            return DatabaseChange(f"bucket/{bucket_name}", key, None)
        value: Json = {"metadata": dict(stored.metadata), "written": stored.last_modified.isoformat()}
        return DatabaseChange(f"bucket/{bucket_name}", key, value, stored.value)

    def apply(self, change: DatabaseChange) -> None:
        """Make the change in moto. Raises UnknownPlace."""
        kind, _, name = change.place.partition("/")
        if kind == "table" and name in self.dynamodb.tables:
            self._apply_item(self.dynamodb.tables[name], change)
        elif kind == "bucket" and name in self.s3.buckets:
            self._apply_object(self.s3.buckets[name], change)
        else:
            raise UnknownPlace(
                f"the data contain the {kind} {name}, which template.yaml does not define: another version of Headgate "
                "wrote them. Start that version, or set HEADGATE_DATA to another folder"
            )

    def drop_expired(self, at: datetime) -> list[DatabaseChange]:
        """Remove items whose time to live ended long ago, and objects past their bucket's lifecycle."""
        dropped = [*self._expired_items((at - _EXPIRED_FOR).timestamp()), *self._expired_objects(at)]
        for change in dropped:
            self.apply(change)
        return dropped

    def _expired_items(self, before: float) -> Iterator[DatabaseChange]:
        for table in self._tables:
            if table.expiry_attribute is None:
                continue
            for item in self.dynamodb.tables[table.name].all_items():
                expiry = item.attrs.get(table.expiry_attribute)
                if expiry is not None and expiry.is_number() and float(expiry.value) < before:
                    key = self.item_key(table.name, item.to_json()["Attributes"])
                    assert key is not None, "an item in a table has its key"
                    yield DatabaseChange(f"table/{table.name}", key, None)

    def _expired_objects(self, at: datetime) -> Iterator[DatabaseChange]:
        for bucket in self._buckets:
            keys = self.s3.buckets[bucket.name].keys
            for key in keys:
                written = keys[key].last_modified.replace(tzinfo=UTC)
                if any(
                    key.startswith(expiry.prefix) and written + timedelta(days=expiry.days) < at
                    for expiry in bucket.expiries
                ):
                    yield DatabaseChange(f"bucket/{bucket.name}", key, None)

    def _stored(self, table_name: str, key: str) -> Item | None:
        table = self.dynamodb.tables[table_name]
        return table.get_item(*_moto_key(table, json.loads(key)))

    def _apply_item(self, table: MotoTable, change: DatabaseChange) -> None:
        hash_key, range_key = _moto_key(table, json.loads(change.key))
        if change.value is None:
            table.delete_item(hash_key, range_key)
            return
        assert isinstance(change.value, Mapping)
        item = Item(hash_key, range_key, {})
        for name, value in change.value.items():
            # The item's own setter computes its size for every attribute; the size was checked when it was written.
            dict.__setitem__(item.attrs, name, DynamoType(_restored(value)))
        if range_key is None:
            # For a table without a range key, moto stores the item where its type says a dictionary of items.
            cast("dict[DynamoType, Item]", table.items)[hash_key] = item
        else:
            table.items[hash_key][range_key] = item

    def _apply_object(self, bucket: FakeBucket, change: DatabaseChange) -> None:
        if change.value is None:
            if change.key in bucket.keys:
                bucket.keys.pop(change.key)
            return
        assert isinstance(change.value, Mapping)
        key = FakeKey(
            name=change.key,
            value=change.content,
            account_id=ACCOUNT,
            region_name=REGION,
            bucket_name=bucket.name,
            version_id="null",
        )
        metadata = change.value["metadata"]
        assert isinstance(metadata, Mapping)
        key.set_metadata(dict(metadata), replace=True)
        key.last_modified = datetime.fromisoformat(str(change.value["written"]))
        bucket.keys.setlist(change.key, [key])


def _moto_key(table: MotoTable, key: Mapping[str, Json]) -> tuple[DynamoType, DynamoType | None]:
    hash_key = DynamoType(_restored(key[table.hash_key_attr]))
    return hash_key, DynamoType(_restored(key[table.range_key_attr])) if table.range_key_attr else None


def _item_value(item: Item) -> Json:
    return {name: _stored(attribute) for name, attribute in item.to_json()["Attributes"].items()}


def _stored(attribute: Mapping[str, object]) -> Json:
    """An attribute in DynamoDB's JSON: binary values in base64."""
    ((kind, value),) = attribute.items()
    match kind, value:
        case "B", bytes():
            return {kind: base64.b64encode(value).decode()}
        case "BS", list():
            return {kind: [base64.b64encode(entry).decode() if isinstance(entry, bytes) else entry for entry in value]}
        case "L", list():
            return {kind: [_stored(_plain(entry)) for entry in value]}
        case "M", dict():
            return {kind: {name: _stored(_plain(entry)) for name, entry in value.items()}}
    return {kind: cast("Json", value)}


def _plain(entry: DynamoType | Mapping[str, object]) -> Mapping[str, object]:
    return {entry.type: entry.value} if isinstance(entry, DynamoType) else entry


def _restored(attribute: Json) -> dict[str, object]:
    """The attribute as moto stores it: binary values as bytes."""
    assert isinstance(attribute, Mapping)
    ((kind, value),) = attribute.items()
    match kind, value:
        case "B", str():
            return {kind: base64.b64decode(value)}
        case "BS", list():
            return {kind: [base64.b64decode(entry) for entry in value]}
        case "L", list():
            return {kind: [_restored(entry) for entry in value]}
        case "M", dict():
            return {kind: {name: _restored(entry) for name, entry in value.items()}}
    return {kind: value}
