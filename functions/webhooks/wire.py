"""The shapes of requests and answers about webhooks."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints

from headgate.events.model import EventType
from headgate.foundation.clock import now
from headgate.http.wire import Answer, IdOf, PrincipalOut, at
from headgate.webhooks.addresses import MAX_URL
from headgate.webhooks.model import DeliveryStatus, Format, SendError, Webhook
from headgate.webhooks.service import Changes, WebhookSettings
from headgate_engine.wire.inputs import PRESENT, Input, Name, Patch, refused_as
from headgate_engine.wire.times import Time


def _each_once(values: list[str]) -> list[str]:
    if len(set(values)) < len(values):
        raise ValueError("This names something twice")
    return values


Url = Annotated[str, StringConstraints(min_length=1, max_length=MAX_URL)]
RoutingKey = Annotated[
    str,
    StringConstraints(pattern=r"^[\x21-\x7e]{1,200}$"),
    refused_as("This must be 1 to 200 visible ASCII characters"),
]
Types = Annotated[list[EventType], Field(max_length=50), AfterValidator(_each_once)]
FleetIds = Annotated[list[Annotated[str, IdOf("flt", "a fleet")]], Field(max_length=25), AfterValidator(_each_once)]


class NewWebhook(Input):
    """`types` and `fleet_ids` limit what is sent; empty for everything. `routing_key` is for `pagerduty` alone."""

    name: Name
    url: Url
    format: Format = "cloudevents"
    routing_key: RoutingKey | None = None
    types: Types = Field(default_factory=list)
    fleet_ids: FleetIds = Field(default_factory=list)
    enabled: bool = True

    def settings(self) -> WebhookSettings:
        return WebhookSettings(**self.model_dump())


class WebhookPatch(Patch):
    """The format stays: make another webhook instead. `routing_key` changes together with `url`."""

    name: Annotated[Name | None, PRESENT] = None
    url: Annotated[Url | None, PRESENT] = None
    routing_key: Annotated[RoutingKey | None, PRESENT] = None
    types: Annotated[Types | None, PRESENT] = None
    fleet_ids: Annotated[FleetIds | None, PRESENT] = None
    enabled: Annotated[bool | None, PRESENT] = None

    def changes(self) -> Changes:
        fields = self.model_dump(exclude_unset=True, exclude={"url", "routing_key"})
        return Changes(fields, self.url, self.routing_key)


def _unless_over(until: datetime | None) -> datetime | None:
    return until if until is not None and until > now() else None


class WebhookOut(Answer):
    """Only the address's `host` is shown, because its path may be a credential.

    Until `previous_secret_until`, two secrets sign.
    """

    id: str
    name: str
    host: str
    format: Format
    types: list[EventType]
    fleet_ids: list[str]
    enabled: bool
    previous_secret_until: Annotated[Time | None, at("previous_until"), AfterValidator(_unless_over)]
    created_by: PrincipalOut
    created_at: Time
    updated_at: Time


class WebhookWithSecret(WebhookOut):
    """`secret` signs the deliveries. It is in this answer only, and not in that of a repeated request."""

    secret: str | None = None

    @classmethod
    def with_secret(cls, created: tuple[Webhook, str]) -> Self:
        webhook, secret = created
        # The webhook's own is sealed.
        return cls.of(webhook, secret=secret)


class DeliveryAttemptOut(Answer):
    """One try: the receiver's HTTP status, or why there is none."""

    at: Time
    milliseconds: int
    status: int | None
    error: SendError | None


class DeliveryOut(Answer):
    """`next_attempt_at` is null once it is delivered or failed. `attempts` are the last 24."""

    id: str
    webhook_id: str
    event_id: str
    type: EventType
    status: DeliveryStatus
    attempts: list[DeliveryAttemptOut]
    next_attempt_at: Time | None
    created_at: Time
    finished_at: Time | None
