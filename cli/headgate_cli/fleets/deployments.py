"""`deployment list | create | assign | clear`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from headgate_cli.api import Api, Entity, number, optional, text
from headgate_cli.checks import gate
from headgate_cli.command_group import Group
from headgate_cli.configurations import lookup as configurations
from headgate_cli.configurations import names
from headgate_cli.configurations.lookup import VersionNumber
from headgate_cli.connection import as_json, connected
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup
from headgate_cli.output import print_json, print_result, table
from headgate_cli.untrusted import one_line

_version = click.option(
    "--version", "n", type=VersionNumber(), help="The version; the newest published one by default."
)


@click.group(cls=Group)
def deployment() -> None:
    """Assign configurations to a fleet's deployment groups. FLEET is an id or a label, GROUP an id or a name.

    \b
    Examples:
      headgate deployment list servers
      headgate deployment assign servers Default shop
    """


@deployment.command("list")
@click.argument("fleet", metavar="FLEET")
@as_json
@connected
def list_(api: Api, fleet: str, as_json: bool) -> None:
    """List the fleet's deployment groups by name, with their assigned versions.

    \b
    Examples:
      headgate deployment list servers
    """
    groups = lookup.groups(api, lookup.fleet(api, fleet))
    by_id = names.of(api, (optional(group, "configuration_id") for group in groups))
    if as_json:
        print_json([names.named(group, by_id) for group in groups])
        return
    rows = [
        (
            text(group, "id"),
            text(group, "name"),
            group.get("role"),
            group.get("replicas"),
            group.get("namespace"),
            names.version(group, by_id),
        )
        for group in groups
    ]
    headings = ("ID", "NAME", "ROLE", "REPLICAS", "NAMESPACE", "ASSIGNED")
    create = f"headgate deployment create {one_line(fleet)} NAME CONFIGURATION --role ROLE"
    table(headings, rows, nothing=f"No deployment groups yet: create one with `{create}`")


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
@gate.force
@as_json
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
    version = _validated(api, configuration, n, undone="Nothing was created", forced=force)
    request = {"name": name} | version.request
    request |= {option: value for option, value in options.items() if value is not None}
    _show(api.create(f"/fleets/{fleet_id}/deployments", request), version.name, as_json=as_json)


@deployment.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@click.argument("configuration", metavar="CONFIGURATION")
@_version
@gate.force
@as_json
@connected
def assign(api: Api, fleet: str, group: str, configuration: str, n: int | None, force: bool, as_json: bool) -> None:
    """Assign a published version to a deployment group: its collectors receive it with their next heartbeat.

    The version is validated first. If it is invalid, or cannot be validated, nothing is assigned.

    \b
    Examples:
      headgate deployment assign servers Default shop
      headgate deployment assign servers Default shop --version 3
    """
    fleet_id = lookup.fleet(api, fleet)
    path = f"/fleets/{fleet_id}/deployments/{lookup.group(api, fleet_id, group)}"
    version = _validated(api, configuration, n, undone="Nothing was assigned", forced=force)
    _show(api.patch(path, version.request), version.name, as_json=as_json)


@deployment.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@as_json
@connected
def clear(api: Api, fleet: str, group: str, as_json: bool) -> None:
    """Remove a deployment group's assignment: its collectors stop.

    \b
    Examples:
      headgate deployment clear servers canary
    """
    fleet_id = lookup.fleet(api, fleet)
    path = f"/fleets/{fleet_id}/deployments/{lookup.group(api, fleet_id, group)}"
    _show(api.patch(path, {"configuration_id": None}), "", as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Version:
    """A version that may be assigned: its configuration's name, and the fields that name it in a request."""

    name: str
    request: dict[str, object]


def _validated(api: Api, configuration: str, n: int | None, *, undone: str, forced: bool) -> _Version:
    """The version, validated. Its number goes into the request, so that what was validated is what is assigned."""
    latest = configurations.latest(api, configurations.find(api, configuration))
    if not n and not latest.published:
        raise Failed(
            f"{one_line(latest.name)} has no published version: publish one with "
            f"`headgate config publish {one_line(latest.id)}`"
        )
    n = n or latest.published
    content = configurations.text_of(api, latest, n)
    gate.require_valid_version(api, f"{latest.name} v{n}", content, undone=undone, forced=forced)
    return _Version(latest.name, {"configuration_id": latest.id, "version_number": n})


def _show(group: Entity, name: str, *, as_json: bool) -> None:
    """The group after a change; `name` is that of its configuration, empty if nothing is assigned."""
    if as_json:
        print_json({**group, "configuration_name": name or None})
        return
    assigned = f"is assigned {one_line(name)} v{number(group, 'version_number')}" if name else "has nothing assigned"
    print_result(f"{one_line(text(group, 'name'))} ({one_line(text(group, 'id'))}) {assigned}")
