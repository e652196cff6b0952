"""Which fleet and which group a person means: by id, or by label and name."""

from __future__ import annotations

import re
from typing import Final

from headgate_cli.api import Api, Entity, text
from headgate_cli.errors import Failed

_ID: Final = "[0-7][0-9a-hjkmnp-tv-z]{25}"
_FLEET: Final = re.compile(f"flt_{_ID}")
_GROUP: Final = re.compile(f"dep_{_ID}")


def fleet(api: Api, wanted: str) -> str:
    """The fleet's id."""
    if _FLEET.fullmatch(wanted):
        return wanted
    for one in api.items("/fleets"):
        if one.get("label") == wanted:
            return text(one, "id")
    raise Failed(f"there is no fleet {wanted!r}: look with `headgate fleet list`")


def group(api: Api, fleet_id: str, wanted: str) -> str:
    """The deployment group's id."""
    if _GROUP.fullmatch(wanted):
        return wanted
    for one in groups(api, fleet_id):
        if one.get("name") == wanted:
            return text(one, "id")
    raise Failed(f"the fleet has no group {wanted!r}: look with `headgate deployment list`")


def groups(api: Api, fleet_id: str) -> list[Entity]:
    return list(api.items(f"/fleets/{fleet_id}/deployments"))
