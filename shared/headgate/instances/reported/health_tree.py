"""Health of a collector's pipelines and components by its last report: an item beside that of its instance.

The instance has a digest of it, so that it is written only when it changes: most messages do not write it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from headgate.fleets import keys
from headgate.storage.items import Item
from headgate.storage.stored import COMPRESSED_JSON, Stored
from headgate.storage.table import Write
from headgate.storage.table import fleets as table

MOST_PARTS: Final = 500
DEEPEST: Final = 4
"""Levels below the collector: an agent sends two, a bridge three."""
LONGEST_NAME: Final = 100
LONGEST_STATUS: Final = 40
LONGEST_ERROR: Final = 300
MOST_BYTES: Final = 24 << 10
"""The bytes of the tree as it is stored, compressed."""
LASTS: Final = timedelta(days=60)
"""Retention of a tree: longer than its instance, and the time until it is written again."""
_WRITTEN_AGAIN: Final = timedelta(days=20)
# An error that differs in a port or a count alone is the same one.
_NUMBERS: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class PartHealth:
    """A pipeline or a component: the names on the way to it, and how it fares since `at`."""

    path: Sequence[str]
    healthy: bool
    status: str = ""
    error: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class HealthTree:
    """The parts of a collector in the order of a tree, each after the one that it is in.

    `status` and `at` are those of the whole, `started_at` is when its collector started, by its own clock. It is not
    `complete` if the collector has more parts, levels or text than are stored.
    """

    status: str
    at: datetime | None
    started_at: datetime | None
    parts: Sequence[PartHealth]
    complete: bool = True

    @property
    def digest(self) -> str:
        """Digest all but times and numbers in errors, which may differ in each message."""
        said = [self.status, str(self.started_at)]
        said += [repr((part.path, part.healthy, part.status, _NUMBERS.sub("", part.error))) for part in self.parts]
        return hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class TreeNote:
    """The instance's note of its tree: the digest, and the time at which it was stored last."""

    digest: str
    stored_at: datetime

    @classmethod
    def after(cls, before: TreeNote | None, reported: HealthTree, at: datetime) -> TreeNote:
        """Merge a report of health that has a tree."""
        digest = reported.digest
        same = before and before.digest == digest and at - before.stored_at <= _WRITTEN_AGAIN
        return before if before and same else cls(digest, at)


def writes(fleet_id: str, instance_id: str, tree: HealthTree, at: datetime) -> Write:
    """The write that stores the tree of an instance, in the transaction of that."""
    return table.put_over(keys.health(fleet_id, instance_id) | stored_item(instance_id, tree, at))


def removal(fleet_id: str, instance_id: str) -> Write:
    """The write that deletes the tree of an instance."""
    return table.delete(keys.health(fleet_id, instance_id))


def tree(fleet_id: str, instance_id: str) -> HealthTree | None:
    """The tree that is stored for an instance; one read."""
    return table.find(keys.health(fleet_id, instance_id), read)


def read(item: Item) -> HealthTree:
    """The tree in its item."""
    return _TREES.read(item).tree


@dataclass(frozen=True, slots=True)
class _StoredTree:
    instance_id: str
    tree: HealthTree
    expires: int


_TREES: Final = Stored(_StoredTree, forms={"tree": COMPRESSED_JSON})
Stored(PartHealth, sparse=True)


def stored_item(instance_id: str, tree: HealthTree, at: datetime) -> Item:
    """The attributes of a tree, without what has no room."""
    expires = int((at + LASTS).timestamp())
    item = _TREES.item(_StoredTree(instance_id, tree, expires))
    while isinstance(packed := item["tree"], bytes) and len(packed) > MOST_BYTES:
        # Errors of strangers may not compress.
        tree = replace(tree, parts=tree.parts[: len(tree.parts) // 2], complete=False)
        item = _TREES.item(_StoredTree(instance_id, tree, expires))
    return item
