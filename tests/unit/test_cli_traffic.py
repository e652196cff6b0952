"""`headgate fleet traffic` against a server that answers what a test wants."""

import json
from datetime import datetime, timedelta
from typing import Any

from tests.support.answering import Server
from tests.support.cli_in_process import Run

FLEET, GROUP = "flt_0123456789abcdefghjkmnpq0r", "dep_0123456789abcdefghjkmnpq0r"
BEGIN = datetime.fromisoformat("2026-11-22T00:00:00+00:00")


def point(hour: int, accepted: int, **more: object) -> dict[str, Any]:
    at = (BEGIN + timedelta(hours=hour)).isoformat()
    counted = {"accepted": accepted, "refused": 0, "sent": accepted, "failed": 1, "dropped": 2, "queue": 3 * hour}
    return {"at": at, "hosts": 2.0, **counted, "accepted_bytes": None, "sent_bytes": None, **more}


def line(name: str, points: list[dict[str, Any]], kind: str = "pipeline") -> dict[str, Any]:
    return {"name": name, "kind": kind, "pipelines": [], "shared": False, "points": points}


def answer(*lines: dict[str, Any]) -> dict[str, Any]:
    end = (BEGIN + timedelta(hours=24)).isoformat()
    return {"begin": BEGIN.isoformat(), "end": end, "step": 3_600, "resolution": 3_600, "series": list(lines)}


def test_traffic_is_a_table_with_a_line_over_time(server: Server, run: Run) -> None:
    points = [point(0, 100), point(1, 800), point(4, 0, sent_bytes=5_000)]
    server.answering = lambda _: (200, {}, answer(line("logs", points)))

    code, out, _ = run(f"fleet traffic {FLEET}")

    assert code == 0
    assert f"/fleets/{FLEET}/series?by=pipeline&from=" in server.requests[0][0]
    assert f"/fleets/{FLEET}/costs?days=2" in server.requests[1][0]
    heading, row, last = out.splitlines()
    assert heading.split() == [
        "PIPELINE",
        "TAKEN",
        "OVER",
        "TIME",
        "TAKEN",
        "SENT",
        "FAILED",
        "DROPPED",
        "BYTES",
        "OUT",
        "QUEUE",
    ]
    assert "▁█  ▁" in row
    assert row.split()[-8:] == ["900", "900", "3", "6", "5.0", "K", "12", "%"]
    assert "3600 s is spread" in last


def test_an_exporter_shows_what_it_sent_and_unmeasured_bytes_are_no_zero(server: Server, run: Run) -> None:
    sent = line("logs | exporter/otlphttp", [point(0, 0, sent=50)], "exporter")
    server.answering = lambda _: (200, {}, answer(sent))

    _, out, _ = run(f"fleet traffic {FLEET} {GROUP} --by component --last 7d")

    assert f"/fleets/{FLEET}/deployments/{GROUP}/series?by=component" in server.requests[0][0]
    assert "not measured" in out
    assert "█" in out


def test_json_is_the_answer_as_it_came(server: Server, run: Run) -> None:
    server.answering = lambda _: (200, {}, answer(line("logs", [point(0, 1)])))

    code, out, _ = run(f"fleet traffic {FLEET} --json")

    assert (code, json.loads(out)) == (0, answer(line("logs", [point(0, 1)])))


def test_nothing_counted_is_said(server: Server, run: Run) -> None:
    server.answering = lambda _: (200, {}, answer())

    assert "No collector counted anything in the last 24h" in " ".join(run(f"fleet traffic {FLEET}")[1:])


def test_a_time_that_is_none_is_refused_before_anything_is_asked(server: Server, run: Run) -> None:
    code, _, err = run(f"fleet traffic {FLEET} --last yesterday")

    assert (code, "90m, 24h or 7d" in err, server.requests) == (2, True, [])
