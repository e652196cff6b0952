"""Audit records in the identity table: put once, read, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headgate.audit.model import AuditRecord
from headgate.foundation import clock
from headgate.identity import keys, table
from headgate.identity.model import Principal
from headgate.settings import settings
from headgate.storage import aws, items
from headgate.storage.items import Item
from headgate.storage.page import Slice

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


def put(record: AuditRecord) -> TransactWriteItemTypeDef:
    """The record as a part of the transaction that makes the change; a record that exists is never replaced."""
    return table.put_new(_item(record))


def append(record: AuditRecord) -> None:
    """Keep a record by itself; one conditional put."""
    aws.dynamodb().put_item(
        TableName=settings().identity_table,
        Item=items.marshal(_item(record)),
        ConditionExpression="attribute_not_exists(pk)",
    )


def records(organization_id: str, limit: int, after: str | None) -> Slice[AuditRecord]:
    """The newest first; one query."""
    part = table.query(keys.audit_partition(organization_id), "", limit, after, newest_first=True)
    return Slice([_record(item) for item in part.entries], part.position)


def _item(record: AuditRecord) -> Item:
    at = clock.rfc3339(record.at)
    return keys.audit(record.organization_id, at, record.id) | {
        "audit_id": record.id,
        "organization_id": record.organization_id,
        "at": at,
        "actor": {"kind": record.actor.kind, "id": record.actor.id, "name": record.actor.name},
        "credential_id": record.credential_id,
        "credential_name": record.credential_name,
        "action": record.action,
        "target": record.target,
        "details": dict(record.details),
    }


def _record(item: Item) -> AuditRecord:
    actor, details = item["actor"], item["details"]
    assert isinstance(actor, Mapping)
    assert isinstance(details, Mapping)
    return AuditRecord(
        id=items.text(item, "audit_id"),
        organization_id=items.text(item, "organization_id"),
        at=clock.parse(items.text(item, "at")),
        actor=Principal(
            "user" if actor["kind"] == "user" else "service_account",
            items.text(actor, "id"),
            items.text(actor, "name"),
        ),
        credential_id=items.text(item, "credential_id"),
        credential_name=items.text(item, "credential_name"),
        action=items.text(item, "action"),
        target=items.text(item, "target"),
        details={name: items.text(details, name) for name in details},
    )
