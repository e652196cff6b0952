"""The file of an export: JSON Lines with gzip, a header first and a seal last, which shows that the file is complete.

    {"format": "headgate-organization", "version": 1, "organization_id", "name", "exported_at"}
    {"table": "configurations", "item": {...}}      an item in DynamoDB's form, binary values in base64
    {"object": "versions/<sha256>", "content"}      an object of the bucket in base64
    {"seal": "<sha256 of the lines before>", "items", "objects"}

An import reads the lines in this order.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from headgate.foundation import errors
from headgate.storage import items as stored
from headgate.storage import table
from headgate.storage.items import Item, Value
from headgate.storage.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

FORMAT: Final = "headgate-organization"
VERSION: Final = 1

TableName = Literal["configurations", "versions", "fleets", "identity"]
TABLES: Final[Mapping[TableName, Table]] = {
    "configurations": table.configurations,
    "versions": table.versions,
    "fleets": table.fleets,
    "identity": table.identity,
}


class BadArchive(errors.Invalid):
    """The file is not an export, is not complete, or is of a later version of Headgate."""


@dataclass(frozen=True, slots=True)
class Header:
    organization_id: str
    name: str
    exported_at: str


@dataclass(frozen=True, slots=True)
class TableItem:
    table: TableName
    item: Item


@dataclass(frozen=True, slots=True)
class BucketObject:
    key: str
    content: bytes


Record = TableItem | BucketObject


@dataclass(frozen=True, slots=True)
class Size:
    items: int
    objects: int


def write(path: Path, header: Header, records: Iterable[Record]) -> Size:
    """Write an archive. It gets its name when it is complete, and only its owner can read it."""
    unfinished = path.with_name(path.name + ".unfinished")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as packed:
            size = _write_lines(packed, header, records)
        unfinished.rename(path)
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()
    return size


def read_header(path: Path) -> Header:
    """The header, after reading the whole archive once. Raises BadArchive unless it is complete."""
    seal = hashlib.sha256()
    items = objects = 0
    header: Header | None = None
    sealed = False
    for line in _lines(path):
        if sealed:
            raise BadArchive(f"{path} is damaged: it has lines after its seal. Take another copy of it")
        entry = _entry(path, line)
        if header is None:
            header = _header(path, entry)
        elif "seal" in entry:
            sealed = True
            if (entry["seal"], entry.get("items"), entry.get("objects")) != (seal.hexdigest(), items, objects):
                raise BadArchive(f"{path} is damaged: its content does not match its seal. Take another copy of it")
        elif "table" in entry:
            items += 1
        else:
            objects += 1
        seal.update(line)
    if header is None or not sealed:
        raise BadArchive(f"{path} is cut off: its seal is missing. Take another copy of it")
    return header


def records(path: Path) -> Iterator[Record]:
    """The entries of an archive that `read_header` has found complete, in the order of an import."""
    for line in _lines(path):
        entry = _entry(path, line)
        if "item" in entry:
            attributes = cast("Mapping[str, Mapping[str, object]]", entry["item"])
            yield TableItem(cast("TableName", entry["table"]), _item(attributes))
        elif "object" in entry:
            yield BucketObject(str(entry["object"]), base64.b64decode(str(entry["content"])))


def _write_lines(packed: gzip.GzipFile, header: Header, entries: Iterable[Record]) -> Size:
    seal = hashlib.sha256()
    items = objects = 0

    def put(entry: Mapping[str, object]) -> None:
        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        seal.update(line)
        packed.write(line)

    put(
        {
            "format": FORMAT,
            "version": VERSION,
            "organization_id": header.organization_id,
            "name": header.name,
            "exported_at": header.exported_at,
        }
    )
    for entry in entries:
        if isinstance(entry, TableItem):
            put({"table": entry.table, "item": _encoded(stored.marshal(entry.item))})
            items += 1
        else:
            put({"object": entry.key, "content": base64.b64encode(entry.content).decode()})
            objects += 1
    put({"seal": seal.hexdigest(), "items": items, "objects": objects})
    return Size(items, objects)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path) as packed:
            yield from packed
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadArchive(f"{path} is not an export of Headgate, or is cut off: {error}") from error


def _entry(path: Path, line: bytes) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise BadArchive(f"{path} is not an export of Headgate: a line of it is not JSON") from error
    if not isinstance(entry, dict):
        raise BadArchive(f"{path} is not an export of Headgate: a line of it is not a JSON object")
    return entry


def _header(path: Path, entry: Mapping[str, object]) -> Header:
    if entry.get("format") != FORMAT:
        raise BadArchive(f"{path} is not an export of Headgate")
    if entry.get("version") != VERSION:
        raise BadArchive(
            f"{path} has version {entry.get('version')} of the export's format; this Headgate reads version {VERSION}. "
            "Import it with the Headgate that wrote it, or a later one"
        )
    return Header(str(entry["organization_id"]), str(entry["name"]), str(entry["exported_at"]))


def _encoded(node: object) -> object:
    """DynamoDB's form, with binary values, which JSON does not have, in base64."""
    if isinstance(node, bytes):
        return base64.b64encode(node).decode()
    if isinstance(node, Mapping):
        return {name: _encoded(value) for name, value in node.items()}
    if isinstance(node, list):
        return [_encoded(value) for value in node]
    return node


def _item(attributes: Mapping[str, Mapping[str, object]]) -> Item:
    return {name: _value(attribute) for name, attribute in attributes.items()}


def _value(attribute: Mapping[str, object]) -> Value:
    ((kind, content),) = attribute.items()
    if kind == "B":
        return base64.b64decode(str(content))
    if kind == "M":
        return _item(cast("Mapping[str, Mapping[str, object]]", content))
    if kind == "L":
        return [_value(entry) for entry in cast("list[Mapping[str, object]]", content)]
    return stored.unmarshal({"value": cast("AttributeValueTypeDef", attribute)})["value"]
