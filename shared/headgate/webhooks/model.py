"""Webhooks and deliveries, and why a request about them is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.events.messages import Message
from headgate.events.model import EventType
from headgate.foundation import errors
from headgate.foundation.ids import encode_id, number_of
from headgate.foundation.principal import Principal

Format = Literal["cloudevents", "slack", "pagerduty"]
DeliveryStatus = Literal["waiting", "delivered", "failed"]
SendError = Literal[
    "address_not_allowed",
    "name_not_resolved",
    "connection_failed",
    "tls_failed",
    "timeout",
    "bad_response",
    "webhook_disabled",
]

MOST_WEBHOOKS: Final = 20
ROTATION: Final = timedelta(days=1)
"""Time for which the previous secret still signs, after a renewal."""
KEPT: Final = timedelta(days=30)
"""Days for which a delivery is listed."""
_DELAYS: Final = (5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 28_800)
"""Seconds before each further attempt: eleven attempts in 24 hours. SQS hides a message for 12 hours at most."""
OVERDUE: Final = timedelta(minutes=10)
"""A delivery that was due so long ago has no ticket in the queue: its process died before it sent one."""
UNDER_WAY_SECONDS: Final = 30
"""Lease of an attempt on its delivery: longer than an attempt takes, sent and recorded."""


class WebhookNotFound(errors.NotFound):
    """The organization has no such webhook."""

    code = "webhook_not_found"
    detail = "No such webhook"


class DeliveryNotFound(errors.NotFound):
    """The webhook has no such delivery, or it is older than 30 days."""

    code = "delivery_not_found"
    detail = "No such delivery; deliveries are listed for 30 days"


class WebhookLimitReached(errors.Conflict):
    """The organization has as many webhooks as it may."""

    code = "webhook_limit_reached"
    detail = f"The organization has {MOST_WEBHOOKS} webhooks, the most that it may have; delete one first"


class DeliveryUnderWay(errors.Conflict):
    """A delivery that is tried again by itself."""

    code = "delivery_under_way"
    detail = "This delivery is still tried by itself; send it again once it is delivered or failed"


@dataclass(frozen=True, slots=True)
class Webhook:
    """A receiver of an organization's events: of the `types` and the fleets named, of all if none is.

    `host` is what is shown of the address: its path and query may be a credential. What is sealed is for the sender
    alone: `target` is a `Target`, a secret is the value that signs.
    """

    id: str
    organization_id: str
    name: str
    host: str
    format: Format
    types: Sequence[EventType]
    fleet_ids: Sequence[str]
    enabled: bool
    target: bytes
    secret: bytes
    previous_secret: bytes | None
    previous_until: datetime | None
    created_by: Principal
    created_at: datetime
    updated_at: datetime
    revision: int

    def wants(self, message: Message) -> bool:
        """True if the webhook takes the message. Events of no fleet are not filtered by fleet."""
        fleet_wanted = not self.fleet_ids or message.fleet_id is None or message.fleet_id in self.fleet_ids
        return self.enabled and fleet_wanted and (not self.types or message.type in self.types)


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """The destination of a webhook's messages. `routing_key` is PagerDuty's, which it takes in the body; else empty."""

    url: str
    routing_key: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to send: the receiver's HTTP status, or why there is none."""

    at: datetime
    milliseconds: int
    status: int | None
    error: SendError | None

    @property
    def accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message on its way to a webhook. `round` counts the times that somebody sent it again by hand.

    `due_at` is when it is tried next, and `held_until` how long an attempt has it for itself.
    """

    id: str
    webhook_id: str
    organization_id: str
    event_id: str
    type: EventType
    status: DeliveryStatus
    document: str
    attempts: Sequence[Attempt]
    round: int
    tried: int
    created_at: datetime
    due_at: datetime
    held_until: datetime | None
    finished_at: datetime | None
    revision: int

    @property
    def next_attempt_at(self) -> datetime | None:
        """The time of the next attempt; None once it is delivered or failed."""
        return self.due_at if self.status == "waiting" else None

    @property
    def path(self) -> str:
        """The path of the delivery in the public API."""
        return f"/webhooks/{self.webhook_id}/deliveries/{self.id}"


def delivery_id(message: Message, webhook_id: str) -> str:
    """The same for the same message and webhook, so that a repeated send stores nothing twice. Sorts by time."""
    digest = hashlib.sha256(f"{message.id}\0{webhook_id}".encode()).digest()
    milliseconds = number_of(message.id) >> 80
    return encode_id("dlv", milliseconds << 80 | int.from_bytes(digest[:10], "big"))


def next_delay(delivery: Delivery, tried: int) -> int | None:
    """Seconds until the next attempt after `tried` of this round; None if that was the last one.

    Up to a tenth more, by the delivery: a receiver that comes back does not get all of them in one second.
    """
    if tried > len(_DELAYS):
        return None
    delay = _DELAYS[tried - 1]
    return delay + delay * (number_of(delivery.id) % 97) // 970
