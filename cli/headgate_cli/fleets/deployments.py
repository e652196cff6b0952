"""`deployment list | create | assign | clear`."""

from __future__ import annotations

import click

from headgate_cli.api import Api, Entity, number, optional, text
from headgate_cli.configurations import lookup as configurations
from headgate_cli.configurations.lookup import VersionNumber
from headgate_cli.connection import as_json, connected
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup
from headgate_cli.fleets.commands import warnings
from headgate_cli.groups import Group
from headgate_cli.output import dump, one_line, table, tell

_version = click.option(
    "--version", "n", type=VersionNumber(), help="The version; the newest published one by default."
)


@click.group(cls=Group)
def deployment() -> None:
    """Say what each group of a fleet runs. FLEET and GROUP are ids, or a label and a name.

    \b
    Examples:
      headgate deployment list edge
      headgate deployment assign edge Default edge
    """


@deployment.command("list")
@click.argument("fleet", metavar="FLEET")
@as_json
@connected
def list_(api: Api, fleet: str, as_json: bool) -> None:
    """List the fleet's groups by name, and what each is assigned.

    \b
    Examples:
      headgate deployment list edge
    """
    found = lookup.groups(api, lookup.fleet(api, fleet))
    if as_json:
        dump(found)
        return
    rows = [
        (
            text(one, "id"),
            text(one, "name"),
            one.get("role"),
            one.get("replicas"),
            one.get("namespace"),
            one.get("configuration_id"),
            one.get("version_number"),
        )
        for one in found
    ]
    headings = ("ID", "NAME", "ROLE", "REPLICAS", "NAMESPACE", "CONFIGURATION", "VERSION")
    table(headings, rows, nothing="No group yet: `headgate deployment create FLEET NAME CONFIGURATION`")


@deployment.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("name", metavar="NAME")
@click.argument("configuration", metavar="CONFIGURATION")
@_version
@click.option("--role", type=click.Choice(["node", "cluster", "gateway"]), help="kubernetes: what the group does.")
@click.option("--replicas", type=click.IntRange(min=1), help="kubernetes: how many collectors a gateway has.")
@click.option("--namespace", help="kubernetes: where it runs.")
@as_json
@connected
def create(
    api: Api,
    /,
    fleet: str,
    name: str,
    configuration: str,
    n: int | None,
    as_json: bool,
    **options: str | int | None,
) -> None:
    """Create a group and assign it a published version.

    \b
    Examples:
      headgate deployment create edge canary edge --version 3
      headgate deployment create clusters gateways gateway --role gateway --replicas 3
    """
    fleet_id = lookup.fleet(api, fleet)
    configuration_id = configurations.find(api, configuration)
    request: dict[str, object] = {
        "name": name,
        "configuration_id": configuration_id,
        "version_number": n or _newest_published(api, configuration_id),
    }
    request |= {option: value for option, value in options.items() if value is not None}
    _show(api.create(f"/fleets/{fleet_id}/deployments", request), as_json=as_json)


@deployment.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@click.argument("configuration", metavar="CONFIGURATION")
@_version
@as_json
@connected
def assign(api: Api, fleet: str, group: str, configuration: str, n: int | None, as_json: bool) -> None:
    """Assign a published version to a group: its collectors run it within their next polls.

    \b
    Examples:
      headgate deployment assign edge Default edge
      headgate deployment assign edge Default edge --version 3
    """
    fleet_id = lookup.fleet(api, fleet)
    request: dict[str, object] = {"configuration_id": configurations.find(api, configuration)}
    path = f"/fleets/{fleet_id}/deployments/{lookup.group(api, fleet_id, group)}"
    _show(api.patch(path, request | ({"version_number": n} if n else {})), as_json=as_json)


@deployment.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@as_json
@connected
def clear(api: Api, fleet: str, group: str, as_json: bool) -> None:
    """Take a group's assignment away: its collectors stop.

    \b
    Examples:
      headgate deployment clear edge canary
    """
    fleet_id = lookup.fleet(api, fleet)
    path = f"/fleets/{fleet_id}/deployments/{lookup.group(api, fleet_id, group)}"
    _show(api.patch(path, {"configuration_id": None}), as_json=as_json)


def _show(changed: Entity, *, as_json: bool) -> None:
    if as_json:
        dump(changed)
        return
    warnings(changed)
    configuration = optional(changed, "configuration_id")
    runs = f"runs {configuration} v{number(changed, 'version_number')}" if configuration else "runs nothing"
    tell(f"{one_line(text(changed, 'name'))} ({text(changed, 'id')}) {runs}")


def _newest_published(api: Api, configuration_id: str) -> int:
    latest = configurations.latest(api, configuration_id)
    if not latest.published:
        raise Failed(f"{one_line(latest.name)} has no published version: `headgate config publish {latest.id}`")
    return latest.published
