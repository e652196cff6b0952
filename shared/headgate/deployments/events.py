"""Events of a deployment group: who assigned what, when and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from headgate.deployments.model import Deployment
from headgate.deployments.versions import NamedVersion
from headgate.foundation.principal import Principal

Versions: TypeAlias = tuple[NamedVersion | None, NamedVersion | None]
"""The assignments before a change and after it."""
EventKind = Literal["created", "assigned", "cleared", "deleted"]

KEPT: Final = timedelta(days=90)
"""Retention of an event."""
LONGEST_MESSAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class GroupEvent:
    """A change of what a group is assigned. `revision` is the group's, `message` why it was made, if somebody said so.

    `before` was assigned until then, since `before_since`. `variables_revision` is what hosts were moved to with the
    assigned version, None for the variables of their install.
    """

    fleet_id: str
    deployment_id: str
    revision: int
    at: datetime
    kind: EventKind
    by: Principal
    message: str | None
    before: NamedVersion | None
    before_since: datetime | None
    assigned: NamedVersion | None
    variables_revision: int | None = None

    @classmethod
    def of(
        cls,
        kind: EventKind,
        by: Principal,
        before: Deployment | None,
        after: Deployment,
        *,
        versions: Versions = (None, None),
        message: str | None = None,
    ) -> GroupEvent:
        """The event of a change from `before` to `after`; `before` is None for a new group."""
        was, now = versions
        since = before.assigned_at if before else None
        variables = after.variables.revision if now and after.variables else None
        event = (after.fleet_id, after.id, after.revision, after.updated_at, kind, by, message, was, since, now)
        return cls(*event, variables)
