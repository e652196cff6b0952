"""Fleets and their tokens as items of the fleets table, and back."""

from typing import Final

from headgate.fleets import keys
from headgate.fleets.model import Fleet, FleetToken
from headgate.storage.items import Item
from headgate.storage.stored import Stored

FLEETS: Final = Stored(Fleet, names={"id": "fleet_id"}, unless_default=["mode", "previous_while_used"])
TOKENS: Final = Stored(FleetToken, unless_default=["superseded_at"])


def fleet_item(fleet: Fleet) -> Item:
    return keys.fleet(fleet.organization_id, fleet.id) | FLEETS.item(fleet)


def token_item(token_hash: str, token: FleetToken) -> Item:
    return keys.token(token_hash) | TOKENS.item(token)
