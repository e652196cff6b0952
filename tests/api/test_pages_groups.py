"""The pages of a fleet and its groups: what collectors run as bars, the timeline, rollouts, and deletions."""

import re
from collections.abc import Callable

import pytest

from fleets.app import app
from fleets.pages import parts
from headgate.instances.counting import shares
from headgate_opamp import opamp_pb2 as wire
from tests.support import released
from tests.support.fleet_of_agents import Clock, Fleet, ann, changes_of, fleet, now, version
from tests.support.in_process import TestClient
from tests.support.members import API
from tests.support.page_visitor import member_at, send_form, without_times
from tests.support.rolling import RollingGroup, no_executions

__all__ = ["ann", "fleet", "no_executions", "now"]

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def browser(fleet: Fleet) -> TestClient:
    return member_at(app, fleet.member.organization_id)


def fleet_path(fleet: Fleet) -> str:
    return f"/organizations/{fleet.member.organization_id}/fleets/{fleet.id}"


def group_path(fleet: Fleet, deployment_id: str = "") -> str:
    return f"{fleet_path(fleet)}/deployments/{deployment_id or fleet.deployment_id}"


@pytest.fixture
def mixed(fleet: Fleet) -> Fleet:
    """Three collectors that run version 1, one that runs version 2, as assigned, and one that runs nothing."""
    fleet.assign(1)
    agents = [fleet.agent(host_name=f"edge-{number}") for number in range(4)]
    for agent in agents:
        agent.start()
        agent.applies()
    fleet.assign(2)
    agents[0].heartbeat()
    agents[0].applies()
    fleet.agent(host_name="edge-new").start()
    return fleet


@pytest.mark.parametrize("path", [fleet_path, group_path])
def test_shares_of_collectors_are_told_as_bars_with_text(
    mixed: Fleet, browser: TestClient, path: Callable[[Fleet], str]
) -> None:
    shown = browser.get(path(mixed)).text

    assert "3 of 5 collectors, 60 %" in shown
    assert "1 of 5 collectors, 20 %, as assigned" in shown
    assert 'width="60.00%"' in shown


def test_collectors_that_are_not_heard_are_not_told_to_run_what_is_assigned(
    now: Clock, mixed: Fleet, browser: TestClient
) -> None:
    now.moves(hours=1)

    shown = browser.get(group_path(mixed)).text

    assert "as assigned" not in shown
    assert "Not heard for over a quarter of an hour, and not counted: 5 collectors." in shown


