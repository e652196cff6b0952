"""Finding a fleet by id or label, a deployment group by id or name, and an instance by id or host."""

from __future__ import annotations

import re
from typing import Final

from headgate_cli.api import Api
from headgate_cli.errors import Failed
from headgate_cli.ids import is_id
from headgate_cli.nearest import did_you_mean, names_of
from headgate_cli.output import print_outcome
from headgate_cli.shapes import DeploymentOut, FleetOut, InstanceOut
from headgate_cli.untrusted import one_line

_GONE: Final = ("silent", "stale", "unknown", "stopped")
# As lists show hosts of one name: with the end of the id.
_DISTINCT: Final = re.compile(r"(.+) \(…([0-9a-z]+)\)", re.DOTALL)


def fleet(api: Api, name: str) -> str:
    """The fleet's id. Raises Failed if there is no such label; an id is not looked up."""
    if is_id("flt", name):
        return name
    for fleet in api.items(FleetOut, "/fleets", name=name):
        if fleet["label"] == name:
            return fleet["id"]
    similar = did_you_mean(name, names_of(api, "/fleets", "label"))
    raise Failed(f"there is no fleet {name!r}{similar}: `headgate fleet list` shows the fleets")


def group(api: Api, fleet_id: str, name: str) -> str:
    """The deployment group's id. Raises Failed if there is no such name; an id is not looked up."""
    if is_id("dep", name):
        return name
    for group in api.items(DeploymentOut, f"/fleets/{fleet_id}/deployments", name=name):
        if group["name"] == name:
            return group["id"]
    similar = did_you_mean(name, names_of(api, f"/fleets/{fleet_id}/deployments", "name"))
    raise Failed(
        f"the fleet has no deployment group {name!r}{similar}: `headgate deployment list {fleet_id}` shows its groups"
    )


def group_path(api: Api, fleet_name: str, name: str | None) -> str:
    """The path of a fleet's deployment group; of the fleet itself without a name. Raises Failed."""
    fleet_id = fleet(api, fleet_name)
    return f"/fleets/{fleet_id}/deployments/{group(api, fleet_id, name)}" if name else f"/fleets/{fleet_id}"


def instance_path(api: Api, fleet_name: str, name: str) -> str:
    """The path of a fleet's instance. Raises Failed."""
    fleet_id = fleet(api, fleet_name)
    return f"/fleets/{fleet_id}/instances/{instance(api, fleet_id, name)}"


def delete(api: Api, path: str, name: str, *, as_json: bool) -> None:
    """Delete what is at the path, and print its id, or the name that a command was given."""
    api.delete(path)
    print_outcome({"deleted": path.rpartition("/")[2]}, as_json, f"{one_line(name)} is deleted")


def groups(api: Api, fleet_id: str) -> list[DeploymentOut]:
    return list(api.items(DeploymentOut, f"/fleets/{fleet_id}/deployments"))


def instance(api: Api, fleet_id: str, name: str, *, gone: bool = False) -> str:
    """The instance's id. Raises Failed if no host, or several, have this name; an id is not looked up.

    `web-1 (…8k2m9x)`, as lists show it, is a name too. With `gone`, only hosts that do not report are looked for.
    """
    if is_id("ins", name):
        return name
    ids = _ids_of_hosts(api, fleet_id, name, gone=gone)
    if not ids and (shown := _DISTINCT.fullmatch(name)):
        ids = [host for host in _ids_of_hosts(api, fleet_id, shown[1], gone=gone) if host.endswith(shown[2])]
    if len(ids) == 1:
        return ids[0]
    if ids:
        raise Failed(f"{len(ids)} hosts are called {name!r}: give the id, {', '.join(ids[:10])}")
    raise Failed(f"the fleet has no host {name!r}: `headgate fleet instances {fleet_id}` shows its hosts")


def _ids_of_hosts(api: Api, fleet_id: str, name: str, *, gone: bool) -> list[str]:
    # Without a name the server lists all hosts, and a host may report an empty one.
    listed = api.items(InstanceOut, f"/fleets/{fleet_id}/instances", host=name) if name else ()
    return [
        instance["id"]
        for instance in listed
        if name in (instance["name"], instance["host_name"]) and not (gone and instance["state"] not in _GONE)
    ]
