"""The events for webhooks that a message of an instance brings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from headgate.events import service as events
from headgate.events.model import About, EventType
from headgate.instances.model import Instance
from headgate.instances.timeline.model import InstanceEvent, TimelineEvent
from headgate.storage.table import Write

Notice = EventType

_TYPES: Final[dict[InstanceEvent, Notice]] = {
    "apply_failed": "instance.apply_failed",
    "stopped": "instance.stopped",
}


def of_message(
    stored: Instance | None, after: Instance, written: Sequence[TimelineEvent], *, was_silent: bool
) -> list[Notice]:
    """`written` are the events of the timeline. What is left out there, because it changes without end, is not sent.

    `was_silent` is whether people were told until now that the instance is silent.
    """
    types: list[Notice] = [_TYPES[event.event] for event in written if event.event in _TYPES]
    types += ["instance.drifted" for event in written if event.event == "drifted" and event.drifted]
    if (
        written
        and stored is not None
        and after.standing.state == "applied"
        and (was_silent or stored.noted.unwell or stored.standing.state in ("apply_failed", "stopped"))
    ):
        types.append("instance.recovered")
    return types


def writes(types: Sequence[Notice], organization_id: str, instance: Instance, at: datetime) -> list[Write]:
    """The events, for the transaction that stores the instance."""
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
