"""`deployment select`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from headgate_cli.api import Api
from headgate_cli.connection import connected
from headgate_cli.fleets import assignable, lookup
from headgate_cli.output import print_json, print_result
from headgate_cli.shaped import shaped
from headgate_cli.shapes import DeploymentOut
from headgate_cli.untrusted import one_line


@click.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@click.option("--label", "labels", metavar="KEY=VALUE", multiple=True, help="A label of the group's hosts. Repeatable.")
@click.option("--none", "nobody", is_flag=True, help="Select no hosts any longer.")
@connected
def select(api: Api, fleet: str, group: str, labels: Sequence[str], nobody: bool, as_json: bool) -> None:
    """Let labels select the hosts of a deployment group: they move there without an install.

    \b
    Examples:
      headgate deployment select servers web --label role=web
      headgate deployment select servers web --none
    """
    if bool(labels) == nobody:
        raise click.UsageError("give --label, or --none")
    path = f"{lookup.group_path(api, fleet, group)}/selector"
    changed = shaped(DeploymentOut, api.put(path, {"labels": dict(map(assignable.label, labels))}))
    if as_json:
        print_json(changed)
        return
    said = ", ".join(sorted(labels)) if labels else "no labels"
    print_result(one_line(f"{changed['name']} is selected by {said}"))
