"""Trees of health that hostile agents report: cut to their bounds before and after they are read."""

import random
from datetime import UTC, datetime

import pytest

from headgate.foundation.ids import new_id
from headgate.instances.reported import health_tree
from headgate.opamp import messages, scan
from headgate_opamp import opamp_pb2 as wire

_WORDS = [f"{first}{last}" for first in "bcdfghjklmnprstvwz" for last in ("a", "e", "i", "o", "u", "an", "el", "is")]


@pytest.mark.parametrize("kind", ["many", "deep", "long", "random"])
def test_a_hostile_tree_is_cut_to_its_bounds(kind: str) -> None:
    health = wire.ComponentHealth(healthy=True, status="StatusOK" + "x" * 10_000)
    at = health
    for n in range({"many": 900, "deep": 30, "long": 400, "random": 500}[kind]):
        noise = " ".join(random.Random(n).choices(_WORDS, k=100))
        part = at.component_health_map[f"{n:04}" + "n" * (1_000 if kind == "long" else 0)]
        part.status_time_unix_nano = 2**64 - 1
        part.last_error = {"many": "", "deep": "x", "long": "e" * 5_000, "random": noise}[kind]
        at = part if kind == "deep" else at
    report = messages.decode(wire.AgentToServer(instance_uid=b"u" * 16, health=health).SerializeToString())
    tree = report.health_tree

    assert tree is not None
    assert len(tree.status) == health_tree.LONGEST_STATUS
    assert len(tree.parts) == {"many": 500, "deep": 4, "long": 400, "random": 500}[kind]
    assert tree.complete == (kind in ("long", "random"))
    assert tree.parts[0].at is not None
    assert tree.parts[0].at.year == 2554
    assert all(len(part.path[-1]) <= health_tree.LONGEST_NAME for part in tree.parts)
    at_last = datetime(2026, 12, 1, tzinfo=UTC)
    stored = health_tree.stored_item(new_id("ins", at_last), tree, at_last)
    packed = stored["tree"]
    assert isinstance(packed, bytes)
    assert len(packed) <= health_tree.MOST_BYTES
    assert kind != "random" or health_tree.read(stored).complete is False


def test_fields_of_health_are_counted_over_all_its_parts() -> None:
    def length(n: int) -> bytes:
        return bytes([n & 0x7F | 0x80, n >> 7 & 0x7F | 0x80, n >> 14])

    # A repeated field, which counts each time and would be written once by a client.
    value = b"\x08\x01" * 200
    entry = b"\x0a\x01a\x12" + length(len(value)) + value
    parts = (b"\x32" + length(len(entry)) + entry) * 60
    body = b"\x0a\x10" + b"u" * 16 + b"\x2a" + length(len(parts)) + parts

    with pytest.raises(scan.Malformed):
        scan.needed(body)
