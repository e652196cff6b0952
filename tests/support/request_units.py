"""Calls to DynamoDB, and the request units that they are charged as, counted at the client of this process."""

import math
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from botocore.model import OperationModel

from headgate.storage import aws

UNIT: Final = {"read": 4_096, "write": 1_024}
_off: Final = threading.Event()


@contextmanager
def uncounted() -> Iterator[None]:
    _off.set()
    try:
        yield
    finally:
        _off.clear()


@contextmanager
def counted() -> Iterator[tuple[Counter[str], Counter[str]]]:
    """Calls to DynamoDB by operation, and the request units that they are charged as."""
    calls: Counter[str] = Counter()
    units: Counter[str] = Counter()

    def asked(params: Mapping[str, Any], model: OperationModel, **_: object) -> None:
        if _off.is_set():
            return
        calls[model.name] += 1
        for write in params.get("TransactItems", []):
            # A transaction is charged twice. What is checked or deleted is taken to be small.
            units["write"] += 2 * whole_units(write.get("Put", {}).get("Item", {}), "write")
        if model.name in ("UpdateItem", "PutItem", "DeleteItem"):
            units["write"] += 1

    def answered(parsed: Mapping[str, Any], model: OperationModel, **_: object) -> None:
        if _off.is_set():
            return
        found = [item for items in parsed.get("Responses", {}).values() for item in items]
        if model.name == "GetItem":
            found = [parsed.get("Item", {})]
        units["read"] += sum(whole_units(item, "read") for item in found)
        if model.name == "Query":
            # All that it read together.
            units["read"] += whole_units({"read": {"L": [{"M": item} for item in parsed["Items"]]}}, "read")

    events = aws.dynamodb().meta.events
    events.register("provide-client-params.dynamodb", asked, unique_id="asked")
    events.register("after-call.dynamodb", answered, unique_id="answered")
    try:
        yield calls, units
    finally:
        events.unregister("provide-client-params.dynamodb", unique_id="asked")
        events.unregister("after-call.dynamodb", unique_id="answered")


def whole_units(item: Mapping[str, Any], kind: str) -> int:
    return max(1, math.ceil(size_of({"M": item}) / UNIT[kind]))


def size_of(attribute: Mapping[str, Any]) -> int:
    """Bytes as DynamoDB counts them (Developer Guide, "DynamoDB item sizes and formats"); numbers a little high."""
    ((kind, value),) = attribute.items()
    if kind == "M":
        return 3 + sum(len(name.encode()) + size_of(entry) + 1 for name, entry in value.items())
    if kind == "L":
        return 3 + sum(size_of(entry) + 1 for entry in value)
    if kind == "N":
        return len(value) // 2 + 2
    return len(value.encode()) if kind == "S" else len(value) if kind == "B" else 1
