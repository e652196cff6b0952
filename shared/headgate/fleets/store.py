"""Fleets in the fleets table. One function, one access pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headgate.deployments import store as deployments
from headgate.fleets import keys, table
from headgate.fleets.model import ExpiresIn, Fleet, FleetLimitReached, FleetType, LabelTaken
from headgate.foundation import clock, errors
from headgate.foundation.principal import Principal, PrincipalKind
from headgate.settings import settings
from headgate.storage import idempotent_create, items
from headgate.storage.items import Item, Value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

    from headgate.deployments.model import Deployment


def fleet(organization_id: str, fleet_id: str) -> Fleet | None:
    """One read. None if there is none."""
    item = table.get(keys.fleet(organization_id, fleet_id))
    return None if item is None else _fleet(item)


def fleets(organization_id: str, limit: int, after: str | None) -> list[Fleet]:
    """Newest first, from behind the fleet with the id `after`; one query."""
    rows = table.query(keys.organization(organization_id), keys.FLEETS, limit, after, newest_first=True)
    return [_fleet(item) for item in rows]


def create(created: Fleet, token_hash: str, default: Deployment | None, limit: int) -> None:
    """Keep a new fleet with its token and Default group, and count it; one transaction.

    Raises LabelTaken, FleetLimitReached, LostRace when another fleet of the organization is being made.
    """
    taken: Item = keys.label(created.organization_id, created.label) | {"fleet_id": created.id}
    writes = [
        table.put_new(taken),
        _counted(created.organization_id, limit),
        table.put_new(_item(created)),
        table.put_new(_token(created, token_hash)),
        *(deployments.writes_of_new(default) if default else []),
        *idempotent_create.writes(f"/fleets/{created.id}"),
    ]
    refusals: dict[int, errors.HeadgateError] = {0: LabelTaken(created.label), 1: FleetLimitReached(limit)}
    table.transact(writes, refusals)


def renew_token(
    before: Fleet,
    after: Fleet,
    token_hash: str,
    old: Sequence[tuple[str, datetime | None]],
    record: TransactWriteItemTypeDef,
) -> None:
    """Keep the next token and end the old ones, each by its hash, at once or at a time; one transaction with `record`.

    Raises LostRace when the token was renewed meanwhile.
    """
    table.transact(
        [
            table.put(_item(after), "token_generation = :before", {":before": before.token_generation}),
            table.put_new(_token(after, token_hash)),
            *(_ended(value_hash, at) for value_hash, at in old),
            record,
        ],
        {},
    )


def _ended(token_hash: str, at: datetime | None) -> TransactWriteItemTypeDef:
    if at is None:
        return table.delete(keys.token(token_hash))
    return {
        "Update": {
            "TableName": settings().fleets_table,
            "Key": items.marshal(keys.token(token_hash)),
            "UpdateExpression": "SET expires_at = :at",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeValues": items.marshal({":at": clock.rfc3339(at)}),
        }
    }


def _token(fleet: Fleet, token_hash: str) -> Item:
    return keys.token(token_hash) | {
        "fleet_id": fleet.id,
        "organization_id": fleet.organization_id,
        "expires_at": clock.rfc3339(fleet.token_expires_at) if fleet.token_expires_at else None,
    }


def _counted(organization_id: str, limit: int) -> TransactWriteItemTypeDef:
    """The condition that holds the limit, however many fleets are made at once."""
    return {
        "Update": {
            "TableName": settings().fleets_table,
            "Key": items.marshal(keys.count(organization_id)),
            "UpdateExpression": "ADD fleets :one",
            "ConditionExpression": "attribute_not_exists(fleets) OR fleets < :limit",
            "ExpressionAttributeValues": items.marshal({":one": 1, ":limit": limit}),
        }
    }


def _item(fleet: Fleet) -> Item:
    created_by: Value = {
        "kind": fleet.created_by.kind,
        "id": fleet.created_by.id,
        "name": fleet.created_by.name,
    }
    return keys.fleet(fleet.organization_id, fleet.id) | {
        "fleet_id": fleet.id,
        "organization_id": fleet.organization_id,
        "label": fleet.label,
        "type": fleet.type,
        "expires_in": fleet.expires_in,
        "token_expires_at": clock.rfc3339(fleet.token_expires_at) if fleet.token_expires_at else None,
        "token_generation": fleet.token_generation,
        "default_deployment_id": fleet.default_deployment_id,
        "created_by": created_by,
        "created_at": clock.rfc3339(fleet.created_at),
    }


def _fleet(item: Item) -> Fleet:
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
        created_by=_principal(item["created_by"]),
        created_at=clock.parse(items.text(item, "created_at")),
    )


def _principal(value: Value) -> Principal:
    if not isinstance(value, dict):
        raise TypeError("a principal is kept as a map")
    kind: PrincipalKind = "user" if items.text(value, "kind") == "user" else "service_account"
    return Principal(kind, items.text(value, "id"), items.text(value, "name"))
