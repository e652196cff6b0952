"""A record of one change."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headgate.foundation.principal import Actor

NAMING: Final = ("name", "email")
"""The details that name the target: its name, or a member's address."""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One change: `action` is a stable word (see `audit.actions`), `target` the id of what was changed.

    `details` hold what a reader needs to understand it, and never a credential, a configuration or a sample.
    """

    id: str
    organization_id: str
    at: datetime
    actor: Actor
    credential_id: str
    credential_name: str
    action: str
    target: str
    details: Mapping[str, str]

    @property
    def target_name(self) -> str:
        """The name that the target had at the time; empty if that is not recorded."""
        return next((self.details[name] for name in NAMING if name in self.details), "")


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Filter of records. `by` is a part of an actor's name, or its id; `about` is a part of
    the target or of its name; both without regard to case. Records from `since` until before `until`; None: any."""

    by: str | None = None
    about: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def filters(self) -> bool:
        """True if records are left out that lie between others."""
        return self.by is not None or self.about is not None

    def has(self, record: AuditRecord) -> bool:
        by, about = (self.by or "").lower(), (self.about or "").lower()
        return (by in record.actor.name.lower() or by == record.actor.id) and (
            about in record.target.lower() or about in record.target_name.lower()
        )


ANY: Final = RecordFilter()
