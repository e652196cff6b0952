"""`deployment check`, and the warnings of an assignment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.configurations.lookup import VersionNumber
from headgate_cli.connection import connected
from headgate_cli.fleets import assignable, lookup
from headgate_cli.output import print_json, print_result, say
from headgate_cli.shapes import AssignmentCheck, WarningOut
from headgate_cli.untrusted import one_line, quoted

_OF_HOSTS: Final = (
    "other_collector_version",
    "feature_gates_not_on_hosts",
    "component_not_on_hosts",
    "differs_from_running",
)


@click.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@click.argument("configuration", metavar="CONFIGURATION")
@click.option("--version", "n", type=VersionNumber(), help="The version; the newest published one by default.")
@connected
def check(api: Api, fleet: str, group: str, configuration: str, n: int | None, as_json: bool) -> None:
    """Say what assigning a version would warn of: the collector's findings, and hosts that cannot run it.

    Nothing is assigned. Ends with 1 if the collector finds errors.

    \b
    Examples:
      headgate deployment check servers Default shop@3
    """
    path = f"{lookup.group_path(api, fleet, group)}/assignment-check"
    latest, n = assignable.chosen(api, configuration, n)
    request = {"configuration_id": latest.id, "version_number": n}
    answer = api.post(AssignmentCheck, path, request)
    if as_json:
        print_json(answer)
    else:
        for warning in answer["warnings"]:
            print_result(_line(warning))
        if not answer["warnings"]:
            say("Nothing to warn of")
    if any(warning["severity"] == "error" for warning in answer["warnings"]):
        raise SystemExit(1)


def say_of_hosts(warnings: Iterable[WarningOut]) -> None:
    """The warnings about hosts in the answer to an assignment; the others were shown when the version was validated."""
    for warning in warnings:
        if warning["code"] in _OF_HOSTS:
            say(f"warning: {quoted(warning['message'])}")


def _line(warning: WarningOut) -> str:
    path = warning["component_path"]
    return one_line(f"{warning['severity']}: {f'{path}: ' if path else ''}{warning['message']}")
