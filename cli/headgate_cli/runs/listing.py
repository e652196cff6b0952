"""`test runs`: earlier test runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import click

from headgate_cli import watching
from headgate_cli.api import Api, Entity, number, optional, text
from headgate_cli.configurations import lookup, names
from headgate_cli.connection import as_json, connected
from headgate_cli.output import minute, print_json, table
from headgate_cli.runs.follow import FINAL
from headgate_cli.untrusted import one_line

_STATUSES = ("Queued", "Running", *FINAL)


@click.command("runs")
@click.argument("configuration", metavar="[CONFIGURATION]", default="")
@click.option("--pipeline", default="", help="Runs through this pipeline only.")
@click.option("--status", type=click.Choice(_STATUSES, case_sensitive=False), help="Runs with this status only.")
@click.option("--limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="At most so many.")
@watching.option
@as_json
@connected
def runs(
    api: Api, configuration: str, pipeline: str, status: str | None, limit: int, watch: bool, as_json: bool
) -> None:
    """List earlier test runs that you can see, newest first: of one configuration, or all. They are kept for 30 days.

    \b
    Examples:
      headgate test runs
      headgate test runs edge --status Fail --json
      headgate test runs --watch
    """
    watching.refuse_json(watch=watch, as_json=as_json)
    wanted = {"pipeline": pipeline, "status": status or ""}
    if configuration:
        wanted["configuration_id"] = lookup.find(api, configuration)
    given = {name: value for name, value in wanted.items() if value}

    def listed() -> list[Entity]:
        return list(islice(api.items("/testing/runs", **given), limit))

    found = listed()
    known = names.of(api, (optional(run, "configuration_id") for run in found))
    if as_json:
        print_json([names.named(run, known) for run in found])
        return
    rows = [
        (
            text(run, "id"),
            text(run, "status"),
            names.version(run, known) or "a file",
            text(run, "target_pipeline"),
            _rules(run),
            minute(text(run, "created_at")),
            optional(run, "reason"),
        )
        for run in found
    ]
    table(
        ("ID", "STATUS", "CONFIGURATION", "PIPELINE", "RULES", "STARTED (UTC)", "REASON"),
        rows,
        nothing="No test runs that you can see: start one with `headgate test run`",
        whole=True,
    )
    if watch:
        watching.watch(_lines(found), lambda: _lines(listed()))


def _lines(found: Sequence[Entity]) -> dict[str, str]:
    """What a person who watches has to know of each run."""
    return {
        text(run, "id"): one_line(f"{text(run, 'id')}  {text(run, 'status')}  {optional(run, 'reason')}").rstrip()
        for run in found
    }


def _rules(run: Entity) -> str:
    """`2 of 3 passed`; empty for a run that has none, or has not ended."""
    counts = run.get("rules")
    if not isinstance(counts, dict) or counts.get("passed") is None or not number(counts, "total"):
        return ""
    return f"{number(counts, 'passed')} of {number(counts, 'total')} passed"
