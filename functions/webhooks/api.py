"""The webhooks endpoints: an organization's webhooks and their deliveries, for its Admins' sessions only."""

from typing import Final

from fastapi import Request, Response

from headgate.fleets.model import FleetNotFound
from headgate.http.browser import public_url
from headgate.http.credentials import SessionAdmin
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import DeliveryId, WebhookId
from headgate.http.paths import PUBLIC
from headgate.http.routing import ONCE, SECRET_ANSWER, recorded
from headgate.http.routing import router as group
from headgate.http.wire import ids_in_body
from headgate.webhooks import service as webhooks
from headgate.webhooks.model import Delivery
from webhooks.wire import DeliveryOut, NewWebhook, WebhookOut, WebhookPatch, WebhookWithSecret

router = group("/webhooks", "Webhooks")

_DELIVERY: Final = "/{webhook_id}/deliveries/{delivery_id}"


@router.get("")
def list_webhooks(caller: SessionAdmin, paging: Paging) -> Page[WebhookOut]:
    """The organization's webhooks, oldest first. Neither their addresses' paths nor their secrets are shown."""
    return paging.page(webhooks.webhooks(caller, paging.limit, paging.after), WebhookOut.of)


@router.post("", status_code=201, **recorded("webhook.created", 409, marks=SECRET_ANSWER))
def create_webhook(body: NewWebhook, caller: SessionAdmin, response: Response) -> WebhookWithSecret:
    """Create a webhook. The answer has the secret that signs its deliveries, this once."""
    with ids_in_body(fleet_ids=FleetNotFound):
        created = WebhookWithSecret.with_secret(webhooks.create(caller, body.settings()))
    response.headers["Location"] = f"{PUBLIC}/webhooks/{created.id}"
    return created


@router.get("/{webhook_id}")
def get_webhook(webhook_id: WebhookId, caller: SessionAdmin) -> WebhookOut:
    """One webhook."""
    return WebhookOut.of(webhooks.get(caller, webhook_id))


@router.patch("/{webhook_id}", **recorded("webhook.changed"))
def change_webhook(webhook_id: WebhookId, body: WebhookPatch, caller: SessionAdmin) -> WebhookOut:
    """Change a webhook; deliveries that wait go to where it leads then. One that is not enabled gets none."""
    with ids_in_body(fleet_ids=FleetNotFound):
        return WebhookOut.of(webhooks.change(caller, webhook_id, body.changes()))


@router.delete("/{webhook_id}", status_code=204, **recorded("webhook.deleted"))
def delete_webhook(webhook_id: WebhookId, caller: SessionAdmin) -> None:
    """Delete a webhook. Deliveries that wait are not sent."""
    webhooks.delete(caller, webhook_id)


@router.post("/{webhook_id}/secret", **recorded("webhook.secret_renewed", marks=SECRET_ANSWER | ONCE))
def renew_webhook_secret(webhook_id: WebhookId, caller: SessionAdmin) -> WebhookWithSecret:
    """Make a new secret, which this answer has. For a day, deliveries are signed with the previous one as well."""
    return WebhookWithSecret.with_secret(webhooks.renew_secret(caller, webhook_id))


@router.post("/{webhook_id}/test", status_code=202, **recorded("webhook.tested"))
def test_webhook(webhook_id: WebhookId, caller: SessionAdmin, request: Request, response: Response) -> DeliveryOut:
    """Send an event of the type `webhook.test` to this webhook. The delivery says what became of it."""
    return _on_its_way(webhooks.send_test(caller, webhook_id, public_url(request)), response)


@router.get("/{webhook_id}/deliveries")
def list_webhook_deliveries(webhook_id: WebhookId, caller: SessionAdmin, paging: Paging) -> Page[DeliveryOut]:
    """The deliveries of the last 30 days, newest first, with each attempt. What a receiver answered is not stored."""
    return paging.page(webhooks.listed_deliveries(caller, webhook_id, paging.limit, paging.after), DeliveryOut.of)


@router.get(_DELIVERY)
def get_webhook_delivery(webhook_id: WebhookId, delivery_id: DeliveryId, caller: SessionAdmin) -> DeliveryOut:
    """One delivery."""
    return DeliveryOut.of(webhooks.delivery(caller, webhook_id, delivery_id))


@router.post(f"{_DELIVERY}/resend", status_code=202, **recorded("webhook.delivery_resent", 409))
def resend_webhook_delivery(
    webhook_id: WebhookId, delivery_id: DeliveryId, caller: SessionAdmin, response: Response
) -> DeliveryOut:
    """Send a delivery that has ended again, under the same id. 409 while it is tried by itself."""
    return _on_its_way(webhooks.send_again(caller, webhook_id, delivery_id), response)


def _on_its_way(delivery: Delivery, response: Response) -> DeliveryOut:
    response.headers["Location"] = f"{PUBLIC}{delivery.path}"
    return DeliveryOut.of(delivery)
