"""Groups on the command line: why something is assigned, what is stored, who belongs to them, and their end."""

import json

import pytest

from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

ID = "0123456789abcdefghjkmnpq0r"
CONFIGURATION, FLEET, GROUP, INSTANCE = f"cfg_{ID}", f"flt_{ID}", f"dep_{ID}", f"ins_{ID}"
PATH = f"/api/v1/public/fleets/{FLEET}"
DEPLOYMENT = {"id": GROUP, "name": "web", "configuration_id": CONFIGURATION, "version_number": 2}
CONFIGURED = {"id": CONFIGURATION, "name": "edge", "yaml": "", "collector_version": "0.139.0", "published_version": 2}
VERSION = {"configuration_id": CONFIGURATION, "configuration_name": "edge", "version_number": 2}
EVENT = {
    "at": "2026-11-22T18:00:00.000Z",
    "event": "assigned",
    "by": {"kind": "user", "id": "usr_x", "name": "ada@example.com"},
    "message": "an incident",
    "before": None,
    "assigned": VERSION,
}
OLD = {"severity": "warning", "code": "other_collector_version", "message": "2 run 0.1"}


def sent(server: Server) -> tuple[str, object]:
    """The last request."""
    asked, _, body = server.requests[-1]
    return asked, json.loads(body) if body else None


def test_an_assignment_says_why_and_tells_of_hosts_that_cannot_run_it(server: Server, run: Run) -> None:
    def answer(asked: str) -> Answer:
        if "/validate" in asked:
            return 200, {}, {"valid": True}
        if asked.startswith("GET"):
            return 200, {}, CONFIGURED | {"latest_version": 2}
        return 200, {}, DEPLOYMENT | VERSION | {"warnings": [OLD]}

    server.answering = answer
    code, out, err = run(f"deployment assign {FLEET} {GROUP} {CONFIGURATION} --message because")
    assert (code, out) == (0, f"web ({GROUP}) is assigned edge v2\n")
    assert "warning: 2 run 0.1" in err
    asked, body = sent(server)
    assert (asked, body) == (
        f"PATCH {PATH}/deployments/{GROUP}",
        {"configuration_id": CONFIGURATION, "version_number": 2, "message": "because"},
    )


@pytest.mark.parametrize(("severity", "ends"), [("warning", 0), ("error", 1)])
def test_a_check_assigns_nothing_and_ends_with_1_for_errors(server: Server, run: Run, severity: str, ends: int) -> None:
    found = {"severity": severity, "code": "other", "message": "no", "component_path": "receivers::otlp"}
    server.answers = [(200, {}, CONFIGURED | {"latest_version": 2}), (200, {}, {"warnings": [found]})]
    assert run(f"deployment check {FLEET} {GROUP} {CONFIGURATION}")[:2] == (ends, f"{severity}: receivers::otlp: no\n")
    assert sent(server)[0] == f"POST {PATH}/deployments/{GROUP}/assignment-check"


def test_the_history_is_a_table_and_a_time_is_one_line(server: Server, run: Run) -> None:
    reach = {"state": "assigned", "total": 2, "applied": 1, "failed": 0}
    server.answers = [(200, {}, {"items": [EVENT | {"reach": reach}], "next_cursor": None})]
    code, out, _ = run(f"deployment history {FLEET} {GROUP}")
    said = "2026-11-22 18:00 assigned edge v2 assigned, 1 of 2 run it - ada@example.com an incident"
    assert (code, out.splitlines()[1].split()) == (0, said.split())
    server.answers = [(200, {}, {"at": EVENT["at"], "assigned": VERSION, "since": EVENT["at"], "event": EVENT})]
    assert run(f"deployment history {FLEET} {GROUP} --at 2026-11-22T18:30:00Z")[:2] == (
        0,
        "edge v2, since 2026-11-22 18:00 UTC, by ada@example.com\n",
    )


