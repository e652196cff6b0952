"""How a fleet's hosts stood over the last day, on the pages and behind them."""

from datetime import timedelta
from typing import Any

from fleets.app import app
from headgate.instances.timeline import day
from tests.support import request_units
from tests.support.fleet_of_agents import Clock, Fleet, admin_of, ann, fleet, now
from tests.support.members import API
from tests.support.page_visitor import member_at

__all__ = ["ann", "fleet", "now"]


def states(known: day.LastDay) -> list[dict[Any, int]]:
    return [dict(standing.states) for standing in known.standings]


def test_each_half_hour_has_the_hosts_by_state_and_version(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    now.moves(minutes=1)
    agent.heartbeat()
    agent.applies()
    # Its events tell nothing of the silence after them, which its last message does.
    now.moves(hours=3)

    known = day.of_group(admin_of(fleet), fleet.id, fleet.deployment_id)

    assert (known.hosts, known.left_out, len(known.standings)) == (1, 0, 48)
    assert states(known)[:40] == [{}] * 40
    assert states(known)[-1] == {"stale": 1}
    (running,) = {version for standing in known.standings for version in standing.versions if version}
    assert (running.version_number, known.names) == (1, {fleet.configuration_id: known.names[fleet.configuration_id]})


def test_of_hosts_that_changed_those_beyond_fifty_are_left_out(fleet: Fleet, monkeypatch: Any) -> None:
    monkeypatch.setattr(day, "MOST_CHANGED", 1)
    for n in range(3):
        fleet.agent(host_name=f"edge-{n}").start()

    known = day.of_fleet(admin_of(fleet), fleet.id)

    assert (known.hosts, known.left_out, states(known)[-1]) == (1, 2, {"pending_pickup": 1})
    assert day.of_group(admin_of(fleet), fleet.id, fleet.add_group("empty", 1)).hosts == 0


def test_a_host_that_changed_nothing_all_day_takes_no_query(fleet: Fleet, now: Clock, monkeypatch: Any) -> None:
    # A day of 48 minutes, so that the hosts need few messages to be heard all the time.
    monkeypatch.setattr(day, "STEP", timedelta(minutes=1))
    fleet.assign(1)
    agents = [fleet.agent(host_name=f"edge-{n}") for n in range(3)]
    for agent in agents:
        agent.start()
        agent.heartbeat()
        agent.applies()
    for minute in range(0, 120, 3):
        now.moves(minutes=3)
        for agent in agents:
            agent.heartbeat()
        if minute == 99:
            agents[0].says_health(healthy=False)
            agents[0].heartbeat()

    with request_units.counted() as (calls, _):
        known = day.of_group(admin_of(fleet), fleet.id, fleet.deployment_id)

    assert states(known)[0] == {"applied": 3}
    assert (known.hosts, known.left_out, sum(states(known)[-1].values())) == (3, 0, 3)
    # One for the instances, and one for the host that changed.
    assert calls["Query"] == 2


def test_the_api_says_the_same_as_the_page(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.heartbeat()
    agent.applies()
    now.moves(minutes=1)
    path = f"{API}/fleets/{fleet.id}"

    of_fleet = fleet.member.http.get(f"{path}/states").json()
    of_group = fleet.member.http.get(f"{path}/deployments/{fleet.deployment_id}/states").json()

    assert of_fleet == of_group
    assert (of_fleet["step"], of_fleet["collectors"], of_fleet["left_out"], len(of_fleet["points"])) == (
        1_800,
        1,
        0,
        48,
    )
    assert of_fleet["points"][0] == {"at": "2026-11-20T12:31:00.000Z", "states": {}, "versions": []}
    last = of_fleet["points"][-1]
    assert last["states"] == {"applied": 1}
    (running,) = last["versions"]
    assert (running["configuration_id"], running["version_number"]) == (fleet.configuration_id, 1)
    assert running["collectors"] == 1
    assert running["name"]
    assert fleet.member.http.get(f"{path}/deployments/dep_01kajb9fz4efkrjvb2x7q8v5w3/states").status_code == 404


def test_the_pages_of_fleet_and_group_draw_the_day(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.heartbeat()
    agent.applies()
    now.moves(minutes=1)
    browser = member_at(app, fleet.member.organization_id)
    path = f"/organizations/{fleet.member.organization_id}/fleets/{fleet.id}"

    assert f'{path}?day=yes#standing">Show' in browser.get(path).text
    of_fleet = browser.get(f"{path}?day=yes").text
    of_group = browser.get(f"{path}/deployments/{fleet.deployment_id}?day=yes").text

    assert "Collectors by state: well last 1, at most 1" in of_fleet
    assert "Collectors by version" not in of_fleet
    assert "Collectors by version: " in of_group
    assert "from the events of their timelines" in of_group
