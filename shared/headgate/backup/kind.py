"""Kinds of records in an archive: the key that follows from a record's content, and its possible attributes.

Those of a stored class follow from it: their types, and which of them every item has. `NAMED` has the checks of names
whose type says too little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, get_args, get_origin

from headgate.backup import checks
from headgate.backup.archive import TableName
from headgate.backup.checks import Check, an_id, one_of, text
from headgate.backup.places import PlacedKey
from headgate.foundation.principal import Actor, Principal
from headgate.storage.items import Item
from headgate.storage.stored import JSON, Attribute, Stored

NAME: Final = text(1_000)
LONG: Final = text(20_000)
NAMED: Final[Mapping[str, Check]] = {
    **dict.fromkeys(("description", "message", "reason", "pipeline"), LONG),
    **dict.fromkeys(("health_error", "reported_message", "state_message"), LONG),
    **dict.fromkeys(("fleets", "webhooks", "admins", "expires"), checks.number),
    "access": one_of("read", "read_write"),
    "audit_id": an_id("aud"),
    "components": text(),
    "configuration": text(64),
    "configuration_id": an_id("cfg"),
    "content": checks.packed,
    "content_key": text(100),
    "created_at": checks.time,
    "created_by": checks.principal,
    "currency": text(3),
    "default_deployment_id": an_id("dep"),
    "deployment_id": an_id("dep"),
    "email": text(320),
    "evidence": checks.entries,
    "expires_at": checks.time,
    "fleet_id": an_id("flt"),
    "instance_id": an_id("ins"),
    "key": checks.host_key,
    "keys": checks.entries,
    "kinds": checks.entries,
    "moved_to": an_id("dep"),
    "organization_id": an_id("org"),
    "owner": checks.principal,
    "patterns": checks.entries,
    "principal_id": an_id("usr", "sva"),
    "published_of": an_id("cfg"),
    # Names of variables have no bound.
    "removed": checks.entries,
    "revision": checks.counted,
    "rules": checks.entries,
    "scope": an_id("flt", "dep"),
    "service_account_id": an_id("sva"),
    "sha256": text(64),
    "tests": checks.entries,
    "token_generation": checks.generation,
    "updated_at": checks.time,
    "user_id": an_id("usr"),
    "value_hash": checks.digest,
    "webhook_id": an_id("whk"),
}
_TYPES: Final[Mapping[Any, Check]] = {
    str: NAME,
    int: checks.number,
    bool: checks.flag,
    bytes: checks.packed,
    datetime: checks.time,
    Actor: checks.actor,
    Principal: checks.principal,
}


PLACES: Final[Mapping[TableName, tuple[str, str]]] = {
    "configurations": ("organization_id", "configuration_id"),
    "versions": ("configuration_id", "item"),
    "fleets": ("pk", "sk"),
    "events": ("pk", "sk"),
    "identity": ("pk", "sk"),
}


@dataclass(frozen=True, slots=True)
class Kind:
    """`partition` and `sort` are how its keys begin, `required` are the attributes without which an item is refused,
    and `stored` is the class in it, if it is one."""

    table: TableName
    partition: str
    title: str
    sort: str
    key: PlacedKey
    required: Mapping[str, Check] = field(default_factory=dict)
    optional: Mapping[str, Check] = field(default_factory=dict)
    stored: Stored[Any] | None = None

    def has(self, item: Item) -> bool:
        """True if the item has the form of this kind's keys; the things that they name may not exist."""
        partition, sort = PLACES[self.table]
        return str(item.get(partition)).startswith(self.partition) and _begins(str(item.get(sort)), self.sort)

    def storing(self, stored: Stored[Any], *always: str) -> Kind:
        """With the attributes of a stored class besides its own and those of the key.

        A field with a default may be missing in an item of before it was added, but those in `always` never were.
        """
        known = {*self.required, *self.optional, *PLACES[self.table]}
        others = [each for each in stored.attributes() if each.name not in known]
        optional = {each.name: _check(each) for each in others if each.is_optional and each.name not in always}
        required = {each.name: _check(each) for each in others if each.name not in optional}
        return replace(
            self, required={**required, **self.required}, optional={**optional, **self.optional}, stored=stored
        )


def named(*names: str, **others: Check) -> Mapping[str, Check]:
    """The checks of attributes by their names, and those of others."""
    return {**{name: NAMED[name] for name in names}, **others}


def _check(attribute: Attribute) -> Check:
    """The check of an attribute by its name, or else by its type."""
    cls = attribute.type
    if attribute.form is not None:
        return text() if attribute.form is JSON else checks.packed
    if attribute.name in NAMED:
        return NAMED[attribute.name]
    if cls in _TYPES:
        return _TYPES[cls]
    if get_origin(cls) is Literal:
        return one_of(*get_args(cls))
    if is_dataclass(cls):
        return checks.mapping
    collection = get_origin(cls)
    if isinstance(collection, type) and issubclass(collection, Mapping):
        return checks.texts if get_args(cls)[1] is str else checks.mapping
    if isinstance(collection, type) and issubclass(collection, Sequence):
        return checks.names if get_args(cls)[0] is str else checks.entries
    raise TypeError(f"an archive has no attribute of type {cls}")


def _begins(sort: str, start: str) -> bool:
    """A sort key without a `#` has no more than that; `""` is the start of every one."""
    return sort.startswith(start) if start.endswith("#") or not start else sort == start
