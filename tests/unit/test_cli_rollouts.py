"""`headgate rollout` and `headgate rollback` against a server that answers what a test wants."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from headgate_cli.rollouts import follow
from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

CONFIGURATION = "cfg_0123456789abcdefghjkmnpq0r"
FLEET = "flt_0123456789abcdefghjkmnpq0r"
GROUP = "dep_0123456789abcdefghjkmnpq0r"
ROLLOUT = "rol_0123456789abcdefghjkmnpq0r"
PATH = f"/api/v1/public/fleets/{FLEET}/deployments/{GROUP}"
YAML = "service: {pipelines: {logs: {}}}"
DETAIL = {"id": CONFIGURATION, "name": "shop", "yaml": YAML, "collector_version": "0.139.0"} | {
    "latest_version": 4,
    "published_version": 4,
}


def version(n: int) -> dict[str, Any]:
    return {"configuration_id": CONFIGURATION, "version_number": n}


def named(n: int) -> dict[str, Any]:
    return {**version(n), "configuration_name": "shop"}


def rollout(status: str, to: int = 4, before: int = 3, **more: Any) -> dict[str, Any]:
    return {
        "id": ROLLOUT,
        **named(to),
        "from": named(before),
        "strategy": {"steps": [{"hosts": 1, "soak_seconds": 60}, {"percent": 100, "soak_seconds": 60}]},
        "status": status,
        "step": 1,
        "hosts": {"total": 20, "due": 1, "applied": 1, "failed": 0, "not_moved": 0},
        "reach": None,
        "message": None,
        "reason": None,
        "created_by": {"kind": "user", "id": "usr_1", "name": "ann@example.com"},
        "created_at": "2026-11-22T17:00:00.000Z",
        "finished_at": None,
    } | more


class Groups:
    """A server with one fleet and its group. `next` is what the rollout is in turn; the last one stays."""

    def __init__(self) -> None:
        self.rollouts: list[dict[str, Any]] = []
        self.next: list[dict[str, Any]] = []
        self.assigned: dict[str, Any] = version(3)
        self.fleets = [{"id": FLEET, "label": "servers"}]

    def __call__(self, asked: str) -> Answer:
        method, _, path = asked.partition(" ")
        path, _, _ = path.partition("?")
        if method == "POST" and "/validate" in path:
            return 200, {}, {"valid": True, "errors": [], "warnings": [], "environment": []}
        if method == "POST":
            return 201, {}, self.next[0] if self.next else rollout("in_progress")
        if path.endswith(f"/rollouts/{ROLLOUT}"):
            return 200, {}, self.next.pop(0) if len(self.next) > 1 else self.next[0]
        found: Mapping[str, Any] = {
            f"{PATH}/rollouts": {"items": self.rollouts, "next_cursor": None},
            PATH: {"id": GROUP, "name": "Default", **self.assigned},
            f"{PATH}/env": {"items": []},
            "/api/v1/public/fleets": {"items": self.fleets, "next_cursor": None},
            f"/api/v1/public/configurations/{CONFIGURATION}": DETAIL,
        }
        if path.endswith("/deployments"):
            return 200, {}, {"items": [{"id": GROUP, "name": "Default"}], "next_cursor": None}
        return 200, {}, found.get(path, DETAIL | {"n": 3, "items": [DETAIL], "next_cursor": None})


@pytest.fixture
def groups(server: Server, monkeypatch: pytest.MonkeyPatch) -> Groups:
    monkeypatch.setattr(follow, "_SECONDS", 0.0)
    answering = Groups()
    server.answering = answering
    return answering


def sent(server: Server, method: str, end: str) -> dict[str, Any]:
    """The body of the one request like this."""
    (body,) = [body for line, _, body in server.requests if line.startswith(method) and line.endswith(end)]
    found: dict[str, Any] = json.loads(body)
    return found


def test_a_rollout_is_started_with_the_newest_version_and_the_servers_own_strategy(
    server: Server, groups: Groups, run: Run
) -> None:
    code, out, _ = run("rollout start servers Default shop")

    assert code == 0
    assert sent(server, "POST", "/rollouts") == version(4)
    assert f"{ROLLOUT}  in progress  shop v4  before: shop v3" in out
    assert "step 1 of 2, 1 of 20 hosts due, 1 applied, 0 failed" in out


def test_a_rollout_that_upgrades_collectors_shows_them_and_what_it_cannot_move(
    server: Server, groups: Groups, run: Run
) -> None:
    older = {"instance_id": "ins_1", "name": "web-9", "message": "Install the host again"}
    hosts = {"total": 2, "due": 1, "applied": 1, "failed": 0, "not_moved": 1}
    upgrade = {"version": "0.158.0", "before": None}
    groups.next = [rollout("in_progress", collector=upgrade, not_moved=[older], hosts=hosts)]
    code, out, _ = run("rollout start servers Default shop --upgrade-collector")

    assert code == 0
    assert sent(server, "POST", "/rollouts") == {**version(4), "upgrade_collector": True}
    assert "collector 0.158.0  before: what was installed on each host" in out
    assert "not moved: web-9: Install the host again" in out
    assert "1 of 2 hosts due, 1 applied, 0 failed, 1 not moved" in out


def test_a_rollout_of_variables_names_their_revision_and_the_one_before(
    server: Server, groups: Groups, run: Run
) -> None:
    groups.next = [rollout("in_progress", variables={"revision": 5, "before": None})]
    code, out, _ = run("rollout start servers Default shop --variables 5")

    assert (code, sent(server, "POST", "/rollouts")) == (0, {**version(4), "variables_revision": 5})
    assert "variables revision 5  before: those of each install" in out


@pytest.mark.parametrize(("named", "n"), [("shop@3", 3), ("shop --version v2", 2), ("--version 2", 2), ("", 4)])
def test_a_version_is_named_as_with_other_commands(
    server: Server, groups: Groups, run: Run, named: str, n: int
) -> None:
    assert run(f"rollout start servers Default {named}")[0] == 0

    assert sent(server, "POST", "/rollouts") == version(n)


def test_the_options_become_a_strategy_and_gates(server: Server, groups: Groups, run: Run) -> None:
    options = "--step canaries:30m --step 10%:2h:approval --step 5 --step 100%:90s --canary zone=a --canary role=edge"
    options += " --max-unavailable 3 --window 22:00-05:00@Europe/Berlin --on-failure roll-back"
    options += " --gate send-failed=10 --gate silent=off --gate restarts=off -m because"
    assert run(f"rollout start servers Default shop {options}")[0] == 0

    assert sent(server, "POST", "/rollouts") == {
        **version(4),
        "strategy": {
            "steps": [
                {"soak_seconds": 1800, "canaries": True},
                {"soak_seconds": 7200, "percent": 10, "approval": True},
                {"soak_seconds": 600, "hosts": 5},
                {"soak_seconds": 90, "percent": 100},
            ],
            "canaries": {"zone": "a", "role": "edge"},
            "max_unavailable": 3,
            "window": {"start": "22:00", "end": "05:00", "time_zone": "Europe/Berlin"},
            "on_failure": "roll_back",
        },
        "gates": {"send_failed": 10, "silent": False, "restarts": None},
        "message": "because",
    }


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--step 0%", "is not a step: write 1, 10% or canaries, and then :10m for its soak"),
        ("--step 10%:soon", "is not a duration: write 90s, 10m, 2h or 1d"),
        ("--window 22-5", "is not a window: write 22:00-05:00@Europe/Berlin"),
        ("--gate silent", "is not a gate: write send-failed=10 or silent=off"),
        ("--canary zone", "is not KEY=VALUE"),
        ("--strategy fast --step 100%", "--strategy and --step exclude each other"),
        ("--strategy slow", "'canary', 'careful', 'fast', 'all-at-once'"),
    ],
)
def test_an_option_that_is_not_understood_is_a_usage_error_with_an_example(
    server: Server, groups: Groups, run: Run, options: str, told: str
) -> None:
    code, _, err = run(f"rollout start servers Default shop {options}")

    assert (code, told in " ".join(err.split()), server.requests) == (2, True, []), err


@pytest.mark.parametrize(
    ("status", "expected"),
    [("completed", 0), ("halted", 1), ("rolled_back", 1), ("aborted", 1), ("superseded", 1)],
)
def test_watching_ends_with_the_rollout_and_tells_a_pipeline(
    server: Server, groups: Groups, run: Run, status: str, expected: int
) -> None:
    groups.rollouts = [rollout("in_progress")]
    groups.next = [rollout("in_progress"), rollout("in_progress", step=2), rollout(status, reason="gate send_failed")]

    code, out, err = run("rollout watch servers Default")

    assert code == expected
    assert err.splitlines() == [
        "in progress: step 1 of 2, 1 of 20 hosts due, 1 applied, 0 failed",
        "in progress: step 2 of 2, 1 of 20 hosts due, 1 applied, 0 failed",
        f"{status.replace('_', ' ')}: step 1 of 2, 1 of 20 hosts due, 1 applied, 0 failed: gate send_failed",
    ]
    assert "reason: gate send_failed" in out


def test_a_start_that_is_watched_is_json_on_standard_output_alone(server: Server, groups: Groups, run: Run) -> None:
    groups.next = [rollout("in_progress"), rollout("rolling_back"), rollout("rolled_back")]

    code, out, _ = run("rollout start servers Default shop --watch --json")

    assert (code, json.loads(out)) == (1, groups.next[0])


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("assigned", "assigned, 1 of 3 run it"),
        ("failed", "failed, 1 of 3 run it, 1 could not apply it"),
        ("superseded", "superseded"),
    ],
)
def test_an_assignment_at_once_says_how_many_collectors_run_it(groups: Groups, run: Run, state: str, said: str) -> None:
    reach = {"state": state, "total": 3, "applied": 1, "failed": int(state == "failed")}
    groups.rollouts = [rollout("completed", strategy=None, hosts=None, reach=reach)]

    shown, listed = run("rollout show servers Default")[1], run("rollout list servers Default")[1]

    assert f"{ROLLOUT}  {said}  shop v4" in shown
    assert said in listed
    assert "completed" not in shown + listed
    assert "no host was judged" not in shown


@pytest.mark.parametrize("act", ["pause", "resume", "promote", "approve", "abort", "retry"])
def test_an_act_is_about_the_newest_rollout(server: Server, groups: Groups, run: Run, act: str) -> None:
    groups.rollouts = [rollout("in_progress")]

    assert run(f"rollout {act} servers Default")[0] == 0
    assert server.requests[-1][0] == f"POST {PATH}/rollouts/{ROLLOUT}/{act}"


def test_a_malformed_rollout_id_is_told_before_it_is_asked_for(server: Server, groups: Groups, run: Run) -> None:
    code, _, err = run("rollout show servers Default run_x")

    assert (code, "is not the id of a rollout (rol_...): leave it out for the newest one" in err) == (1, True)


def test_a_group_without_rollouts_says_how_to_start_one(server: Server, groups: Groups, run: Run) -> None:
    code, _, err = run("rollout watch servers Default")

    assert (code, "start one with `headgate rollout start`" in err) == (1, True)


def test_text_of_others_stays_in_its_line(server: Server, groups: Groups, run: Run) -> None:
    hostile = "x\n::error::y\x1b[2J"
    failure = {"instance_id": "ins_1", "gate": "apply_failed", "message": hostile}
    shown = rollout("halted", message=hostile, reason=hostile, notes=[hostile], failures=[failure])
    groups.rollouts = groups.next = [shown]

    code, out, err = run("rollout watch servers Default")

    assert code == 1
    assert [line for line in (out + err).splitlines() if line.startswith("::")] == []
    assert "\x1b[2J" not in out + err


def test_a_rollback_aborts_what_is_under_way(server: Server, groups: Groups, run: Run) -> None:
    groups.rollouts, groups.next = [rollout("halted")], [rollout("rolling_back")]

    code, out, _ = run("rollback Default")

    assert (code, "rolling back" in out) == (0, True)
    assert f"POST {PATH}/rollouts/{ROLLOUT}/abort" in [line for line, _, _ in server.requests]


def test_a_rollback_assigns_what_the_group_goes_back_to(server: Server, groups: Groups, run: Run) -> None:
    groups.rollouts = [rollout("completed", 3, 2)]
    groups.assigned |= {"goes_back_to": version(2), "collector_version": "0.158.0"}

    code, _, err = run("rollback servers Default -m slow")

    assert code == 0
    assert "The collectors stay at 0.158.0: to move them as well" in err
    assert sent(server, "PATCH", GROUP) == {**version(2), "message": "Rollback: slow"}


def test_a_group_without_an_earlier_version_is_left_alone(server: Server, groups: Groups, run: Run) -> None:
    groups.rollouts = [rollout("completed", 3, 3)]

    code, _, err = run("rollback Default")

    assert (code, "ran no version before the one that it runs" in err) == (1, True)


def test_a_group_of_two_fleets_has_to_be_named_with_its_fleet(server: Server, groups: Groups, run: Run) -> None:
    groups.fleets = [{"id": FLEET, "label": "servers"}, {"id": FLEET[:-1] + "z", "label": "edge"}]

    code, _, err = run("rollback Default")

    assert (code, "2 fleets have a deployment group 'Default': name the fleet, too" in err) == (1, True)
