"""Waiting for a run to end, and showing its results."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.output import print_result, say
from headgate_cli.shapes import RunOut, SideOutcome, TestOutcome
from headgate_cli.untrusted import block, one_line, quoted
from headgate_cli.watching import waiting

FINAL: Final = ("Success", "Fail", "Error")
# A run takes some seconds more than its duration; all requests of a credential share a limit of 60 a minute.
# In all an hour: a hundred runs may wait before it, each a minute long.
_PAUSES: Final = (*[1.0] * 10, *[4.0] * 890)


def follow(api: Api, run_id: str) -> RunOut:
    """Wait for the run's end and return it. Raises Failed after an hour, and KeyboardInterrupt."""
    see = f"`headgate test show {one_line(run_id)}"
    with waiting(lambda: f"The run continues. See its result with {see} --wait`") as show_status:
        for pause in _PAUSES:
            run = api.get(RunOut, f"/testing/runs/{run_id}")
            show_status(run["status"])
            if run["status"] in FINAL:
                return run
            time.sleep(pause)
        raise Failed(f"the run has not ended in an hour: look later with {see}`")


def show(run: RunOut, tested: str = "") -> None:
    """Print the run for people; `tested` is its version, as `edge v3`. Raises Ended(1) if it failed or errored."""
    status, pipeline = one_line(run["status"]), one_line(run["target_pipeline"])
    version = f"{one_line(tested)}  " if tested else ""
    print_result(
        f"{one_line(run['id'])}  {click.style(status, fg=_colour(status), bold=True)}  {version}{pipeline}  "
        f"{run['duration_seconds']} s on collector {one_line(run['collector_version'])}"
    )
    _records(run)
    if status != "Error":
        for line in complaints(run):
            say(f"  {line}")
    for result in run["validation_results"] or ():
        mark = click.style("pass", fg="green") if result["passed"] else click.style("FAIL", fg="red", bold=True)
        matched = f"{result['matched']} of {result['total']} {one_line(result['context'])}"
        print_result(f"  {mark}  {one_line(result['name'])}  ({one_line(result['expect'])}: {matched})")
        if not result["passed"]:
            print_result(f"        {quoted(result['condition'])}\n        {quoted(result['message'])}")
    if status == "Error":
        say(f"test run errored:\n{block(run['stderr'])}")
    if status in ("Fail", "Error"):
        raise Ended(FAILED)


def complaints(answer: RunOut | TestOutcome | SideOutcome) -> Iterator[str]:
    """A line for each complaint of a component, and for each note on the run, which a Success may have as well."""
    for error in answer["component_errors"]:
        often = f" ({error['count']} times)" if error["count"] > 1 else ""
        first = "" if error["record"] is None else f", the first in record {error['record']}"
        message = f"{one_line(error['component'])}: {one_line(error['message'])}{often}{first}"
        yield f"{click.style('error', fg='red')}: {message}"
    for note in answer["notes"]:
        if note["code"] != "nothing_came_out":
            yield f"note: {one_line(note['message'])}"


def _records(run: RunOut) -> None:
    """Print the records in and out, by signal, once the collector has run."""
    records = run["records"]
    if records is None:
        return
    print_result(f"  records in: {_counts(records['in'])}; out: {_counts(records['out'])}")
    if records["out"] and not any(records["out"].values()):
        first, *_ = run["stderr"].splitlines() or [""]
        say(one_line(first.removeprefix("headgate: ")))


def _counts(records: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {one_line(signal)}" for signal, count in sorted(records.items())) or "none"


def _colour(status: str) -> str:
    return {"Success": "green", "Fail": "red", "Error": "red"}.get(status, "yellow")
