"""`test runs`: earlier test runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import click

from headgate_cli import watching
from headgate_cli.api import Api
from headgate_cli.configurations import lookup, names
from headgate_cli.connection import connected
from headgate_cli.output import minute, show_list
from headgate_cli.runs.follow import FINAL
from headgate_cli.shapes import RunSummary
from headgate_cli.untrusted import one_line

_STATUSES = ("Queued", "Running", *FINAL)


@click.command("runs")
@click.argument("configuration", metavar="[CONFIGURATION]", default="")
@click.option("--pipeline", default="", help="Runs through this pipeline only.")
@click.option("--status", type=click.Choice(_STATUSES, case_sensitive=False), help="Runs with this status only.")
@click.option("--limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="At most so many.")
@watching.option
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
    filters = {"pipeline": pipeline, "status": status or ""}
    if configuration:
        filters["configuration_id"] = lookup.find(api, configuration)

    def listed() -> list[RunSummary]:
        return list(islice(api.items(RunSummary, "/testing/runs", **filters), limit))

    before = listed()
    by_id = names.by_id(api, (run["configuration_id"] or "" for run in before))
    show_list(
        before,
        as_json,
        "No test runs that you can see: start one with `headgate test run`",
        {
            "ID": lambda run: run["id"],
            "STATUS": lambda run: run["status"],
            "CONFIGURATION": lambda run: names.version(run, by_id) or "a file",
            "PIPELINE": lambda run: run["target_pipeline"],
            "RULES": _rules,
            "STARTED (UTC)": lambda run: minute(run["created_at"]),
            "REASON": lambda run: run["reason"],
        },
        answer=[names.named(run, by_id) for run in before],
        whole=True,
    )
    if watch:
        watching.watch(_lines(before), lambda: _lines(listed()))


def _lines(runs: Sequence[RunSummary]) -> dict[str, str]:
    """The line of each run that is watched."""
    return {run["id"]: one_line(f"{run['id']}  {run['status']}  {run['reason'] or ''}").rstrip() for run in runs}


def _rules(run: RunSummary) -> str:
    """`2 of 3 passed`; empty for a run that has none, or has not ended."""
    counts = run["rules"]
    if counts is None or counts["passed"] is None or not counts["total"]:
        return ""
    return f"{counts['passed']} of {counts['total']} passed"
