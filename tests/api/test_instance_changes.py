"""Labels that people set on a host, and hosts that they move to another group of the fleet."""

from concurrent.futures import ThreadPoolExecutor

from httpx2 import Response

from headgate.audit import service as audit
from headgate.fleets import tokens
from headgate.instances import store
from tests.api.test_group_selectors import group_of, labelled, says, select
from tests.support.fleet_of_agents import Clock, Fleet, admin_of, ann, fleet, now, version
from tests.support.members import API
from tests.support.opamp_agent import Agent
from tests.support.rolling import RollingGroup, no_executions

__all__ = ["ann", "fleet", "no_executions", "now"]


def path(fleet: Fleet, agent: Agent) -> str:
    agent.heartbeat()
    (seen,) = [seen for seen in fleet.instances() if seen["host_name"] == agent.host_name]
    return f"{API}/fleets/{fleet.id}/instances/{seen['id']}"


def change(fleet: Fleet, agent: Agent, **changes: object) -> Response:
    return fleet.member.http.patch(path(fleet, agent), json=changes)


def test_labels_of_people_are_merged_and_win_over_those_of_the_host(now: Clock, fleet: Fleet) -> None:
    agent = labelled(fleet, role="web", zone="a")
    assert change(fleet, agent, labels={"team": "shop", "role": "edge"}).json()["labels"] == {
        "role": "edge",
        "team": "shop",
        "zone": "a",
    }
    says(agent, role="web")
    seen = change(fleet, agent, labels={"role": None, "owner": "ada"}).json()
    assert seen["labels"] == {"role": "web", "team": "shop", "owner": "ada"}
    assert seen["set_labels"] == {"team": "shop", "owner": "ada"}
    by_label = fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances", params={"label": "team=shop"}).json()
    assert [found["id"] for found in by_label["items"]] == [seen["id"]]
    records = audit.records(admin_of(fleet), 100, None).entries
    labels = {record.details["labels"] for record in records if record.action == "instance.changed"}
    assert labels == {"role=edge, team=shop", "owner=ada, role=null"}


def test_a_label_that_somebody_sets_selects_the_group(now: Clock, fleet: Fleet) -> None:
    web = fleet.add_group("web", 1)
    select(fleet, web, role="web")
    agent = labelled(fleet, role="db")
    assert group_of(fleet, agent) == fleet.deployment_id
    change(fleet, agent, labels={"role": "web"})
    assert group_of(fleet, agent) == web


def test_a_host_is_moved_to_another_group_and_back_with_its_next_message(now: Clock, fleet: Fleet) -> None:
    fleet.assign(1)
    web = fleet.add_group("web", 2)
    agent = labelled(fleet, role="db")
    agent.applies()
    assert change(fleet, agent, deployment_id=web).json()["moved_to"] == web
    assert group_of(fleet, agent) == web
    agent.heartbeat()
    assert agent.config == version(2).encode()
    agent.applies()
    assert fleet.counts() == {"total": 1, "applied": 1}
    # What a person says of this host counts more than labels.
    select(fleet, fleet.add_group("db", 1), role="db")
    now.moves(minutes=1)
    assert group_of(fleet, agent) == web
    assert change(fleet, agent, deployment_id=None).json()["moved_to"] is None
    assert group_of(fleet, agent) not in (web, fleet.deployment_id)


def test_what_cannot_be_changed_says_why(now: Clock, fleet: Fleet) -> None:
    web, own = fleet.add_group("web", 1), fleet.add_group("own", 1)
    variables = f"{API}/fleets/{fleet.id}/deployments/{own}/env"
    assert fleet.member.http.patch(variables, json={"variables": {"A": "b"}}).status_code == 200
    agent = labelled(fleet)

    to_own = change(fleet, agent, deployment_id=own)
    assert (to_own.status_code, to_own.json()["code"]) == (409, "not_movable")
    assert "stored variables" in to_own.json()["detail"]
    gone = change(fleet, agent, deployment_id="dep_01kyqzq3dbepyjf8jkf2gqv6rg")
    assert gone.status_code == 404, gone.text
    many = change(fleet, agent, labels={f"k{n}": "v" for n in range(65)})
    assert (many.status_code, many.json()["errors"][0]["loc"]) == (422, ["body", "labels"])
    large = change(fleet, agent, labels={f"k{n}": "v" * 255 for n in range(20)})
    assert (large.status_code, large.json()["errors"][0]["loc"]) == (422, ["body", "labels"])
    assert change(fleet, agent, labels={"a b": "c"}).status_code == 422
    assert change(fleet, agent).status_code == 422
    token = tokens.value_of(own, 1)
    bound = Agent(lambda body: fleet.post(body, token=token, group=own).content, host_name="bound")
    bound.start()
    refused = change(fleet, bound, deployment_id=web)
    assert (refused.status_code, refused.json()["code"]) == (409, "not_movable")


def test_a_group_that_gets_variables_lets_hosts_go_that_were_moved_to_it(now: Clock, fleet: Fleet) -> None:
    web = fleet.add_group("web", 1)
    agent = labelled(fleet)
    change(fleet, agent, deployment_id=web)
    assert group_of(fleet, agent) == web
    variables = f"{API}/fleets/{fleet.id}/deployments/{web}/env"
    assert fleet.member.http.patch(variables, json={"variables": {"A": "b"}}).status_code == 200
    assert group_of(fleet, agent) == fleet.deployment_id
    assert fleet.member.http.get(path(fleet, agent)).json()["moved_to"] is None


def test_a_move_ends_with_the_group_that_it_led_to(now: Clock, fleet: Fleet) -> None:
    web = fleet.add_group("web", 1)
    agent = labelled(fleet)
    change(fleet, agent, deployment_id=web)
    agent.leaves()
    assert fleet.member.http.delete(f"{API}/fleets/{fleet.id}/deployments/{web}").status_code == 204
    agent.start()
    seen = fleet.member.http.get(path(fleet, agent)).json()
    assert (seen["deployment_id"], seen["moved_to"]) == (fleet.deployment_id, None)


def test_changes_of_two_people_at_once_are_both_there(now: Clock, fleet: Fleet) -> None:
    agent = labelled(fleet)
    where = path(fleet, agent)
    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(lambda n: fleet.member.http.patch(where, json={"labels": {f"k{n}": "v"}}), range(8))]
    assert {answer.status_code for answer in answers} == {200}
    assert len(fleet.member.http.get(where).json()["set_labels"]) == 8


def test_a_canary_that_loses_its_label_in_a_rollout_is_still_judged(
    fleet: Fleet, now: Clock, no_executions: None
) -> None:
    rolling = RollingGroup.of(fleet, now, 3)
    first, *_ = rolling.fleet.instances()
    where = f"{API}/fleets/{rolling.fleet.id}/instances/{first['id']}"
    assert rolling.fleet.member.http.patch(where, json={"labels": {"role": "canary"}}).status_code == 200
    made = rolling.start(
        {"canaries": {"role": "canary"}, "steps": [{"canaries": True, "soak_seconds": 60}, {"percent": 100}]}
    )
    rolling.goes_on(made, lambda shown: bool(shown["hosts"]["applied"] == 1))
    rolling.fleet.member.http.patch(where, json={"labels": {"role": None}})

    stored = store.instance(rolling.fleet.id, first["id"])
    assert stored is not None
    assert [departure.relabelled for departure in stored.measured.departures] == [True]
