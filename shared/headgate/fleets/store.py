"""Fleets in the fleets table. One function, one access pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.fleets import keys, mapping
from headgate.fleets.model import Fleet, FleetLimitReached, FleetToken, LabelTaken
from headgate.foundation import clock
from headgate.storage import idempotent_create
from headgate.storage.page import Slice
from headgate.storage.table import fleets as table
from headgate.storage.table import transact

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from headgate.storage.table import Write


def fleet(organization_id: str, fleet_id: str) -> Fleet | None:
    """One read. None if there is none."""
    item = table.get(keys.fleet(organization_id, fleet_id))
    return None if item is None else mapping.fleet(item)


def fleets(organization_id: str, limit: int, after: str | None) -> Slice[Fleet]:
    """Newest first, starting after the fleet with the id `after`; one query."""
    start = keys.sort_key(keys.FLEETS, after)
    rows = table.list(keys.organization(organization_id), keys.FLEETS, limit, start, newest_first=True)
    return Slice([mapping.fleet(item) for item in rows.entries], keys.position(keys.FLEETS, rows.position))


def token(token_hash: str) -> FleetToken | None:
    """One read. None if it was deleted or never issued."""
    item = table.get(keys.token(token_hash))
    return None if item is None else mapping.token(item)


def create(created: Fleet, token_hash: str, limit: int, *beside: Write) -> None:
    """Store a new fleet with its token, and count it; one transaction, with `beside` in it.

    Raises LabelTaken, FleetLimitReached, LostRace if another fleet of the organization is created at the same time.
    """
    label = keys.label(created.organization_id, created.label) | {"fleet_id": created.id}
    writes = [
        table.put_new(label),
        _count(created.organization_id, limit),
        table.put_new(mapping.fleet_item(created)),
        table.put_new(mapping.token_item(token_hash, created)),
        *beside,
        *idempotent_create.writes(f"/fleets/{created.id}"),
    ]
    transact(writes, {0: LabelTaken(created.label), 1: FleetLimitReached(limit)})


def renew_token(
    before: Fleet,
    after: Fleet,
    token_hash: str,
    previous: Sequence[tuple[str, datetime | None]],
    record: Write,
) -> None:
    """Store the next token and end the previous ones; one transaction with `record`.

    `previous` names each by its hash, with the time when it ends; None ends it at once. Raises LostRace if the token
    was renewed since `before` was read.
    """
    transact(
        [
            table.put_if(mapping.fleet_item(after), "token_generation = :before", {":before": before.token_generation}),
            table.put_new(mapping.token_item(token_hash, after)),
            *(_end_token(previous_hash, at) for previous_hash, at in previous),
            record,
        ]
    )


def _end_token(token_hash: str, at: datetime | None) -> Write:
    if at is None:
        return table.delete(keys.token(token_hash))
    key, value = keys.token(token_hash), clock.rfc3339(at)
    return table.update(key, "SET expires_at = :at", "attribute_exists(pk)", {":at": value})


def _count(organization_id: str, limit: int) -> Write:
    """Its condition enforces the limit, however many fleets are created at once."""
    condition = "attribute_not_exists(fleets) OR fleets < :limit"
    return table.update(keys.count(organization_id), "ADD fleets :one", condition, {":one": 1, ":limit": limit})
