"""What a host may say of itself: a stranger's text, of which only the expected is taken."""

import json
from typing import Any, Final

import pytest

from headgate.instances import host
from headgate.instances.host import UNKNOWN, Counters, Exporter, Malformed

FULL: Final[dict[str, Any]] = {
    "v": 1,
    "supervisor": {"version": "0.2.0"},
    "name": "web-1",
    "labels": {"zone": "a"},
    "config": {"hash": "a" * 64, "drifted": ["receivers"]},
    "exits": {"since_apply": 2, "last": ["2026-11-22T12:00:00.123456789Z"]},
    "counters": {
        **{"seconds": 30, "accepted": 7, "refused": 0, "sent": 5, "failed": 2, "dropped": 0, "queue": 0.25},
        "exporters": {"otlphttp/a": {"sent": 5, "failed": 2, "queue": 0.25}},
    },
}


def report(**changed: object) -> host.HostReport:
    return host.decode(json.dumps({**FULL, **changed}).encode())


def test_what_has_not_changed_stays_and_counters_are_no_news() -> None:
    known = report().after(UNKNOWN)
    after = host.decode(b'{"v":1,"config":{"hash":"","drifted":[]}}').after(known)

    assert (known.name, known.labels, known.exits, known.drifted) == ("web-1", {"zone": "a"}, 2, ("receivers",))
    assert known.counters == Counters(30, 7, 0, 5, 2, 0, 0.25, {"otlphttp/a": Exporter(5, 2, 0.25)})
    assert (after.name, after.text_hash, after.drifted) == ("web-1", "", ())
    moved = {**FULL["counters"], "sent": 6}
    assert report(counters=moved).after(known) == known


def test_a_full_report_without_labels_removes_them() -> None:
    said = json.dumps({"v": 1, "supervisor": {"version": "0.2.0"}}).encode()

    assert host.decode(said).after(report().after(UNKNOWN)).labels == {}


@pytest.mark.parametrize(
    "changed",
    [
        {"v": 2},
        {"supervisor": {"version": "1 <b>"}},
        {"supervisor": []},
        {"name": "two\nlines"},
        {"name": "x" * 256},
        {"labels": {"": "a"}},
        {"labels": {"a": 1}},
        {"labels": {f"k{i}": "" for i in range(65)}},
        {"config": {"hash": "zz", "drifted": []}},
        {"config": {"hash": "", "drifted": ["${env:SECRET}"]}},
        {"config": {"hash": "", "drifted": ["a"] * 21}},
        {"exits": {"since_apply": -1, "last": []}},
        {"exits": {"since_apply": True, "last": []}},
        {"exits": {"since_apply": 1, "last": ["yesterday"]}},
        {"counters": {**FULL["counters"], "queue": 2}},
        {"counters": {**FULL["counters"], "sent": 1e300}},
        {"counters": {**FULL["counters"], "exporters": {str(i): {} for i in range(17)}}},
        {"labels": None},
        {"name": "x" * 9_000},
    ],
)
def test_what_is_not_such_a_report_is_refused_whole(changed: dict[str, object]) -> None:
    with pytest.raises(Malformed):
        report(**changed)


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"[" * 8_000, b'{"v":1,"counters":{"seconds":NaN}}'])
def test_what_is_not_even_json_is_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        host.decode(data)
