"""Reads the records of an archive as an import writes them: each under the key that follows from its content.

Nothing is written before every record was read once. docs/backup.md says what is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from headgate.backup import archive
from headgate.backup.archive import BadArchive, BucketObject, Header, Record, TableItem
from headgate.backup.kind import PLACES, Kind
from headgate.backup.kinds import kind_of
from headgate.backup.places import Index
from headgate.configurations import keys as configuration_keys
from headgate.fleets import keys as fleet_keys
from headgate.fleets import prices
from headgate.identity import keys
from headgate.policies.model import settings_in
from headgate.rollouts import imported as rollouts
from headgate.storage import items
from headgate.storage.items import Item, Value
from headgate_engine.policies.model import (
    MAX_EXAMPLE,
    MAX_EXAMPLES,
    MAX_EXPRESSION,
    MAX_MESSAGE,
    MAX_RULES,
    PolicyChoices,
)

# A text of a version has at most a megabyte.
_LONGEST_TEXT: Final = 4 << 20
_OBJECT: Final = re.compile(rf"{configuration_keys.TEXTS}/[0-9a-f]{{64}}")

# What the readers of stored items raise for values that they do not know.
_UNREADABLE: Final = (TypeError, KeyError, ValueError, AttributeError, RecursionError)


def index(path: Path, header: Header) -> Index:
    """Index the archive's records by their ids. Raises BadArchive."""
    held = Index(header.organization_id)
    for number, record in archive.records(path):
        try:
            _note(held, record)
        except _UNREADABLE as error:
            raise _refused(path, number, error) from error
    return held


def records(path: Path, held: Index) -> Iterator[Record]:
    """The records in the order of an import. Raises BadArchive for one that an export would not have written."""
    seen: set[tuple[str, str, str]] = set()
    last: Kind | None = None
    for number, record in archive.records(path):
        try:
            if last is not None and last.title == "Organization":
                raise ValueError("it follows the organization's own item, which is the last one")
            last = kind_of(record.table, record.item) if isinstance(record, TableItem) else None
            accepted = _accepted(held, last, record, seen)
        except _UNREADABLE as error:
            raise _refused(path, number, error) from error
        yield accepted
    if last is None or last.title != "Organization":
        raise BadArchive(f"{path} does not end with the organization's own item: it is not an export of Headgate")


def _accepted(held: Index, kind: Kind | None, record: Record, seen: set[tuple[str, str, str]]) -> Record:
    if isinstance(record, BucketObject):
        return _object(record)
    if kind is None:
        raise ValueError("an export has no records with such a key")
    accepted = _item(held, kind, record.item)
    if _place(accepted) in seen:
        raise ValueError("the archive has another record with its key")
    seen.add(_place(accepted))
    return accepted


def _place(record: TableItem) -> tuple[str, str, str]:
    """The table, and both attributes of the key."""
    partition, sort = PLACES[record.table]
    return record.table, items.text(record.item, partition), items.text(record.item, sort)


def _refused(path: Path, number: int, error: Exception) -> BadArchive:
    reason = f"the archive does not hold {error}" if isinstance(error, KeyError) else str(error)
    return BadArchive(f"line {number} of {path} is not imported: {reason[:300]}. Nothing was written")


def _note(held: Index, record: Record) -> None:
    if isinstance(record, BucketObject):
        held.objects.add(record.key)
        return
    item = record.item
    kind = kind_of(record.table, item)
    match kind.title if kind else "":
        case "Configuration":
            held.configurations.add(items.text(item, "configuration_id"))
        case "Version":
            held.versions.add((items.text(item, "configuration_id"), items.number(item, "n")))
        case "Person":
            held.people.add(items.text(item, "user_id"))
        case "Member" if item.get("kind") == "user":
            held.members[items.text(item, "principal_id")] = items.text(item, "role")
        case "Service account":
            held.service_accounts.add(items.text(item, "service_account_id"))
        case "Token in a list":
            held.token_hashes[items.text(item, "value_hash")] = items.text(item, "token_id")
        case "Fleet":
            held.fleets[items.text(item, "fleet_id")] = items.text(item, "label")
        case "Webhook":
            held.webhooks.add(items.text(item, "webhook_id"))
        case "Deployment":
            held.groups[items.text(item, "deployment_id")] = items.text(item, "fleet_id"), items.text(item, "name")


def _object(record: BucketObject) -> BucketObject:
    """A text, under its own hash."""
    key = f"{configuration_keys.TEXTS}/{hashlib.sha256(_unpacked(record.content)).hexdigest()}"
    if key != record.key:
        raise ValueError("it is not named by the hash of its content")
    return BucketObject(key, record.content)


def _unpacked(content: bytes) -> bytes:
    """A text of zlib, no longer than one may be."""
    reading = zlib.decompressobj()
    try:
        text = reading.decompress(content, _LONGEST_TEXT)
    except zlib.error as error:
        raise ValueError(f"its content is not a packed text: {error}") from error
    if not reading.eof or reading.unused_data:
        raise ValueError("its content is not one packed text, or is longer than one may be")
    return text


