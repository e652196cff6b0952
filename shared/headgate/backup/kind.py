"""Kinds of records in an archive: the key that follows from a record's content, and its possible attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from headgate.backup.archive import TableName
from headgate.backup.checks import Check, text
from headgate.backup.places import Index
from headgate.storage.items import Item
from headgate.storage.table import Key

NAME: Final = text(1_000)
LONG: Final = text(20_000)


@dataclass(frozen=True, slots=True)
class Kind:
    """`key` is the key that follows from an item and the index. It raises KeyError if the archive lacks what the item
    belongs to. `required` are the attributes without which the item is refused."""

    title: str
    table: TableName
    partition: str
    sort: str
    key: Callable[[Index, Item], Key]
    required: Mapping[str, Check]
    optional: Mapping[str, Check] = field(default_factory=dict)

    def has(self, item: Item) -> bool:
        """True if the item has the form of this kind's keys; the things that they name may not exist."""
        partition, sort = PLACES[self.table]
        return str(item.get(partition)).startswith(self.partition) and _begins(str(item.get(sort)), self.sort)


PLACES: Final[Mapping[TableName, tuple[str, str]]] = {
    "configurations": ("organization_id", "configuration_id"),
    "versions": ("configuration_id", "item"),
    "fleets": ("pk", "sk"),
    "events": ("pk", "sk"),
    "identity": ("pk", "sk"),
}


def _begins(sort: str, start: str) -> bool:
    """A sort key without a `#` has no more than that; `""` is the start of every one."""
    return sort.startswith(start) if start.endswith("#") or not start else sort == start
