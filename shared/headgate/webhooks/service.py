"""Webhooks of an organization: its Admins see and change them, and send deliveries again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from headgate.audit import service as audit
from headgate.events.messages import Json, Message, message
from headgate.events.model import About, EventType, event
from headgate.fleets import service as fleets
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.errors import InvalidAt
from headgate.foundation.ids import new_id
from headgate.foundation.page import Slice
from headgate.foundation.settings import settings
from headgate.storage import sealed
from headgate.storage.retry import retried, retry
from headgate.webhooks import addresses, deliveries, signing, store
from headgate.webhooks.model import (
    ROTATION,
    Delivery,
    DeliveryNotFound,
    Format,
    Webhook,
    WebhookNotFound,
    WebhookTarget,
)


class RoutingKeyMisplaced(InvalidAt):
    """PagerDuty takes a routing key, and nothing else does."""

    code = "routing_key_misplaced"
    at = ("body", "routing_key")


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """The settings of a new webhook. No types or fleets: all of them."""

    name: str
    url: str
    format: Format = "cloudevents"
    routing_key: str | None = None
    types: Sequence[EventType] = ()
    fleet_ids: Sequence[str] = ()
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of a webhook: `fields` are attributes of a webhook by name, `url` and `routing_key` its target."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    url: str | None = None
    routing_key: str | None = None


def webhooks(caller: Caller, limit: int, after: str | None) -> Slice[Webhook]:
    """The organization's, oldest first; one query. Raises AdminRequired."""
    caller.require_admin()
    return store.webhooks(caller.organization_id, limit, after)


def get(caller: Caller, webhook_id: str) -> Webhook:
    """One read. Raises AdminRequired, WebhookNotFound."""
    caller.require_admin()
    webhook = store.webhook(caller.organization_id, webhook_id)
    if webhook is None:
        raise WebhookNotFound
    return webhook


def of_organization(organization_id: str) -> Sequence[Webhook]:
    """The same for the sweep, which no person asks for."""
    return store.webhooks(organization_id).entries


def deliver(webhook: Webhook, message: Message) -> Delivery:
    """Store a delivery, and put it into the queue; one write and one call. Repeating it stores nothing twice."""
    return deliveries.send(webhook, message)


def create(caller: Caller, requested: WebhookSettings) -> tuple[Webhook, str]:
    """A new webhook, and the secret that signs its deliveries, which is never shown again.

    Raises AdminRequired, UrlRefused, RoutingKeyMisplaced, FleetNotFound, WebhookLimitReached.
    """
    caller.require_admin()
    at, webhook_id, secret = clock.now(), new_id("whk"), signing.new_secret()
    address = addresses.parse(requested.url, loopback=settings().webhooks_to_loopback)
    _require_routing_key(requested.format, requested.routing_key)
    _require_fleets(caller, requested.fleet_ids)
    created = Webhook(
        id=webhook_id,
        organization_id=caller.organization_id,
        name=requested.name,
        host=address.origin,
        format=requested.format,
        types=requested.types,
        fleet_ids=requested.fleet_ids,
        enabled=requested.enabled,
        target=deliveries.seal_target(webhook_id, WebhookTarget(requested.url, requested.routing_key or "")),
        secret=sealed.seal(secret, webhook_id=webhook_id),
        previous_secret=None,
        previous_until=None,
        created_by=caller.principal,
        created_at=at,
        updated_at=at,
        revision=1,
    )
    record = audit.entry(caller, "webhook.created", f"webhooks/{webhook_id}", name=requested.name, host=address.origin)
    retry(lambda: store.create(created, record))
    return created, secret


@retried
def change(caller: Caller, webhook_id: str, changes: Changes) -> Webhook:
    """Raises AdminRequired, WebhookNotFound, UrlRefused, RoutingKeyMisplaced, FleetNotFound."""
    before = get(caller, webhook_id)
    fields = dict(changes.fields)
    _require_fleets(caller, fields.get("fleet_ids", ()))
    if changes.url is not None:
        _require_routing_key(before.format, changes.routing_key)
        address = addresses.parse(changes.url, loopback=settings().webhooks_to_loopback)
        target = deliveries.seal_target(webhook_id, WebhookTarget(changes.url, changes.routing_key or ""))
        fields |= {"host": address.origin, "target": target}
    elif changes.routing_key is not None:
        raise RoutingKeyMisplaced("This changes together with url: give both")
    after = replace(before, **fields, updated_at=clock.now(), revision=before.revision + 1)
    changed = ", ".join(sorted(changes.fields.keys() | ({"url"} if changes.url is not None else set())))
    record = audit.entry(caller, "webhook.changed", f"webhooks/{webhook_id}", name=after.name, changed=changed)
    store.replace(before, after, record)
    return after


