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
from headgate_cli.output import dump, table, tell
from headgate_cli.untrusted import one_line

_version = click.option(
    "--version", "n", type=VersionNumber(), help="The version; the newest published one by default."
)


@click.group(cls=Group)
def deployment() -> None:
    """Say what each group of a fleet is assigned. FLEET and GROUP are ids, or a label and a name.

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
    called = names.of(api, (optional(one, "configuration_id") for one in found))
    if as_json:
        dump([names.named(one, called) for one in found])
        return
    rows = [
        (
            text(one, "id"),
            text(one, "name"),
            one.get("role"),
            one.get("replicas"),
            one.get("namespace"),
            names.version(one, called),
        )
        for one in found
    ]
    headings = ("ID", "NAME", "ROLE", "REPLICAS", "NAMESPACE", "ASSIGNED")
    table(headings, rows, nothing="No group yet: `headgate deployment create FLEET NAME CONFIGURATION`")


@deployment.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("name", metavar="NAME")
@click.argument("configuration", metavar="CONFIGURATION")
@_version
@click.option("--role", type=click.Choice(["node", "cluster", "gateway"]), help="kubernetes: what the group does.")
@click.option("--replicas", type=click.IntRange(min=1), help="kubernetes: how many collectors a gateway has.")
@click.option("--namespace", help="kubernetes: where it runs.")
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
    """Create a group and assign it a published version.

    The collector checks the version first: an error, or an outage, creates nothing.

    \b
    Examples:
      headgate deployment create edge canary edge --version 3
      headgate deployment create clusters gateways gateway --role gateway --replicas 3
    """
    fleet_id = lookup.fleet(api, fleet)
    chosen = _checked(api, configuration, n, undone="Nothing was created", forced=force)
    request = {"name": name} | chosen.request
    request |= {option: value for option, value in options.items() if value is not None}
    _show(api.create(f"/fleets/{fleet_id}/deployments", request), chosen.name, as_json=as_json)


@deployment.command()
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@click.argument("configuration", metavar="CONFIGURATION")
@_version
@gate.force
@as_json
@connected
def assign(api: Api, fleet: str, group: str, configuration: str, n: int | None, force: bool, as_json: bool) -> None:
    """Assign a published version to a group: its collectors are told within their next polls.

    The collector checks the version first: an error, or an outage, assigns nothing.

    \b
    Examples:
      headgate deployment assign edge Default edge
      headgate deployment assign edge Default edge --version 3
    """
    fleet_id = lookup.fleet(api, fleet)
    path = f"/fleets/{fleet_id}/deployments/{lookup.group(api, fleet_id, group)}"
    chosen = _checked(api, configuration, n, undone="Nothing was assigned", forced=force)
    _show(api.patch(path, chosen.request), chosen.name, as_json=as_json)


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
    _show(api.patch(path, {"configuration_id": None}), "", as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A version that may be assigned: its configuration's name, and how a request names it."""

    name: str
    request: dict[str, object]


def _checked(api: Api, configuration: str, n: int | None, *, undone: str, forced: bool) -> _Chosen:
    """The version, which the collector has checked. Named by its number: what was checked is what is assigned."""
    latest = configurations.latest(api, configurations.find(api, configuration))
    if not n and not latest.published:
        raise Failed(
            f"{one_line(latest.name)} has no published version: `headgate config publish {one_line(latest.id)}`"
        )
    n = n or latest.published
    checked = configurations.text_of(api, latest, n)
    gate.require_sound(api, f"{latest.name} v{n}", checked, undone=undone, forced=forced)
    return _Chosen(latest.name, {"configuration_id": latest.id, "version_number": n})


def _show(changed: Entity, name: str, *, as_json: bool) -> None:
    if as_json:
        dump({**changed, "configuration_name": name or None})
        return
    assigned = f"is assigned {one_line(name)} v{number(changed, 'version_number')}" if name else "has nothing assigned"
    tell(f"{one_line(text(changed, 'name'))} ({one_line(text(changed, 'id'))}) {assigned}")
