"""The items and objects that moto holds, as changes to keep, and back again."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, cast
from weakref import WeakKeyDictionary

from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table as MotoTable
from moto.s3.models import FakeBucket, FakeKey, S3Backend, s3_backends

from headgate_local.errors import CannotStart
from headgate_local.objects import ObjectFiles
from headgate_local.records import Change, Json
from headgate_local.template import Bucket, Table

ACCOUNT: Final = "123456789012"
REGION: Final = "us-east-1"

# AWS removes an expired item "within a few days"; until then code that reads it has to look at the time itself.
_EXPIRED_FOR: Final = timedelta(hours=1)

Attributes = Mapping[str, Mapping[str, object]]


class UnknownPlace(CannotStart):
    """The data hold a table or bucket that this version of the template does not have."""


class MotoData:
    """What moto holds in the given tables and buckets. Call it with moto's lock held."""

    def __init__(self, tables: list[Table], buckets: list[Bucket], objects: ObjectFiles) -> None:
        self._tables = {table.name: table for table in tables}
        self._buckets = {bucket.name: bucket for bucket in buckets}
        self._objects = objects
        # An object's content never changes, another one takes its place; so it is hashed and written once.
        self._content_names: WeakKeyDictionary[FakeKey, str] = WeakKeyDictionary()
        self.lost_objects: list[str] = []
        """Objects that `apply` left out since their content is gone."""

    @property
    def dynamodb(self) -> DynamoDBBackend:
        return dynamodb_backends[ACCOUNT][REGION]

    @property
    def s3(self) -> S3Backend:
        return s3_backends[ACCOUNT]["aws"]

    def item_key(self, table_name: str, attributes: Attributes) -> str | None:
        """The key of an item as text, or None where moto is going to refuse the call: no such table, no whole key."""
        table = self.dynamodb.tables.get(table_name)
        if table is None:
            return None
        names = [name for name in (table.hash_key_attr, table.range_key_attr) if name]
        if not all(isinstance(attributes.get(name), dict) for name in names):
            return None
        return _json({name: _stored(attributes[name]) for name in names})

    def item(self, table_name: str, key: str) -> Change:
        """What stands at that key now."""
        table = self.dynamodb.tables[table_name]
        item = table.get_item(*_moto_key(table, json.loads(key)))
        return Change(f"table/{table_name}", key, None if item is None else _item_value(item))

    def object(self, bucket_name: str, key: str) -> Change:
        """What stands at that key now; its content is put beside the journal first."""
        found = self.s3.get_bucket(bucket_name).keys.get(key)
        value = self._object_value(found) if isinstance(found, FakeKey) else None
        return Change(f"bucket/{bucket_name}", key, value)

    def apply(self, change: Change) -> None:
        """Make the change in moto. Raises UnknownPlace."""
        kind, _, name = change.place.partition("/")
        if kind == "table" and name in self.dynamodb.tables:
            self._apply_item(self.dynamodb.tables[name], change)
        elif kind == "bucket" and name in self.s3.buckets:
            self._apply_object(self.s3.buckets[name], change)
        else:
            raise UnknownPlace(
                f"the data hold the {kind} {name}, which template.yaml does not define: they are of another version of "
                "Headgate. Start that version, or set HEADGATE_DATA to another folder"
            )

    def everything(self) -> Iterator[Change]:
        for table_name in self._tables:
            for item in self.dynamodb.tables[table_name].all_items():
                key = self.item_key(table_name, item.to_json()["Attributes"])
                assert key is not None, "an item in a table has its key"
                yield Change(f"table/{table_name}", key, _item_value(item))
        for bucket_name in self._buckets:
            for key in list(self.s3.buckets[bucket_name].keys):
                yield self.object(bucket_name, key)

    def drop_expired(self, at: datetime) -> None:
        """Remove items whose time to live ended long ago, and objects past their bucket's lifecycle."""
        for table in self._tables.values():
            if table.expiry_attribute is not None:
                self._drop_expired_items(table.name, table.expiry_attribute, (at - _EXPIRED_FOR).timestamp())
        for bucket in self._buckets.values():
            keys = self.s3.buckets[bucket.name].keys
            for key, found in [(key, keys[key]) for key in list(keys)]:
                written = found.last_modified.replace(tzinfo=UTC)
                if any(
                    key.startswith(expiry.prefix) and written + timedelta(days=expiry.days) < at
                    for expiry in bucket.expiries
                ):
                    keys.pop(key)

    def object_contents(self) -> set[str]:
        """The names of all contents that an object has."""
        values = (
            self.object(bucket_name, key).value
            for bucket_name in self._buckets
            for key in list(self.s3.buckets[bucket_name].keys)
        )
        return {str(value["sha256"]) for value in values if isinstance(value, Mapping)}

    def _drop_expired_items(self, table_name: str, attribute: str, before: float) -> None:
        moto_table = self.dynamodb.tables[table_name]
        for item in list(moto_table.all_items()):
            expiry = item.attrs.get(attribute)
            if expiry is not None and expiry.is_number() and float(expiry.value) < before:
                moto_table.delete_item(item.hash_key, item.range_key)

    def _apply_item(self, table: MotoTable, change: Change) -> None:
        hash_key, range_key = _moto_key(table, json.loads(change.key))
        if change.value is None:
            table.delete_item(hash_key, range_key)
            return
        assert isinstance(change.value, Mapping)
        item = Item(hash_key, range_key, {})
        for name, value in change.value.items():
            # Past the item's own setter, which adds up the size of the item for every attribute; it was checked once.
            dict.__setitem__(item.attrs, name, DynamoType(_restored(value)))
        if range_key is None:
            # In a table without a range key moto keeps the item itself where its type says a dictionary of items.
            cast("dict[DynamoType, Item]", table.items)[hash_key] = item
        else:
            table.items[hash_key][range_key] = item

    def _object_value(self, found: FakeKey) -> Json:
        name = self._content_names.get(found)
        if name is None:
            name = self._content_names[found] = self._objects.put(found.value)
        return {
            "sha256": name,
            "metadata": dict(found.metadata),
            "written": found.last_modified.isoformat(),
        }

    def _apply_object(self, bucket: FakeBucket, change: Change) -> None:
        if change.value is None:
            if change.key in bucket.keys:
                bucket.keys.pop(change.key)
            return
        assert isinstance(change.value, Mapping)
        name = str(change.value["sha256"])
        content = self._objects.get(name)
        if content is None:
            self.lost_objects.append(f"{bucket.name}/{change.key}")
            return
        key = FakeKey(
            name=change.key,
            value=content,
            account_id=ACCOUNT,
            region_name=REGION,
            bucket_name=bucket.name,
            version_id="null",
        )
        metadata = change.value["metadata"]
        assert isinstance(metadata, Mapping)
        key.set_metadata(dict(metadata), replace=True)
        key.last_modified = datetime.fromisoformat(str(change.value["written"]))
        self._content_names[key] = name
        bucket.keys.setlist(change.key, [key])


