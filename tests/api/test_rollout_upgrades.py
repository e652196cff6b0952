"""Rollouts that move hosts to another collector together with the version, by the API, with hosts that speak OpAMP."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from fleets.app import app as fleets_app
from headgate.http.app import create_app
from headgate.installs import releases
from install.app import router as install_router
from tests.support import released
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now, version
from tests.support.in_process import TestClient
from tests.support.members import API
from tests.support.page_visitor import member_at
from tests.support.released import COLLECTOR, FURTHER
from tests.support.rolling import Host, RollingGroup, Rollout, no_executions

__all__ = ["ann", "fleet", "no_executions", "now"]
pytestmark = pytest.mark.usefixtures("no_executions")
UPGRADES = ["restart", "retry", "upgrade_collector", "upgrade_supervisor"]


@pytest.fixture
def group(fleet: Fleet, now: Clock) -> RollingGroup:
    """Two hosts that can replace their collectors; version 2 is the text for the further one."""
    released.release(FURTHER)
    fleet.publish(version(2), FURTHER)
    return RollingGroup.of(fleet, now, hosts=2, can=UPGRADES)


def upgraded(group: RollingGroup, **fields: object) -> Rollout:
    return group.start(upgrade_collector=True, **fields)


def known(group: RollingGroup, host: Host) -> dict[str, Any]:
    """All that is known of a host."""
    path = f"{API}/fleets/{group.fleet.id}/instances"
    named = host.agent.host_name
    (listed,) = [one for one in group.fleet.member.http.get(path).json()["items"] if one["host_name"] == named]
    found: dict[str, Any] = group.fleet.member.http.get(f"{path}/{listed['id']}").json()
    return found


def of_group(group: RollingGroup) -> dict[str, Any]:
    found: dict[str, Any] = group.fleet.member.http.get(group.path.removesuffix("/rollouts")).json()
    return found


def due(group: RollingGroup) -> Host:
    """The host that was offered version 2."""
    (host,) = group.with_new()
    return host


def test_collector_and_version_reach_one_host_then_all_and_are_the_groups(group: RollingGroup) -> None:
    rollout = upgraded(group)
    assert rollout["collector"] == {"version": FURTHER, "before": None}
    group.goes_on(rollout, lambda shown: bool(shown["hosts"] and shown["hosts"]["applied"] == 1))
    (other,) = [host for host in group.hosts if not host.has_new]

    truth = known(group, due(group))
    assert [truth[what]["collector_version"] for what in ("desired", "offered", "attempted", "running")] == [
        FURTHER
    ] * 4
    assert known(group, other)["desired"]["collector_version"] is None
    assert (other.collector, of_group(group)["collector_version"]) == (COLLECTOR, None)
    assert group.ends(rollout)["status"] == "completed"
    assert [host.collector for host in group.hosts] == [FURTHER] * 2
    assert (of_group(group)["collector_version"], of_group(group)["version_number"]) == (FURTHER, 2)
    path = f"{API}/fleets/{group.fleet.id}/instances/{truth['id']}/history"
    events = group.fleet.member.http.get(path).json()["items"]
    assert [one["program_version"] for one in events if one["event"] == "collector_changed"] == [FURTHER]


def test_a_host_that_cannot_be_moved_is_listed_with_the_way_out(group: RollingGroup) -> None:
    older = group.join("older", can=["restart"])
    group.beats()
    rollout = upgraded(group)
    group.goes_on(rollout, lambda shown: bool(shown["not_moved"]))
    organization_id = group.fleet.member.organization_id
    page = f"{group.path.removeprefix(API)}/{rollout['id']}"
    shown = member_at(fleets_app, organization_id).get(f"/organizations/{organization_id}{page}")
    assert (shown.status_code, "a person has to upgrade it" in shown.text) == (200, True)
    ended = group.ends(rollout)

    assert (ended["status"], ended["hosts"]["total"], ended["hosts"]["not_moved"]) == ("completed", 2, 1)
    (listed,) = ended["not_moved"]
    assert (listed["name"], older.had_new) == ("older", False)
    assert listed["message"].startswith(f"The version needs collector {FURTHER}, and this host runs {COLLECTOR}. ")
    assert "Install the host again: `headgate fleet install" in listed["message"]
    group.beats()
    waits = known(group, older)
    assert (waits["state"], waits["state_message"]) == ("pending_pickup", listed["message"])
    # A person has upgraded it.
    older.collector = FURTHER
    group.beats()
    group.beats()
    assert (older.has_new, known(group, older)["state"]) == (True, "applied")


@pytest.mark.parametrize(("platform", "system"), [("windows", "Windows"), ("macos", "macOS")])
def test_on_other_systems_both_programs_come_by_an_install_which_is_said_before(
    fleet: Fleet, now: Clock, platform: str, system: str
) -> None:
    released.release(FURTHER)
    fleet.publish(version(2), FURTHER)
    # Its supervisor has the abilities, but the published programs are for Linux.
    group = RollingGroup.of(fleet, now, hosts=1, platform=platform, can=UPGRADES)
    refused = group.asks(version_number=2, upgrade_collector=True)
    path = f"{API}/fleets/{fleet.id}/instances/{known(group, group.hosts[0])['id']}/upgrade-supervisor"
    ordered = fleet.member.http.post(path)

    assert (refused.status_code, refused.json()["code"]) == (409, "no_host_to_upgrade")
    assert (ordered.status_code, ordered.json()["code"]) == (409, "order_not_supported")
    for detail in (refused.json()["detail"], ordered.json()["detail"]):
        assert f"On {system} an install replaces programs: `headgate fleet install {fleet.id}" in detail
        assert f"--platform {platform}` prints the command" in detail


def test_a_supervisor_is_upgraded_by_an_order_with_its_program(group: RollingGroup) -> None:
    host = group.hosts[0]
    path = f"{API}/fleets/{group.fleet.id}/instances/{known(group, host)['id']}"
    ordered = group.fleet.member.http.post(f"{path}/upgrade-supervisor")
    assert (ordered.status_code, ordered.json()["version"]) == (202, released.SUPERVISOR)
    host.beats()
    order = host.orders()[0]
    assert (order["do"], order["program"]["version"]) == ("upgrade_supervisor", released.SUPERVISOR)

    host.says(failed=[{"id": order["id"], "reason": "the disk is full"}])
    shown = group.fleet.member.http.get(f"{path}/orders/{order['id']}").json()
    assert (shown["status"], shown["reason"]) == ("failed", "the disk is full")
    (kept,) = [
        one
        for one in group.fleet.member.http.get(f"{path}/history").json()["items"]
        if one["event"] == "supervisor_kept"
    ]
    assert (kept["reason"], kept["program_version"]) == ("the disk is full", released.SUPERVISOR)


def test_a_host_is_told_the_hash_and_a_signed_path_of_its_group(group: RollingGroup) -> None:
    group.goes_on(upgraded(group), lambda shown: bool(group.with_new()))
    told = due(group).told

    assert told == told | {"version": FURTHER, "gzip": True, "size": 1_000}
    path = urlsplit(told["path"])
    assert (path.scheme, path.netloc) == ("", "")
    assert path.path.endswith(f"/{group.fleet.deployment_id}/program-{told['sha256']}")
    query = dict(parse_qsl(path.query))
    with TestClient(create_app("Installs", [install_router]), follow_redirects=False) as http:
        answer = http.get(path.path, params=query)
        assert answer.status_code == 307
        key = releases.current().program(told["sha256"]).key
        assert answer.headers["location"].partition("?")[0].endswith(key)
        # Another group's name, and another file, take another signature.
        others = path.path.replace(group.fleet.deployment_id, "dep_01k9z6v7w8x9y0a1b2c3d4e5f6")
        assert http.get(others, params=query).status_code == 403
        assert http.get(path.path.replace(told["sha256"], "f" * 64), params=query).status_code == 404


def test_what_hosts_cannot_fetch_and_a_group_without_a_host_to_upgrade_are_refused(fleet: Fleet, now: Clock) -> None:
    released.release()
    fleet.publish(version(2), FURTHER)
    group = RollingGroup.of(fleet, now, hosts=1)
    unpublished = group.asks(version_number=2, upgrade_collector=True)

    assert (unpublished.status_code, unpublished.json()["code"]) == (422, "collector_not_published")
    assert unpublished.json()["errors"][0]["loc"] == ["body", "upgrade_collector"]
    assert f'`make publish-install COLLECTORS="{FURTHER}"`' in unpublished.json()["detail"]

    released.release(FURTHER)
    refused = group.asks(version_number=2, upgrade_collector=True)
    assert (refused.status_code, refused.json()["code"]) == (409, "no_host_to_upgrade")
    assert "of none of the group's 1 hosts. The version needs collector" in refused.json()["detail"]
    path = f"{API}/fleets/{fleet.id}/instances/{known(group, group.hosts[0])['id']}/upgrade-supervisor"
    ordered = fleet.member.http.post(path)
    assert (ordered.status_code, ordered.json()["code"]) == (409, "order_not_supported")
    assert "does not understand the order to upgrade supervisor: install the host again" in ordered.json()["detail"]
