"""The queue of deliveries, SQS: who is to be tried, and when. What is sent, and to whom, is in the table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from headgate.foundation.settings import settings
from headgate.storage import aws

MOST_SECONDS: Final = 43_200
"""The longest time for which SQS hides a message."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A message of the queue: which delivery to try."""

    organization_id: str
    webhook_id: str
    delivery_id: str

    @property
    def text(self) -> str:
        names = ("organization_id", "webhook_id", "delivery_id")
        return json.dumps({name: getattr(self, name) for name in names})

    @classmethod
    def of(cls, text: str) -> Ticket:
        """Raises ValueError, KeyError or TypeError for a text that no `Ticket` has."""
        content = json.loads(text)
        return cls(str(content["organization_id"]), str(content["webhook_id"]), str(content["delivery_id"]))


def send(ticket: Ticket) -> None:
    """Put it in the queue for an attempt as soon as possible."""
    aws.sqs().send_message(QueueUrl=settings().deliveries_queue, MessageBody=ticket.text)


def postpone(receipt: str, seconds: int) -> None:
    """A message that was received is hidden for so long from now, instead of the queue's own time."""
    aws.sqs().change_message_visibility(
        QueueUrl=settings().deliveries_queue, ReceiptHandle=receipt, VisibilityTimeout=min(seconds, MOST_SECONDS)
    )


def bury(ticket: Ticket) -> None:
    """Put it in the queue of deliveries that were given up."""
    aws.sqs().send_message(QueueUrl=settings().dead_deliveries_queue, MessageBody=ticket.text)
