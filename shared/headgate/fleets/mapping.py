"""Fleets and their tokens as items of the fleets table, and back."""

from datetime import datetime
from typing import cast

from headgate.fleets import keys
from headgate.fleets.model import ExpiresIn, Fleet, FleetToken, FleetType
from headgate.foundation import clock
from headgate.storage import items, principals
from headgate.storage.items import Item


def fleet_item(fleet: Fleet) -> Item:
    return keys.fleet(fleet.organization_id, fleet.id) | {
        "fleet_id": fleet.id,
        "organization_id": fleet.organization_id,
        "label": fleet.label,
        "type": fleet.type,
        "expires_in": fleet.expires_in,
        "token_expires_at": _optional_time(fleet.token_expires_at),
        "token_generation": fleet.token_generation,
        "default_deployment_id": fleet.default_deployment_id,
        "created_by": principals.attribute(fleet.created_by),
        "created_at": clock.rfc3339(fleet.created_at),
        "groups_added": fleet.groups_added,
        "managed_by": fleet.managed_by,
    }


def fleet(item: Item) -> Fleet:
    expires_at = items.optional_text(item, "token_expires_at")
    return Fleet(
        id=items.text(item, "fleet_id"),
        organization_id=items.text(item, "organization_id"),
        label=items.text(item, "label"),
        type=cast("FleetType", items.text(item, "type")),
        expires_in=cast("ExpiresIn", items.text(item, "expires_in")),
        token_expires_at=clock.parse(expires_at) if expires_at else None,
        token_generation=items.number(item, "token_generation"),
        default_deployment_id=items.optional_text(item, "default_deployment_id"),
        created_by=principals.read(item, "created_by"),
        created_at=clock.parse(items.text(item, "created_at")),
        groups_added=items.optional_number(item, "groups_added") or 0,
        managed_by=items.optional_text(item, "managed_by"),
    )


def token_item(token_hash: str, token: FleetToken) -> Item:
    return keys.token(token_hash) | {
        "fleet_id": token.fleet_id,
        "organization_id": token.organization_id,
        "expires_at": _optional_time(token.expires_at),
        "deployment_id": token.deployment_id,
    }


def token(item: Item) -> FleetToken:
    expires_at = items.optional_text(item, "expires_at")
    return FleetToken(
        fleet_id=items.text(item, "fleet_id"),
        organization_id=items.text(item, "organization_id"),
        expires_at=clock.parse(expires_at) if expires_at else None,
        deployment_id=items.optional_text(item, "deployment_id"),
    )


def _optional_time(at: datetime | None) -> str | None:
    return clock.rfc3339(at) if at else None
