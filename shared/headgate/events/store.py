"""The outbox: events that wait to be sent, in the events table. One function, one access pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headgate.events import keys
from headgate.events.model import About, Event, EventType
from headgate.foundation import clock
from headgate.storage import items
from headgate.storage.table import events as table

if TYPE_CHECKING:
    from headgate.storage.items import Item
    from headgate.storage.table import Write


def put(event: Event) -> Write:
    """The event as a part of the transaction of the change that it tells of."""
    return table.put_new(_item(event))


def put_again(event: Event) -> Write:
    """The same for an event that may be there already."""
    return table.put_over(_item(event))


def waiting(number: int, limit: int) -> list[Event]:
    """The oldest events of a shard; one query."""
    return [_event(item) for item in table.list(keys.outbox(number), "", limit).entries]


def sent(event: Event) -> Write:
    """Remove an event."""
    return table.delete(keys.event(event.id, clock.rfc3339(event.at)))


def _item(event: Event) -> Item:
    about = event.about
    return keys.event(event.id, clock.rfc3339(event.at)) | {
        "event_id": event.id,
        "type": event.type,
        "organization_id": event.organization_id,
        "at": clock.rfc3339(event.at),
        "fleet_id": about.fleet_id,
        "deployment_id": about.deployment_id,
        "instance_id": about.instance_id,
        "configuration_id": about.configuration_id,
        "version_number": about.version_number,
        "rollout_id": about.rollout_id,
        "job_id": about.job_id,
        "token_id": about.token_id,
        "name": about.name,
        "reason": about.reason,
        "figures": about.figures,
    }


def _event(item: Item) -> Event:
    figures = items.mapping(item, "figures")
    return Event(
        id=items.text(item, "event_id"),
        type=cast("EventType", items.text(item, "type")),
        organization_id=items.text(item, "organization_id"),
        at=clock.parse(items.text(item, "at")),
        about=About(
            fleet_id=items.optional_text(item, "fleet_id"),
            deployment_id=items.optional_text(item, "deployment_id"),
            instance_id=items.optional_text(item, "instance_id"),
            configuration_id=items.optional_text(item, "configuration_id"),
            version_number=items.optional_number(item, "version_number"),
            rollout_id=items.optional_text(item, "rollout_id"),
            job_id=items.optional_text(item, "job_id"),
            token_id=items.optional_text(item, "token_id"),
            name=items.optional_text(item, "name"),
            reason=items.optional_text(item, "reason"),
            figures={name: items.number(figures, name) for name in figures},
        ),
    )
