"""The keys of audit records in the identity table. docs/data.md has the attributes."""

from headgate.storage.table import Key


def partition(organization_id: str) -> str:
    return f"audit#{organization_id}"


def record(organization_id: str, at: str, audit_id: str) -> Key:
    return {"pk": partition(organization_id), "sk": f"{at}#{audit_id}"}
