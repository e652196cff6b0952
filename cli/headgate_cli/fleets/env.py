"""`deployment env`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from headgate_cli import variables
from headgate_cli.api import Api
from headgate_cli.connection import connected
from headgate_cli.fleets import lookup
from headgate_cli.output import minute, print_json, print_result, show_list, table
from headgate_cli.shapes import EnvHostsOut, EnvOut
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
@click.option(
    "--forget-removed", is_flag=True, help="Forget the names that hosts leave out because they were removed earlier."
)
@click.option("--hosts", is_flag=True, help="Show which revision each host runs with, and which hosts get none.")
@connected
def env(
    api: Api,
    fleet: str,
    group: str,
    env: Sequence[tuple[str, str]],
    secrets: Sequence[str],
    removed: Sequence[str],
    forget_removed: bool,
    hosts: bool,
    as_json: bool,
) -> None:
    """Show, set or remove the variables that are stored with a deployment group. A secret is never shown again.

    Each change is a revision. Hosts get them when they are installed, and changed ones by `headgate rollout start` with
    `--variables`.

    \b
    Examples:
      headgate deployment env servers web
      headgate deployment env servers web --env ZONE=a --secret API_KEY
      headgate deployment env servers web --remove API_KEY
      headgate deployment env servers web --hosts
    """
    path = f"{lookup.group_path(api, fleet, group)}/env"
    if hosts and (env or secrets or removed or forget_removed):
        raise click.UsageError("--hosts changes nothing: leave out --env, --secret, --remove and --forget-removed")
    if hosts:
        _show_hosts(api.get(EnvHostsOut, f"{path}/hosts"), as_json=as_json)
        return
    values: dict[str, str | None] = dict(env) | dict.fromkeys(removed)
    request: dict[str, object] = {"variables": values} if values else {}
    if secrets:
        request["secrets"] = {name: _secret(name) for name in secrets}
    if forget_removed:
        request["forget_removed"] = True
    stored = api.patch(EnvOut, path, request) if request else api.get(EnvOut, path)
    show_list(
        stored["items"],
        as_json,
        "No variables are stored with this group",
        {
            "NAME": lambda variable: variable["name"],
            "VALUE": lambda variable: "(secret)" if variable["secret"] else variable["value"],
            "SET (UTC)": lambda variable: minute(variable["set_at"]),
        },
        answer=stored,
    )
    if stored["revision"] and not as_json:
        print_result(f"Revision {stored['revision']}")


def _show_hosts(hosts: EnvHostsOut, *, as_json: bool) -> None:
    if as_json:
        print_json(hosts)
        return
    rolled_out = hosts["rolled_out"]
    rolled = f"revision {rolled_out} was rolled out" if rolled_out else "none was rolled out"
    print_result(f"Stored is revision {hosts['newest']}; {rolled}")
    revisions = [(row["revision"], str(row["hosts"])) for row in hosts["running"]]
    rows = [("of the install" if revision is None else str(revision), count) for revision, count in revisions]
    if hosts["unknown"]:
        rows.append(("not known", str(hosts["unknown"])))
    table(("REVISION", "HOSTS"), rows, nothing="No host of this group reports")
    for host in hosts["not_moved"]:
        print_result(f"gets none: {one_line(host['name'])}: {one_line(host['message'])}")
    if hosts["unreached"] > len(hosts["not_moved"]):
        print_result(f"gets none: {hosts['unreached'] - len(hosts['not_moved'])} more")


def _secret(name: str) -> str:
    """Not an argument, which every user of this machine would see in the list of processes."""
    if "=" in name:
        # Without what it says, which is the value.
        key = one_line(name.partition("=")[0])
        raise click.UsageError(
            f"--secret takes a name alone: give {key} its value in the variable of that name, or when asked"
        )
    value = os.environ.get(name)
    if not value and not sys.stdin.isatty():
        raise click.UsageError(f"no terminal to ask for the secret {one_line(name)}: set its variable for this command")
    return value if value else str(click.prompt(f"Value of {one_line(name)}", hide_input=True, err=True))
