"""`deployment env`."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from headgate_cli import variables
from headgate_cli.api import Api
from headgate_cli.connection import connected
from headgate_cli.fleets import lookup
from headgate_cli.output import minute, show_list
from headgate_cli.shaped import shaped
from headgate_cli.shapes import EnvOut, VariableOut
from headgate_cli.untrusted import one_line


@click.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@variables.env
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="NAME",
    help="A secret: its value is that of the variable NAME here, or asked for. Repeatable.",
)
@click.option("--remove", "removed", multiple=True, metavar="NAME", help="Remove a stored variable. Repeatable.")
@connected
def env(
    api: Api,
    fleet: str,
    group: str,
    env: Sequence[tuple[str, str]],
    secrets: Sequence[str],
    removed: Sequence[str],
    as_json: bool,
) -> None:
    """Show, set or remove the variables that are stored with a deployment group. A secret is never shown again.

    Hosts get them when they are installed; install a host again to give it changed ones.

    \b
    Examples:
      headgate deployment env servers web
      headgate deployment env servers web --env ZONE=a --secret API_KEY
      headgate deployment env servers web --remove API_KEY
    """
    fleet_id = lookup.fleet(api, fleet)
    path = f"/fleets/{fleet_id}/deployments/{lookup.group(api, fleet_id, group)}/env"
    values: dict[str, str | None] = dict(env) | dict.fromkeys(removed)
    request: dict[str, object] = {"variables": values} if values else {}
    if secrets:
        request["secrets"] = {name: _secret(name) for name in secrets}
    stored = shaped(EnvOut, api.patch(path, request) if request else api.get(path))
    show_list(
        stored["items"],
        as_json,
        "No variables are stored with this group",
        {
            "NAME": lambda variable: variable["name"],
            "VALUE": _shown,
            "SET (UTC)": lambda variable: minute(variable["set_at"]),
        },
        answer=stored,
    )


def _secret(name: str) -> str:
    """Not an argument, which every user of this machine would see in the list of processes."""
    value = os.environ.get(name)
    return value if value else str(click.prompt(f"Value of {one_line(name)}", hide_input=True, err=True))


def _shown(variable: VariableOut) -> str:
    return "(secret)" if variable["secret"] else variable["value"] or ""
