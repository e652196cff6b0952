"""The steps of a traced run, as the server has them; and `test steps`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import click

from headgate_cli.api import Api, Entity, entities, number, optional
from headgate_cli.connection import as_json, connected
from headgate_cli.errors import Failed
from headgate_cli.output import print_json, print_result
from headgate_cli.runs import step_views
from headgate_cli.runs.ids import RunId

# No step has more records: a trace has 4 MB.
_MOST_PAGES: Final = 1_000


@click.command()
@click.argument("run_id", metavar="RUN", type=RunId())
@click.option("--step", "n", type=click.IntRange(min=1), metavar="N", help="What this step did to each record.")
@click.option("--record", type=click.IntRange(min=1), metavar="N", help="What became of this record of the sample.")
@as_json
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
        if as_json:
            print_json(trace)
        else:
            step_views.show_steps(trace)
        return
    found = [step for step in entities(trace, "items") if n in (None, number(step, "n"))]
    if not trace.get("available"):
        raise Failed(f"this run has no steps: {optional(trace, 'reason')}")
    if not found:
        raise Failed(f"no step {n}: this run has {len(entities(trace, 'items'))}, see `headgate test steps {run_id}`")
    ways = [with_records(api, run_id, number(step, "n"), record) for step in found]
    if as_json:
        print_json(ways[0] if n else {"items": ways})
    elif record is not None and not any(entities(step, "records") for step in ways):
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

    trace: Entity
    record: int | None
    ways: list[Entity]

    def show(self) -> None:
        """Print them for people."""
        step_views.show_steps(self.trace)
        if self.record is not None and self.trace.get("available"):
            print_result("")
            step_views.show_way(self.record, self.ways)
        print_result("")

    def as_json(self) -> Entity:
        return {"steps": {**self.trace, "items": self.ways} if self.record is not None else self.trace}


def traced(api: Api, run_id: str, record: int | None) -> Traced:
    """The steps of a run that has ended."""
    trace = trace_of(api, run_id)
    found = entities(trace, "items") if record is not None else []
    return Traced(trace, record, [with_records(api, run_id, number(step, "n"), record) for step in found])


def trace_of(api: Api, run_id: str) -> Entity:
    """All steps of a run."""
    return api.get_or_linked(f"/testing/runs/{run_id}/steps")


def with_records(api: Api, run_id: str, n: int, record: int | None) -> Entity:
    """A step with what it did to each record, or to one of the sample; all pages in one."""
    query: dict[str, str | int] = {"limit": 100}
    if record is not None:
        query["record"] = record
    records: list[Entity] = []
    for _ in range(_MOST_PAGES):
        page = api.get_or_linked(f"/testing/runs/{run_id}/steps/{n}", **query)
        if "items" in page:
            # Too large for an answer: the link has all steps with all records.
            page = next((step for step in entities(page, "items") if step.get("n") == n), {})
            records = [entry for entry in entities(page, "records") if _is_of(entry, record)]
            return {**page, "records": records}
        records += entities(page, "records")
        cursor = optional(page, "next_cursor")
        if not cursor:
            return {**page, "records": records}
        query["cursor"] = cursor
    raise Failed("the server sent a list that does not end")


def _is_of(entry: Entity, record: object) -> bool:
    """Whether an entry of a step is that record of the sample, or was made of it; any is without a record."""
    made_of = entry.get("records")
    return record in (None, entry.get("record")) or (isinstance(made_of, list) and record in made_of)
