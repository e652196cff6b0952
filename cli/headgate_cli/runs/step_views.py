"""Printing the steps of a traced run: the table of counts, and what became of records."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import click

from headgate_cli.output import cells, print_result, say, table
from headgate_cli.shapes import FieldChange, Reason, Statement, Step, StepOut, StepRecord, StepsOut
from headgate_cli.untrusted import one_line, quoted

_Count = Literal["records_in", "records_out", "changed", "dropped", "created", "split", "merged"]
_COUNTS: Final[tuple[_Count, ...]] = ("records_in", "records_out", "changed", "dropped", "created")
# Columns only if any step has them.
_RARE: Final[tuple[_Count, ...]] = ("split", "merged")
# A sign besides the colour, which not everyone sees and a pipe does not have.
_SIGNS: Final = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}
_OUTCOMES: Final = {"changed": "yellow", "dropped": "red", "created": "green", "split": "cyan", "merged": "cyan"}
_ON_ONE_LINE: Final = 100
NO_RECORD: Final = "no step has a record {}: records count from 1, and a large trace has only the newest ones"
SETS: Final = "matches records by what they contain: it holds them for a time, or puts new ones in their place"


def show_steps(trace: StepsOut) -> None:
    """Print the table of all steps, and below it that of the statements; or why there are none."""
    if not trace["available"]:
        say(f"This run has no steps: {quoted(trace['reason'] or '')}")
        return
    steps = trace["items"]
    counts = [*_COUNTS, *(name for name in _RARE if any(step[name] for step in steps))]
    headings = ["Step", "Component", "Kind", "Pipeline", *(_heading(name) for name in counts)]
    rows = [
        [
            step["n"],
            _name(step) + ("" if step["exact"] else " *"),
            step["kind"],
            _pipeline(step),
            *(step[name] for name in counts),
        ]
        for step in steps
    ]
    paragraphs = [f"{_described(step)}\n     {_counted(step, counts)}" for step in steps]
    table(headings, rows, nothing="No step was recorded", paragraphs=paragraphs)
    if not all(step["exact"] for step in steps):
        print_result(f"* {SETS}")
    _statements(steps)
    _errors(steps)
    if not trace["complete"]:
        records, size = trace["left_out"]["records"], trace["left_out"]["bytes"]
        lacks = f"the {records} oldest records" if records else f"{size} bytes of what was recorded"
        say(f"The trace is over its limits: it lacks {lacks}, which the counts do not include")


def show_way(record: int, steps: Sequence[StepOut]) -> None:
    """Print what each of these steps did to a record of the sample; `records` of each are its entries."""
    named = next((entry["name"] for step in steps for entry in step["records"]), None)
    if named is None:
        say(NO_RECORD.format(record).capitalize())
        return
    print_result(click.style(f"Record {record}  {one_line(named)}", bold=True))
    # A step that the record did not reach is left out, unless it may have got it and nobody can tell.
    shown = [step for step in steps if step["records"] or not step["exact"]]
    one_pipeline = len({step["pipeline"] for step in shown}) == 1
    labels = [_name(step) if one_pipeline else f"{_name(step)} in {step['pipeline']}" for step in shown]
    width = max(cells(one_line(label)) for label in labels)
    for step, label in zip(shown, labels, strict=True):
        padding = " " * (width - cells(one_line(label)))
        heading = f"{step['n']:>3}  {click.style(one_line(label), bold=True)}{padding}  "
        for entry in step["records"]:
            print_result(heading + _outcome(entry))
            _fields(entry)
            heading = " " * (width + 7)
        if not step["records"]:
            print_result(f"{heading}not found: this step {SETS}")


def show_step(step: StepOut) -> None:
    """Print a step, and what it did to each record in its `records`."""
    print_result(_described(step))
    for entry in step["records"]:
        label = "new" if entry["record"] is None else f"record {entry['record']}"
        print_result(f"   {click.style(label, bold=True)}  {one_line(entry['name'])}")
        print_result(f"     {_outcome(entry)}")
        _fields(entry)
    if step["left_out"]:
        say(f"{step['left_out']} more records, or details of records, are over the limits of a trace")


def _heading(name: str) -> str:
    return name.removeprefix("records_").capitalize()


def _name(step: Step | StepOut) -> str:
    """The component; of a receiver or exporter, those for which the sample or the recorder stands."""
    return ", ".join(step["replaces"]) or step["component"]


def _pipeline(step: Step | StepOut) -> str:
    return f"{step['pipeline']} → {', '.join(step['feeds'])}" if step["feeds"] else step["pipeline"]


def _described(step: Step | StepOut) -> str:
    component, kind = one_line(_name(step)), one_line(step["kind"])
    sets = "" if step["exact"] else " *"
    return f"{step['n']:>3}  {click.style(component, bold=True)}{sets}  ({kind} in {one_line(_pipeline(step))})"


def _counted(step: Step, counts: Sequence[_Count]) -> str:
    """`in 4, out 3, dropped 1`: what went in and out, and what else is not zero."""
    names = [name for name in counts if name in _COUNTS[:2] or step[name]]
    return ", ".join(f"{_heading(name).lower()} {step[name]}" for name in names)


def _statements(steps: Sequence[Step]) -> None:
    rows = [
        [
            step["n"],
            _place(statement),
            *(statement["matched"], statement["changed"], statement["dropped"]),
            sum(error["count"] for error in statement["errors"]),
            statement["text"],
        ]
        for step in steps
        for statement in sorted(step["statements"], key=_line)
    ]
    if rows:
        print_result("")
        headings = ("Step", "Line", "Matched", "Changed", "Dropped", "Errors", "Statement")
        table(headings, rows, nothing="", whole=True)


def _errors(steps: Sequence[Step]) -> None:
    for step in steps:
        places = [*((statement["errors"], _place(statement)) for statement in step["statements"]), (step["errors"], "")]
        for errors, place in places:
            where = f"step {step['n']}" + (f", line {place}" if place else "")
            for error in errors:
                times = "once" if error["count"] == 1 else f"{error['count']} times"
                print_result(f"{click.style('error', fg='red')} in {where}, {times}: {quoted(error['message'])}")


def _outcome(entry: StepRecord) -> str:
    outcome, reasons = entry["outcome"], entry["by"]
    said = click.style(one_line(outcome), fg=_OUTCOMES.get(outcome))
    if outcome == "split":
        said += f" into {entry['outputs']}"
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


def _fields(entry: StepRecord) -> None:
    several = len(entry["by"]) > 1
    for field in entry["fields"]:
        first, *further = _field(field)
        place = _place(field["by"]) if field["by"] and several else ""
        print_result(f"       {first}{f'  (line {place})' if place else ''}")
        for line in further:
            print_result(f"       {line}")
    if entry["fields_left_out"]:
        print_result(f"       … and {entry['fields_left_out']} more fields")


def _reason(reason: Reason) -> str:
    cause = one_line(reason.get("statement") or reason.get("condition") or reason.get("component") or "")
    place = _place(reason)
    return f"{cause} (line {place})" if place else cause


def _line(statement: Statement) -> tuple[int, int]:
    """For sorting; what is not in the text comes last."""
    return (statement["line"], statement["column"] or 0) if statement["line"] else (sys.maxsize, 0)


def _place(cause: Statement | Reason) -> str:
    return str(cause["line"]) if cause["line"] else ""


def _field(field: FieldChange) -> Iterator[str]:
    change = field["change"]
    sign, colour = _SIGNS.get(change, ("?", "yellow"))
    path, before, after = one_line(field["path"]), _value(field["before"]), _value(field["after"])
    if change != "changed":
        yield click.style(f"{sign} {path}: {before if change == 'removed' else after}", fg=colour)
    elif len(before) + len(after) <= _ON_ONE_LINE:
        yield f"{click.style(f'{sign} {path}', fg=colour)}: {before} → {after}"
    else:
        yield click.style(f"{sign} {path}", fg=colour)
        yield click.style(f"  - {before}", fg="red")
        yield click.style(f"  + {after}", fg="green")


def _value(value: object) -> str:
    """Write the value as JSON, which tells "5" from 5, and a line end within a text from the end of the line."""
    return one_line(json.dumps(value, ensure_ascii=False))
