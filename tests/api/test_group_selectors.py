"""Labels select the hosts of a group: they move without an install, and back when the labels are gone."""

import json
from typing import Any

import pytest
from httpx2 import Response

from headgate.fleets import keys
from headgate.opamp import placement
from headgate.storage import table
from headgate.storage.table import Table
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, make_fleet, now, version
from tests.support.members import API, Member
from tests.support.opamp_agent import Agent

__all__ = ["ann", "fleet", "now"]


def select(fleet: Fleet, group: str, **labels: str) -> Response:
    return fleet.member.http.put(f"{API}/fleets/{fleet.id}/deployments/{group}/selector", json={"labels": labels})


def labelled(fleet: Fleet, group: str | None = None, **labels: str) -> Agent:
    """A host that has said who it is and which labels it has."""
    agent = fleet.agent(group)
    agent.start()
    says(agent, **labels)
    return agent


def says(agent: Agent, **labels: str) -> None:
    agent.tells(json.dumps({"v": 1, "supervisor": {"version": "0.149.0"}, "labels": labels}).encode())


def group_of(fleet: Fleet, agent: Agent) -> Any:
    agent.heartbeat()
    (one,) = [one for one in fleet.instances() if one["host_name"] == agent.host_name]
    return one["deployment_id"]


def test_a_host_moves_to_the_group_of_its_labels_and_back(now: Clock, fleet: Fleet) -> None:
    fleet.assign(1)
    web = fleet.add_group("web", 2)
    agent = labelled(fleet, zone="a", role="web")
    agent.applies()
    assert group_of(fleet, agent) == fleet.deployment_id

    assert select(fleet, web, role="web").json()["selector"] == {"role": "web"}
    now.moves(minutes=1)
    assert group_of(fleet, agent) == web
    agent.heartbeat()
    assert agent.config == version(2).encode()
    agent.applies()
    assert fleet.running() == 2
    assert fleet.counts() == {"total": 1, "applied": 1}

    assert select(fleet, web).json()["selector"] == {}
    now.moves(minutes=1)
    assert group_of(fleet, agent) == fleet.deployment_id
    agent.heartbeat()
    assert agent.config == version(1).encode()


def test_a_host_whose_labels_change_moves_with_its_next_message(now: Clock, fleet: Fleet) -> None:
    web = fleet.add_group("web", 1)
    select(fleet, web, role="web")
    agent = labelled(fleet, role="db")
    assert group_of(fleet, agent) == fleet.deployment_id
    says(agent, role="web")
    assert group_of(fleet, agent) == web


def test_the_most_labels_win_and_then_the_group_that_was_created_first(now: Clock, fleet: Fleet) -> None:
    groups = []
    for name in ("first", "second", "third"):
        now.moves(seconds=1)
        groups.append(fleet.add_group(name, 1))
    first, second, third = groups
    select(fleet, first, zone="a")
    select(fleet, second, role="web")
    agent = labelled(fleet, zone="a", role="web")
    assert group_of(fleet, agent) == first
    select(fleet, third, zone="a", role="web")
    now.moves(minutes=1)
    assert group_of(fleet, agent) == third


def test_what_cannot_be_selected_says_why(fleet: Fleet, ann: Member) -> None:
    web, other = fleet.add_group("web", 1), fleet.add_group("other", 1)
    select(fleet, web, zone="a")
    assert select(fleet, other, zone="a").json()["code"] == "selector_taken"
    assert select(fleet, web, zone="a").status_code == 200
    assert select(fleet, fleet.deployment_id, zone="b").json()["code"] == "not_selectable"
    cluster = make_fleet(ann, "kubernetes-supervisor", "Cluster")
    assert select(cluster, cluster.deployment_id, zone="a").json()["code"] == "not_selectable"
    assert select(fleet, other, **{f"label{n}": "x" for n in range(9)}).status_code == 422


def test_labels_are_not_enough_for_a_group_with_stored_variables(now: Clock, fleet: Fleet) -> None:
    """A host's labels are its word: neither a selector nor a label opens such a group, and its own hosts stay."""
    secretive, web = fleet.add_group("secretive", 1), fleet.add_group("web", 1)
    env = f"{API}/fleets/{fleet.id}/deployments/{secretive}/env"
    assert fleet.member.http.patch(env, json={"secrets": {"KEY": "x"}}).status_code == 200
    assert select(fleet, secretive, zone="a").json()["code"] == "not_selectable"
    select(fleet, web, zone="a")
    refused = fleet.member.http.patch(env.replace(secretive, web), json={"secrets": {"KEY": "x"}})
    assert (refused.status_code, refused.json()["code"]) == (409, "selected_by_labels")

    asked = {"platform": "linux", "deployment_id": secretive}
    connection = fleet.member.http.post(f"{API}/fleets/{fleet.id}/install", json=asked).json()["connection"]
    own = Agent(lambda body: fleet.post(body, token=connection["token"], group=secretive).content)
    own.start()
    says(own, zone="a")
    assert group_of(fleet, own) == secretive


def test_a_selected_host_stays_when_the_group_that_it_was_installed_for_is_deleted(now: Clock, fleet: Fleet) -> None:
    old, web = fleet.add_group("old", 1), fleet.add_group("web", 1)
    select(fleet, web, zone="a")
    agent = labelled(fleet, old, zone="a")
    assert group_of(fleet, agent) == web
    path = f"{API}/fleets/{fleet.id}/deployments"
    assert fleet.member.http.delete(f"{path}/{web}").status_code == 409
    assert fleet.member.http.delete(f"{path}/{old}").status_code == 204
    assert group_of(fleet, agent) == web


def test_a_deleted_group_selects_nobody(now: Clock, fleet: Fleet) -> None:
    web = fleet.add_group("web", 1)
    select(fleet, web, zone="a")
    assert fleet.member.http.delete(f"{API}/fleets/{fleet.id}/deployments/{web}").status_code == 204
    agent = labelled(fleet, zone="a")
    assert group_of(fleet, agent) == fleet.deployment_id
    assert (table.fleets.get(keys.selectors(fleet.id)) or {})["selectors"] == {}


@pytest.mark.parametrize("selected", [False, True], ids=["of the group that it names", "of another"])
def test_a_heartbeat_is_one_read_wherever_its_host_belongs(
    now: Clock, fleet: Fleet, monkeypatch: pytest.MonkeyPatch, selected: bool
) -> None:
    web = fleet.add_group("web", 1)
    select(fleet, web, zone="a")
    agent = labelled(fleet, zone="a" if selected else "b")
    agent.applies()
    agent.heartbeat()
    read = Table.get_all
    reads: list[int] = []

    def counted(self: Table, wanted: Any) -> Any:
        reads.append(len(wanted))
        return read(self, wanted)

    monkeypatch.setattr(Table, "get_all", counted)
    agent.heartbeat()
    assert reads == ([4] if selected else [3])
    now.moves(seconds=placement.READ_EVERY.total_seconds())
    agent.heartbeat()
    agent.heartbeat()
    # Once a minute in a process, for all hosts of the fleet.
    assert reads[1:] == ([4, 1, 4] if selected else [3, 1, 3])
