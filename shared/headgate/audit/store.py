"""Audit records in the identity table: put once, read, and nothing else."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from headgate.audit import keys
from headgate.audit.model import AuditRecord
from headgate.foundation import clock
from headgate.foundation.page import Slice
from headgate.storage import table
from headgate.storage.stored import Stored
from headgate.storage.table import Write

_RECORDS: Final = Stored(AuditRecord, names={"id": "audit_id"})


def put(record: AuditRecord) -> Write:
    """The record as a part of the transaction of the change. A record that exists is never replaced."""
    return table.identity.put_new(
        keys.record(record.organization_id, clock.rfc3339(record.at), record.id) | _RECORDS.item(record)
    )


def records(
    organization_id: str, limit: int, after: str | None, since: datetime | None = None, until: datetime | None = None
) -> Slice[AuditRecord]:
    """The newest first, from `since` until before `until`; one query."""
    # Keys begin with the time, so the key after which a slice begins can be a time.
    if until is not None:
        before = clock.rfc3339(until)
        after = before if after is None else min(after, before)
    part = table.identity.list(keys.partition(organization_id), "", limit, after, newest_first=True)
    records = [_RECORDS.read(item) for item in part.entries]
    recent = [record for record in records if since is None or record.at >= since]
    return Slice(recent, part.position if len(recent) == len(records) else None)


def position(record: AuditRecord) -> str:
    """The record's place in the list."""
    return str(keys.record(record.organization_id, clock.rfc3339(record.at), record.id)["sk"])
