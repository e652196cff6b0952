"""The sweep of each minute: finds what only time brings, and sends what waits in the outbox.

An event is removed when it is on the bus and a delivery of it is stored for each webhook that wants it. A sweep that
breaks off in between repeats both: with the same ids, so nothing is stored twice, and receivers can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from headgate.events import service as events
from headgate.foundation import errors
from headgate.foundation.log import logger
from headgate.foundation.settings import settings
from headgate.webhooks import service as webhooks
from headgate.webhooks.model import Webhook
from headgate.webhooks.notifications import bus, grouping, store, watching
from headgate.webhooks.notifications.grouping import EventGroup
from headgate.webhooks.notifications.names import Names
from headgate_engine.threads import Threads

# Messages that are sent at once.
_AT_ONCE: Final = 4
_FAULTS: Final = (errors.HeadgateError, BotoCoreError, ClientError)


class NotSwept(Exception):
    """Something failed; what is left waits for the next sweep."""


@dataclass(frozen=True, slots=True)
class Swept:
    """The counts of a sweep: events read, events sent, and messages."""

    noticed: int = 0
    sent: int = 0
    messages: int = 0


def sweep(at: datetime) -> Swept:
    """Look and send; nothing if another sweep is under way. Raises NotSwept after having done what could be done."""
    since = store.begin(at)
    if since is None:
        return Swept()
    try:
        return _swept(since, at)
    finally:
        store.end()


def _swept(since: datetime, at: datetime) -> Swept:
    faults: list[BaseException] = []
    noticed = sent = messages = 0
    try:
        noticed = watching.watch(since, at)
        store.looked(at)
    except _FAULTS as error:
        # What waits is sent all the same; the next sweep looks from the same moment on.
        faults.append(error)
    names, wanting = Names(settings().public_url), cache(webhooks.of_organization)
    with Threads(_AT_ONCE) as pool:
        sending = [(group, pool.submit(_send, group, names, wanting)) for group in grouping.due(events.waiting(), at)]
    for group, ended in sending:
        # A defect in one message does not stop the others.
        fault = ended.exception()
        if fault is not None:
            faults.append(fault)
        else:
            sent, messages = sent + len(group.events), messages + 1
    if faults:
        kinds = sorted({type(fault).__name__ for fault in faults})
        logger.error("sweep_incomplete", faults=len(faults), kinds=kinds)
        raise NotSwept from faults[0]
    return Swept(noticed, sent, messages)


def _send(group: EventGroup, names: Names, wanting: Callable[[str], Sequence[Webhook]]) -> None:
    bus.put([grouping.message_of(EventGroup([event]), names) for event in group.events])
    message = grouping.message_of(group, names)
    for webhook in wanting(group.first.organization_id):
        if webhook.wants(message):
            webhooks.deliver(webhook, message)
    # The first event goes last: it gives the message its id if the rest is repeated.
    events.sent([*reversed(group.events)])
