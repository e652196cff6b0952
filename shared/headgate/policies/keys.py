"""The key of an organization's policies in the identity table, which is apart so that few functions may write it."""

from headgate.storage.table import Key


def policies(organization_id: str) -> Key:
    return {"pk": f"policies#{organization_id}", "sk": "policies"}
