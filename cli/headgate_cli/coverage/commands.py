"""`test coverage`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from headgate_cli import variables
from headgate_cli.api import Api
from headgate_cli.checks import findings
from headgate_cli.collector_version import CollectorVersion
from headgate_cli.connection import annotated, as_json
from headgate_cli.coverage import report
from headgate_cli.coverage.run import CoverageRun
from headgate_cli.coverage.run import run as measure
from headgate_cli.errors import FAILED, Ended
from headgate_cli.local.options import connected_or_local
from headgate_cli.output import print_commands, print_json, print_result, say
from headgate_cli.suites.select import suites
from headgate_cli.untrusted import one_line

_MOST: Final = 100


@click.command()
@click.argument("arguments", nargs=-1, metavar="[FILE|FOLDER|CONFIGURATION[@N]]...")
@click.option("--test", "names", multiple=True, metavar="NAME", help="Only the tests of this name. Repeatable.")
@click.option(
    "--fail-under", type=click.FloatRange(0, 100), metavar="PERCENT", help="End with 1 if a score is below this."
)
@click.option("--max", "most", type=click.IntRange(1, _MOST), help="Try at most so many changes; 40 by default.")
@click.option("--unreached", is_flag=True, help="List the changes that change no output too.")
@click.option("--collector-version", type=CollectorVersion(), help="Measure on this collector version.")
@variables.env
@annotated
@as_json
@connected_or_local("Run")
def coverage(
    api: Api,
    arguments: Sequence[str],
    names: Sequence[str],
    fail_under: float | None,
    most: int | None,
    unreached: bool,
    collector_version: str | None,
    env: Sequence[tuple[str, str]],
    output: str,
    as_json: bool,
) -> None:
    """Find what could be taken out of a configuration without a test that notices it.

    Each change leaves out or changes one thing: a processor, a statement, its `where`, a condition, a route, a number.
    All tests run on each. The score is the share of the changes of an output that a test notices. For the others, it
    prints the line and what would notice: often a rule that was tried.

    Without arguments, the current folder is measured; the tests are those of `headgate test suite`. Ends with 1 if a
    test does not pass without a change, if something could not be measured, or below --fail-under.

    \b
    Examples:
      headgate test coverage
      headgate test coverage collector.yaml --fail-under 80
      headgate test coverage edge@3 --test checkout --max 100
      headgate test coverage configurations --format github
      headgate test coverage --local
    """
    chosen = suites(api, arguments or ["."], names, env)
    fields: dict[str, object] = {"max_mutants": most, "collector_version": collector_version}
    more = {field: value for field, value in fields.items() if value}

    def done(measured: CoverageRun) -> None:
        lines = report.as_text(measured, unreached=unreached)
        if output == "github" or as_json:
            say(lines)
        else:
            print_result(lines)

    measured = measure(api, chosen, more, done)
    if as_json:
        print_json([report.as_json(result) for result in measured])
    elif output == "github":
        print_commands(findings.as_github([finding for result in measured for finding in report.findings(result)]))
    elif len(measured) > 1:
        report.print_table(measured)
    below = [
        result
        for result in measured
        if fail_under is not None and result.score is not None and result.score < fail_under
    ]
    for result in below:
        say(f"{one_line(result.suite.label)}: {result.score:.1f} % is below {fail_under:g} %")
    if below or not all(result.is_whole for result in measured):
        raise Ended(FAILED)
