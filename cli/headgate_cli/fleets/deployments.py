"""`deployment list | create | assign | clear | check | history | env | select | delete`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.checks import gate
from headgate_cli.command_group import CommandGroup
from headgate_cli.configurations.lookup import VersionNumber
from headgate_cli.configurations.names import named_version
from headgate_cli.connection import connected
from headgate_cli.fleets import assignable, lookup
from headgate_cli.fleets.check import check, say_of_hosts
from headgate_cli.fleets.env import env
from headgate_cli.fleets.history import history
from headgate_cli.fleets.states import states
from headgate_cli.output import confirm, counted, print_outcome, show_list
from headgate_cli.shapes import DeploymentChanged, DeploymentOut
from headgate_cli.untrusted import one_line

# States of collectors that may run something.
_RUNNING: Final = ("pending_pickup", "applying", "applied", "apply_failed", "silent")
_version = click.option(
    "--version", "n", type=VersionNumber(), help="The version; the newest published one by default."
)

_message = click.option("--message", "-m", help="Why; the group's history and the changes show it.")


@click.group(cls=CommandGroup)
def deployment() -> None:
    """Assign configurations to a fleet's deployment groups. FLEET is an id or a label, GROUP an id or a name.

    \b
    Examples:
      headgate deployment list servers
      headgate deployment assign servers Default shop
    """


@deployment.command("list")
@click.argument("fleet", metavar="FLEET")
@connected
def list_(api: Api, fleet: str, as_json: bool) -> None:
    """List the fleet's deployment groups by name, with their assigned versions.

    \b
    Examples:
      headgate deployment list servers
    """
    groups = lookup.groups(api, lookup.fleet(api, fleet))
    create = f"headgate deployment create {one_line(fleet)} NAME CONFIGURATION --role ROLE"
    show_list(
        groups,
        as_json,
        f"No deployment groups yet: create one with `{create}`",
        {
            "ID": lambda group: group["id"],
            "NAME": lambda group: group["name"],
            "ROLE": lambda group: group["role"],
            "REPLICAS": lambda group: group["replicas"],
            "NAMESPACE": lambda group: group["namespace"],
            "ASSIGNED": lambda group: named_version(group),
            "COLLECTORS": lambda group: states(group["instances"]),
        },
    )


@deployment.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("name", metavar="NAME")
@click.argument("configuration", metavar="CONFIGURATION")
@_version
@click.option(
    "--role", type=click.Choice(["node", "cluster", "gateway"]), help="kubernetes: required; what the group does."
)
@click.option("--replicas", type=click.IntRange(min=1), help="kubernetes: how many collectors a gateway has.")
@click.option("--namespace", help="kubernetes: the namespace it runs in.")
@_message
@gate.force
@connected
def create(
    api: Api,
    /,
    fleet: str,
    name: str,
    configuration: str,
    n: int | None,
    force: bool,
    as_json: bool,
    **options: str | int | None,
) -> None:
    """Create a deployment group and assign a published version to it.

    The version is validated first. If it is invalid, or cannot be validated, nothing is created.

    \b
    Examples:
      headgate deployment create servers canary shop --version 3
      headgate deployment create clusters central intake --role gateway --replicas 3
    """
    fleet_id = lookup.fleet(api, fleet)
    version = assignable.validated(api, configuration, n, undone="Nothing was created", forced=force)
    request = {"name": name} | version
    request |= {option: value for option, value in options.items() if value is not None}
    _show(api.create(DeploymentChanged, f"/fleets/{fleet_id}/deployments", request), as_json=as_json)


@deployment.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@click.argument("configuration", metavar="CONFIGURATION")
@_version
@_message
@gate.force
@connected
def assign(
    api: Api, fleet: str, group: str, configuration: str, n: int | None, message: str | None, force: bool, as_json: bool
) -> None:
    """Assign a published version to a deployment group: its collectors receive it with their next heartbeat.

    The version is validated first. If it is invalid, or cannot be validated, nothing is assigned.

    \b
    Examples:
      headgate deployment assign servers Default shop
      headgate deployment assign servers Default shop@3 --message "back to what worked"
    """
    path = lookup.group_path(api, fleet, group)
    version = assignable.validated(api, configuration, n, undone="Nothing was assigned", forced=force, group=path)
    _show(api.patch(DeploymentChanged, path, version | _why(message)), as_json=as_json)


@deployment.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@_message
@click.option("--yes", is_flag=True, help="Do not ask, although collectors stop.")
@connected
def clear(api: Api, fleet: str, group: str, message: str | None, yes: bool, as_json: bool) -> None:
    """Remove a deployment group's assignment: its collectors stop.

    Asks before it stops collectors; without a terminal, --yes is required for that.

    \b
    Examples:
      headgate deployment clear servers canary
      headgate deployment clear servers canary --yes
    """
    path = lookup.group_path(api, fleet, group)
    if not yes:
        _confirm_stop(api.get(DeploymentOut, path))
    _show(api.patch(DeploymentChanged, path, {"configuration_id": None} | _why(message)), as_json=as_json)


deployment.add_command(check)
deployment.add_command(history)
deployment.add_command(env)


@deployment.command()
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
    changed = api.put(DeploymentOut, path, {"labels": dict(map(assignable.label, labels))})
    message = f"{changed['name']} is selected by {', '.join(sorted(labels)) if labels else 'no labels'}"
    print_outcome(changed, as_json, one_line(message))


@deployment.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@connected
def delete(api: Api, fleet: str, group: str, as_json: bool) -> None:
    """Delete a deployment group. None of its collectors may report; stale and stopped ones go with it.

    \b
    Examples:
      headgate deployment delete servers canary
    """
    lookup.delete(api, lookup.group_path(api, fleet, group), group, as_json=as_json)


def _confirm_stop(group: DeploymentOut) -> None:
    """Ask if collectors would stop. Raises as `confirm`."""
    running = sum(group["instances"][state] for state in _RUNNING)
    collectors = f"{counted(running, 'collector')} of {one_line(group['name'])}"
    if running:
        confirm(f"Stop {collectors}?", f"this stops {collectors}; without a terminal to ask on, confirm with --yes")


def _why(message: str | None) -> dict[str, object]:
    return {"message": message} if message else {}


def _show(group: DeploymentChanged, *, as_json: bool) -> None:
    """Print the group after a change."""
    assigned = named_version(group)
    does = f"is assigned {one_line(assigned)}" if assigned else "has nothing assigned"
    print_outcome(group, as_json, f"{one_line(group['name'])} ({one_line(group['id'])}) {does}")
    if not as_json:
        say_of_hosts(group["warnings"])
