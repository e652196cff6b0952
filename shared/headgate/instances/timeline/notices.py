"""The events for webhooks that a message of an instance brings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from headgate.events import service as events
from headgate.events.model import About, EventType
from headgate.instances.model import Instance
from headgate.instances.state.model import mark_of, silent_from, stale
from headgate.instances.timeline.model import InstanceEvent, TimelineEvent
from headgate.storage.table import Write

Notice = EventType

_TYPES: Final[dict[InstanceEvent, Notice]] = {
    "apply_failed": "instance.apply_failed",
    "stopped": "instance.stopped",
}


def of_message(
    stored: Instance | None, after: Instance, written: Sequence[TimelineEvent], at: datetime, *, is_pod: bool
) -> list[Notice]:
    """`written` are the events of the timeline. What is left out there, because it changes without end, is not sent.

    A pod that was silent does not recover, since nobody was told.
    """
    types: list[Notice] = [_TYPES[event.event] for event in written if event.event in _TYPES]
    types += ["instance.drifted" for event in written if event.event == "drifted" and event.drifted]
    if (
        written
        and stored is not None
        and after.standing.state == "applied"
        and (stored.noted.unwell or _was_unwell(stored, at, is_pod=is_pod))
    ):
        types.append("instance.recovered")
    return types


def writes(types: Sequence[Notice], organization_id: str, instance: Instance, at: datetime) -> list[Write]:
    """The events, for the transaction that stores the instance."""
    if not types:
        return []
    running = instance.running()
    version = running.assignment if running else None
    about = About(
        fleet_id=instance.fleet_id,
        deployment_id=instance.deployment_id,
        instance_id=instance.id,
        configuration_id=version.configuration_id if version else None,
        version_number=version.version_number if version else None,
        name=instance.reported.name,
    )
    return [events.write(type, organization_id, about, at) for type in types]


def _was_unwell(stored: Instance, at: datetime, *, is_pod: bool) -> bool:
    heard_at = stored.contact.last_seen_at
    quiet = at >= silent_from(heard_at, quick=stored.is_quick) or stale(mark_of(heard_at), at)
    return (quiet and not is_pod) or stored.standing.state in ("apply_failed", "stopped")
