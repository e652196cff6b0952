"""`headgate capture` against a server that answers what a test wants."""

import json
from typing import Any

import pytest

from headgate_cli.captures import commands
from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

FLEET = "flt_0123456789abcdefghjkmnpq0r"
GROUP = "dep_0123456789abcdefghjkmnpq0r"
HOST = "ins_0123456789abcdefghjkmnpq0r"
CAPTURE = "cap_0123456789abcdefghjkmnpq0r"
PATH = f"/api/v1/public/fleets/{FLEET}/captures"
AT = "2026-11-22T17:00:00.000Z"


def capture(status: str = "completed", **more: object) -> dict[str, Any]:
    return {
        **{"id": CAPTURE, "instance_id": HOST, "host_name": "web-1", "pipeline": "logs", "component": "otlp"},
        **{"condition": "true", "max_records": 100, "records": 7, "left_out": 1, "redacted": 3, "status": status},
        **{"reason": "time", "error": None, "created_at": AT, "configuration_id": "cfg_1", "signal_type": "logs"},
        **more,
    }


class Captures:
    """A server with one fleet. `states` is what a capture is in turn; the last one stays."""

    def __init__(self) -> None:
        self.states = [capture()]

    def __call__(self, asked: str) -> Answer:
        method, _, path = asked.partition(" ")
        path, _, _ = path.partition("?")
        if method == "DELETE":
            return 204, {}, b""
        if path.endswith("/sample"):
            return 200, {"Content-Type": "text/plain"}, b'{"resourceLogs":[]}\n'
        if path == PATH and method == "GET":
            return 200, {}, {"items": [capture()], "next_cursor": None}
        if path.endswith("/instances"):
            return 200, {}, {"items": [{"id": HOST, "name": "web-1"}], "next_cursor": None}
        if path.endswith("/deployments"):
            return 200, {}, {"items": [{"id": GROUP, "name": "Default"}], "next_cursor": None}
        if path.endswith("/fleets"):
            return 200, {}, {"items": [{"id": FLEET, "label": "servers"}], "next_cursor": None}
        if path.endswith(f"{GROUP}/captures"):
            return 200, {}, {"name": "Default"}
        return 200, {}, self.states.pop(0) if len(self.states) > 1 else self.states[0]


@pytest.fixture
def captures(server: Server, monkeypatch: pytest.MonkeyPatch) -> Captures:
    monkeypatch.setattr(commands, "_SECONDS", 0)
    server.answering = answering = Captures()
    return answering


def sent(server: Server, method: str) -> tuple[str, Any]:
    """The path and the body of the one request by this method."""
    ((line, body),) = [(line, body) for line, _, body in server.requests if line.startswith(method)]
    return line.removeprefix(f"{method} /api/v1/public/fleets/{FLEET}"), json.loads(body) if body else None


def test_a_capture_is_waited_for_after_its_cost_was_said(captures: Captures, server: Server, run: Run) -> None:
    captures.states = [capture("pending"), capture("running"), capture("completed")]
    code, out, err = run("capture start servers --host web-1 --pipeline logs --component otlp --for 5m")

    assert sent(server, "POST") == (
        "/captures",
        {"pipeline": "logs", "component": "otlp", "max_records": 100, "duration_seconds": 300, "instance_id": HOST},
    )
    assert err.startswith("The host's collector restarts to begin")
    assert (code, out.splitlines()) == (
        0,
        [
            f"{CAPTURE}  completed  time",
            "  web-1: logs after otlp, where true",
            "  7 of 100 records, 1 were too large, secrets taken out of 3 texts",
        ],
    )


@pytest.mark.parametrize(("status", "code"), [("completed", 0), ("failed", 1), ("expired", 1), ("running", 0)])
def test_a_capture_that_failed_ends_the_command_with_1(captures: Captures, run: Run, status: str, code: int) -> None:
    captures.states = [capture(status, error="no such pipeline")]
    ended, out, _ = run(f"capture show servers {CAPTURE}")

    assert ended == code
    assert "no such pipeline" in out


@pytest.mark.parametrize("options", ["", "--host web-1 --group Default"])
def test_one_host_or_one_group_is_named(captures: Captures, run: Run, options: str) -> None:
    code, _, err = run(f"capture start servers --pipeline logs --component otlp {options}")

    assert code == 2
    assert "say which host" in err


def test_captures_are_allowed_listed_ended_and_deleted(captures: Captures, server: Server, run: Run) -> None:
    assert run("capture allow servers Default")[1] == "Captures are allowed in Default\n"
    assert sent(server, "PUT") == (f"/deployments/{GROUP}/captures", {"allowed": True})
    assert f"{CAPTURE}  completed  web-1  logs after otlp  7" in run("capture list servers")[1]
    assert run(f"capture sample servers {CAPTURE}")[1] == '{"resourceLogs":[]}\n'
    assert "ends with the host's next message" in run(f"capture end servers {CAPTURE}")[1]
    assert run(f"capture delete servers {CAPTURE}")[1] == f"{CAPTURE} is deleted\n"
    assert "is not the id of a capture" in run("capture delete servers ../../x")[2]
