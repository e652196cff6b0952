"""The difference of two outputs, as the collector's comparison tells it, in lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final, Literal

import click

from headgate_cli.shapes import Difference, Differences, FieldDifference, SignalSummary
from headgate_cli.untrusted import one_line

MOST_RECORDS: Final = 20
_MOST_FIELDS: Final = 10
_LONGEST_VALUE: Final = 120
_LONGEST_NAME: Final = 80
# In the order in which they are told.
_CHANGES: Final[tuple[Literal["changed", "missing", "added"], ...]] = ("changed", "missing", "added")
_SCALARS: Final = ("stringValue", "intValue", "doubleValue", "boolValue")
_MARKS: Final = {"changed": ("~", "yellow"), "missing": ("-", "red"), "added": ("+", "green")}


def summary(document: Differences) -> str:
    """`logs: 1 changed, 2 missing, 7 the same; metrics: …`."""
    counted = document["signals"].items()
    return one_line("; ".join(f"{signal}: {_counts(counts)}" for signal, counts in counted if _differs(counts)))


def lines(document: Differences, *, most: int = MOST_RECORDS) -> Iterator[str]:
    """A line for each record that differs, and below it one for each of its fields; `most` records are told."""
    differences = document["differences"]
    for difference in differences[:most]:
        yield from _record(difference)
    if more := len(differences[most:]) + document["left_out"]:
        yield f"and {more} more {'record' if more == 1 else 'records'}"


def _record(difference: Difference) -> Iterator[str]:
    change, name = difference["change"], difference["name"]
    mark, colour = _MARKS.get(change, ("?", "yellow"))
    name = f"{name[: _LONGEST_NAME - 1]}…" if len(name) > _LONGEST_NAME else name
    named = f' "{name}"' if name else ""
    yield click.style(one_line(f"{mark} {change} {difference['signal']}{named}"), fg=colour)
    if change != "changed":
        return
    fields, left_out = difference["fields"], difference["fields_left_out"]
    for field in fields[:_MOST_FIELDS]:
        yield one_line(f"    {field['path']}: {_change(field)}")
    if left_out == -1:
        yield "    too large to be compared field by field"
    elif more := len(fields[_MOST_FIELDS:]) + left_out:
        yield f"    and {more} more fields"


def _change(field: FieldDifference) -> str:
    match field["change"]:
        case "added":
            return f"added, {_value(field.get('right'))}"
        case "missing":
            return f"missing, was {_value(field.get('left'))}"
        case _:
            return f"{_value(field.get('left'))} → {_value(field.get('right'))}"


def _value(value: object) -> str:
    """The value as JSON, without the name of its type: `"x"` for {"stringValue": "x"}."""
    if isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in _SCALARS:
        value = next(iter(value.values()))
    written = json.dumps(value, ensure_ascii=False)
    return f"{written[: _LONGEST_VALUE - 1]}…" if len(written) > _LONGEST_VALUE else written


def _counts(counts: SignalSummary) -> str:
    words = [f"{counts[change]} {change}" for change in _CHANGES if counts[change]]
    return ", ".join([*words, *([f"{counts['same']} the same"] if counts["same"] else [])])


def _differs(counts: SignalSummary) -> bool:
    return any(counts[change] for change in _CHANGES)