def renew_secret(caller: Caller, webhook_id: str) -> tuple[Webhook, str]:
    """A new secret, never shown again. The one before signs beside it for a day.

    Raises AdminRequired, WebhookNotFound.
    """
    secret = signing.new_secret()

    def once() -> Webhook:
        before, at = get(caller, webhook_id), clock.now()
        after = replace(
            before,
            secret=sealed.seal(secret, webhook_id=webhook_id),
            previous_secret=before.secret,
            previous_until=at + ROTATION,
            updated_at=at,
            revision=before.revision + 1,
        )
        record = audit.entry(caller, "webhook.secret_renewed", f"webhooks/{webhook_id}", name=before.name)
        store.replace(before, after, record)
        return after

    return retry(once), secret


@retried
def delete(caller: Caller, webhook_id: str) -> None:
    """Its deliveries end, and are no longer listed. Raises AdminRequired, WebhookNotFound."""
    webhook = get(caller, webhook_id)
    store.delete(webhook, audit.entry(caller, "webhook.deleted", f"webhooks/{webhook_id}", name=webhook.name))


def listed_deliveries(caller: Caller, webhook_id: str, limit: int, after: str | None) -> Slice[Delivery]:
    """Newest first; two reads. Raises AdminRequired, WebhookNotFound."""
    get(caller, webhook_id)
    return store.deliveries(webhook_id, limit, after)


def delivery(caller: Caller, webhook_id: str, delivery_id: str) -> Delivery:
    """Two reads. Raises AdminRequired, WebhookNotFound, DeliveryNotFound."""
    get(caller, webhook_id)
    stored = store.delivery(webhook_id, delivery_id)
    if stored is None:
        raise DeliveryNotFound
    return stored


@retried
def send_again(caller: Caller, webhook_id: str, delivery_id: str) -> Delivery:
    """Try a delivery that has ended again, under the same id; then it is tried for another day.

    Raises AdminRequired, WebhookNotFound, DeliveryNotFound, DeliveryUnderWay.
    """
    target = f"webhooks/{webhook_id}/deliveries/{delivery_id}"
    ended = delivery(caller, webhook_id, delivery_id)
    return deliveries.again(ended, clock.now(), audit.entry(caller, "webhook.delivery_resent", target))


def send_test(caller: Caller, webhook_id: str, public_url: str) -> Delivery:
    """Send an event of the type `webhook.test` to this webhook alone. Raises AdminRequired, WebhookNotFound."""
    webhook = get(caller, webhook_id)
    record = audit.entry(caller, "webhook.tested", f"webhooks/{webhook_id}", name=webhook.name)
    return deliveries.send(webhook, _test_message(webhook, public_url, clock.now()), record)


def _test_message(webhook: Webhook, public_url: str, at: datetime) -> Message:
    link = f"{public_url}/organizations/{webhook.organization_id}/webhooks"
    data: dict[str, Json] = {
        "link": link,
        "count": 1,
        "items": [{"at": clock.rfc3339(at), "reason": f"Sent to {webhook.name}"}],
    }
    return message(event("webhook.test", webhook.organization_id, About(), at), data, public_url=public_url)


def _require_routing_key(form: Format, routing_key: str | None) -> None:
    if form == "pagerduty" and not routing_key:
        raise RoutingKeyMisplaced("PagerDuty needs the integration key of the service that is to be alerted")
    if form != "pagerduty" and routing_key:
        raise RoutingKeyMisplaced("Only the format pagerduty takes a routing key: leave it out")


def _require_fleets(caller: Caller, fleet_ids: Sequence[str]) -> None:
    for fleet_id in fleet_ids:
        fleets.get(caller, fleet_id)
