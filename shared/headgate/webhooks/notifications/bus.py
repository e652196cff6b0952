"""The stack's event bus: each event by itself, as a CloudEvent, for rules that an operator writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from headgate.events.messages import Message
from headgate.foundation import errors
from headgate.foundation.settings import settings
from headgate.storage import aws

SOURCE: Final = "headgate"
# EventBridge's own limit.
_AT_ONCE: Final = 10


def put(messages: Sequence[Message]) -> None:
    """One call for each ten. Raises Unavailable if the bus refuses one; those before it are on the bus."""
    for start in range(0, len(messages), _AT_ONCE):
        entries = [
            {
                "Source": SOURCE,
                "DetailType": message.type,
                "Detail": message.text,
                "Time": message.at,
                "EventBusName": settings().event_bus,
            }
            for message in messages[start : start + _AT_ONCE]
        ]
        if aws.events().put_events(Entries=entries)["FailedEntryCount"]:
            raise errors.Unavailable("The event bus refused events; they are sent again in a minute")
