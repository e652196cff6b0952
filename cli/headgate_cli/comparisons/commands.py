"""`test diff`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.collector_version import CollectorVersion
from headgate_cli.comparisons import report
from headgate_cli.comparisons.markdown import as_markdown
from headgate_cli.comparisons.run import Compared
from headgate_cli.comparisons.run import run as compare
from headgate_cli.comparisons.sides import Pair, since, two
from headgate_cli.connection import as_json
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.local.options import connected_or_local
from headgate_cli.output import print_json, print_result, say
from headgate_cli.safe_files import name, read
from headgate_cli.suites.files import FileTest
from headgate_cli.yaml_files import SIGNALS, signal_of

DIFFERS: Final = 1
NOT_COMPARED: Final = 2
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]+")


class CouldNotCompare(Failed):
    """Exit status 2: it is not known whether they differ."""

    exit_code = NOT_COMPARED


@click.command("diff")
@click.argument("arguments", nargs=-1, metavar="[LEFT] [RIGHT]")
@click.option(
    "--base", default="", metavar="COMMIT", help="Compare changed files with this branch, tag or commit of git."
)
@click.option(
    "--collector-version",
    "collector_versions",
    multiple=True,
    type=CollectorVersion(),
    help="Run both sides on this collector version. Given twice: left on the first, right on the other.",
)
@click.option("--test", "names", multiple=True, metavar="NAME", help="Only the tests of this name. Repeatable.")
@click.option("--sample", default="", metavar="FILE", help="This sample instead of tests; needs --pipeline.")
@click.option("--pipeline", default="", help="With --sample, the pipeline that the sample goes through.")
@click.option("--signal", type=click.Choice(SIGNALS), help="With --sample, its signal; the pipeline's by default.")
@click.option(
    "--ignore",
    multiple=True,
    metavar="PATH",
    help='A path that is not compared, as OTTL writes it: attributes["request.id"], resource. Repeatable.',
)
@click.option("--markdown", is_flag=True, help="Print Markdown, for a comment on a pull request.")
@as_json
@connected_or_local("Run")
def diff(
    api: Api,
    arguments: Sequence[str],
    base: str,
    collector_versions: Sequence[str],
    names: Sequence[str],
    sample: str,
    pipeline: str,
    signal: str | None,
    ignore: Sequence[str],
    markdown: bool,
    as_json: bool,
) -> None:
    """Show what two versions put out differently for the same samples, record by record.

    A side is a stored version (edge@3) or a file. The samples are those of the tests of the right side, and of the left
    side if the right one has none; or --sample. Times that a run makes are not compared.

    With --base, the configurations of a git checkout that have tests and changed since the commit that HEAD has in
    common with COMMIT are compared with what they were there. The arguments are files and folders then.

    Ends with 0 if everything is the same, with 1 if something differs, and with 2 if something could not be compared.

    \b
    Examples:
      headgate test diff edge@3 edge@4
      headgate test diff edge@4 collector.yaml --sample sample.log --pipeline logs
      headgate test diff collector.yaml --collector-version 0.139.0 --collector-version 0.158.0
      headgate test diff --base main --markdown > comment.md
      headgate test diff --base main --local
    """
    if as_json and markdown:
        raise click.UsageError("--json and --markdown exclude each other: choose one")
    if bool(sample) != bool(pipeline) or (signal and not sample):
        raise click.UsageError("--sample and --pipeline go together, and --signal needs them")
    if sample and (base or names):
        raise click.UsageError(f"--sample excludes --{'base' if base else 'test'}: it is given instead of tests")
    try:
        pairs: Sequence[Pair]
        if base:
            pairs = since(base, arguments, collector_versions, names)
        else:
            only = _sample(sample, pipeline, signal) if sample else None
            pairs = [two(api, arguments, collector_versions, names, only)]
        compared = compare(api, pairs, ignore)
    except Failed as error:
        if error.exit_code != FAILED:
            raise
        # 1 says that something differs.
        raise CouldNotCompare(error.message) from error
    _print(compared, markdown=markdown, as_json=as_json)
    if not all(comparison.compared for comparison in compared):
        raise Ended(NOT_COMPARED)
    if any(comparison.differs for comparison in compared):
        raise Ended(DIFFERS)


def _print(compared: Sequence[Compared], *, markdown: bool, as_json: bool) -> None:
    if as_json:
        print_json([report.as_json(comparison) for comparison in compared])
    elif markdown:
        print_result(as_markdown(compared))
    else:
        for comparison in compared:
            for line in report.as_text(comparison):
                print_result(line)
    if not markdown:
        say(report.summary(compared))


def _sample(file: str, pipeline: str, signal: str | None) -> FileTest:
    """A test of a sample alone."""
    label = _NOT_IN_NAMES.sub("-", Path(name(file)).stem).strip("-.") or "sample"
    fields = {"target_pipeline": pipeline, "signal_type": signal or signal_of(pipeline), "sample": read(file)}
    return FileTest(label[:80], name(file), fields, {})
