"""Grouping of events: those of hosts, of one type and one fleet, within a minute go into one message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from headgate.events.messages import Json, Message, message
from headgate.events.model import Event
from headgate.foundation import clock
from headgate.webhooks.notifications.names import Names

WINDOW: Final = timedelta(minutes=1)
"""Time for which the first event of hosts waits for others."""
LISTED: Final = 10
"""The most events of a group that are listed; the others are counted."""


@dataclass(frozen=True, slots=True)
class EventGroup:
    """Events that are one message, oldest first."""

    events: Sequence[Event]

    @property
    def first(self) -> Event:
        return self.events[0]


def due(events: Iterable[Event], at: datetime) -> list[EventGroup]:
    """The groups whose time has come, in the order of their first events. The others wait for the next sweep."""
    together: dict[tuple[str, ...], list[list[Event]]] = {}
    for event in sorted(events, key=lambda event: (event.at, event.id)):
        groups = together.setdefault(_key(event), [])
        if groups and event.at < groups[-1][0].at + WINDOW:
            groups[-1].append(event)
        else:
            groups.append([event])
    waiting = [EventGroup(group) for groups in together.values() for group in groups]
    return sorted((group for group in waiting if _is_due(group, at)), key=lambda group: group.first.at)


def message_of(group: EventGroup, names: Names) -> Message:
    """The message of the group; a read for each name that is not known yet."""
    first = group.first
    organization_id, about = first.organization_id, first.about
    fleet = names.fleet(organization_id, about.fleet_id) if about.fleet_id else None
    items = [_item(event, names) for event in group.events[:LISTED]]
    # The page of the fleet, else of the configuration, else of the organization.
    link = (fleet or {}).get("link") or _link_of(items[0]) or names.organization_link(organization_id)
    data: dict[str, Json] = {"link": link, "count": len(group.events), "items": items}
    if fleet:
        data["fleet"] = fleet
    subject = next(filter(None, (about.instance_id, about.rollout_id, about.configuration_id, about.token_id)), None)
    # The subject of several hosts is their fleet.
    subject = subject if len(group.events) == 1 else about.fleet_id
    return message(first, data, public_url=names.public_url, subject=subject or about.fleet_id)


def _key(event: Event) -> tuple[str, ...]:
    if event.type.startswith("instance.") and event.about.fleet_id:
        return event.organization_id, event.type, event.about.fleet_id
    return (event.id,)


def _is_due(group: EventGroup, at: datetime) -> bool:
    return len(_key(group.first)) == 1 or group.first.at + WINDOW <= at


def _item(event: Event, names: Names) -> dict[str, Json]:
    about, organization_id = event.about, event.organization_id
    item: dict[str, Json] = {"event_id": event.id, "at": clock.rfc3339(event.at)}
    if about.instance_id:
        item["instance"] = {"id": about.instance_id, **({"name": about.name} if about.name else {})}
    if about.fleet_id and about.deployment_id:
        item["deployment"] = names.deployment(about.fleet_id, about.deployment_id)
    if about.configuration_id:
        item["configuration"] = names.configuration(organization_id, about.configuration_id)
    if about.token_id:
        item["token"] = {"id": about.token_id, **({"name": about.name} if about.name else {})}
    for name in ("version_number", "rollout_id", "job_id", "reason"):
        if (value := getattr(about, name)) is not None:
            item[name] = value
    if about.figures:
        item["figures"] = about.figures
    return item


def _link_of(item: dict[str, Json]) -> Json:
    configuration = item.get("configuration")
    return configuration.get("link") if isinstance(configuration, dict) else None
