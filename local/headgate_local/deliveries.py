"""The queue of deliveries and the event bus in moto, and who takes from the queue, in the place of Lambda's poller."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from threading import Event
from typing import Any, Final, cast

from botocore.exceptions import BotoCoreError, ClientError

from headgate.foundation.settings import settings
from headgate.storage import aws
from headgate.webhooks import deliveries
from headgate_local import callers
from headgate_local.handlers import FunctionError, Handler, invoke
from headgate_local.running import Local, in_background
from headgate_local.template import Node, Template

logger: Final = logging.getLogger("headgate_local")
_FUNCTION: Final = "DeliverFunction"
_AT_ONCE: Final = 10
_LOOK_SECONDS: Final = 1.0

Batch = Mapping[str, Any]


def create(template: Template) -> None:
    """Create the template's queues and event buses."""
    sqs, events = _sqs(), cast("Any", aws.events())
    queues = template.of_type("AWS::SQS::Queue")
    # A queue of the dead must be there before the one that it belongs to.
    for logical_id, properties in sorted(queues, key=lambda queue: "RedrivePolicy" in queue[1]):
        attributes = {"VisibilityTimeout": str(properties.get("VisibilityTimeout", 30))}
        if "RedrivePolicy" in properties:
            attributes["RedrivePolicy"] = json.dumps(template.resolve(properties["RedrivePolicy"]))
        sqs.create_queue(QueueName=template.name_of(logical_id), Attributes=attributes)
    for logical_id, _ in template.of_type("AWS::Events::EventBus"):
        events.create_event_bus(Name=template.name_of(logical_id))


@contextmanager
def part(local: Local) -> Iterator[None]:
    """Deliver waiting messages until the end of the `with` block; the queue is new, so earlier ones are put into it."""
    create(local.template)
    deliveries.resume()
    (function,) = [entry for entry in local.template.functions() if entry.logical_id == _FUNCTION]
    with in_background(("deliveries", partial(_poll, local.handler(function)))):
        yield


def take(handler: Handler) -> int:
    """Hand up to ten messages of the queue to the function, and remove those that are done with. Returns how many came.

    As Lambda does, with the rights of the function. Raises FunctionError if it fails: what was taken comes again.
    """
    sqs, url = _sqs(), settings().deliveries_queue
    with callers.acting(_FUNCTION):
        received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=_AT_ONCE).get("Messages", [])
        if not received:
            return 0
        records: list[Node] = [
            {"messageId": item["MessageId"], "receiptHandle": item["ReceiptHandle"], "body": item["Body"]}
            for item in received
        ]
        answer = invoke(handler, {"Records": records})
        left = {failed["itemIdentifier"] for failed in _failures(answer)}
        for entry in received:
            if entry["MessageId"] not in left:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=entry["ReceiptHandle"])
    return len(received)


def waiting() -> int:
    """The number of messages in the queue, as Lambda reads it to see how far it is behind."""
    with callers.acting(_FUNCTION):
        name = "ApproximateNumberOfMessages"
        answer = _sqs().get_queue_attributes(QueueUrl=settings().deliveries_queue, AttributeNames=[name])
    return int(answer["Attributes"][name])


def _sqs() -> Any:
    """The client of the functions, with what only the poller asks. Making one takes 30 ms."""
    return aws.sqs()


def _failures(answer: Node) -> list[dict[str, str]]:
    assert isinstance(answer, dict)
    failures: Any = answer["batchItemFailures"]
    return list(failures)


def _poll(handler: Handler, ended: Event) -> None:
    while not ended.is_set():
        try:
            came = take(handler) if waiting() else 0
        except (FunctionError, BotoCoreError, ClientError):  # SQS delivers again what was taken
            logger.exception("deliveries_not_tried")
            came = 0
        if came == 0:
            ended.wait(_LOOK_SECONDS)
