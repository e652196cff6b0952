"""`test suite` and `test list`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

import click

from headgate_cli import safe_files, variables
from headgate_cli.api import Api
from headgate_cli.checks import findings
from headgate_cli.collector_version import CollectorVersion
from headgate_cli.connection import annotated, as_json, connected
from headgate_cli.errors import FAILED, Ended
from headgate_cli.local.options import connected_or_local
from headgate_cli.output import minute, print_commands, print_json, print_result, say, show_list
from headgate_cli.shapes import EvidenceOut, VersionTestsOut
from headgate_cli.suites import cases, golden, report
from headgate_cli.suites.run import SuiteRun
from headgate_cli.suites.run import run as run_suites
from headgate_cli.suites.select import NoTestsHere, suites
from headgate_cli.untrusted import one_line
from headgate_cli.upgrade import targets


@click.command()
@click.argument("arguments", nargs=-1, metavar="[FILE|FOLDER|CONFIGURATION[@N]]...")
@click.option("--test", "names", multiple=True, metavar="NAME", help="Only the tests of this name. Repeatable.")
@click.option(
    "--pushed",
    is_flag=True,
    help="For files, test the versions that they were pushed as: publishing can require that these passed.",
)
@click.option("--collector-version", type=CollectorVersion(), help="Test on this collector version.")
@variables.env
@click.option("--junit", "junit_file", default="", metavar="FILE", help="Also write the results as JUnit XML.")
@click.option("--allow-no-tests", is_flag=True, help="End with 0 if there are no tests: for CI before the first one.")
@click.option("--update", is_flag=True, help="Renew expected outputs that differ: shows the differences, and asks.")
@click.option("--yes", is_flag=True, help="With --update, do not ask.")
@annotated
@as_json
@connected_or_local("Run")
def suite(
    api: Api,
    arguments: Sequence[str],
    names: Sequence[str],
    pushed: bool,
    collector_version: str | None,
    env: Sequence[tuple[str, str]],
    junit_file: str,
    allow_no_tests: bool,
    update: bool,
    yes: bool,
    output: str,
    as_json: bool,
) -> None:
    """Run all tests of files, of the files of folders, or of stored versions, side by side.

    The tests of collector.yaml are the YAML files in collector.tests. Each has a sample for one pipeline, and rules for
    what comes out, the expected output, or both:

    \b
      target_pipeline: logs           # not needed if there is only one pipeline
      sample_file: checkout.log       # in collector.tests; or `sample`, the text itself
      rules:
        - name: no debug records
          condition: log.severity_number < 9
          expect: none
      expected_file: checkout.json    # `--update` writes it

    `headgate config push` saves them with the configuration. Without arguments, the current folder is tested. Ends with
    0 if every test passes, with 1 if one fails or could not be run.

    \b
    Examples:
      headgate test suite
      headgate test suite configurations --junit report.xml
      headgate test suite collector.yaml --update --yes
      headgate test suite edge@3 --test checkout
      headgate test suite --local
    """
    if update and (pushed or as_json):
        raise click.UsageError(f"--update excludes --{'pushed' if pushed else 'json'}: it renews files, and asks")
    if yes and not update:
        raise click.UsageError("--yes is for --update")
    if update and not yes and not sys.stdin.isatty():
        raise click.UsageError("--update asks before it writes; outside of a terminal, use --yes")
    if pushed and api.is_local:
        raise click.UsageError("--pushed tests versions on a server: leave out --local")
    try:
        chosen = suites(api, arguments or ["."], names, env, pushed=pushed, may_await=update)
    except NoTestsHere as none:
        if not allow_no_tests:
            raise
        say(f"{none.message}; nothing was run")
        chosen = []
    stored = next((target.label for target in chosen if target.is_stored), "")
    if update and stored:
        raise click.UsageError(f"--update renews files: {one_line(stored)} is a stored version")
    more: dict[str, object] = {"collector_version": collector_version} if collector_version else {}
    more |= {"output": True} if update else {}

    def done(ran: SuiteRun) -> None:
        lines = "\n".join(report.as_text(ran))
        if output == "github" or as_json:
            say(lines)
        else:
            print_result(lines)

    all_ran = run_suites(api, chosen, more, done)
    if junit_file:
        safe_files.write(junit_file, cases.as_xml(all_ran))
    if as_json:
        print_json([report.as_json(ran) for ran in all_ran])
    if output == "github":
        print_commands(findings.as_github(report.findings(all_ran)))
    say(report.summary(all_ran))
    passed = _renew(all_ran, asks=not yes) if update else all(ran.passed for ran in all_ran)
    if not passed:
        raise Ended(FAILED)


# What came of a test in a suite.
_SIGNS: Final = {True: "✓", False: "✕"}


@click.command("list")
@click.argument("configuration", metavar="CONFIGURATION[@N]")
@connected
def list_(api: Api, configuration: str, as_json: bool) -> None:
    """List the tests that are stored with a version, and what came of them: the latest version without @N.

    SUITES is what came of a test with each text, the newest last: ✓ passed, ✕ did not.

    \b
    Examples:
      headgate test list edge
      headgate test list edge@3 --json
    """
    version = targets.stored(api, configuration)
    answer = api.get(VersionTestsOut, f"{version.path}/tests")
    label = one_line(version.label)
    show_list(
        answer["items"],
        as_json,
        f"{label} has no tests: push them with the file, see `headgate test suite --help`",
        {
            "NAME": lambda test: test["name"],
            "PIPELINE": lambda test: test["target_pipeline"],
            "RULES": lambda test: test["rule_count"],
            "EXPECTED OUTPUT": lambda test: "yes" if test["expects_output"] else "no",
            "SUITES": lambda test: "".join(_SIGNS[outcome["status"] == "Success"] for outcome in test["history"]),
            "SAVED (UTC)": lambda test: minute(test["updated_at"]),
        },
        answer=answer,
    )
    if as_json:
        return
    for evidence in answer["evidence"]:
        say(_in_words(evidence))
    if answer["items"] and not answer["evidence"]:
        say(f"They have not been run as stored: `headgate test suite {label}` does")


def _in_words(evidence: EvidenceOut) -> str:
    """`2026-11-22 14:20: passed on collector 0.139.0`."""
    passed = "passed" if evidence["passed"] else "did not pass"
    now = "" if evidence["current"] else ", with another text, other tests or another collector than now"
    at, on = minute(one_line(evidence["finished_at"])), one_line(evidence["collector_version"])
    return f"{at}: {passed} on collector {on}{now}"


def _renew(all_ran: Sequence[SuiteRun], *, asks: bool) -> bool:
    """Write the expected outputs that differ. Returns whether every test passes with them."""
    renewals, refused = golden.renewals(all_ran)
    for reason in refused:
        say(reason)
    if not renewals:
        say("No expected output to renew")
        return all(ran.passed for ran in all_ran)
    for renewal in renewals:
        say(f"{one_line(renewal.file)}: {'would be written' if renewal.test.awaits_expected else 'would change'}")
    count = len(renewals)
    if asks and not click.confirm(f"Write {count} expected output{'' if count == 1 else 's'}?", err=True):
        say("Nothing was written")
        return False
    for renewal in renewals:
        golden.write(renewal)
        print_result(f"{one_line(renewal.file)}: written")
    renewed = [renewal.outcome for renewal in renewals]
    return all(_passes(ran, renewed) for ran in all_ran)


def _passes(ran: SuiteRun, renewed: Sequence[object]) -> bool:
    """True if the suite passes with the outputs that were renewed."""
    return not ran.problem and all(
        outcome.passed
        or (
            any(outcome is renewal for renewal in renewed)
            and all(failure.golden for failure in report.failures(outcome))
        )
        for outcome in ran.outcomes
    )
