"""Messages to receivers: an event, or several together, as a CloudEvent 1.0 in its JSON form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from headgate.events.model import Event, EventType
from headgate.foundation import clock

Json: TypeAlias = "str | int | bool | Sequence[Json] | Mapping[str, Json] | None"


@dataclass(frozen=True, slots=True)
class Message:
    """A CloudEvent, with what webhooks are filtered by."""

    id: str
    type: EventType
    organization_id: str
    fleet_id: str | None
    at: datetime
    document: Mapping[str, Json]

    @property
    def text(self) -> str:
        return json.dumps(self.document, ensure_ascii=False, separators=(",", ":"))


def message(first: Event, data: Mapping[str, Json], *, public_url: str, subject: str | None = None) -> Message:
    """The CloudEvent of `first`, and of those that are told with it. `data` are ids, names and links."""
    document: dict[str, Json] = {
        "specversion": "1.0",
        "id": first.id,
        "source": f"{public_url}/organizations/{first.organization_id}",
        "type": first.type,
        "time": clock.rfc3339(first.at),
        "datacontenttype": "application/json",
        "data": data,
    }
    if subject:
        document["subject"] = subject
    return Message(first.id, first.type, first.organization_id, first.about.fleet_id, first.at, document)
