"""`upgrade check`, and the group with `upgrade fix` and `upgrade bisect`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import click

from headgate_cli import variables
from headgate_cli.api import Api, Entity, ServerError
from headgate_cli.checks import findings
from headgate_cli.checks.commands import gates_in_request, output_format
from headgate_cli.collector_version import CollectorVersion, feature_gates
from headgate_cli.command_group import CommandGroup
from headgate_cli.comparisons.report import as_json
from headgate_cli.comparisons.run import Compared
from headgate_cli.errors import FAILED, Ended, Failed, NotAuthenticated, Unreachable
from headgate_cli.local.options import connected_or_local
from headgate_cli.output import print_commands, print_json, print_json_text, print_result, say
from headgate_cli.shapes import UpgradeReport
from headgate_cli.untrusted import one_line
from headgate_cli.upgrade import outputs, report, targets
from headgate_cli.upgrade.bisect import bisect
from headgate_cli.upgrade.fix import fix
from headgate_cli.upgrade.targets import UpgradeTarget

# Problems that are the same for every text.
_ABOUT_VERSIONS: Final = ("collector_version_not_installed", "upgrade_check_not_possible")


@click.group(cls=CommandGroup)
def upgrade() -> None:
    """See what another collector version changes before you move to it.

    \b
    Examples:
      headgate upgrade check collector.yaml --to 0.158.0
      headgate upgrade fix collector.yaml --to 0.158.0
    """


@dataclass(frozen=True, slots=True)
class _Checked:
    target: UpgradeTarget
    report: UpgradeReport
    outputs: Compared | None = None

    @property
    def as_json(self) -> Entity:
        outputs = {"outputs": as_json(self.outputs)} if self.outputs else {}
        return {**self.target.named, **self.report, **outputs}


@upgrade.command()
@click.argument("arguments", nargs=-1, metavar="[FILE|FOLDER|CONFIGURATION[@N]]...")
@click.option("--to", "to", required=True, type=CollectorVersion(), help="The collector version to move to.")
@click.option(
    "--from",
    "source",
    type=CollectorVersion(),
    help="The version to compare with; by default that of the configuration, else the server's.",
)
@click.option("--all", "everything", is_flag=True, help="Check the latest version of every configuration.")
@click.option("--published", is_flag=True, help="With --all: the newest published versions instead of the latest.")
@click.option("--group", nargs=2, default=None, metavar="FLEET GROUP", help="Check what a deployment group runs.")
@click.option(
    "--tests", "with_tests", is_flag=True, help="Also run the text's tests on both versions, and compare the outputs."
)
@click.option("--on-host", is_flag=True, help="End with 0 also if only the checking machine lacks what a host has.")
@click.option("--strict", is_flag=True, help="End with 1 also if the texts work, but anything differs.")
@variables.env
@variables.files
@feature_gates
@output_format
@connected_or_local("Check")
def check(
    api: Api,
    arguments: Sequence[str],
    to: str,
    source: str | None,
    everything: bool,
    published: bool,
    group: tuple[str, str] | None,
    with_tests: bool,
    on_host: bool,
    strict: bool,
    env: Sequence[tuple[str, str]],
    files_of_texts: Sequence[tuple[str, str]],
    feature_gates: Sequence[str],
    output: str,
) -> None:
    """Check what another collector version changes, by dry runs on both versions. Nothing is saved.

    Takes files, the YAML files of folders, stored versions (shop@3; shop is its latest version), --all, or what a
    deployment group runs; of a ConfigMap, another resource or Helm values, the configuration inside. Ends with 0 if all
    work on the version, with 1 if one breaks, or could not be checked or not completely. With --on-host, what only the
    host decides does not count, as for `headgate validate`. With --tests the outputs of each text's tests are compared,
    record by record; with --strict they have to be the same.

    \b
    Examples:
      headgate upgrade check collector.yaml --to 0.158.0
      headgate upgrade check edge@3 gateway.yaml --to 0.158.0 --from 0.139.0
      headgate upgrade check --all --to 0.158.0 --json
      headgate upgrade check collector.yaml --to 0.158.0 --tests
      headgate upgrade check collector.yaml --to 0.158.0 --local
    """
    if (bool(arguments), everything, bool(group)).count(True) != 1:
        raise click.UsageError("name files or configurations, or use one of --all and --group")
    if published and not everything:
        raise click.UsageError("--published needs --all")
    if group:
        chosen = iter([targets.of_group(api, *group, source)])
    elif everything:
        chosen = (targets.of_stored(version, source) for version in targets.everything(api, published=published))
    else:
        chosen = (_named(api, argument, source) for argument in targets.files_of_folders(arguments))
    request = {"to": to} | variables.in_request(env) | variables.files_in_request(files_of_texts)
    request |= gates_in_request(feature_gates)
    checked, failed = _check(api, chosen, request, output, with_tests=with_tests)
    reported = [finding for each in checked for finding in report.findings(each.target.label, each.report)]
    match output:
        case "json":
            print_json([each.as_json for each in checked])
        case "sarif":
            print_json_text(findings.as_sarif(reported, complete=not failed))
        case "github" if reported:
            print_commands(findings.as_github(reported))
    if not checked and not failed:
        say("No configurations yet: create one with `headgate config create FILE`")
    wrong = report.changes if strict else report.breaks
    differs = strict and any(each.outputs.differs for each in checked if each.outputs)
    if output == "text" and not on_host and any(report.only_on_host(each.report) for each in checked):
        say("The machine that checks lacks what hosts have; --on-host accepts that")
    if failed or differs or any(wrong(each.report, on_host=on_host) for each in checked):
        raise Ended(FAILED)


def _named(api: Api, argument: str, source: str | None) -> UpgradeTarget:
    if targets.names_file(argument):
        return targets.of_file(api, argument, source)
    return targets.of_stored(targets.stored(api, argument), source)


def _check(
    api: Api, chosen: Iterator[UpgradeTarget], request: Entity, output: str, *, with_tests: bool
) -> tuple[list[_Checked], bool]:
    """The reports, shown for people as they arrive, and whether a text could not be checked."""
    checked: list[_Checked] = []
    failed = False
    for target in chosen:
        try:
            answer = api.post(UpgradeReport, target.path, {**target.request, **request})
        except NotAuthenticated:
            raise
        except Failed as error:
            if isinstance(error, ServerError) and error.code in _ABOUT_VERSIONS and not checked:
                raise
            failed = True
            say(f"headgate: could not check {one_line(target.label)}: {error.message}")
            # An error may be about this text alone: only an unreachable server ends the loop.
            if isinstance(error, Unreachable):
                break
            continue
        tested = None
        if with_tests and not report.breaks(answer):
            tested = outputs.compared(api, target, answer)
            # That there are no tests is told; what could not be compared may differ.
            failed = failed or (tested is not None and not tested.compared)
        checked.append(_Checked(target, answer, tested))
        line = f"{click.style(one_line(target.label), bold=True)}: {report.headline(answer)}"
        if output != "text":
            say(line)
            continue
        print_result(line)
        if shown := [*report.findings(target.label, answer)]:
            print_result(findings.as_text(shown, {target.label: target.content}))
        if answer["incomplete"]:
            say("  the text is so large that not everything was compared or is listed")
        others = report.other_gates(answer)
        if others:
            say(f"  {others} other feature gate{'' if others == 1 else 's'} changed stage: see --json")
        if tested is not None:
            for each in outputs.lines(tested):
                print_result(each)
        elif not report.breaks(answer):
            say(f"  {outputs.way_to_compare(target, answer)}")
    return checked, failed


for _command in (fix, bisect):
    upgrade.add_command(_command)
