"""Webhooks of an organization, and the service that sends them, step by step and at times that a test chooses."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest
from moto.sqs.models import sqs_backends

from deliver.app import handler
from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.http.app import create_app
from headgate.webhooks.notifications import sweep
from headgate.webhooks.notifications.sweep import Swept
from headgate_local import deliveries
from headgate_local.moto_data import ACCOUNT, REGION
from tests.support.events import waiting
from tests.support.in_process import TestClient
from tests.support.world import PUBLIC, joined, session_of
from webhooks.app import router

PATH = f"{PUBLIC}/webhooks"


@dataclass
class Admin:
    """An Admin of an organization at the webhooks endpoints."""

    organization_id: str
    http: TestClient

    @classmethod
    def of(cls, organization_id: str) -> "Admin":
        headers = dict(session_of(joined(organization_id, "admin"), organization_id))
        application = create_app("Test", [router])
        return cls(organization_id, TestClient(application, raise_server_exceptions=False, headers=headers))

    def create(self, url: str = "https://hooks.example.com/services/1", **more: object) -> dict[str, Any]:
        answer = self.http.post(PATH, json={"name": "on-call", "url": url, **more})
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def deliveries(self, webhook_id: str) -> list[dict[str, Any]]:
        answer = self.http.get(f"{PATH}/{webhook_id}/deliveries", params={"limit": 100})
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["items"]
        return found


class Clock:
    """The time of the service. Queues of moto have the true time, so what they hide is shown by `take`."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def forward(self, **by: float) -> None:
        self.at += timedelta(**by)


@contextmanager
def stopped_clock(at: datetime | None = None) -> Iterator[Clock]:
    stopped = Clock(at or clock.now())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", stopped)
        yield stopped


def swept(at: datetime | None = None) -> Swept:
    return sweep.sweep(at or clock.now())


def delivered() -> int:
    """Hand over everything that the queue shows; returns how many tickets came."""
    came = 0
    while taken := deliveries.take(handler):
        came += taken
    return came


def delivered_once() -> int:
    """Hand over up to ten tickets."""
    return deliveries.take(handler)


def left(organization_id: str) -> int:
    """How many events of the organization wait in the outbox."""
    return len(waiting(organization_id))


def session_of_admin(admin: Admin) -> dict[str, str]:
    """The headers of a new session: one lives for twelve hours."""
    return dict(session_of(joined(admin.organization_id, "admin"), admin.organization_id))


def show_hidden() -> None:
    """Let the queue show what it hides until later: the clock of the service decides what is due."""
    for message in sqs_backends[ACCOUNT][REGION].queues[settings().deliveries_queue]._messages:
        message.visible_at = 0


def empty_queue() -> None:
    sqs_backends[ACCOUNT][REGION].queues[settings().deliveries_queue]._messages.clear()


def buried() -> list[str]:
    """The tickets of deliveries that were given up; removes them."""
    sqs, url = boto3.client("sqs"), settings().dead_deliveries_queue
    found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
    for one in found:
        sqs.delete_message(QueueUrl=url, ReceiptHandle=one["ReceiptHandle"])
    return [one["Body"] for one in found]