def test_a_secret_is_read_from_the_environment_and_not_printed(
    server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "very secret")
    stored = {"name": "API_KEY", "secret": True, "value": None, "set_at": "2026-11-22T18:00:00.000Z"}
    server.answers = [(200, {}, {"revision": 5, "items": [stored]})]
    code, out, err = run(f"deployment env {FLEET} {GROUP} --env ZONE=a --secret API_KEY --remove OLD")
    assert code == 0
    assert sent(server) == (
        f"PATCH {PATH}/deployments/{GROUP}/env",
        {"variables": {"ZONE": "a", "OLD": None}, "secrets": {"API_KEY": "very secret"}},
    )
    assert "very secret" not in out + err
    assert "(secret)" in out
    run(f"deployment env {FLEET} {GROUP}")
    assert sent(server) == (f"GET {PATH}/deployments/{GROUP}/env", None)


def test_a_secret_without_a_variable_and_a_terminal_is_a_usage_error(server: Server, run: Run) -> None:
    code, _, err = run(f"deployment env {FLEET} {GROUP} --secret ELSEWHERE")

    assert (code, server.requests) == (2, [])
    assert "no terminal to ask for the secret ELSEWHERE: set its variable for this command" in err
    code, _, err = run(f"deployment env {FLEET} {GROUP} --secret ELSEWHERE=s3cret-value")
    assert (code, server.requests) == (2, [])
    assert "--secret takes a name alone: give ELSEWHERE its value" in err
    assert "s3cret-value" not in err


def test_the_hosts_of_stored_variables_are_counted_and_those_without_are_named(server: Server, run: Run) -> None:
    older = {"instance_id": "ins_1", "name": "web-9", "message": "Install the host again"}
    found = {"newest": 5, "rolled_out": 4, "hosts": 5, "unknown": 1, "unreached": 2, "not_moved": [older]}
    running = [{"revision": 4, "hosts": 3}, {"revision": None, "hosts": 1}]
    server.answers = [(200, {}, {**found, "running": running})]
    code, out, _ = run(f"deployment env {FLEET} {GROUP} --hosts")

    assert (code, sent(server)) == (0, (f"GET {PATH}/deployments/{GROUP}/env/hosts", None))
    lines = [line.split() for line in out.splitlines()]
    assert lines[2:5] == [["4", "3"], ["of", "the", "install", "1"], ["not", "known", "1"]]
    assert "gets none: web-9: Install the host again" in out
    assert "gets none: 1 more" in out
    assert run(f"deployment env {FLEET} {GROUP} --hosts --remove A")[0] == 2


def test_labels_select_a_group_or_nobody(server: Server, run: Run) -> None:
    server.answers = [(200, {}, DEPLOYMENT)]
    assert run(f"deployment select {FLEET} {GROUP} --label role=web --label zone=a")[:2] == (
        0,
        "web is selected by role=web, zone=a\n",
    )
    assert sent(server) == (f"PUT {PATH}/deployments/{GROUP}/selector", {"labels": {"role": "web", "zone": "a"}})
    assert run(f"deployment select {FLEET} {GROUP} --none")[0] == 0
    assert sent(server)[1] == {"labels": {}}
    assert run(f"deployment select {FLEET} {GROUP}")[0] == 2


def test_what_is_deleted_is_found_by_name(server: Server, run: Run) -> None:
    def answer(asked: str) -> Answer:
        if asked.startswith("DELETE"):
            return 204, {}, b""
        item = {"id": INSTANCE, "name": None, "host_name": "web-1"} if "/instances" in asked else DEPLOYMENT
        item = {"id": FLEET, "label": "edge"} if "/fleets?" in asked else item
        return 200, {}, {"items": [item], "next_cursor": None}

    server.answering = answer
    for line, path, said in (
        ("fleet delete edge", PATH, "edge"),
        ("deployment delete edge web", f"{PATH}/deployments/{GROUP}", "web"),
        ("fleet forget edge web-1", f"{PATH}/instances/{INSTANCE}", "web-1"),
    ):
        assert run(line)[:2] == (0, f"{said} is deleted\n")
        assert sent(server) == (f"DELETE {path}", None)
    assert run("deployment delete edge other")[0] == 1
