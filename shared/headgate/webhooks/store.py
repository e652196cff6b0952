"""Webhooks and deliveries in the events table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from headgate.events.model import EventType
from headgate.foundation import clock
from headgate.storage import idempotent_create, items, principals
from headgate.storage.items import Item, Value
from headgate.storage.page import Slice
from headgate.storage.table import ConditionFailed, transact, write
from headgate.storage.table import events as table
from headgate.webhooks import keys
from headgate.webhooks.model import (
    KEPT,
    MOST_WEBHOOKS,
    Attempt,
    Delivery,
    DeliveryStatus,
    Format,
    SendError,
    Webhook,
    WebhookLimitReached,
)

if TYPE_CHECKING:
    from datetime import datetime

    from headgate.storage.table import Write


class AlreadyThere(Exception):
    """The delivery was stored before."""


def webhook(organization_id: str, webhook_id: str) -> Webhook | None:
    """One read. None if there is none."""
    item = table.get(keys.webhook(organization_id, webhook_id))
    return _webhook(item) if item else None


def webhooks(organization_id: str, limit: int = MOST_WEBHOOKS, after: str | None = None) -> Slice[Webhook]:
    """Oldest first, after the webhook with the id `after`; one query. Without a limit, all."""
    start = None if after is None else f"{keys.WEBHOOKS}{after}"
    rows = table.list(keys.organization(organization_id), keys.WEBHOOKS, limit, start)
    return Slice(
        [_webhook(item) for item in rows.entries],
        None if rows.position is None else rows.position.removeprefix(keys.WEBHOOKS),
    )


def create(created: Webhook, record: Write) -> None:
    """Store a new webhook, and count it; one transaction. Raises WebhookLimitReached."""
    counted = table.update(
        keys.count(created.organization_id),
        "ADD webhooks :one",
        "attribute_not_exists(webhooks) OR webhooks < :limit",
        {":one": 1, ":limit": MOST_WEBHOOKS},
    )
    put = table.put_new(_webhook_item(created))
    noted = idempotent_create.writes(f"/webhooks/{created.id}")
    transact([counted, put, record, *noted], {0: WebhookLimitReached()})


def replace(before: Webhook, after: Webhook, record: Write) -> None:
    """Change a webhook; one transaction. Raises LostRace if it is no longer as in `before`."""
    changed = table.put_if(_webhook_item(after), "revision = :revision", {":revision": before.revision})
    transact([changed, record])


def delete(webhook: Webhook, record: Write) -> None:
    """Remove a webhook, and count it no longer; one transaction. Raises LostRace if it changed or is gone."""
    counted = table.update(keys.count(webhook.organization_id), "ADD webhooks :less", "", {":less": -1})
    removed = table.delete(
        keys.webhook(webhook.organization_id, webhook.id), "revision = :revision", {":revision": webhook.revision}
    )
    transact([removed, counted, record])


def deliveries(webhook_id: str, limit: int, after: str | None) -> Slice[Delivery]:
    """Newest first, after the delivery with the id `after`; one query."""
    start = None if after is None else f"{keys.DELIVERIES}{after}"
    rows = table.list(keys.of_webhook(webhook_id), keys.DELIVERIES, limit, start, newest_first=True)
    return Slice(
        [_delivery(item) for item in rows.entries],
        None if rows.position is None else rows.position.removeprefix(keys.DELIVERIES),
    )


def delivery(webhook_id: str, delivery_id: str) -> Delivery | None:
    """One read. None if there is none."""
    item = table.get(keys.delivery(webhook_id, delivery_id))
    return _delivery(item) if item else None


def add(delivery: Delivery, *record: Write) -> None:
    """Store a new delivery, unless it is there: a send that was repeated; one transaction with the record."""
    noted = idempotent_create.writes(delivery.path)
    with suppress(AlreadyThere):
        transact([table.put_new(_delivery_item(delivery)), *record, *noted], {0: AlreadyThere()})


def begin_again(before: Delivery, after: Delivery, record: Write) -> None:
    """Replace a delivery; one transaction. Raises LostRace if it is no longer as in `before`."""
    transact([_replaced(before, after), record, *idempotent_create.writes(after.path)])


def advance(before: Delivery, after: Delivery) -> bool:
    """Replace a delivery; one conditional put. False if it is no longer as in `before`."""
    try:
        write(_replaced(before, after))
    except ConditionFailed:
        return False
    return True


def unfinished() -> Iterator[Delivery]:
    """Every delivery that waits; a scan of the table, by the local service alone."""
    for item in table.scan("#status = :waiting", {":waiting": "waiting"}):
        yield _delivery(item)


def _replaced(before: Delivery, after: Delivery) -> Write:
    return table.put_if(_delivery_item(after), "revision = :revision", {":revision": before.revision})


def _webhook_item(webhook: Webhook) -> Item:
    return keys.webhook(webhook.organization_id, webhook.id) | {
        "webhook_id": webhook.id,
        "organization_id": webhook.organization_id,
        "name": webhook.name,
        "host": webhook.host,
        "format": webhook.format,
        "types": list(webhook.types),
        "fleet_ids": list(webhook.fleet_ids),
        "enabled": webhook.enabled,
        "target": webhook.target,
        "secret": webhook.secret,
        "previous_secret": webhook.previous_secret,
        "previous_until": clock.rfc3339(webhook.previous_until) if webhook.previous_until else None,
        "created_by": principals.attribute(webhook.created_by),
        "created_at": clock.rfc3339(webhook.created_at),
        "updated_at": clock.rfc3339(webhook.updated_at),
        "revision": webhook.revision,
    }


def _webhook(item: Item) -> Webhook:
    return Webhook(
        id=items.text(item, "webhook_id"),
        organization_id=items.text(item, "organization_id"),
        name=items.text(item, "name"),
        host=items.text(item, "host"),
        format=cast("Format", items.text(item, "format")),
        types=cast("list[EventType]", item["types"]),
        fleet_ids=cast("list[str]", item["fleet_ids"]),
        enabled=item["enabled"] is True,
        target=cast("bytes", item["target"]),
        secret=cast("bytes", item["secret"]),
        previous_secret=cast("bytes | None", item.get("previous_secret")),
        previous_until=_optional_time(item, "previous_until"),
        created_by=principals.read(item, "created_by"),
        created_at=clock.parse(items.text(item, "created_at")),
        updated_at=clock.parse(items.text(item, "updated_at")),
        revision=items.number(item, "revision"),
    )


def _delivery_item(delivery: Delivery) -> Item:
    attempts: list[Value] = [
        {"at": clock.rfc3339(one.at), "milliseconds": one.milliseconds, "status": one.status, "error": one.error}
        for one in delivery.attempts
    ]
    return keys.delivery(delivery.webhook_id, delivery.id) | {
        "delivery_id": delivery.id,
        "webhook_id": delivery.webhook_id,
        "organization_id": delivery.organization_id,
        "event_id": delivery.event_id,
        "type": delivery.type,
        "status": delivery.status,
        "document": delivery.document,
        "attempts": attempts,
        "round": delivery.round,
        "tried": delivery.tried,
        "created_at": clock.rfc3339(delivery.created_at),
        "due_at": clock.rfc3339(delivery.due_at),
        "held_until": clock.rfc3339(delivery.held_until) if delivery.held_until else None,
        "finished_at": clock.rfc3339(delivery.finished_at) if delivery.finished_at else None,
        "revision": delivery.revision,
        "expires": int((delivery.created_at + KEPT).timestamp()),
    }


def _delivery(item: Item) -> Delivery:
    return Delivery(
        id=items.text(item, "delivery_id"),
        webhook_id=items.text(item, "webhook_id"),
        organization_id=items.text(item, "organization_id"),
        event_id=items.text(item, "event_id"),
        type=cast("EventType", items.text(item, "type")),
        status=cast("DeliveryStatus", items.text(item, "status")),
        document=items.text(item, "document"),
        attempts=[_attempt(one) for one in cast("list[Mapping[str, Value]]", item["attempts"])],
        round=items.number(item, "round"),
        tried=items.number(item, "tried"),
        created_at=clock.parse(items.text(item, "created_at")),
        due_at=clock.parse(items.text(item, "due_at")),
        held_until=_optional_time(item, "held_until"),
        finished_at=_optional_time(item, "finished_at"),
        revision=items.number(item, "revision"),
    )


def _attempt(one: Mapping[str, Value]) -> Attempt:
    return Attempt(
        at=clock.parse(items.text(one, "at")),
        milliseconds=items.number(one, "milliseconds"),
        status=items.optional_number(one, "status"),
        error=cast("SendError | None", items.optional_text(one, "error")),
    )


def _optional_time(item: Item, name: str) -> datetime | None:
    text = items.optional_text(item, name)
    return clock.parse(text) if text else None
