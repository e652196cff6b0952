"""How many collectors of a group are in each state, and which still report with an older token."""

from headgate.fleets import service as fleets
from headgate.fleets import tokens
from tests.support.fleet_of_agents import Clock, Fleet, admin_of, ann, fleet, now
from tests.support.members import API
from tests.support.opamp_agent import Agent

__all__ = ["ann", "fleet", "now"]


def counts(fleet: Fleet) -> dict[str, dict[str, int]]:
    """The counters of each group that are not zero, by its name; a read of one group says the same."""
    path = f"{API}/fleets/{fleet.id}/deployments"
    found = {}
    for group in fleet.member.http.get(path).json()["items"]:
        assert fleet.member.http.get(f"{path}/{group['id']}").json() == group
        found[group["name"]] = {state: n for state, n in group["instances"].items() if n}
    return found


def test_groups_are_counted_apart(now: Clock, fleet: Fleet) -> None:
    fleet.assign(1)
    web = fleet.add_group("web", 2)
    applied, waiting = fleet.agent(), fleet.agent(web)
    applied.start()
    applied.applies()
    waiting.start()
    assert counts(fleet) == {"Default": {"total": 1, "applied": 1}, "web": {"total": 1, "pending_pickup": 1}}

    now.moves(minutes=16)
    fleet.agent(web).start()
    assert counts(fleet) == {
        "Default": {"total": 1, "stale": 1},
        "web": {"total": 2, "pending_pickup": 1, "stale": 1},
    }
    assert fleet.counts() == {"total": 3, "pending_pickup": 1, "stale": 2}


def test_a_host_that_moves_to_another_group_is_counted_there_alone(now: Clock, fleet: Fleet) -> None:
    web = fleet.add_group("web", 1)
    agent = fleet.agent()
    agent.start()
    moved = fleet.agent(web, uid=agent.uid)
    now.moves(days=2)
    moved.start()

    assert counts(fleet) == {"Default": {}, "web": {"total": 1, "pending_pickup": 1}}


def test_after_a_renewal_those_with_the_old_token_are_listed(now: Clock, fleet: Fleet) -> None:
    old, new = fleet.agent(host_name="old"), fleet.agent(host_name="new")
    old.start()
    new.start()
    fleets.renew_token(admin_of(fleet), fleet.id, "1d")

    def post(body: bytes) -> bytes:
        response = fleet.post(body, token=tokens.value_of(fleet.id, 2))
        assert response.status_code == 200
        return response.content

    Agent(post, host_name="new", uid=new.uid, sequence_num=new.sequence_num).heartbeat()

    def listed(**query: str) -> list[tuple[object, object]]:
        items = fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances", params=query).json()["items"]
        return sorted((one["host_name"], one["token_current"]) for one in items)

    assert listed() == [("new", True), ("old", False)]
    assert listed(old_token="true") == [("old", False)]
    assert listed(old_token="false") == [("new", True)]
    shown = fleet.member.http.get(f"{API}/fleets/{fleet.id}").json()
    assert [one["host_name"] for one in fleet.instances() if one["token_id"] == shown["token_id"]] == ["new"]
    assert shown["token_id"] not in tokens.value_of(fleet.id, 2)
