"""The keys of a version's tests and evidence, in the versions table beside the version. docs/data.md lists them."""

from headgate.storage.table import Key


def tests(configuration_id: str, n: int) -> Key:
    return {"configuration_id": configuration_id, "item": f"tests#{n:08d}"}


def evidence(configuration_id: str, n: int) -> Key:
    """In a partition of its own, so that the function which writes it can have no right on versions."""
    return {"configuration_id": evidence_of(configuration_id), "item": f"evidence#{n:08d}"}


def evidence_of(configuration_id: str) -> str:
    """The partition with the evidence of a configuration's versions."""
    return f"evidence#{configuration_id}"
