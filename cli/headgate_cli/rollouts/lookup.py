"""Paths of the rollouts of a deployment group, and the rollout that a command is about."""

from __future__ import annotations

from headgate_cli.api import Api
from headgate_cli.configurations.names import named_version
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup
from headgate_cli.ids import is_id
from headgate_cli.shapes import ReachOut, RolloutOut, RolloutOutPage, VersionOut
from headgate_cli.untrusted import one_line


def path_of(api: Api, fleet: str, group: str) -> str:
    """The path of the group's rollouts. Raises Failed if there is no such fleet or group."""
    return f"{lookup.group_path(api, fleet, group)}/rollouts"


def rollout(api: Api, path: str, rollout_id: str) -> RolloutOut:
    """The rollout with that id, or the newest one without an id. Raises Failed."""
    if rollout_id:
        if not is_id("rol", rollout_id):
            raise Failed(f"{rollout_id!r} is not the id of a rollout (rol_...): leave it out for the newest one")
        return api.get(RolloutOut, f"{path}/{rollout_id}")
    newest = api.get(RolloutOutPage, path, limit=1)["items"]
    if not newest:
        raise Failed("the group has had no rollout: start one with `headgate rollout start`")
    return newest[0]


def version(named: VersionOut) -> str:
    """The version that a rollout, its `from` or a group names, as `edge v4`; `nothing` if it names none."""
    return one_line(named_version(named)) or "nothing"


def status(rollout: RolloutOut) -> str:
    """Its status; of an assignment at once, how far the group's collectors run it."""
    if rollout["reach"] is None:
        return one_line(rollout["status"]).replace("_", " ")
    return reached(rollout["reach"])


def reached(reach: ReachOut) -> str:
    """Progress of an assignment among the collectors of a group, such as `assigned, 0 of 2 run it`."""
    if reach["state"] in ("completed", "superseded"):
        return one_line(reach["state"])
    failed = f", {reach['failed']} could not apply it" if reach["failed"] else ""
    return f"{one_line(reach['state'])}, {reach['applied']} of {reach['total']} run it{failed}"
