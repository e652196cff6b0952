"""Deliveries: stored, put into the queue, and tried until the receiver accepts or a day is over.

The table says what has become of a delivery; the queue only says when to look. A ticket that comes twice, early or late
does no harm, and the same delivery is tried by one process at a time. If that process dies between sending and
recording, it is sent again: at least once, with the same id.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from headgate.events.messages import Message
from headgate.foundation import clock
from headgate.foundation.log import logger
from headgate.foundation.settings import settings
from headgate.storage import sealed
from headgate.storage.table import Write
from headgate.webhooks import addresses, bodies, queue, sending, signing, store
from headgate.webhooks.model import (
    OVERDUE,
    UNDER_WAY_SECONDS,
    Attempt,
    Delivery,
    DeliveryStatus,
    DeliveryUnderWay,
    Webhook,
    WebhookTarget,
    delivery_id,
    next_delay,
)
from headgate.webhooks.queue import Ticket
from headgate.webhooks.sending import Sent

_MOST_ATTEMPTS: Final = 24
"""The most attempts of a delivery that are listed: those of two rounds."""
_AGENT: Final = "Headgate-Webhooks/1"
# A queue may deliver a second early.
_EARLY: Final = timedelta(seconds=1)


def send(webhook: Webhook, message: Message, *record: Write) -> Delivery:
    """Store a delivery, and put it into the queue; one write and one call. Repeating it stores nothing twice.

    With the `record` of who asked for it, in one transaction.
    """
    at = clock.now()
    delivery = Delivery(
        id=delivery_id(message, webhook.id),
        webhook_id=webhook.id,
        organization_id=webhook.organization_id,
        event_id=message.id,
        type=message.type,
        status="waiting",
        document=message.text,
        attempts=(),
        round=1,
        tried=0,
        created_at=at,
        due_at=at,
        held_until=None,
        finished_at=None,
        revision=1,
    )
    store.add(delivery, *record)
    queue.send(_ticket(delivery))
    return delivery


def again(delivery: Delivery, at: datetime, record: Write) -> Delivery:
    """Begin another round of a delivery that has ended, or that nobody tried when it was due.

    One transaction and one call.

    Raises DeliveryUnderWay, LostRace.
    """
    if delivery.status == "waiting" and at < delivery.due_at + OVERDUE:
        raise DeliveryUnderWay
    waiting = replace(
        delivery,
        status="waiting",
        round=delivery.round + 1,
        tried=0,
        due_at=at,
        finished_at=None,
        revision=delivery.revision + 1,
    )
    store.begin_again(delivery, waiting, record)
    queue.send(_ticket(waiting))
    return waiting


def resume() -> None:
    """Put every delivery that waits into the queue again, for the local service, whose queue ends with it."""
    for delivery in store.unfinished():
        queue.send(_ticket(delivery))


def attempt(ticket: Ticket) -> int | None:
    """Try the delivery of a ticket, if it is due. Returns in how many seconds to look again; None if it has ended.

    Raises what the tables raise: then it is looked at again, too.
    """
    webhook = store.webhook(ticket.organization_id, ticket.webhook_id)
    delivery = store.delivery(ticket.webhook_id, ticket.delivery_id)
    if webhook is None or delivery is None or delivery.status != "waiting":
        return None
    at = clock.now()
    free_at = max(delivery.due_at, delivery.held_until or delivery.due_at)
    if free_at > at + _EARLY:
        return _seconds(free_at - at)
    until = at + timedelta(seconds=UNDER_WAY_SECONDS)
    held = replace(delivery, held_until=until, revision=delivery.revision + 1)
    if not store.advance(delivery, held):
        return UNDER_WAY_SECONDS
    sent = _sent(webhook, held, at) if webhook.enabled else Sent(None, "webhook_disabled", 0)
    return _record(held, Attempt(at, sent.milliseconds, sent.status, sent.error), ticket)


def _sent(webhook: Webhook, delivery: Delivery, at: datetime) -> Sent:
    target = WebhookTarget(**json.loads(_opened(webhook.target, webhook.id)))
    body, content_type = bodies.body(webhook.format, json.loads(delivery.document), target.routing_key)
    closed = [webhook.secret]
    if webhook.previous_secret is not None and webhook.previous_until is not None and at < webhook.previous_until:
        closed.append(webhook.previous_secret)
    signed = signing.headers(delivery.event_id, at, body, [_opened(secret, webhook.id) for secret in closed])
    loopback = settings().webhooks_to_loopback
    headers = {"Content-Type": content_type, "User-Agent": _AGENT, **signed}
    try:
        address = addresses.parse(target.url, loopback=loopback)
    except addresses.UrlRefused:
        # It was allowed when it was set: by the local service's setting.
        return Sent(None, "address_not_allowed", 0)
    return sending.post(address, headers, body, loopback=loopback)


def _record(held: Delivery, attempt: Attempt, ticket: Ticket) -> int | None:
    """Store what came of an attempt; the seconds until the next, None if there is none."""
    tried, at = held.tried + 1, clock.now()
    switched_off = attempt.error == "webhook_disabled"
    delay = None if attempt.accepted or switched_off else next_delay(held, tried)
    status: DeliveryStatus = "delivered" if attempt.accepted else "failed" if delay is None else "waiting"
    if status == "failed" and not switched_off:
        # Before it is recorded: after it, a ticket that comes again would find nothing to do.
        queue.bury(ticket)
    after = replace(
        held,
        status=status,
        attempts=(*held.attempts, attempt)[-_MOST_ATTEMPTS:],
        tried=tried,
        due_at=at + timedelta(seconds=delay or 0),
        held_until=None,
        finished_at=at if delay is None else None,
        revision=held.revision + 1,
    )
    # The receiver's status, never its answer; never the address, whose path may be a credential.
    logger.info("webhook_tried", delivery_id=held.id, tried=tried, status=attempt.status, error=attempt.error)
    if not store.advance(held, after):
        return UNDER_WAY_SECONDS
    return delay


def seal_target(webhook_id: str, target: WebhookTarget) -> bytes:
    """One call of KMS."""
    return sealed.seal(json.dumps(asdict(target)), webhook_id=webhook_id)


@lru_cache(maxsize=200)
def _opened(closed: bytes, webhook_id: str) -> str:
    """Cached: what is sealed never changes, and a storm of events sends many to the same webhook."""
    return sealed.unseal(closed, webhook_id=webhook_id)


def _ticket(delivery: Delivery) -> Ticket:
    return Ticket(delivery.organization_id, delivery.webhook_id, delivery.id)


def _seconds(wait: timedelta) -> int:
    return min(max(1, int(wait.total_seconds()) + 1), queue.MOST_SECONDS)
