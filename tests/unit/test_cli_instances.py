"""`headgate instance` against a server that answers what a test wants."""

import json
from typing import Any

import pytest

from headgate_cli import watching
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup
from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

CONFIGURATION = "cfg_0123456789abcdefghjkmnpq0r"
FLEET = "flt_0123456789abcdefghjkmnpq0r"
GROUP = "dep_0123456789abcdefghjkmnpq0r"
HOST = "ins_0123456789abcdefghjkmnpq0r"
PATH = f"/api/v1/public/fleets/{FLEET}/instances"
AT = "2026-11-22T17:00:00.000Z"


def version(n: int | None, **more: object) -> dict[str, object]:
    named = {"configuration_id": CONFIGURATION, "configuration_name": "shop"} if n else {"configuration_id": None}
    return {**named, "version_number": n, "at": AT, **more}


def host(state: str = "apply_failed", running: int | None = 2, **more: object) -> dict[str, Any]:
    return {
        **{"id": HOST, "deployment_id": GROUP, "name": "web-1", "host_name": "vm", "os": "linux", "arch": "amd64"},
        **{"state": state, "state_message": "no route" if state == "apply_failed" else None},
        **{"assigned": version(3), "running": version(running), "desired": version(3), "offered": version(2)},
        "attempted": version(3, outcome="failed", reason="no route"),
        **{"override": None, "orders": [], "exits": 0, "drifted": [], "last_seen_at": AT},
        **more,
    }


class Fleets:
    """A server with one fleet and its host. `listed` is what the list has in turn; the last one stays."""

    def __init__(self) -> None:
        self.listed: list[list[dict[str, Any]]] = [[host()]]
        self.found: dict[str, Any] = {}

    def __call__(self, asked: str) -> Answer:
        method, _, path = asked.partition(" ")
        path, _, _ = path.partition("?")
        if method == "DELETE":
            return 204, {}, b""
        if path in self.found:
            return 200, {}, self.found[path]
        if path == PATH:
            return 200, {}, {"items": self.listed.pop(0) if len(self.listed) > 1 else self.listed[0]}
        if path.endswith("/deployments"):
            return 200, {}, {"items": [{"id": GROUP, "name": "Default"}], "next_cursor": None}
        if path.endswith("/fleets"):
            return 200, {}, {"items": [{"id": FLEET, "label": "servers"}], "next_cursor": None}
        named = {"id": CONFIGURATION, "name": "shop"}
        return 200, {}, {**named, "items": [named], "next_cursor": None}


@pytest.fixture
def fleets(server: Server) -> Fleets:
    answering = Fleets()
    answering.found[f"{PATH}/{HOST}"] = host()
    server.answering = answering
    return answering


def sent(server: Server, method: str) -> tuple[str, Any]:
    """The path and the body of the one request by this method."""
    ((line, body),) = [(line, body) for line, _, body in server.requests if line.startswith(method)]
    return line.removeprefix(f"{method} {PATH}/{HOST}"), json.loads(body) if body else None


def test_a_host_is_shown_with_its_four_versions(fleets: Fleets, run: Run) -> None:
    override = version(4, until="2026-11-23T17:00:00.000Z", created_by={"name": "ann"}, message="try")
    order = {"id": "ord_1", "do": "restart", "created_at": AT}
    fleets.found[f"{PATH}/{HOST}"] = host(override=override, orders=[order])
    code, out, _ = run("instance show servers web-1")

    assert code == 0
    assert out.splitlines() == [
        f"web-1  apply failed  {HOST}",
        "  no route",
        "  desired    shop v3, since 2026-11-22 17:00",
        "  offered    shop v2, since 2026-11-22 17:00",
        "  attempted  shop v3, failed, since 2026-11-22 17:00: no route",
        "  running    shop v2, since 2026-11-22 17:00",
        "  override   shop v4 until 2026-11-23 17:00, by ann: try",
        "  ordered    restart at 2026-11-22 17:00, not done yet",
        "  host key   none: its messages are not signed",
        "  last seen  2026-11-22 17:00 (UTC)",
    ]


def test_a_collector_that_somebody_else_configures_does_not_run_nothing(fleets: Fleets, run: Run) -> None:
    fleets.found[f"{PATH}/{HOST}"] = host(state="running", running=None, desired=version(None), attempted=None)

    assert "  running    a configuration of its own" in run("instance show servers web-1")[1].splitlines()


