"""Webhooks and deliveries in the events table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from headgate.foundation.page import Slice
from headgate.storage import idempotent_create
from headgate.storage.items import Item
from headgate.storage.stored import Stored
from headgate.storage.table import ConditionFailed, Write, transact, write
from headgate.storage.table import events as table
from headgate.webhooks import keys
from headgate.webhooks.model import KEPT, MOST_WEBHOOKS, Delivery, Webhook, WebhookLimitReached

_WEBHOOKS: Final = Stored(Webhook, names={"id": "webhook_id"})
_DELIVERIES: Final = Stored(Delivery, names={"id": "delivery_id"})


class AlreadyThere(Exception):
    """The delivery was stored before."""


def webhook(organization_id: str, webhook_id: str) -> Webhook | None:
    """One read. None if there is none."""
    return table.find(keys.webhook(organization_id, webhook_id), _WEBHOOKS.read)


def webhooks(organization_id: str, limit: int = MOST_WEBHOOKS, after: str | None = None) -> Slice[Webhook]:
    """Oldest first, after the webhook with the id `after`; one query. Without a limit, all."""
    return table.page(keys.organization(organization_id), keys.WEBHOOKS, limit, after, _WEBHOOKS.read)


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
    changed = table.put_if(_webhook_item(after), *table.at_revision(before.revision))
    transact([changed, record, *idempotent_create.writes(f"/webhooks/{after.id}")])


def delete(webhook: Webhook, record: Write) -> None:
    """Remove a webhook, and count it no longer; one transaction. Raises LostRace if it changed or is gone."""
    counted = table.update(keys.count(webhook.organization_id), "ADD webhooks :less", "", {":less": -1})
    key = keys.webhook(webhook.organization_id, webhook.id)
    removed = table.delete(key, *table.at_revision(webhook.revision))
    transact([removed, counted, record])


def deliveries(webhook_id: str, limit: int, after: str | None) -> Slice[Delivery]:
    """Newest first, after the delivery with the id `after`; one query."""
    return table.page(keys.of_webhook(webhook_id), keys.DELIVERIES, limit, after, _DELIVERIES.read, newest_first=True)


def delivery(webhook_id: str, delivery_id: str) -> Delivery | None:
    """One read. None if there is none."""
    return table.find(keys.delivery(webhook_id, delivery_id), _DELIVERIES.read)


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
        yield _DELIVERIES.read(item)


def _replaced(before: Delivery, after: Delivery) -> Write:
    return table.put_if(_delivery_item(after), *table.at_revision(before.revision))


def _webhook_item(webhook: Webhook) -> Item:
    return keys.webhook(webhook.organization_id, webhook.id) | _WEBHOOKS.item(webhook)


def _delivery_item(delivery: Delivery) -> Item:
    expires: Item = {"expires": int((delivery.created_at + KEPT).timestamp())}
    return keys.delivery(delivery.webhook_id, delivery.id) | _DELIVERIES.item(delivery) | expires
