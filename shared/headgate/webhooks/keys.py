"""The keys of webhooks and deliveries, in the events table. docs/data.md lists the attributes."""

from typing import Final

from headgate.storage.table import Key

WEBHOOKS: Final = "webhook#"
DELIVERIES: Final = "delivery#"


def organization(organization_id: str) -> str:
    return f"organization#{organization_id}"


def webhook(organization_id: str, webhook_id: str) -> Key:
    return {"pk": organization(organization_id), "sk": f"{WEBHOOKS}{webhook_id}"}


def count(organization_id: str) -> Key:
    """The number of the organization's webhooks, for the limit."""
    return {"pk": organization(organization_id), "sk": "count"}


def of_webhook(webhook_id: str) -> str:
    """The partition of a webhook's deliveries."""
    return f"deliveries#{webhook_id}"


def delivery(webhook_id: str, delivery_id: str) -> Key:
    return {"pk": of_webhook(webhook_id), "sk": f"{DELIVERIES}{delivery_id}"}