def test_what_happened_is_a_table_and_a_time_is_a_line(fleets: Fleets, run: Run) -> None:
    event = {"at": AT, "event": "apply_failed", "version": version(3), "running": version(2), "reason": "no route"}
    fleets.found[f"{PATH}/{HOST}/history"] = {"items": [event], "next_cursor": None}
    _, out, _ = run(f"instance history servers {HOST}")
    assert out.splitlines()[1].split("  ") == ["2026-11-22 17:00", "apply failed", "shop v3", "shop v2", "no route"]

    fleets.found[f"{PATH}/{HOST}/history"] = {"at": AT, "state": "silent", "running": version(2)}
    assert run(f"instance history servers {HOST} --at {AT}")[1] == "silent, ran shop v2\n"


def test_an_empty_time_is_no_request_for_all_that_happened(server: Server, fleets: Fleets, run: Run) -> None:
    for line in (f"instance history {FLEET} {HOST} --at=", f"deployment history {FLEET} {GROUP} --at="):
        code, _, err = run(line)
        assert (code, server.requests) == (2, [])
        assert "--at is empty: pass a time, or leave the option out" in err


def test_an_empty_name_is_that_of_no_host(server: Server, fleets: Fleets) -> None:
    """A variable of a script that is not set, and a host that reports an empty name."""
    fleets.listed = [[host(host_name="")]]

    with pytest.raises(Failed, match="has no host ''"):
        lookup.instance(server.api(), FLEET, "")


@pytest.mark.parametrize("do", ["restart", "retry"])
def test_an_order_is_sent_and_said_when_it_is_done(server: Server, fleets: Fleets, run: Run, do: str) -> None:
    fleets.found[f"{PATH}/{HOST}/{do}"] = {"id": "ord_1", "do": do, "created_at": AT, "expires_at": AT}
    code, out, err = run(f"instance {do} servers {HOST}")

    assert (code, out, sent(server, "POST")[0]) == (0, "ord_1\n", f"/{do}")
    assert "headgate instance history servers" in err


def test_another_host_is_let_take_a_place(server: Server, fleets: Fleets, run: Run) -> None:
    fleets.found[f"{PATH}/{HOST}/allow-move"] = {"move_allowed_until": AT}
    code, out, _ = run(f"instance allow-move servers {HOST}")

    said = f"another host may take the place of {HOST} until 2026-11-22 17:00 (UTC)\n"
    assert (code, out, sent(server, "POST")[0]) == (0, said, "/allow-move")


@pytest.mark.parametrize(("act", "said"), [("cut-off", "refused"), ("let-in", "taken again")])
def test_a_host_is_cut_off_and_let_in(server: Server, fleets: Fleets, run: Run, act: str, said: str) -> None:
    fleets.found[f"{PATH}/{HOST}/{act}"] = {"id": HOST}
    code, out, _ = run(f"instance {act} servers {HOST}")

    assert (code, sent(server, "POST")[0]) == (0, f"/{act}")
    assert f"messages of {HOST} are {said}" in out


def test_a_host_that_was_installed_again_replaces_the_one_of_its_name_that_is_gone(
    server: Server, fleets: Fleets, run: Run
) -> None:
    again = HOST.replace("0r", "1r")
    fleets.listed = [[host("silent"), host("applied", id=again)]]
    fleets.found[f"{PATH}/{HOST}/replace"] = host("applied", id=again)
    code, out, _ = run("instance replace servers web-1")

    assert (code, out, sent(server, "POST")) == (0, f"web-1 is {again} now\n", ("/replace", {"by": None}))


@pytest.mark.parametrize(
    ("options", "body", "group"),
    [
        ("--label team=shop --label old=", {"labels": {"team": "shop", "old": None}}, GROUP),
        ("--group Default", {"deployment_id": GROUP}, "Default"),
        ("--back", {"deployment_id": None}, GROUP),
    ],
)
def test_a_host_is_labelled_and_moved(
    server: Server, fleets: Fleets, run: Run, options: str, body: dict[str, object], group: str
) -> None:
    fleets.found[f"{PATH}/{HOST}"] = host(labels={"team": "shop"}, moved_to=GROUP)
    code, out, _ = run(f"instance change servers {HOST} {options}")

    assert (code, out) == (0, f"web-1: team=shop, moves to {group}\n")
    assert sent(server, "PATCH") == ("", body)


