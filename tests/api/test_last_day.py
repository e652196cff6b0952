"""How a fleet's hosts stood over the last day, on the pages and behind them."""

from typing import Any

from fleets.app import app
from headgate.instances.timeline import day
from tests.support.fleet_of_agents import Clock, Fleet, admin_of, ann, fleet, now
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

    known = day.of_hosts(admin_of(fleet), fleet.id, fleet.deployment_id)

    assert (known.hosts, known.left_out, len(known.standings)) == (1, 0, 48)
    assert states(known)[:40] == [{}] * 40
    assert states(known)[-1] == {"stale": 1}
    (running,) = {version for standing in known.standings for version in standing.versions if version}
    assert (running.version_number, known.names) == (1, {fleet.configuration_id: known.names[fleet.configuration_id]})


def test_hosts_beyond_fifty_are_counted_as_left_out(fleet: Fleet, monkeypatch: Any) -> None:
    monkeypatch.setattr(day, "MOST_HOSTS", 1)
    for n in range(3):
        fleet.agent(host_name=f"edge-{n}").start()

    known = day.of_hosts(admin_of(fleet), fleet.id)

    assert (known.hosts, known.left_out, states(known)[-1]) == (1, 2, {"pending_pickup": 1})
    assert day.of_hosts(admin_of(fleet), fleet.id, "dep_of_nobody").hosts == 0


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
