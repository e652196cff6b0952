"""The difference of two outputs, as the collector's comparison tells it, in lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import click

from headgate_cli.api import Entity, entities, optional
from headgate_cli.untrusted import one_line

MOST_RECORDS: Final = 20
_MOST_FIELDS: Final = 10
_LONGEST_VALUE: Final = 120
_LONGEST_NAME: Final = 80
# In the order in which they are told.
_CHANGES: Final = ("changed", "missing", "added")
_SCALARS: Final = ("stringValue", "intValue", "doubleValue", "boolValue")
_MARKS: Final = {"changed": ("~", "yellow"), "missing": ("-", "red"), "added": ("+", "green")}


def are_equal(document: object) -> bool:
    return not isinstance(document, Mapping) or document.get("equal") is True


def summary(document: Entity) -> str:
    """`logs: 1 changed, 2 missing, 7 the same; metrics: …`."""
    signals = document.get("signals")
    counted = signals.items() if isinstance(signals, Mapping) else ()
    return one_line("; ".join(f"{signal}: {_counts(counts)}" for signal, counts in counted if _differs(counts)))


def lines(document: Entity, *, most: int = MOST_RECORDS) -> Iterator[str]:
    """A line for each record that differs, and below it one for each of its fields; `most` records are told."""
    found = entities(document, "differences")
    for difference in found[:most]:
        yield from _record(difference)
    left_out = document.get("left_out")
    more = len(found[most:]) + (left_out if isinstance(left_out, int) else 0)
    if more:
        yield f"and {more} more {'record' if more == 1 else 'records'}"


def _record(difference: Entity) -> Iterator[str]:
    change = optional(difference, "change")
    mark, colour = _MARKS.get(change, ("?", "yellow"))
    name = optional(difference, "name")
    name = f"{name[: _LONGEST_NAME - 1]}…" if len(name) > _LONGEST_NAME else name
    named = f' "{name}"' if name else ""
    yield click.style(one_line(f"{mark} {change} {optional(difference, 'signal')}{named}"), fg=colour)
    if change != "changed":
        return
    fields = entities(difference, "fields")
    for field in fields[:_MOST_FIELDS]:
        yield one_line(f"    {optional(field, 'path')}: {_change(field)}")
    left_out = difference.get("fields_left_out")
    if left_out == -1:
        yield "    too large to be compared field by field"
    elif len(fields) > _MOST_FIELDS or left_out:
        more = len(fields[_MOST_FIELDS:]) + (left_out if isinstance(left_out, int) else 0)
        yield f"    and {more} more fields"


def _change(field: Entity) -> str:
    match optional(field, "change"):
        case "added":
            return f"added, {_value(field.get('right'))}"
        case "missing" | "removed":
            return f"missing, was {_value(field.get('left'))}"
        case _:
            return f"{_value(field.get('left'))} → {_value(field.get('right'))}"


def _value(value: object) -> str:
    """The value as JSON, without the name of its type: `"x"` for {"stringValue": "x"}."""
    if isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in _SCALARS:
        value = next(iter(value.values()))
    written = json.dumps(value, ensure_ascii=False)
    return f"{written[: _LONGEST_VALUE - 1]}…" if len(written) > _LONGEST_VALUE else written


def _counts(counts: object) -> str:
    held = counts if isinstance(counts, Mapping) else {}
    same = held.get("same")
    told: Iterable[str] = [f"{held[change]} {change}" for change in _CHANGES if held.get(change)]
    return ", ".join([*told, *([f"{same} the same"] if same else [])])


def _differs(counts: object) -> bool:
    return isinstance(counts, Mapping) and any(counts.get(change) for change in _CHANGES)
