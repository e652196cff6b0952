"""What the tables and the bucket hold: taken, compared, and put back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.s3.utils import compute_checksum

from headgate_local.database import DatabaseChange, Json
from headgate_local.moto_data import MotoData
from headgate_local.moto_patches import LOCK
from headgate_local.template import Template

Held = dict[tuple[str, str], DatabaseChange]

_TIME_OR_NAME: Final = re.compile(
    r"\d{4}-\d\d-\d\dT[0-9:.]+Z|(?<=_)[0-9a-z]{26}|[0-9a-f]{64}|[0-9A-Za-z_]+@[a-z.]+|(?<=outbox#)\d+",
)


class State:
    """All items and objects of the template's tables and buckets."""

    def __init__(self, template: Template) -> None:
        self._data = MotoData(template.tables(), template.buckets())
        self._tables = [table.name for table in template.tables()]
        self._buckets = [bucket.name for bucket in template.buckets()]
        # By the moto item, which is kept so that no other one gets its id: what it held, and as a change.
        self._seen: dict[int, tuple[Item, object, DatabaseChange]] = {}

    def take(self) -> Held:
        with LOCK:
            return {(one.place, one.key): one for one in self._everything()}

    def put_back(self, held: Held) -> None:
        with LOCK:
            now = {(one.place, one.key): one for one in self._everything()}
            for place, key in now.keys() - held.keys():
                self._data.apply(DatabaseChange(place, key, None))
            for (place, key), change in held.items():
                if now.get((place, key)) != change:
                    self._data.apply(change)
                    self._check_in(place, key)

    def _check_in(self, place: str, key: str) -> None:
        """Give an object that was put back the checksum that S3 keeps with it, by which boto3 knows a whole one."""
        kind, _, name = place.partition("/")
        if kind == "bucket":
            found = self._data.s3.buckets[name].keys[key]
            found.checksum_algorithm = "CRC32"
            found.checksum_value = compute_checksum(found.value, algorithm="CRC32").decode()

    def _everything(self) -> Iterator[DatabaseChange]:
        """All but the gallery, which no request changes."""
        seen, self._seen = self._seen, {}
        for table in self._tables:
            for item in self._data.dynamodb.tables[table].all_items():
                known, attributes = seen.get(id(item)), _plain(item.attrs)
                if known is None or known[1] != attributes:
                    known = item, attributes, self._read(table, item)
                self._seen[id(item)] = known
                yield known[2]
        for bucket in self._buckets:
            for key in list(self._data.s3.buckets[bucket].keys):
                if not key.startswith("flows/"):
                    yield self._data.object(bucket, key)

    def _read(self, table: str, item: Item) -> DatabaseChange:
        key = self._data.item_key(table, item.to_json()["Attributes"])
        assert key is not None
        return self._data.item(table, key)


def _plain(value: object) -> object:
    """What is compared to the letter: moto's own comparison takes 1.0 for 1."""
    if isinstance(value, DynamoType):
        held = value.value
        return value.type, _plain(held) if isinstance(held, dict | list) else held
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def changes(before: Held, after: Held) -> set[str]:
    """What became of items and objects, in words that are the same for any two runs of one request.

    Without the leases of checks: one that could not be given back ends by itself. A queue of runs is who is in it.
    """
    return {
        _word(place, key, before.get((place, key)), after.get((place, key)))
        for place, key in before.keys() | after.keys()
        if _told(key, before.get((place, key))) != _told(key, after.get((place, key))) and "checks#" not in key
    }


def _told(key: str, change: DatabaseChange | None) -> Json | DatabaseChange:
    if change is not None and "queue#" in key and isinstance(change.value, dict):
        return {name: one for name, one in change.value.items() if name != "revision"}
    return change


def _word(place: str, key: str, before: DatabaseChange | None, after: DatabaseChange | None) -> str:
    what = "new" if before is None else "gone" if after is None else "changed"
    return f"{what} {place.rpartition('/')[2]} {_TIME_OR_NAME.sub('*', key)}"
