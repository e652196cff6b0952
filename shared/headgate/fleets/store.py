"""Fleets in the fleets table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import get_args

from headgate.fleets import keys, mapping
from headgate.fleets.model import Fleet, FleetLimitReached, FleetToken, FleetType, LabelTaken
from headgate.foundation import clock
from headgate.foundation.page import Slice
from headgate.storage import idempotent_create, items
from headgate.storage.items import Item
from headgate.storage.table import Write, transact
from headgate.storage.table import fleets as table


def fleet(organization_id: str, fleet_id: str) -> Fleet | None:
    """One read. None if there is none."""
    return table.find(keys.fleet(organization_id, fleet_id), mapping.FLEETS.read)


def fleets(organization_id: str, limit: int, after: str | None) -> Slice[Fleet]:
    """Newest first, starting after the fleet with the id `after`; one query."""
    pk = keys.organization(organization_id)
    return table.page(pk, keys.FLEETS, limit, after, mapping.FLEETS.read, newest_first=True)


def labelled(organization_id: str, label: str) -> Fleet | None:
    """The fleet with that label; two reads. None if there is none."""
    marker = table.get(keys.label(organization_id, label))
    return fleet(organization_id, items.text(marker, "fleet_id")) if marker else None


def all_fleets() -> Iterator[Fleet]:
    """Those of every organization; one query of the index for each type."""
    for fleet_type in get_args(FleetType):
        for item in table.between(fleet_type, "flt_", "flt_~", keys.OF_TYPE):
            yield mapping.FLEETS.read(item)


def token(token_hash: str) -> FleetToken | None:
    """One read. None if it was deleted or never issued."""
    return table.find(keys.token(token_hash), mapping.TOKENS.read)


def create(created: Fleet, token_hash: str, limit: int, *beside: Write) -> None:
    """Store a new fleet with its token, and count it; one transaction, with `beside` in it.

    Raises LabelTaken, FleetLimitReached, LostRace if another fleet of the organization is created at the same time.
    """
    label = keys.label(created.organization_id, created.label) | {"fleet_id": created.id}
    writes = [
        table.put_new(label),
        _count(created.organization_id, limit),
        table.put_new(mapping.fleet_item(created)),
        table.put_new(mapping.token_item(token_hash, created.token)),
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
            changed(before, after),
            table.put_new(mapping.token_item(token_hash, after.token)),
            *(end_token(previous_hash, at) for previous_hash, at in previous),
            record,
            *idempotent_create.writes(f"/fleets/{after.id}"),
        ]
    )


def changed(before: Fleet, after: Fleet) -> Write:
    """The write that changes a fleet, unless its token is renewed or a group is added meanwhile."""
    return table.put_if(mapping.fleet_item(after), *_unchanged(before))


def deleting(fleet: Fleet, token_hashes: Sequence[str]) -> list[Write]:
    """The writes that delete a fleet with these tokens, unless its token is renewed or a group is added meanwhile."""
    return [
        table.delete(keys.fleet(fleet.organization_id, fleet.id), *_unchanged(fleet)),
        table.delete(keys.label(fleet.organization_id, fleet.label)),
        table.update(keys.count(fleet.organization_id), "ADD fleets :one", values={":one": -1}),
        *(end_token(token_hash, None) for token_hash in token_hashes),
    ]


def put_token(token_hash: str, token: FleetToken) -> Write:
    """A new token, for the transaction of what it belongs to."""
    return table.put_new(mapping.token_item(token_hash, token))


def group_added(organization_id: str, fleet_id: str) -> Write:
    """For the transaction that adds a group: it fails if the fleet is deleted, or observed."""
    key = keys.fleet(organization_id, fleet_id)
    condition = "attribute_exists(pk) AND (attribute_not_exists(#mode) OR #mode <> :observed)"
    return table.update(key, "ADD groups_added :one", condition, {":one": 1, ":observed": "observed"})


def prices(organization_id: str) -> Item | None:
    """The item of its prices; one read."""
    return table.get(keys.prices(organization_id))


def put_prices(organization_id: str, prices: Item, before: int, record: Write) -> None:
    """One transaction, with the record of the change. Raises LostRace if they were changed since revision `before`."""
    transact([table.put_if(keys.prices(organization_id) | prices, *table.at_revision(before)), record])


def _unchanged(fleet: Fleet) -> tuple[str, Item]:
    values: Item = {":generation": fleet.token_generation, ":groups": fleet.groups_added}
    values[":observed"] = "observed"
    # That of a managed fleet is not written.
    mode = "#mode = :observed" if fleet.observed else "(attribute_not_exists(#mode) OR #mode <> :observed)"
    return f"token_generation = :generation AND groups_added = :groups AND {mode}", values


def previous_ended(fleet: Fleet, at: datetime) -> Write:
    """The write that notes when the token before the last renewal ended."""
    key = keys.fleet(fleet.organization_id, fleet.id)
    values: Item = {":at": clock.rfc3339(at), ":generation": fleet.token_generation}
    change = "SET previous_token_ends_at = :at REMOVE previous_while_used"
    return table.update(key, change, "token_generation = :generation", values)


def end_token(token_hash: str, at: datetime | None) -> Write:
    """The write that ends a token at that time; None deletes it."""
    if at is None:
        return table.delete(keys.token(token_hash))
    values: Item = {":at": clock.rfc3339(at), ":now": clock.rfc3339(clock.now())}
    change = "SET expires_at = :at, superseded_at = if_not_exists(superseded_at, :now)"
    return table.update(keys.token(token_hash), change, "attribute_exists(pk)", values)


def _count(organization_id: str, limit: int) -> Write:
    """Its condition enforces the limit, however many fleets are created at once."""
    condition = "attribute_not_exists(fleets) OR fleets < :limit"
    return table.update(keys.count(organization_id), "ADD fleets :one", condition, {":one": 1, ":limit": limit})
