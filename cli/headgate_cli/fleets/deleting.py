"""`fleet delete`, `fleet forget` and `deployment delete`."""

from __future__ import annotations

import click

from headgate_cli.api import Api
from headgate_cli.connection import connected
from headgate_cli.fleets import lookup
from headgate_cli.output import print_outcome
from headgate_cli.untrusted import one_line


@click.command("delete")
@click.argument("fleet", metavar="FLEET")
@connected
def fleet(api: Api, fleet: str, as_json: bool) -> None:
    """Delete a fleet with its tokens. It may have no deployment group but Default, and no collector that reports.

    \b
    Examples:
      headgate fleet delete edge
    """
    fleet_id = lookup.fleet(api, fleet)
    api.delete(f"/fleets/{fleet_id}")
    _say_deleted(fleet_id, fleet, as_json=as_json)


@click.command("delete")
@click.argument("fleet", metavar="FLEET")
@click.argument("group", metavar="GROUP")
@connected
def deployment(api: Api, fleet: str, group: str, as_json: bool) -> None:
    """Delete a deployment group. None of its collectors may report; stale and stopped ones go with it.

    \b
    Examples:
      headgate deployment delete servers canary
    """
    fleet_id = lookup.fleet(api, fleet)
    group_id = lookup.group(api, fleet_id, group)
    api.delete(f"/fleets/{fleet_id}/deployments/{group_id}")
    _say_deleted(group_id, group, as_json=as_json)


@click.command("forget")
@click.argument("fleet", metavar="FLEET")
@click.argument("instance", metavar="INSTANCE")
@connected
def instance(api: Api, fleet: str, instance: str, as_json: bool) -> None:
    """Delete a collector that is stopped or stale from the list. INSTANCE is its id or the name of its host.

    \b
    Examples:
      headgate fleet forget edge web-1
    """
    fleet_id = lookup.fleet(api, fleet)
    instance_id = lookup.instance(api, fleet_id, instance)
    api.delete(f"/fleets/{fleet_id}/instances/{instance_id}")
    _say_deleted(instance_id, instance, as_json=as_json)


def _say_deleted(id_: str, name: str, *, as_json: bool) -> None:
    print_outcome({"deleted": id_}, as_json, f"{one_line(name)} is deleted")
