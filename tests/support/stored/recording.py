"""Items as a release wrote them, in recorded.json.

`python -m tests.support.stored.recording` adds what is missing there. What is recorded once is never recorded again: it
is what installations have in their tables. Where a release stores something in another way on purpose, what it stores
`now` is recorded beside that, for the flows that are named as arguments.
"""

import json
import sys
import tempfile
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from headgate.storage import aws, table
from headgate.storage.table import Table
from tests.support.aws import aws_for
from tests.support.stored import values
from tests.support.stored.flows import FLOWS, MAKES

PATH: Final = Path(__file__).with_name("recorded.json")
_TABLES: Final[Mapping[str, Table]] = {
    name: getattr(table, name) for name in ("configurations", "versions", "identity", "fleets", "runs", "events")
}
Items = dict[str, list[Any]]
"""By the name of the table, in the form of DynamoDB, with bytes as JSON has them."""


def stored() -> Items:
    """Every item of the tables, by the order of their keys."""
    found = {}
    for name, each in _TABLES.items():
        pages = aws.dynamodb().get_paginator("scan").paginate(TableName=each.name)
        items = [_readable(item) for page in pages for item in page["Items"]]
        if items:
            found[name] = sorted(items, key=lambda item: json.dumps([item[key] for key in _keys(each)]))
    return found


def store(items: Items) -> None:
    """Put the items into the tables."""
    for name, listed in items.items():
        for item in listed:
            aws.dynamodb().put_item(TableName=_TABLES[name].name, Item=_in_bytes(item))


def clear() -> None:
    """Delete every item of the tables."""
    for name, listed in stored().items():
        for item in listed:
            key = {part: item[part] for part in _keys(_TABLES[name])}
            aws.dynamodb().delete_item(TableName=_TABLES[name].name, Key=key)


def recorded() -> dict[str, Any]:
    """What is recorded, by the names of flows and of values."""
    return json.loads(PATH.read_text()) if PATH.exists() else {}


def record(known: dict[str, Any], changed: Sequence[str] = ()) -> Iterator[str]:
    """Add what is not known, or is `changed`. Yields the names of what was added."""
    for name, flow in FLOWS.items():
        for make in MAKES:
            if make.start not in known.setdefault(name, {}):
                clear()
                flow.write(make)
                read = {label: values.as_json(value) for label, value in flow.read(make.start).items()}
                known[name][make.start] = {"items": stored(), "read": read}
                yield f"{name} {make.start}"
            elif name in changed:
                clear()
                flow.write(make)
                known[name][make.start]["now"] = stored()
                yield f"{name} {make.start} now"


def _keys(of: Table) -> list[str]:
    return [of.partition, of.sort] if of.sort else [of.partition]


def _readable(value: Any) -> Any:
    """Bytes as a text: what is compressed as what it says, since libraries compress differently."""
    match value:
        case bytes() if value.startswith(b"x\x9c"):
            return {"compressed": zlib.decompress(value).decode()}
        case bytes():
            return {"base64": b64encode(value).decode()}
        case dict():
            return {name: _readable(each) for name, each in value.items()}
        case list():
            return [_readable(each) for each in value]
    return value


def _in_bytes(value: Any) -> Any:
    match value:
        case {"compressed": str(text)}:
            return zlib.compress(text.encode())
        case {"base64": str(text)}:
            return b64decode(text)
        case dict():
            return {name: _in_bytes(each) for name, each in value.items()}
        case list():
            return [_in_bytes(each) for each in value]
    return value


def _as_text(known: Any, depth: int = 4) -> str:
    """As JSON, with a line for each item and value."""
    if depth == 0 or not known:
        return json.dumps(known, ensure_ascii=False)
    if isinstance(known, dict):
        lines = (f"{json.dumps(name)}: {_as_text(each, depth - 1)}" for name, each in known.items())
        return "{\n" + ",\n".join(lines) + "\n}"
    if isinstance(known, list):
        return "[\n" + ",\n".join(_as_text(each, 0) for each in known) + "\n]"
    return json.dumps(known, ensure_ascii=False)


def _main() -> None:
    known = recorded()
    with pytest.MonkeyPatch.context() as monkeypatch, tempfile.TemporaryDirectory() as folder:
        for _ in aws_for(monkeypatch, Path(folder), documented=False):
            for added in record(known, sys.argv[1:]):
                sys.stdout.write(f"{added}\n")
    PATH.write_text(_as_text(known) + "\n")


if __name__ == "__main__":
    _main()
