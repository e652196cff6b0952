"""Where the rollouts of a deployment group are, and which one a command is about."""

from __future__ import annotations

import re
from typing import Final

from headgate_cli.api import Api, Entity, entities, optional
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup
from headgate_cli.untrusted import one_line

_ROLLOUT: Final = re.compile("rol_[0-7][0-9a-hjkmnp-tv-z]{25}")


def path_of(api: Api, fleet: str, group: str) -> str:
    """Where the group's rollouts are. Raises Failed if there is no such fleet or group."""
    fleet_id = lookup.fleet(api, fleet)
    return f"/fleets/{fleet_id}/deployments/{lookup.group(api, fleet_id, group)}/rollouts"


def newest(api: Api, path: str) -> Entity | None:
    """The group's newest rollout."""
    return next(iter(entities(api.get(path, limit=1), "items")), None)


def rollout(api: Api, path: str, wanted: str) -> Entity:
    """The rollout with that id, or the newest one without an id. Raises Failed."""
    if wanted:
        if not _ROLLOUT.fullmatch(wanted):
            raise Failed(f"{wanted!r} is not the id of a rollout (rol_...): leave it out for the newest one")
        return api.get(f"{path}/{wanted}")
    found = newest(api, path)
    if found is None:
        raise Failed("the group has had no rollout: start one with `headgate rollout start`")
    return found


def version(named: object) -> str:
    """What a rollout, its `from` or a group names, as `edge v4`; `nothing` if it names no version."""
    if not isinstance(named, dict) or not named.get("configuration_id"):
        return "nothing"
    name = optional(named, "configuration_name") or optional(named, "configuration_id")
    return one_line(f"{name} v{named.get('version_number')}")
