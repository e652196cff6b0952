"""The steps of a traced run, as the server has them; and `test steps`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import click

from headgate_cli.api import Api, Entity
from headgate_cli.connection import connected
from headgate_cli.errors import Failed
from headgate_cli.ids import RunId
from headgate_cli.output import print_json, print_outcome, print_result
from headgate_cli.runs import step_views
from headgate_cli.shaped import PlainAnswer, listed, shaped
from headgate_cli.shapes import StepOut, StepRecord, StepsOut

# No step has more records: a trace has 4 MB.
_MOST_PAGES: Final = 1_000


@click.command()
@click.argument("run_id", metavar="RUN", type=RunId())
@click.option("--step", "n", type=click.IntRange(min=1), metavar="N", help="What this step did to each record.")
@click.option("--record", type=click.IntRange(min=1), metavar="N", help="What became of this record of the sample.")
@connected
def steps(api: Api, run_id: str, n: int | None, record: int | None, as_json: bool) -> None:
    """Show what each component did in a run with --trace: how many records went in and out, what changed, and by what.

    \b
    Examples:
      headgate test steps run_01...
      headgate test steps run_01... --record 3
      headgate test steps run_01... --step 2
    """
    trace = trace_of(api, run_id)
    if n is None and record is None:
        print_outcome(trace, as_json, lambda: step_views.show_steps(trace))
        return
    numbers = [step["n"] for step in trace["items"] if n in (None, step["n"])]
    if not trace["available"]:
        raise Failed(f"this run has no steps: {trace['reason']}")
    if not numbers:
        raise Failed(f"no step {n}: this run has {len(trace['items'])}, see `headgate test steps {run_id}`")
    ways = [with_records(api, run_id, number, record) for number in numbers]
    if as_json:
        print_json(ways[0] if n else {"items": ways})
    elif record is not None and not any(step["records"] for step in ways):
        raise Failed(
            f"no record {record} in step {n}: `headgate test steps {run_id} --record {record}` shows its way"
            if n
            else step_views.NO_RECORD.format(record)
        )
    elif record is not None and n is None:
        step_views.show_way(record, ways)
    else:
        step_views.show_step(ways[0])


@dataclass(frozen=True, slots=True)
class Traced:
    """The steps of a run, and those with what became of one record, if one was named."""

    trace: StepsOut
    record: int | None
    ways: list[StepOut]

    def show(self) -> None:
        """Print them for people."""
        step_views.show_steps(self.trace)
        if self.record is not None and self.trace["available"]:
            print_result("")
            step_views.show_way(self.record, self.ways)
        print_result("")

    def as_json(self) -> Entity:
        return {"steps": {**self.trace, "items": self.ways} if self.record is not None else self.trace}


def traced(api: Api, run_id: str, record: int | None) -> Traced:
    """The steps of a run that has ended."""
    trace = trace_of(api, run_id)
    steps = trace["items"] if record is not None else []
    return Traced(trace, record, [with_records(api, run_id, step["n"], record) for step in steps])


def trace_of(api: Api, run_id: str) -> StepsOut:
    """All steps of a run."""
    return api.get_or_linked(StepsOut, f"/testing/runs/{run_id}/steps")


def with_records(api: Api, run_id: str, n: int, record: int | None) -> StepOut:
    """A step with what it did to each record, or to one of the sample; all pages in one."""
    query: dict[str, str | int] = {"limit": 100}
    if record is not None:
        query["record"] = record
    records: list[StepRecord] = []
    for _ in range(_MOST_PAGES):
        answer = api.get_or_linked(PlainAnswer, f"/testing/runs/{run_id}/steps/{n}", **query)
        if "items" in answer:
            # Too large for an answer: the link has all steps with all records.
            return next(_of_record(step, record) for step in listed(StepOut, answer) if step["n"] == n)
        page = shaped(StepOut, answer)
        records += page["records"]
        if not page["next_cursor"]:
            return shaped(StepOut, {**page, "records": records})
        query["cursor"] = page["next_cursor"]
    raise Failed("the server sent a list that does not end")


def _of_record(step: StepOut, record: int | None) -> StepOut:
    """The step with the entries of one record of the sample, and of what was made of it; with all without a record."""
    records = [entry for entry in step["records"] if record in (None, entry["record"], *entry["records"])]
    return shaped(StepOut, {**step, "records": records})
