"""The file of an export: JSON Lines with gzip, a header first and a seal last, which shows that the file is complete.

    {"format": "headgate-organization", "version": 3, "organization_id", "name", "exported_at", "nonce"}
    {"table": "configurations", "item": {...}}      an item in DynamoDB's form, binary values in base64
    {"object": "versions/<sha256>", "content"}      an object of the bucket in base64
    {"seal": "<sha256 of the lines before>", "items", "objects", "mac": "<HMAC-SHA256 of the seal with its key>"}

An import reads the lines in this order. Anybody can compute the seal; its key is the deployment's that exported, see
`backup.seals`. Version 1 has neither `nonce` nor `mac`, version 2 no items of the events table.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from headgate.foundation import clock, errors
from headgate.foundation.ids import is_id
from headgate.storage import items as stored
from headgate.storage import table
from headgate.storage.items import Item, Value
from headgate.storage.table import Table

FORMAT: Final = "headgate-organization"
VERSION: Final = 3
_READ: Final = (1, 2, 3)
# An object of a megabyte in base64, and more than an item may have.
_LONGEST_LINE: Final = 8 << 20
# DynamoDB's limits: digits of a number, and how deep values are nested.
_NUMBER: Final = re.compile(r"-?\d{1,38}", re.ASCII)
_DEEPEST: Final = 32

TableName = Literal["configurations", "versions", "fleets", "events", "identity"]
TABLES: Final[Mapping[TableName, Table]] = {
    "configurations": table.configurations,
    "versions": table.versions,
    "fleets": table.fleets,
    "events": table.events,
    "identity": table.identity,
}


class BadArchive(errors.Invalid):
    """The file is not an export, is not complete, or is of a later version of Headgate."""


@dataclass(frozen=True, slots=True)
class Header:
    organization_id: str
    name: str
    exported_at: str
    nonce: str = ""


@dataclass(frozen=True, slots=True)
class Seal:
    """The last line of an archive. `mac` is empty in version 1."""

    digest: str
    mac: str


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


def write(path: Path, header: Header, records: Iterable[Record], mac: Callable[[str], str]) -> Size:
    """Write an archive. It gets its name when it is complete, and only its owner can read it.

    `mac` authenticates the seal.
    """
    unfinished = path.with_name(path.name + ".unfinished")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as packed:
            size = _write_lines(packed, header, records, mac)
        unfinished.rename(path)
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()
    return size


def read_header(path: Path) -> tuple[Header, Seal]:
    """The header and the seal, after reading the whole archive once. Raises BadArchive unless it is complete."""
    seal = hashlib.sha256()
    items = objects = 0
    header: Header | None = None
    sealed: Seal | None = None
    for number, line in _lines(path):
        if sealed:
            raise BadArchive(f"{path} is damaged: it has lines after its seal. Take another copy of it")
        entry = _entry(path, number, line)
        if header is None:
            header = _header(path, entry)
        elif "seal" in entry:
            if (entry["seal"], entry.get("items"), entry.get("objects")) != (seal.hexdigest(), items, objects):
                raise BadArchive(f"{path} is damaged: its content does not match its seal. Take another copy of it")
            sealed = Seal(seal.hexdigest(), str(entry.get("mac", "")))
        elif "table" in entry:
            items += 1
        else:
            objects += 1
        seal.update(line)
    if header is None or sealed is None:
        raise BadArchive(f"{path} is cut off: its seal is missing. Take another copy of it")
    return header, sealed


def records(path: Path) -> Iterator[tuple[int, Record]]:
    """The entries of an archive that `read_header` has found complete, each with its line, in the order of an import.

    Raises BadArchive for an entry that is neither an item nor an object. What it may hold is checked by
    `backup.contents`.
    """
    for number, line in _lines(path):
        entry = _entry(path, number, line)
        try:
            if entry.keys() == {"table", "item"} and entry["table"] in TABLES:
                yield number, TableItem(_table(entry["table"]), _item(entry["item"]))
            elif entry.keys() == {"object", "content"}:
                yield number, BucketObject(str(entry["object"]), _bytes(entry["content"]))
            elif number > 1 and "seal" not in entry:
                raise ValueError("it is neither an item of a table that is exported, nor an object")
        except (ValueError, TypeError) as error:
            raise BadArchive(f"line {number} of {path} is not a record of an export: {error}") from error


def _write_lines(packed: gzip.GzipFile, header: Header, entries: Iterable[Record], mac: Callable[[str], str]) -> Size:
    seal = hashlib.sha256()
    items = objects = 0

    def put(entry: Mapping[str, object]) -> None:
        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":"), default=in_base64).encode() + b"\n"
        seal.update(line)
        packed.write(line)

    put({"format": FORMAT, "version": VERSION, **asdict(header)})
    for entry in entries:
        if isinstance(entry, TableItem):
            put({"table": entry.table, "item": stored.marshal(entry.item)})
            items += 1
        else:
            put({"object": entry.key, "content": entry.content})
            objects += 1
    digest = seal.hexdigest()
    put({"seal": digest, "items": items, "objects": objects, "mac": mac(digest)})
    return Size(items, objects)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    number = 0
    try:
        with gzip.open(path) as packed:
            while line := packed.readline(_LONGEST_LINE + 1):
                number += 1
                if len(line) > _LONGEST_LINE:
                    raise BadArchive(f"line {number} of {path} is longer than one of an export")
                yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadArchive(f"{path} is not an export of Headgate, or is cut off: {error}") from error


def _entry(path: Path, number: int, line: bytes) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadArchive(f"{path} is not an export of Headgate: line {number} is not JSON") from error
    if not isinstance(entry, dict):
        raise BadArchive(f"{path} is not an export of Headgate: line {number} is not a JSON object")
    return entry


def _header(path: Path, entry: Mapping[str, object]) -> Header:
    if entry.get("format") != FORMAT:
        raise BadArchive(f"{path} is not an export of Headgate")
    if entry.get("version") not in _READ:
        raise BadArchive(
            f"{path} has version {str(entry.get('version'))[:20]} of the export's format; this Headgate reads up to "
            f"version {VERSION}. Import it with the Headgate that wrote it, or a later one"
        )
    header = Header(*(str(entry.get(name, "")) for name in ("organization_id", "name", "exported_at", "nonce")))
    try:
        clock.parse(header.exported_at)
    except ValueError:
        raise BadArchive(f"{path} does not say when it was exported: {header.exported_at[:40]!r} is not one") from None
    if not is_id("org", header.organization_id):
        raise BadArchive(f"{path} does not name an organization: {header.organization_id[:40]!r} is not its id")
    return header


def in_base64(value: bytes) -> str:
    """A binary value as JSON has it, which has none."""
    return base64.b64encode(value).decode()


def _table(name: object) -> TableName:
    return next(table for table in TABLES if table == name)


def _item(attributes: object, depth: int = 0) -> Item:
    if not isinstance(attributes, dict) or depth > _DEEPEST:
        raise ValueError("an item or a map of it is not one, or is nested too deep")
    return {name: _value(attribute, depth) for name, attribute in attributes.items()}


def _value(attribute: object, depth: int) -> Value:
    """Raises ValueError for a value that DynamoDB would not have returned."""
    if not isinstance(attribute, dict) or len(attribute) != 1:
        raise ValueError("an attribute is not a map of its type to its value")
    ((kind, content),) = attribute.items()
    match kind, content:
        case "S", str():
            return content
        case "N", str() if _NUMBER.fullmatch(content):
            return int(content)
        case "BOOL", bool():
            return content
        case "NULL", True:
            return None
        case "B", str():
            return _bytes(content)
        case "M", dict():
            return _item(content, depth + 1)
        case "L", list() if depth < _DEEPEST:
            return [_value(entry, depth + 1) for entry in content]
    raise ValueError(f"an attribute has the type {str(kind)[:20]!r} with a value of another one")


def _bytes(content: object) -> bytes:
    if not isinstance(content, str):
        raise ValueError("a binary value is not text in base64")
    return base64.b64decode(content, validate=True)
