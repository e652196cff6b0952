"""Values of an archive's attributes: each type, and both sides of each bound."""

from datetime import UTC, datetime, timedelta

import pytest

from headgate.backup import checks
from headgate.backup.checks import Check
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.storage.items import Value

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
KEY: dict[str, Value] = {"public": b"k" * 32, "start": 0, "number": 0}
USER: dict[str, Value] = {"kind": "user", "id": new_id("usr"), "name": "a" * 1_000}
INSTANCE: dict[str, Value] = {"kind": "instance", "id": new_id("ins"), "name": "a"}


def maps(levels: int) -> Value:
    return {"in": maps(levels - 1)} if levels else "innermost"


def lists(levels: int) -> Value:
    return [lists(levels - 1)] if levels else "innermost"


def ahead(milliseconds: int) -> str:
    return clock.rfc3339(NOW + timedelta(minutes=5, milliseconds=milliseconds))


@pytest.mark.parametrize(
    ("check", "accepted", "refused"),
    [
        (checks.text(3), "abc", ["abcd", 1, None, b"abc"]),
        (checks.one_of("on", "off"), "on", ["ON", "", True]),
        (checks.an_id("usr", "ins"), INSTANCE["id"], [new_id("org"), "usr_", 1]),
        (checks.number, 0, [-1, True, False, "1", None]),
        (checks.counted, 1, [0, -1, True]),
        (checks.generation, 10_000, [10_001, 0, True]),
        (checks.flag, False, [0, 1, "true"]),
        (checks.packed, b"a" * 400_000, [b"a" * 400_001, "a"]),
        (
            checks.host_key,
            KEY,
            [
                *({**KEY, "public": b"k" * length} for length in (31, 33)),
                *({**KEY, name: wrong} for name in ("start", "number") for wrong in (-1, True)),
                *({**KEY, "public": "k" * 32}, {**KEY, "more": 0}, {"public": b"k" * 32}, [KEY]),
            ],
        ),
        (
            checks.time,
            "2026-02-28T23:59:59.999Z",
            ["2026-02-29T00:00:00.000Z", "2026-02-28T24:00:00.000Z", "2026-02-28T23:59:59Z", 1],
        ),
        (checks.past, ahead(0), [ahead(1), "2026-02-29T00:00:00.000Z", 0]),
        (checks.digest, "0f" * 32, ["0f" * 32 + "0", "0F" * 32, "0f" * 31]),
        (
            checks.principal,
            USER,
            [INSTANCE, {**USER, "name": "a" * 1_001}, {**USER, "id": INSTANCE["id"]}, {**USER, "role": "admin"}],
        ),
        (checks.actor, INSTANCE, [{**INSTANCE, "kind": "user"}, {**INSTANCE, "kind": "machine"}, "user"]),
        (checks.mapping, maps(16), [maps(17), {"in": lists(16)}, [], "{}"]),
        (checks.entries, lists(16), [lists(17), [maps(16)], {}, "[]"]),
        (checks.names, ["a" * 200], [["a" * 201], [1], "a"]),
        (checks.texts, {"a": ""}, [{"a": 1}, {"a": "", "b": None}, []]),
    ],
    ids=lambda value: value.__name__ if callable(value) else None,
)
def test_a_value_has_its_type_and_keeps_its_bounds(
    check: Check, accepted: Value, refused: list[Value], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)

    assert (check(accepted), [value for value in refused if check(value)]) == (True, [])
