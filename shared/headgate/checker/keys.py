"""The keys of verdicts that were seen, in the versions table. docs/data.md lists them."""

from headgate.storage.table import Key


def verdict(organization_id: str, text_sha256: str, collector_version: str) -> Key:
    """In a partition of its own, so that the function which writes it can have no right on versions."""
    return {"configuration_id": f"verdicts#{organization_id}", "item": f"{text_sha256}#{collector_version}"}
