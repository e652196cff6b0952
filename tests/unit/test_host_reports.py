"""What a host may say of itself: a stranger's text, of which only the expected is taken."""

import json
import re
from typing import Any, Final

import pytest

from headgate.instances.reported.host import UNKNOWN, CrashLoop, Exporter, HostCounters, HostReport
from headgate.opamp import host_reports
from headgate.opamp.host_reports import Malformed

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


def report(**changed: object) -> HostReport:
    return host_reports.decode(json.dumps({**FULL, **changed}).encode())


def test_what_has_not_changed_stays_and_counters_are_not_news() -> None:
    known = report().after(UNKNOWN)
    after = host_reports.decode(b'{"v":1,"config":{"hash":"","drifted":[]}}').after(known)

    assert (known.name, known.labels, known.exits, known.drifted) == ("web-1", {"zone": "a"}, 2, ("receivers",))
    assert known.counters == HostCounters(30, 7, 0, 5, 2, 0, 0.25, {"otlphttp/a": Exporter(5, 2, 0.25)})
    assert (after.name, after.text_hash, after.drifted) == ("web-1", "", ())
    moved = {**FULL["counters"], "sent": 6}
    assert report(counters=moved).after(known) == known


def test_a_full_report_without_labels_removes_them() -> None:
    said = json.dumps({"v": 1, "supervisor": {"version": "0.2.0"}}).encode()

    assert host_reports.decode(said).after(report().after(UNKNOWN)).labels == {}


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
        {"labels": {"password=hunter2": "a"}},
        {"counters": {**FULL["counters"], "exporters": {"hunter2": {}}}},
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
        {"crash_loop": {"hash": "zz", "exits": 3}},
        {"can": "restart"},
        {"done": ["<b>"]},
        {"done": ["ord_1"] * 17},
        {"components": {"list": ["receiver/otlp"]}},
        {"components": {"hash": "a" * 64, "list": ["<b>"]}},
        {"components": {"hash": "a" * 64, "list": ["receiver/otlp"] * 2_001}},
        {"name": "x" * 200, "labels": {f"k{i}": "y" * 200 for i in range(64)}},
    ],
)
def test_what_is_not_such_a_report_is_refused_whole(changed: dict[str, object]) -> None:
    with pytest.raises(Malformed) as refused:
        report(**changed)

    # The message goes to the log.
    assert str(refused.value) in changed or re.fullmatch(r"it has \d+ bytes", str(refused.value))


def test_a_list_of_components_may_be_longer_than_the_rest_of_a_report() -> None:
    names = [f"receiver/{'x' * 100}{i}" for i in range(500)]
    said = report(components={"hash": "b" * 64, "list": names})

    assert (said.components, list(said.component_list or ())) == ("b" * 64, names)


def test_orders_that_this_service_does_not_know_are_left_out() -> None:
    said = report(can=["restart", "dance"], done=["ord_1"], crash_loop={"hash": "c" * 64, "exits": 3})

    assert (said.can, said.done, said.crash_loop) == (("restart",), ("ord_1",), CrashLoop("c" * 64, 3))
    known = said.after(UNKNOWN)
    assert (known.can, known.crash_loop) == (("restart",), CrashLoop("c" * 64, 3))
    assert (report().after(known).can, report().after(known).crash_loop) == ((), None)


def test_a_host_that_does_not_know_what_runs_leaves_the_hash_out() -> None:
    assert report(config={"drifted": []}).text_hash is None


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"[" * 8_000, b'{"v":1,"counters":{"seconds":NaN}}'])
def test_what_is_not_even_json_is_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        host_reports.decode(data)
