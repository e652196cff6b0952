"""Puts an exported organization into a deployment that does not have it.

Nothing that is there is ever replaced. The organization's own item comes last, so until an import is complete nobody
sees any of it, and one that was cut off is finished by running it again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, cast

from headgate.backup import archive, export
from headgate.backup.archive import TABLES, BucketObject, Header, Record, TableItem
from headgate.fleets import keys as fleet_keys
from headgate.fleets import tokens as fleet_tokens
from headgate.foundation import errors
from headgate.identity import keys, passwords
from headgate.identity.hashing import hash_of
from headgate.storage import items, objects
from headgate.storage.items import Item, Value
from headgate.storage.table import ConditionFailed, write

_AT_ONCE: Final = 8
_BATCH: Final = 200
# Earlier releases counted the use of a credential in its own item.
_PASSING: Final = ("rate_minute", "rate_used")

Progress = Callable[[int], None]


class OrganizationExists(errors.Conflict):
    def __init__(self, header: Header) -> None:
        super().__init__(
            f"The organization {header.organization_id} ({header.name}) is here already, and an import replaces "
            "nothing. To go back to an earlier state, restore the tables to a point in time, see docs/backup.md"
        )


class InTheWay(errors.Conflict):
    """Another item has the key of one in the file."""

    def __init__(self, table: str, key: str) -> None:
        super().__init__(
            f"The table {table} has another item {key} than the file; nothing was replaced, and the organization "
            "stays invisible until an import is complete"
        )


def restore(path: Path, progress: Progress) -> tuple[Header, list[str]]:
    """Import the file; returns its header and the addresses of people who have no account here: they are invited.

    `progress` is told how many entries are in. Raises BadArchive, OrganizationExists, InTheWay.
    """
    header = archive.read_header(path)
    if export.exists(header.organization_id):
        raise OrganizationExists(header)
    people, records = _people(archive.records(path))
    renamed, strangers = _settle_people(people)
    done = len(people)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        # The access comes after the data, in the order of the file: only the data are written side by side.
        while batch := list(itertools.islice(records, _BATCH)):
            ours = [_as_here(record, renamed, strangers) for record in batch]
            list(threads.map(_put, [record for record in ours if not _gives_access(record)]))
            for record in ours:
                if _gives_access(record):
                    _put(record)
            done += len(batch)
            progress(done)
    return header, strangers


def invite(organization_id: str, url: str) -> list[str]:
    """Give every member who has no account here one, by mail with a temporary password; their addresses."""
    addresses = [items.text(person, "email") for person in export.people(organization_id)]
    return [address for address in addresses if passwords.create(address, url)]


def _people(records: Iterator[Record]) -> tuple[list[Item], Iterator[Record]]:
    """The persons, who stand first in the file, and the rest."""
    people: list[Item] = []
    for record in records:
        if isinstance(record, TableItem) and record.table == "identity" and record.item["sk"] == "user":
            people.append(record.item)
        else:
            return people, itertools.chain([record], records)
    return people, records


def _settle_people(people: Iterable[Item]) -> tuple[Mapping[str, str], list[str]]:
    """Who is called otherwise here, by their ids; and the addresses of those who were unknown here."""
    renamed: dict[str, str] = {}
    unknown = []
    for person in people:
        address, there = items.text(person, "email"), items.text(person, "user_id")
        marker = keys.email(address) | {"user_id": there}
        here = _put_unless_there("identity", marker)
        if here is not None and here["user_id"] != there:
            renamed[there] = items.text(here, "user_id")
            continue
        _put_unless_there("identity", person)
        if not passwords.has_account(address):
            unknown.append(address)
    return renamed, unknown


def _gives_access(record: Record) -> bool:
    return (
        isinstance(record, TableItem) and record.table == "identity" and not str(record.item["pk"]).startswith("audit#")
    )


def _put(record: Record) -> None:
    if isinstance(record, BucketObject):
        # Named by its content: the same object, if it is there.
        objects.write(record.key, record.content)
        return
    there = _put_unless_there(record.table, record.item)
    if there is not None and _lasting(there) != _lasting(record.item):
        raise InTheWay(TABLES[record.table].name, str(_key(record)))
    if record.table == "fleets" and str(record.item["sk"]).startswith(fleet_keys.FLEETS):
        _put_token_of_this_deployment(record.item)


def _put_token_of_this_deployment(fleet: Item) -> None:
    """Installs from here on show a token made with this deployment's key; the one of the export goes on working."""
    fleet_id = items.text(fleet, "fleet_id")
    value = fleet_tokens.value_of(fleet_id, items.number(fleet, "token_generation"))
    _put_unless_there(
        "fleets",
        fleet_keys.token(hash_of(value))
        | {
            "fleet_id": fleet_id,
            "organization_id": items.text(fleet, "organization_id"),
            "expires_at": items.optional_text(fleet, "token_expires_at"),
        },
    )


def _put_unless_there(table: archive.TableName, item: Item) -> Item | None:
    """One conditional write. The item that was there, if there was one."""
    try:
        write(TABLES[table].put_new(item))
    except ConditionFailed as there:
        return there.item
    return None


def _lasting(item: Item) -> Item:
    return {name: value for name, value in item.items() if name not in _PASSING and value is not None}


def _key(record: TableItem) -> str:
    table = TABLES[record.table]
    return f"{items.text(record.item, table.partition)} {items.text(record.item, table.sort)}"


def _as_here(record: Record, renamed: Mapping[str, str], strangers: Collection[str]) -> Record:
    """The record as it has to be where people have other ids, or no account yet.

    Ids are long and random: no text holds one by chance.
    """
    if isinstance(record, BucketObject):
        return record
    item = cast("Item", _replaced(record.item, renamed)) if renamed else record.item
    if record.table == "identity" and str(item["sk"]).startswith("member#") and item.get("name") in strangers:
        # So that an Admin can send the invitation again.
        item = item | {"status": "invited"}
    return TableItem(record.table, item)


def _replaced(value: Value, renamed: Mapping[str, str]) -> Value:
    if isinstance(value, str):
        for there, here in renamed.items():
            value = value.replace(there, here)
        return value
    if isinstance(value, Mapping):
        return {name: _replaced(entry, renamed) for name, entry in value.items()}
    if isinstance(value, list):
        return [_replaced(entry, renamed) for entry in value]
    return value
