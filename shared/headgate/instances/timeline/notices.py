"""The events for webhooks that a message of an instance brings, for the transaction that stores it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from headgate.events import service as events
from headgate.events.model import About, EventType
from headgate.instances.state.model import mark_of, silent_from, stale

if TYPE_CHECKING:
    from headgate.instances.model import Instance
    from headgate.instances.timeline.model import InstanceEvent, TimelineEvent
    from headgate.storage.table import Write

_TYPES: Final[dict[InstanceEvent, EventType]] = {
    "apply_failed": "instance.apply_failed",
    "stopped": "instance.stopped",
}


def of_message(
    organization_id: str, stored: Instance | None, after: Instance, written: Sequence[TimelineEvent], at: datetime
) -> list[Write]:
    """`written` are the events of the timeline. What is left out there, because it changes without end, is not sent."""
    types: list[EventType] = [_TYPES[event.event] for event in written if event.event in _TYPES]
    types += ["instance.drifted" for event in written if event.event == "drifted" and event.drifted]
    if written and stored is not None and after.state == "applied" and (stored.noted.unwell or _was_unwell(stored, at)):
        types.append("instance.recovered")
    running = after.running()
    version = running.assignment if running else None
    about = About(
        fleet_id=after.fleet_id,
        deployment_id=after.deployment_id,
        instance_id=after.id,
        configuration_id=version.configuration_id if version else None,
        version_number=version.version_number if version else None,
        name=after.host.name or after.description.host_name,
    )
    return [events.write(type, organization_id, about, at) for type in types]


def _was_unwell(stored: Instance, at: datetime) -> bool:
    quiet = at >= silent_from(stored.last_seen_at, quick=stored.is_quick) or stale(mark_of(stored.last_seen_at), at)
    return quiet or stored.state in ("apply_failed", "stopped")
