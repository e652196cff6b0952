"""The keys of a version's tests and evidence, in the versions table beside the version. docs/data.md lists them."""

from headgate.storage.table import Key


def tests(configuration_id: str, n: int) -> Key:
    return {"configuration_id": configuration_id, "item": f"tests#{n:08d}"}


def evidence(configuration_id: str, n: int) -> Key:
    return {"configuration_id": configuration_id, "item": f"evidence#{n:08d}"}
