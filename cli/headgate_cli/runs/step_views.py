"""Printing the steps of a traced run: the table of counts, and what became of records."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Final

import click

from headgate_cli.api import Entity, entities, number, optional, text
from headgate_cli.output import cells, print_result, say, table
from headgate_cli.untrusted import one_line, quoted

_COUNTS: Final = ("records_in", "records_out", "changed", "dropped", "created")
# Columns only if any step has them.
_RARE: Final = ("split", "merged")
# A sign besides the colour, which not everyone sees and a pipe does not have.
_SIGNS: Final = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}
_OUTCOMES: Final = {"changed": "yellow", "dropped": "red", "created": "green", "split": "cyan", "merged": "cyan"}
_FORMS: Final = ("statement", "condition", "component")
_ON_ONE_LINE: Final = 100
NO_RECORD: Final = "no step has a record {}: records count from 1, and a large trace has only the newest ones"
SETS: Final = "matches records by what they contain: it holds them for a time, or puts new ones in their place"


def show_steps(trace: Entity) -> None:
    """Print the table of all steps, and below it that of the statements; or why there are none."""
    if not trace.get("available"):
        say(f"This run has no steps: {quoted(optional(trace, 'reason'))}")
        return
    steps = entities(trace, "items")
    counts = [*_COUNTS, *(name for name in _RARE if any(number(step, name) for step in steps))]
    headings = ["Step", "Component", "Kind", "Pipeline", *(_heading(name) for name in counts)]
    rows = [
        [
            number(step, "n"),
            _name(step) + ("" if step.get("exact") else " *"),
            text(step, "kind"),
            _pipeline(step),
            *(number(step, name) for name in counts),
        ]
        for step in steps
    ]
    paragraphs = [f"{_described(step)}\n     {_counted(step, counts)}" for step in steps]
    table(headings, rows, nothing="No step was recorded", paragraphs=paragraphs)
    if not all(step.get("exact") for step in steps):
        print_result(f"* {SETS}")
    _statements(steps)
    _errors(steps)
    if not trace.get("complete"):
        left_out = trace.get("left_out")
        records, size = (number(left_out, name) if isinstance(left_out, dict) else 0 for name in ("records", "bytes"))
        lacks = f"the {records} oldest records" if records else f"{size} bytes of what was recorded"
        say(f"The trace is over its limits: it lacks {lacks}, which the counts do not include")


def show_way(record: int, steps: Sequence[Entity]) -> None:
    """Print what each of these steps did to a record of the sample; `records` of each are its entries."""
    named = next((text(entry, "name") for step in steps for entry in entities(step, "records")), None)
    if named is None:
        say(NO_RECORD.format(record).capitalize())
        return
    print_result(click.style(f"Record {record}  {one_line(named)}", bold=True))
    # A step that the record did not reach is left out, unless it may have got it and nobody can tell.
    shown = [step for step in steps if entities(step, "records") or not step.get("exact")]
    one_pipeline = len({text(step, "pipeline") for step in shown}) == 1
    labels = [_name(step) if one_pipeline else f"{_name(step)} in {text(step, 'pipeline')}" for step in shown]
    width = max(cells(one_line(label)) for label in labels)
    for step, label in zip(shown, labels, strict=True):
        padding = " " * (width - cells(one_line(label)))
        heading = f"{number(step, 'n'):>3}  {click.style(one_line(label), bold=True)}{padding}  "
        for entry in entities(step, "records"):
            print_result(heading + _outcome(entry))
            _fields(entry)
            heading = " " * (width + 7)
        if not entities(step, "records"):
            print_result(f"{heading}not found: this step {SETS}")


def show_step(step: Entity) -> None:
    """Print a step, and what it did to each record in its `records`."""
    print_result(_described(step))
    for entry in entities(step, "records"):
        place = entry.get("record")
        label = f"record {place}" if isinstance(place, int) else "new"
        print_result(f"   {click.style(label, bold=True)}  {one_line(text(entry, 'name'))}")
        print_result(f"     {_outcome(entry)}")
        _fields(entry)
    left_out = number(step, "left_out")
    if left_out:
        say(f"{left_out} more records, or details of records, are over the limits of a trace")


def _heading(name: str) -> str:
    return name.removeprefix("records_").capitalize()


def _name(step: Entity) -> str:
    """The component; of a receiver or exporter, those for which the sample or the recorder stands."""
    replaced = step.get("replaces")
    names = [str(name) for name in replaced] if isinstance(replaced, list) else []
    return ", ".join(names) or text(step, "component")


def _pipeline(step: Entity) -> str:
    fed = step.get("feeds")
    names = [str(name) for name in fed] if isinstance(fed, list) else []
    return f"{text(step, 'pipeline')} → {', '.join(names)}" if names else text(step, "pipeline")


def _described(step: Entity) -> str:
    component, kind = one_line(_name(step)), one_line(text(step, "kind"))
    sets = "" if step.get("exact") else " *"
    return f"{number(step, 'n'):>3}  {click.style(component, bold=True)}{sets}  ({kind} in {one_line(_pipeline(step))})"


def _counted(step: Entity, counts: Sequence[str]) -> str:
    """`in 4, out 3, dropped 1`: what went in and out, and what else is not zero."""
    told = [name for name in counts if name in _COUNTS[:2] or number(step, name)]
    return ", ".join(f"{_heading(name).lower()} {number(step, name)}" for name in told)


def _statements(steps: Sequence[Entity]) -> None:
    rows = [
        [
            number(step, "n"),
            _place(statement),
            *(number(statement, name) for name in ("matched", "changed", "dropped")),
            sum(number(error, "count") for error in entities(statement, "errors")),
            text(statement, "text"),
        ]
        for step in steps
        for statement in sorted(entities(step, "statements"), key=_line)
    ]
    if rows:
        print_result("")
        headings = ("Step", "Line", "Matched", "Changed", "Dropped", "Errors", "Statement")
        table(headings, rows, nothing="", whole=True)


def _errors(steps: Sequence[Entity]) -> None:
    for step in steps:
        for holder in (*entities(step, "statements"), step):
            place = _place(holder)
            where = f"step {number(step, 'n')}" + (f", line {place}" if place else "")
            for error in entities(holder, "errors"):
                count = number(error, "count")
                times = "once" if count == 1 else f"{count} times"
                print_result(f"{click.style('error', fg='red')} in {where}, {times}: {quoted(text(error, 'message'))}")


def _outcome(entry: Entity) -> str:
    outcome, reasons = text(entry, "outcome"), entities(entry, "by")
    said = click.style(one_line(outcome), fg=_OUTCOMES.get(outcome))
    if outcome == "split":
        said += f" into {number(entry, 'outputs')}"
    if not reasons:
        return said
    if len(reasons) == 1:
        return f"{said} by {_reason(reasons[0])}"
    # The table of statements has their texts.
    lines = [_place(reason) for reason in reasons if _place(reason)]
    others = [_reason(reason) for reason in reasons if not _place(reason)]
    distinct = list(dict.fromkeys(lines))
    named = [f"{'line' if len(distinct) == 1 else 'lines'} {', '.join(distinct)}"] if lines else []
    return f"{said} by {', '.join([*named, *others])}"


def _fields(entry: Entity) -> None:
    several = len(entities(entry, "by")) > 1
    for field in entities(entry, "fields"):
        first, *further = _field(field)
        cause = field.get("by")
        place = _place(cause) if isinstance(cause, dict) and several else ""
        print_result(f"       {first}{f'  (line {place})' if place else ''}")
        for line in further:
            print_result(f"       {line}")
    left_out = number(entry, "fields_left_out")
    if left_out:
        print_result(f"       … and {left_out} more fields")


def _reason(reason: Entity) -> str:
    said = next((optional(reason, form) for form in _FORMS if reason.get(form)), "")
    place = _place(reason)
    return f"{one_line(said)} (line {place})" if place else one_line(said)


def _line(entity: Entity) -> tuple[int, int]:
    """For sorting; what is not in the text comes last."""
    return (number(entity, "line"), number(entity, "column")) if entity.get("line") else (sys.maxsize, 0)


def _place(entity: Entity) -> str:
    return str(number(entity, "line")) if entity.get("line") else ""


def _field(field: Entity) -> Iterator[str]:
    change = text(field, "change")
    sign, colour = _SIGNS.get(change, ("?", "yellow"))
    path, before, after = one_line(text(field, "path")), _value(field, "before"), _value(field, "after")
    if change != "changed":
        yield click.style(f"{sign} {path}: {before if change == 'removed' else after}", fg=colour)
    elif len(before) + len(after) <= _ON_ONE_LINE:
        yield f"{click.style(f'{sign} {path}', fg=colour)}: {before} → {after}"
    else:
        yield click.style(f"{sign} {path}", fg=colour)
        yield click.style(f"  - {before}", fg="red")
        yield click.style(f"  + {after}", fg="green")


def _value(field: Entity, side: str) -> str:
    """As JSON, which tells "5" from 5, and a line end within a text from the end of the line."""
    return one_line(json.dumps(field.get(side), ensure_ascii=False))
