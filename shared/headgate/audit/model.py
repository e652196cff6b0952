"""A record of one change."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from headgate.foundation.principal import Principal


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One change: `action` is a stable word (see `audit.actions`), `target` the id of what was changed.

    `details` hold what a reader needs to understand it, and never a credential, a configuration or a sample.
    """

    id: str
    organization_id: str
    at: datetime
    actor: Principal
    credential_id: str
    credential_name: str
    action: str
    target: str
    details: Mapping[str, str]