@pytest.mark.parametrize("path", [fleet_path, group_path])
def test_a_large_fleet_is_counted_behind_the_first_content(
    mixed: Fleet, browser: TestClient, path: Callable[[Fleet], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "AT_ONCE", 4)
    first = browser.get(path(mixed)).text
    link = re.search(r'data-then="([^"]+)"', first)

    assert "5 collectors" not in first
    assert link is not None
    assert f'<a href="{link[1]}">Count what its collectors run</a>' in first
    counted = browser.get(link[1]).text
    assert "3 of 5 collectors, 60 %" in counted
    assert "data-then" not in counted


def test_a_fleet_beyond_what_is_counted_says_so(
    mixed: Fleet, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "MOST", 3)

    assert "Counted among the first 2,000 collectors" in browser.get(fleet_path(mixed)).text


def test_the_timeline_of_a_group_tells_who_assigned_what_and_what_was_so(
    fleet: Fleet, now: Clock, browser: TestClient
) -> None:
    fleet.assign(1, message=f"why {SCRIPT}")
    now.moves(minutes=10)
    fleet.assign(2)
    shown = browser.get(group_path(fleet)).text
    then = browser.get(group_path(fleet), params={"at": "2026-11-21T12:05"}).text
    wrong = browser.get(group_path(fleet), params={"at": "2026-11-21T23:05"}).text

    assert re.search(r"<a [^>]*>[^<]*</a> <span class=\"soft\">version 2</span> assigned; before: <a ", shown), shown
    assert "why &lt;script&gt;" in shown
    assert "At 2026-11-21 12:05:00 UTC: " in without_times(then)
    assert "lies in the future" in wrong


def test_a_group_is_deleted_unless_something_depends_on_it(fleet: Fleet, browser: TestClient) -> None:
    unused = fleet.add_group(f"unused {SCRIPT}", 1)
    busy = fleet.add_group("busy", 1)
    fleet.agent(busy).start()
    refused = send_form(browser, group_path(fleet, busy), "/delete")
    of_default = send_form(browser, group_path(fleet), "/delete")

    assert (refused.status_code, of_default.status_code) == (409, 409)
    assert "1 collector of this group reports" in refused.text
    assert "Default group" in of_default.text
    assert SCRIPT not in browser.get(group_path(fleet, unused)).text
    assert send_form(browser, group_path(fleet, unused), "/delete").status_code == 303
    assert "deployment.deleted" in changes_of(fleet)
    assert browser.get(group_path(fleet, unused)).status_code == 404


def test_a_fleet_is_deleted_once_nothing_is_in_it(fleet: Fleet, browser: TestClient) -> None:
    unused = fleet.add_group("unused", 1)
    refused = send_form(browser, fleet_path(fleet), "/delete")

    assert refused.status_code == 409
    assert "delete them first" in refused.text
    assert send_form(browser, group_path(fleet, unused), "/delete").status_code == 303
    assert send_form(browser, fleet_path(fleet), "/delete").status_code == 303
    assert "fleet.deleted" in changes_of(fleet)


@pytest.fixture
def rolling(fleet: Fleet, now: Clock, no_executions: None) -> RollingGroup:
    return RollingGroup.of(fleet, now, 4)


def test_a_rollout_shows_its_steps_and_each_collector_with_its_reason(
    rolling: RollingGroup, browser: TestClient
) -> None:
    steps = [{"hosts": 1, "soak_seconds": 120}, {"percent": 100, "soak_seconds": 60, "approval": True}]
    window = {"start": "00:00", "end": "23:59", "time_zone": "UTC"}
    made = rolling.start({"steps": steps, "window": window, "max_unavailable": 2}, message=f"why {SCRIPT}")
    for host in rolling.hosts:
        host.fares = "fails"
    rolling.goes_on(made, lambda shown: shown["failures"] != [])
    path = f"{group_path(rolling.fleet)}/rollouts/{made['id']}"
    shown = browser.get(path).text

    group_page = browser.get(group_path(rolling.fleet)).text
    assert re.search(rf'Rollout of <a href="{path}">[^<]*</a> started<br>why &lt;', group_page)
    assert "no such exporter" in shown
    assert "Failing collectors" in shown
    assert "after an approval" in shown
    assert "Steps begin from 00:00 to 23:59 in UTC. At most 2 collectors change at once." in shown
    assert "<td>send failed</td>" in shown
    assert "5 percent points more than before" in shown
    assert SCRIPT not in shown
    assert f"/rollouts/{made['id']}" in browser.get(group_path(rolling.fleet)).text


def test_a_halted_rollout_names_the_step_and_the_collector_that_failed(
    rolling: RollingGroup, browser: TestClient
) -> None:
    steps = [{"hosts": 1, "soak_seconds": 60}, {"percent": 100, "soak_seconds": 60}]
    made = rolling.start({"steps": steps, "on_failure": "halt"})
    for host in rolling.hosts:
        host.fares = "fails"
    rolling.goes_on(made, lambda shown: bool(shown["status"] == "halted"))
    shown = browser.get(f"{group_path(rolling.fleet)}/rollouts/{made['id']}").text
    assert "halted here" in shown
    assert re.search(r"Failing collectors.*?<strong>edge-[0-9]</strong>", shown, re.DOTALL)
    assert "1 failed in step 1" in shown
    assert "3 waiting in step 2" in shown, re.findall('Collectors by step[^"]*', shown)
    assert "0 of 4 collectors run it, 1 failed, 3 waiting." in shown
    assert '<span class="tag bad">1 failed</span>' in shown
    assert "1 host<" in shown
    assert "1 hosts" not in shown
    assert "get the version again, and are judged again" in shown
    assert ">Resume</button>" not in shown
    assert "Halted in step 1" in shown


def test_what_a_halted_rollout_took_back_is_still_shown_as_failed(rolling: RollingGroup, browser: TestClient) -> None:
    made = rolling.start({"steps": [{"hosts": n, "soak_seconds": 60} for n in (1, 2)] + [{"percent": 100}]})
    rolling.goes_on(made, lambda shown: bool(shown["hosts"]["applied"] == 1))
    for host in rolling.hosts:
        host.fares = "well" if host.had_new else "fails"
    rolling.goes_on(made, lambda shown: bool(shown["status"] == "halted"))
    shown = browser.get(f"{group_path(rolling.fleet)}/rollouts/{made['id']}").text
    fleet = browser.get(group_path(rolling.fleet).partition("/deployments/")[0]).text

    assert "failed, went back" in shown
    assert "1 applied in step 1, 1 failed in step 2, 2 waiting in step 3" in shown
    assert '<span class="tag bad">halted</span>' in fleet


def test_a_rollout_is_paused_resumed_promoted_and_aborted_by_forms(rolling: RollingGroup, browser: TestClient) -> None:
    made = rolling.start()
    path = f"{group_path(rolling.fleet)}/rollouts/{made['id']}"
    for act in ("pause", "resume", "promote", "abort"):
        assert send_form(browser, path, f"/{act}").status_code == 303
    again = send_form(browser, path, "/pause")

    assert {"rollout.paused", "rollout.resumed", "rollout.promoted", "rollout.aborted"} <= changes_of(
        rolling.fleet
    ).keys()
    assert again.status_code == 409
    assert "pausing needs it to be" in again.text
    assert rolling.ends(made)["status"] == "aborted"
    ended = browser.get(path).text
    assert 'data-live="no"' in ended
    assert "Collectors</h2>" not in ended


def test_a_step_of_a_token_that_nobody_is_known_to_hold_is_approved_by_an_admin(
    rolling: RollingGroup, browser: TestClient
) -> None:
    steps = [{"percent": 100, "soak_seconds": 60, "approval": True}]
    made = rolling.start({"steps": steps})
    rolling.tick(made)
    path = f"{group_path(rolling.fleet)}/rollouts/{made['id']}"
    waiting, listed = browser.get(path).text, browser.get(group_path(rolling.fleet)).text

    assert "An Admin has to approve it" in waiting
    assert 'action="' + path + '/approve"' not in waiting
    # A waiting rollout is not shown as failed, and an act without a button is not explained.
    for shown in (waiting, listed):
        assert re.findall(r'<div class="notice (\w+)">', shown) == ["warn"]
    assert re.findall(r"<li><strong>(\w+)</strong>", waiting) == ["Abort"]
    assert re.findall(r'data-label="Then wait">([^<]*)<', waiting) == ["1 min, after an approval before it begins"]
    assert send_form(browser, path, "/approve").status_code == 403
    admin = member_at(app, rolling.fleet.member.organization_id, "admin")
    assert send_form(admin, path, "/approve").status_code == 303
    assert "rollout.approved" in changes_of(rolling.fleet)
    assert rolling.now(made)["status"] == "in_progress"


def test_a_rollout_that_moves_collectors_says_where_to_and_whom_a_person_has_to_move(
    fleet: Fleet, now: Clock, no_executions: None, browser: TestClient
) -> None:
    released.release(released.FURTHER)
    fleet.publish(version(2), released.FURTHER)
    rolling = RollingGroup.of(fleet, now, 2, can=["restart", "retry", "upgrade_collector", "upgrade_supervisor"])
    rolling.join(f"older {SCRIPT}", can=["restart"])
    rolling.beats()
    made = rolling.start(upgrade_collector=True)
    rolling.ends(made)
    shown = browser.get(f"{group_path(fleet)}/rollouts/{made['id']}").text
    moved = next(one["id"] for one in fleet.instances() if one["host_name"] == "edge-0")
    path = f"{fleet_path(fleet)}/collectors/{moved}"
    collector = browser.get(path).text

    assert f"It moves collectors to {released.FURTHER}" in shown
    assert "Collectors that a person has to upgrade" in shown
    assert "Install the host again" in shown
    assert SCRIPT not in shown
    assert f"on collector {released.FURTHER}" in collector
    assert f"Its collector is now version {released.FURTHER}" in collector
    assert send_form(browser, f"{fleet_path(fleet)}/collectors/{moved}", "/upgrade-supervisor").status_code == 303
    assert (
        "Upgrade of its supervisor: waits for the host" in browser.get(f"{fleet_path(fleet)}/collectors/{moved}").text
    )


def reaches(fleet: Fleet) -> list[tuple[object, ...]]:
    """How far each assignment is by the API, newest first; one that is asked for by itself says the same."""
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/rollouts"
    rollouts = fleet.member.http.get(path).json()["items"]
    assert all(rollout["status"] == "completed" for rollout in rollouts)
    assert fleet.member.http.get(f"{path}/{rollouts[-1]['id']}").json() == rollouts[-1]
    return [tuple(rollout["reach"].values()) for rollout in rollouts]


def test_a_version_that_is_assigned_at_once_is_applied_when_its_collectors_run_it(
    fleet: Fleet, browser: TestClient
) -> None:
    def listed() -> str:
        return re.sub(r"<[^>]+>|\s+", " ", browser.get(group_path(fleet)).text.partition("<h2>Rollouts</h2>")[2])

    fleet.assign(1)
    assert "version 1 completed" in " ".join(listed().split())
    assert reaches(fleet) == [("completed", 0, 0, 0)]
    agents = [fleet.agent(host_name=f"edge-{number}") for number in range(2)]
    for agent in agents:
        agent.start()
    said = " ".join(listed().split())
    assert "assigned 0 of 2 run it" in said
    assert "completed" not in said
    agents[0].applies()
    assert "assigned 1 of 2 run it" in " ".join(listed().split())
    assert reaches(fleet) == [("assigned", 2, 1, 0)]
    agents[1].applies()
    assert "applied 2 of 2 run it" in " ".join(listed().split())

    rollout = re.findall(rf"{group_path(fleet)}/rollouts/rol_\w+", browser.get(group_path(fleet)).text)[0]
    assert "applied" in browser.get(rollout).text
    fleet.assign(2)
    said = " ".join(listed().split())
    assert "assigned 0 of 2 run it" in said
    assert "assigned before" in said
    agents[0].heartbeat()
    agents[0].report(wire.RemoteConfigStatuses_FAILED, "bind: address already in use")
    assert "1 could not apply it 0 of 2 run it" in " ".join(listed().split())
    assert reaches(fleet) == [("failed", 2, 0, 1), ("superseded", 0, 0, 0)]
    fleet.assign(1)
    # The first one was of the same version.
    assert [state for state, *_ in reaches(fleet)] == ["assigned", "superseded", "superseded"]
