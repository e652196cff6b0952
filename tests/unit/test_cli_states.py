"""`headgate fleet states` against a server that answers what a test wants."""

import json
from typing import Any

from tests.support.answering import Server
from tests.support.cli_in_process import Run

FLEET, GROUP = "flt_0123456789abcdefghjkmnpq0r", "dep_0123456789abcdefghjkmnpq0r"


def point(at: str, states: dict[str, int], *versions: tuple[int | None, int]) -> dict[str, Any]:
    ran = [
        {
            "configuration_id": number and "cfg_0123456789abcdefghjkmnpq0r",
            "name": number and "web_shop",
            "version_number": number,
            "collectors": collectors,
        }
        for number, collectors in versions
    ]
    return {"at": f"2026-11-22T{at}:00.000Z", "states": states, "versions": ran}


def answer(*points: dict[str, Any], left_out: int = 0) -> dict[str, Any]:
    return {"step": 1_800, "collectors": 8, "left_out": left_out, "points": list(points)}


def test_states_and_versions_are_lines_over_the_day(server: Server, run: Run) -> None:
    points = [
        point("10:00", {}),
        point("10:30", {"applied": 8}, (1, 8)),
        point("11:00", {"applied": 4, "apply_failed": 4}, (1, 4), (2, 3), (None, 1)),
    ]
    server.answering = lambda _: (200, {}, answer(*points, left_out=2))

    code, out, _ = run(f"fleet states {FLEET} {GROUP}")

    assert code == 0
    assert server.requests[0][0].endswith(f"/fleets/{FLEET}/deployments/{GROUP}/states")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[1:3] == ["applied █▄ 4 8", "apply failed ▁█ 4 4"]
    assert lines[5:8] == ["web_shop v1 █▄ 4 8", "web_shop v2 ▁█ 3 3", "nothing ▁█ 1 1"]
    assert "8 collectors, 2026-11-22 10:00 to 2026-11-22 11:00 UTC" in lines[8]
    assert "2 more that changed are left out" in lines[8]


def test_json_is_the_answer_as_it_came(server: Server, run: Run) -> None:
    server.answering = lambda _: (200, {}, answer(point("10:00", {"applied": 1}, (1, 1))))

    code, out, _ = run(f"fleet states {FLEET} --json")

    assert (code, json.loads(out)) == (0, answer(point("10:00", {"applied": 1}, (1, 1))))


def test_a_day_without_reports_is_said(server: Server, run: Run) -> None:
    server.answering = lambda _: (200, {}, answer(point("10:00", {})))

    assert "No collector reported in the last day" in " ".join(run(f"fleet states {FLEET}")[1:])
