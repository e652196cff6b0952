"""Finding a fleet by id or label, and a deployment group by id or name."""

from __future__ import annotations

import re
from typing import Final

from headgate_cli.api import Api, Entity, text
from headgate_cli.errors import Failed

_ID: Final = "[0-7][0-9a-hjkmnp-tv-z]{25}"
_FLEET: Final = re.compile(f"flt_{_ID}")
_GROUP: Final = re.compile(f"dep_{_ID}")


def fleet(api: Api, wanted: str) -> str:
    """The fleet's id. Raises Failed if there is no such label; an id is not looked up."""
    if _FLEET.fullmatch(wanted):
        return wanted
    for fleet in api.items("/fleets"):
        if fleet.get("label") == wanted:
            return text(fleet, "id")
    raise Failed(f"there is no fleet {wanted!r}: `headgate fleet list` shows the fleets")


def group(api: Api, fleet_id: str, wanted: str) -> str:
    """The deployment group's id. Raises Failed if there is no such name; an id is not looked up."""
    if _GROUP.fullmatch(wanted):
        return wanted
    for group in groups(api, fleet_id):
        if group.get("name") == wanted:
            return text(group, "id")
    raise Failed(
        f"the fleet has no deployment group {wanted!r}: `headgate deployment list {fleet_id}` shows its groups"
    )


def groups(api: Api, fleet_id: str) -> list[Entity]:
    return list(api.items(f"/fleets/{fleet_id}/deployments"))