@pytest.mark.parametrize("options", ["", "--group Default --back"])
def test_a_change_that_says_nothing_or_two_things_is_wrong_usage(fleets: Fleets, run: Run, options: str) -> None:
    assert run(f"instance change servers {HOST} {options}")[0] == 2


def test_an_override_names_a_version_and_a_time(server: Server, fleets: Fleets, run: Run) -> None:
    fleets.found[f"{PATH}/{HOST}/override"] = version(3, until="2026-12-01T08:00:00.000Z")
    code, out, _ = run(f"instance override servers {HOST} shop@3 --until 2026-12-01T08:00:00Z -m because")

    body = {"version_number": 3, "configuration_id": CONFIGURATION, "until": "2026-12-01T08:00:00Z"}
    assert sent(server, "PUT") == ("/override", {**body, "message": "because"})
    assert (code, out) == (0, f"{HOST} is to run shop v3 until 2026-12-01 08:00 (UTC)\n")


def test_an_override_is_ended(server: Server, fleets: Fleets, run: Run) -> None:
    code, out, _ = run(f"instance override servers {HOST} --end")

    assert (code, out) == (0, f"{HOST} runs what its group does\n")
    assert sent(server, "DELETE")[0] == "/override"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--for 2h", "name the version"),
        ("shop --for 2h", "name the version"),
        ("shop@3 --version 4 --for 2h", "two versions"),
        ("--version 3", "say how long"),
        ("--version 3 --for 2h --until 2026-12-01T08:00:00Z", "say how long"),
        ("--version 3 --until tomorrow", "is not a time"),
        ("--version 3 --end", "--end takes no version"),
    ],
)
def test_an_override_that_is_not_clear_is_wrong_usage(
    server: Server, fleets: Fleets, run: Run, options: str, says: str
) -> None:
    code, _, err = run(f"instance override servers {HOST} {options}")

    assert (code, says in err) == (2, True), err
    assert not [line for line, _, _ in server.requests if line.startswith(("PUT", "DELETE"))]


def test_a_list_that_is_watched_prints_each_change_once(
    fleets: Fleets, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleets.listed = [[host()], [host()], [host("applied", 3)], [host("applied", 3)], []]
    pauses = iter([None, None, None, None])

    def pause(_: float) -> None:
        if next(pauses, "end") == "end":
            raise KeyboardInterrupt

    monkeypatch.setattr(watching.time, "sleep", pause)
    code, out, _ = run("instance list servers --watch")

    assert code == 130
    assert out.splitlines()[2:] == ["web-1  applied, runs shop v3", "web-1  is not in the list any more"]


def test_hosts_of_one_name_are_told_apart_by_the_end_of_their_ids(server: Server, fleets: Fleets, run: Run) -> None:
    ids = [f"{HOST[:-7]}{end}" for end in ("1aaaaaa", "2aaaaaa", "3bbbbbb")]
    alone = host(id=f"{HOST[:-1]}x", name=None, host_name="vm-2")
    fleets.listed = [[*(host(id=each) for each in ids), alone]]

    shown = run("instance list servers")[1].splitlines()[1:]

    assert [line.partition("  ")[0] for line in shown] == [
        "web-1 (…1aaaaaa)",
        "web-1 (…2aaaaaa)",
        "web-1 (…3bbbbbb)",
        "vm-2",
    ]
    assert lookup.instance(server.api(), FLEET, "web-1 (…2aaaaaa)") == ids[1]
    with pytest.raises(Failed, match="has no host 'web-1"):
        lookup.instance(server.api(), FLEET, "web-1 (…4aaaaaa)")


def test_filters_go_into_the_request(server: Server, fleets: Fleets, run: Run) -> None:
    assert run("instance list servers --component filelog --state apply-failed --drifted --json")[0] == 0

    (asked,) = [line for line, _, _ in server.requests if f"{PATH}?" in line]
    assert "component=filelog&drifted=true" in asked.replace("state=apply_failed&", "")
    assert "state=apply_failed" in asked


def test_a_watched_list_is_not_json(fleets: Fleets, run: Run) -> None:
    assert run("instance list servers --watch --json")[0] == 2