def _moto_key(table: MotoTable, key: Mapping[str, Json]) -> tuple[DynamoType, DynamoType | None]:
    hash_key = DynamoType(_restored(key[table.hash_key_attr]))
    return hash_key, DynamoType(_restored(key[table.range_key_attr])) if table.range_key_attr else None


def _item_value(item: Item) -> Json:
    return {name: _stored(attribute) for name, attribute in item.to_json()["Attributes"].items()}


def _stored(attribute: Mapping[str, object]) -> Json:
    """An attribute as DynamoDB's own JSON has it: binary values in base64."""
    ((kind, value),) = attribute.items()
    match kind, value:
        case "B", bytes():
            return {kind: base64.b64encode(value).decode()}
        case "BS", list():
            return {kind: [base64.b64encode(one).decode() if isinstance(one, bytes) else one for one in value]}
        case "L", list():
            return {kind: [_stored(_plain(entry)) for entry in value]}
        case "M", dict():
            return {kind: {name: _stored(_plain(entry)) for name, entry in value.items()}}
    return {kind: cast("Json", value)}


def _plain(entry: DynamoType | Mapping[str, object]) -> Mapping[str, object]:
    return {entry.type: entry.value} if isinstance(entry, DynamoType) else entry


def _restored(attribute: Json) -> dict[str, object]:
    """The attribute as moto holds it: binary values as bytes."""
    assert isinstance(attribute, Mapping)
    ((kind, value),) = attribute.items()
    match kind, value:
        case "B", str():
            return {kind: base64.b64decode(value)}
        case "BS", list():
            return {kind: [base64.b64decode(one) for one in value]}
        case "L", list():
            return {kind: [_restored(entry) for entry in value]}
        case "M", dict():
            return {kind: {name: _restored(entry) for name, entry in value.items()}}
    return {kind: value}


def _json(content: Json) -> str:
    return json.dumps(content, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