def _item(held: Index, kind: Kind, item: Item) -> TableItem:
    """The item of the attributes that its kind has, under the key that follows from them."""
    own = item.keys() - set(PLACES[kind.table])
    checks = {**kind.required, **kind.optional}
    if missing := kind.required.keys() - own - set(PLACES[kind.table]):
        raise ValueError(f"{kind.title}: it lacks {', '.join(sorted(missing))}")
    for name in sorted(own):
        if name not in checks:
            raise ValueError(f"{kind.title}: there is no attribute {name[:60]!r}")
        if not checks[name](item[name]):
            raise ValueError(f"{kind.title}: {name} has a value that it cannot have")
    if item.get("organization_id", held.organization_id) != held.organization_id:
        raise ValueError(f"{kind.title}: it belongs to another organization than the archive")
    _require_contents(held, kind, item)
    key = kind.key(held, item)
    if any(item.get(name) != value for name, value in key.items()):
        raise ValueError(f"{kind.title}: its key does not follow from its content")
    return TableItem(kind.table, {**key, **{name: item[name] for name in own}})


def _require_contents(held: Index, kind: Kind, item: Item) -> None:
    """Raises ValueError, TypeError or KeyError if what the item holds is not of the archive, or cannot be read."""
    named: Mapping[str, Value] = item
    if kind.stored is not None:
        kind.stored.read(item)
    match kind.title:
        case "Rollout":
            rollouts.imported(item)
            named = json.loads(items.text(item, "rollout"))
            place = fleet_keys.rollout(items.text(named, "deployment_id"), items.text(named, "id"))
            if any(item[name] != value for name, value in place.items()) or (
                held.groups[items.text(named, "deployment_id")][0] != named["fleet_id"]
            ):
                raise ValueError("Rollout: its key does not follow from its content")
        case "Organization":
            if item["admins"] != sum(role == "admin" for role in held.members.values()):
                raise ValueError("Organization: it has another number of Admins")
        case "Policies":
            _require_policies(settings_in(items.text(item, "settings")))
        case "Prices of destinations":
            prices.imported(item)
        case "Number of fleets":
            if item["fleets"] != len(held.fleets):
                raise ValueError("Number of fleets: the archive has another number")
        case "Number of webhooks":
            if item["webhooks"] != len(held.webhooks):
                raise ValueError("Number of webhooks: the archive has another number")
        case "Text of a version":
            if ("content" in item) == ("content_key" in item):
                raise ValueError("Text of a version: it has no text, or two")
        case "Components of a fleet's collectors":
            for components_hash, names in items.mapping(item, "lists").items():
                if not isinstance(names, bytes) or hashlib.sha256(_unpacked(names)).hexdigest() != components_hash:
                    raise ValueError("a list of components is not named by its hash")
    for name, value in _named(named):
        if isinstance(value, bytes):
            if name == "content":
                _unpacked(value)
        elif name == "content_key" and (not _OBJECT.fullmatch(value) or value not in held.objects):
            raise KeyError(f"the object {value[:100]!r}")
        elif name == "configuration_id" and kind.table == "fleets" and value not in held.configurations:
            raise KeyError(f"the configuration {value[:60]!r}")


def _require_policies(settings: PolicyChoices) -> None:
    """Raises ValueError if they are more than the API takes. Rules are tried when they are used, not here."""
    few = len(settings.rules) <= MAX_RULES and all(len(rule.examples) <= MAX_EXAMPLES for rule in settings.rules)
    short = all(
        len(rule.expression) <= MAX_EXPRESSION
        and len(rule.message) <= MAX_MESSAGE
        and all(len(example.yaml) <= MAX_EXAMPLE for example in rule.examples)
        for rule in settings.rules
    )
    if not (few and short):
        raise ValueError("Policies: there are more rules, or longer ones, than an organization may have")


def _named(value: Value) -> Iterator[tuple[str, str | bytes]]:
    """The texts and bytes in it with the names of their attributes, at any depth."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            if isinstance(entry, str | bytes):
                yield name, entry
            else:
                yield from _named(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _named(entry)


def is_token(record: Record) -> bool:
    """True if a credential works with the record: a token of a service account, or of a fleet or group."""
    if isinstance(record, BucketObject):
        return False
    sort = str(record.item["sk"]) if "sk" in record.item else ""
    return sort == "token" or (record.table == "identity" and sort.startswith(keys.TOKENS))


def without_key(record: Record) -> Record:
    """The record without a host's key, by which the host proves itself."""
    if isinstance(record, BucketObject) or record.table != "fleets" or "instance_id" not in record.item:
        return record
    return TableItem(record.table, {name: value for name, value in record.item.items() if name != "key"})
