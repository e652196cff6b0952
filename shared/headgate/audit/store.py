"""Audit records in the identity table: put once, read, and nothing else."""

from __future__ import annotations

from datetime import datetime

from headgate.audit import keys
from headgate.audit.model import AuditRecord
from headgate.foundation import clock
from headgate.storage import items, principals, table
from headgate.storage.items import Item
from headgate.storage.page import Slice
from headgate.storage.table import Write


def put(record: AuditRecord) -> Write:
    """The record as a part of the transaction of the change. A record that exists is never replaced."""
    return table.identity.put_new(_item(record))


def append(record: AuditRecord) -> None:
    """Store a record by itself; one conditional put."""
    table.write(put(record))


def records(
    organization_id: str, limit: int, after: str | None, since: datetime | None = None, until: datetime | None = None
) -> Slice[AuditRecord]:
    """The newest first, from `since` until before `until`; one query."""
    # Keys begin with the time, so the key after which a slice begins can be a time.
    if until is not None:
        before = clock.rfc3339(until)
        after = before if after is None else min(after, before)
    part = table.identity.list(keys.partition(organization_id), "", limit, after, newest_first=True)
    found = [_record(item) for item in part.entries]
    kept = [record for record in found if since is None or record.at >= since]
    return Slice(kept, part.position if len(kept) == len(found) else None)


def position(record: AuditRecord) -> str:
    """The record's place in the list."""
    return str(keys.record(record.organization_id, clock.rfc3339(record.at), record.id)["sk"])


def _item(record: AuditRecord) -> Item:
    at = clock.rfc3339(record.at)
    return keys.record(record.organization_id, at, record.id) | {
        "audit_id": record.id,
        "organization_id": record.organization_id,
        "at": at,
        "actor": principals.attribute(record.actor),
        "credential_id": record.credential_id,
        "credential_name": record.credential_name,
        "action": record.action,
        "target": record.target,
        "details": dict(record.details),
    }


def _record(item: Item) -> AuditRecord:
    details = items.mapping(item, "details")
    return AuditRecord(
        id=items.text(item, "audit_id"),
        organization_id=items.text(item, "organization_id"),
        at=clock.parse(items.text(item, "at")),
        actor=principals.read(item, "actor"),
        credential_id=items.text(item, "credential_id"),
        credential_name=items.text(item, "credential_name"),
        action=items.text(item, "action"),
        target=items.text(item, "target"),
        details={name: items.text(details, name) for name in details},
    )
