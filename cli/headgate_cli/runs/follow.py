"""Waiting for a run to end, and showing its results."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import click

from headgate_cli.api import Api, Entity, entities, number, optional, text
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.output import print_result, say, status_line
from headgate_cli.untrusted import block, one_line, quoted

FINAL: Final = ("Success", "Fail", "Error")
# A run takes some seconds more than its duration; all requests of a credential share a limit of 60 a minute.
_POLLS_AT_FIRST: Final = 10
_SECONDS_AT_FIRST: Final = 1.0
_SECONDS_LATER: Final = 4.0
# An hour: a hundred runs may wait before it, each a minute long.
_MOST_POLLS: Final = 900


def follow(api: Api, run_id: str) -> Entity:
    """Wait for the run's end and return it. Raises Failed after an hour, and KeyboardInterrupt."""
    begun = time.monotonic()
    polls = 0
    try:
        while polls < _MOST_POLLS:
            run = api.get(f"/testing/runs/{run_id}")
            status_line(f"{one_line(text(run, 'status'))}  {time.monotonic() - begun:.0f} s")
            if run["status"] in FINAL:
                return run
            polls += 1
            time.sleep(_SECONDS_AT_FIRST if polls <= _POLLS_AT_FIRST else _SECONDS_LATER)
        raise Failed(f"the run has not ended in an hour: look later with `headgate test show {one_line(run_id)}`")
    except KeyboardInterrupt:
        status_line("")
        say(f"The run continues. See its result with `headgate test show {run_id} --wait`")
        raise
    finally:
        status_line("")


def show(run: Entity, tested: str = "") -> None:
    """Print the run for people; `tested` is its version, as `edge v3`. Raises Ended(1) if it failed or errored."""
    status, pipeline = one_line(text(run, "status")), one_line(text(run, "target_pipeline"))
    of = f"{one_line(tested)}  " if tested else ""
    print_result(
        f"{one_line(text(run, 'id'))}  {click.style(status, fg=_colour(status), bold=True)}  {of}{pipeline}  "
        f"{number(run, 'duration_seconds')} s on collector {one_line(text(run, 'collector_version'))}"
    )
    _records(run)
    if status != "Error":
        for line in complaints(run):
            say(f"  {line}")
    for result in entities(run, "validation_results"):
        mark = click.style("pass", fg="green") if result.get("passed") else click.style("FAIL", fg="red", bold=True)
        matched = f"{number(result, 'matched')} of {number(result, 'total')} {one_line(text(result, 'context'))}"
        print_result(f"  {mark}  {one_line(text(result, 'name'))}  ({one_line(text(result, 'expect'))}: {matched})")
        if not result.get("passed"):
            print_result(f"        {quoted(text(result, 'condition'))}\n        {quoted(text(result, 'message'))}")
    if status == "Error":
        say(f"test run errored:\n{block(optional(run, 'stderr'))}")
    if status in ("Fail", "Error"):
        raise Ended(FAILED)


def complaints(answer: Entity) -> Iterator[str]:
    """What components complained of, and the notes on the run, which a Success may have as well, a line each."""
    for one in entities(answer, "component_errors"):
        often = f" ({number(one, 'count')} times)" if number(one, "count") > 1 else ""
        record = one.get("record")
        first = f", the first in record {record}" if isinstance(record, int) else ""
        told = f"{one_line(text(one, 'component'))}: {one_line(text(one, 'message'))}{often}{first}"
        yield f"{click.style('error', fg='red')}: {told}"
    for one in entities(answer, "notes"):
        if text(one, "code") != "nothing_came_out":
            yield f"note: {one_line(text(one, 'message'))}"


def _records(run: Entity) -> None:
    """Print the records in and out, by signal, once the collector has run."""
    records = run.get("records")
    if not isinstance(records, dict):
        return
    sent, received = ({**records[way]} if isinstance(records.get(way), dict) else {} for way in ("in", "out"))
    print_result(f"  records in: {_counts(sent)}; out: {_counts(received)}")
    if received and not any(received.values()):
        first, *_ = optional(run, "stderr").splitlines() or [""]
        say(one_line(first.removeprefix("headgate: ")))


def _counts(records: Entity) -> str:
    return ", ".join(f"{number(records, signal)} {one_line(signal)}" for signal in sorted(records)) or "none"


def _colour(status: str) -> str:
    return {"Success": "green", "Fail": "red", "Error": "red"}.get(status, "yellow")
