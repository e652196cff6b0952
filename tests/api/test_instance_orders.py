"""What people order of one host: a restart, another try, another version for a while. Components of its collector."""

import hashlib
import json
from typing import Any

import pytest
from httpx2 import Response

from headgate_opamp import opamp_pb2 as wire
from tests.support import configurations as cfg
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now, revision, version
from tests.support.members import API
from tests.support.opamp_agent import Agent

__all__ = ["ann", "fleet", "now"]

APPLIED = wire.RemoteConfigStatuses_APPLIED
FAILED = wire.RemoteConfigStatuses_FAILED
ABLE = {"v": 1, "supervisor": {"version": "0.2.0"}, "can": ["restart", "retry", "components"]}


def path(fleet: Fleet) -> str:
    (seen,) = fleet.instances()
    return f"{API}/fleets/{fleet.id}/instances/{seen['id']}"


def order(fleet: Fleet, do: str) -> Response:
    return fleet.member.http.post(f"{path(fleet)}/{do}")


def known(fleet: Fleet) -> dict[str, Any]:
    seen: dict[str, Any] = fleet.member.http.get(path(fleet)).json()
    return seen


def override(fleet: Fleet, **body: object) -> Response:
    return fleet.member.http.put(f"{path(fleet)}/override", json=body)


def tells(agent: Agent, **report: object) -> wire.ServerToAgent:
    return agent.tells(json.dumps({"v": 1, **report}).encode())


def ordered(answer: wire.ServerToAgent) -> list[dict[str, str]]:
    message = answer.custom_message
    assert (message.capability, message.type) in (("", ""), ("io.headgate.host", "order"))
    found: list[dict[str, str]] = json.loads(message.data)["orders"] if message.data else []
    return found


def events(fleet: Fleet) -> list[str]:
    return [one["event"] for one in fleet.member.http.get(f"{path(fleet)}/history").json()["items"]]


@pytest.fixture
def agent(fleet: Fleet, now: Clock) -> Agent:
    """A host that has applied version 1, and understands every order."""
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.tells(json.dumps(ABLE).encode())
    agent.applies()
    return agent


def test_a_restart_is_told_until_it_is_done(fleet: Fleet, agent: Agent, now: Clock) -> None:
    given = order(fleet, "restart")
    assert given.status_code == 202
    wanted = [{"id": given.json()["id"], "do": "restart"}]
    assert order(fleet, "restart").json() == given.json()
    assert [ordered(agent.heartbeat()), ordered(agent.heartbeat())] == [wanted, wanted]
    assert known(fleet)["orders"] == [given.json()]

    assert ordered(tells(agent, done=[given.json()["id"]])) == []
    assert (known(fleet)["orders"], events(fleet)[0], fleet.state()) == ([], "restarted", "applied")
    done = fleet.member.http.get(given.headers["location"]).json()
    assert (done["status"], done["done_at"]) == ("done", "2026-11-21T12:00:00.000Z")
    assert order(fleet, "restart").json()["id"] != given.json()["id"]
    # The last one of each kind is kept.
    assert fleet.member.http.get(given.headers["location"]).json()["code"] == "order_not_found"


def test_an_order_that_nobody_carries_out_ends_after_an_hour(fleet: Fleet, agent: Agent, now: Clock) -> None:
    given = order(fleet, "restart")
    for _ in range(31):
        now.moves(minutes=2)
        agent.heartbeat()

    assert (ordered(agent.heartbeat()), known(fleet)["orders"], "restarted" in events(fleet)) == ([], [], False)
    assert fleet.member.http.get(given.headers["location"]).json()["status"] == "expired"


def test_heartbeats_are_written_while_an_order_waits_only(fleet: Fleet, agent: Agent, now: Clock) -> None:
    def written() -> int:
        before = revision(fleet)
        for _ in range(3):
            now.moves(seconds=30)
            agent.heartbeat()
        return revision(fleet) - before

    for _ in range(2):
        # Then its version has proved good, which is written once.
        now.moves(seconds=60)
        agent.heartbeat()
    given = order(fleet, "restart").json()["id"]
    assert ordered(agent.heartbeat())
    while_it_waits = written()
    tells(agent, done=[given])

    # A host that reports quickly is seen to fall silent as quickly.
    assert (while_it_waits, written()) == (3, 0)


def test_a_host_with_an_older_supervisor_cannot_be_ordered_to_restart(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    fleet.agent().start()
    refused = order(fleet, "restart")

    assert (refused.status_code, refused.json()["code"]) == (409, "order_not_supported")
    assert "install the host again" in refused.json()["detail"]


@pytest.mark.parametrize("minutes", [0, 6, 20])
def test_a_host_that_is_not_heard_is_not_ordered(fleet: Fleet, agent: Agent, now: Clock, minutes: int) -> None:
    if not minutes:
        agent.leaves()
    now.moves(minutes=minutes)
    refused = order(fleet, "restart")

    assert (refused.status_code, refused.json()["code"]) == (409, "instance_not_reporting")


@pytest.mark.parametrize("able", [True, False])
def test_what_failed_is_offered_again_to_this_host_only(fleet: Fleet, now: Clock, able: bool) -> None:
    fleet.assign(1)
    agents = [fleet.agent(host_name=f"edge-{n}") for n in range(2)]
    for one in agents:
        one.start()
        if able:
            one.tells(json.dumps(ABLE).encode())
        one.report(FAILED, "no route yet")
        one.applies()
    first, second = fleet.instances()
    at = f"{API}/fleets/{fleet.id}/instances/"
    assert fleet.member.http.post(f"{at}{first['id']}/retry").status_code == 202
    by_name = {"edge-0": agents[0], "edge-1": agents[1]}
    retried, other = by_name[str(first["host_name"])], by_name[str(second["host_name"])]
    answer = retried.heartbeat()

    assert answer.HasField("remote_config")
    assert [one["do"] for one in ordered(answer)] == (["retry"] if able else [])
    assert not other.heartbeat().HasField("remote_config")
    retried.applies()
    states = {str(one["host_name"]): one["state"] for one in fleet.instances()}
    assert states == {str(first["host_name"]): "applied", str(second["host_name"]): "apply_failed"}
    assert fleet.counts() == {"total": 2, "applied": 1, "apply_failed": 1}


def test_what_fails_again_is_not_offered_a_third_time(fleet: Fleet, agent: Agent, now: Clock) -> None:
    fleet.assign(2)
    agent.heartbeat()
    agent.report(FAILED, "no")
    agent.applies()
    order(fleet, "retry")
    agent.heartbeat()
    agent.report(FAILED, "no, again")
    agent.applies()

    assert not agent.heartbeat().HasField("remote_config")
    assert (fleet.state(), known(fleet)["attempted"]["reason"]) == ("apply_failed", "no, again")


def test_a_host_that_runs_another_text_is_offered_the_right_one(fleet: Fleet, agent: Agent, now: Clock) -> None:
    tells(agent, config={"hash": "a" * 64, "drifted": []})
    assert fleet.state() == "apply_failed"
    order(fleet, "retry")

    assert agent.heartbeat().HasField("remote_config")


def test_where_nothing_failed_there_is_nothing_to_retry(fleet: Fleet, agent: Agent) -> None:
    refused = order(fleet, "retry")

    assert (refused.status_code, refused.json()["code"]) == (409, "nothing_to_retry")


def test_one_host_runs_another_version_until_a_time(fleet: Fleet, agent: Agent, now: Clock) -> None:
    fleet.publish_up_to(2)
    given = override(fleet, version_number=2, until="2026-11-21T13:00:00.000Z", message="try it here")
    assert given.status_code == 200, given.text
    assert (given.json()["version_number"], given.json()["configuration_name"]) == (2, "Edge")
    assert fleet.state() == "pending_pickup"
    agent.heartbeat()
    agent.applies()
    seen = known(fleet)
    assert (fleet.state(), seen["running"]["version_number"], seen["desired"]["version_number"]) == ("applied", 2, 2)
    assert (seen["override"], agent.config) == (given.json(), version(2).encode())

    now.moves(minutes=61)
    assert (known(fleet)["override"], known(fleet)["desired"]["version_number"]) == (None, 1)
    agent.heartbeat()
    agent.applies()
    assert (fleet.state(), fleet.running()) == ("applied", 1)
    told = events(fleet)
    assert [event for event in told if "override" in event] == ["override_ended", "override"]
    item = next(one for one in fleet.member.http.get(f"{path(fleet)}/history").json()["items"] if one["by"])
    assert (item["message"], item["until"]) == ("try it here", "2026-11-21T13:00:00.000Z")


def test_an_override_is_ended_by_hand(fleet: Fleet, agent: Agent, now: Clock) -> None:
    fleet.publish_up_to(2)
    override(fleet, version_number=2, until="2026-11-22T12:00:00Z")
    agent.heartbeat()
    agent.applies()
    assert fleet.member.http.delete(f"{path(fleet)}/override").status_code == 204
    assert fleet.member.http.delete(f"{path(fleet)}/override").json()["code"] == "override_not_found"
    assert fleet.state() == "pending_pickup"
    agent.heartbeat()
    agent.applies()

    assert (fleet.state(), fleet.running()) == ("applied", 1)


def test_an_override_that_failed_before_is_tried(fleet: Fleet, agent: Agent, now: Clock) -> None:
    fleet.publish_up_to(2)
    until = "2026-11-22T12:00:00Z"
    override(fleet, version_number=2, until=until)
    agent.heartbeat()
    agent.report(FAILED, "no")
    agent.applies()
    assert (fleet.state(), fleet.running()) == ("apply_failed", 1)
    override(fleet, version_number=2, until=until)

    assert agent.heartbeat().HasField("remote_config")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"version_number": 2, "until": "2026-11-22T12:00:00Z"}, "version_number"),  # a draft
        ({"version_number": 1, "until": "2026-11-21T11:00:00Z"}, "until"),
        ({"version_number": 1, "until": "2027-11-21T11:00:00Z"}, "until"),
        ({"version_number": 1, "until": "tomorrow"}, "until"),
        ({"version_number": 1, "until": 5}, "until"),
        ({"version_number": 1, "until": "2026-11-22T12:00:00Z", "message": "x" * 1_001}, "message"),
    ],
)
def test_an_override_that_cannot_be_is_refused_by_field(
    fleet: Fleet, agent: Agent, body: dict[str, object], field: str
) -> None:
    assert cfg.append(fleet.member, fleet.configuration_id, yaml=version(2)).status_code == 201
    refused = override(fleet, **body)

    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"][0]["loc"] == ["body", field]


def components(*names: str) -> dict[str, object]:
    listed = sorted(names)
    return {"hash": hashlib.sha256("\n".join(listed).encode()).hexdigest(), "list": listed}


def found(fleet: Fleet, component: str) -> list[str]:
    answer = fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances", params={"component": component})
    assert answer.status_code == 200, answer.text
    return sorted(one["host_name"] for one in answer.json()["items"])


def test_hosts_are_found_by_the_components_of_their_collectors(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    small, large = components("receiver/otlp"), components("receiver/otlp", "receiver/filelog")
    asked = []
    for name, has in (("a", small), ("b", large), ("c", large)):
        agent = fleet.agent(host_name=name)
        agent.start()
        wanted = ordered(agent.tells(json.dumps({**ABLE, "components": {"hash": has["hash"]}}).encode()))
        asked.append([one["do"] for one in wanted])
        if wanted:
            tells(agent, components=has, done=[wanted[0]["id"]])

    # The third one has what the second told.
    assert asked == [["components"], ["components"], []]
    assert (found(fleet, "filelog"), found(fleet, "receiver/otlp")) == (["b", "c"], ["a", "b", "c"])
    assert (found(fleet, "exporter/otlp"), found(fleet, "log")) == ([], [])


def test_no_host_stores_a_wrong_list_and_none_is_asked_twice_a_day(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    real = components("receiver/otlp")
    (asked,) = ordered(agent.tells(json.dumps({**ABLE, "components": {"hash": real["hash"]}}).encode()))
    tells(agent, components={**real, "list": ["receiver/evil"]}, done=[asked["id"]])
    assert (found(fleet, "evil"), found(fleet, "otlp")) == ([], [])
    again = agent.tells(json.dumps({**ABLE, "components": {"hash": "b" * 64}}).encode())
    assert ordered(again) == []
    now.moves(days=1)
    again = agent.tells(json.dumps({**ABLE, "components": {"hash": "c" * 64}}).encode())
    assert [one["do"] for one in ordered(again)] == ["components"]


def test_a_host_is_asked_again_once_a_version_was_offered_that_may_bring_another_collector(
    fleet: Fleet, now: Clock
) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    first, second = components("receiver/otlp"), components("receiver/filelog")
    (asked,) = ordered(agent.tells(json.dumps({**ABLE, "components": {"hash": first["hash"]}}).encode()))
    tells(agent, components=first, done=[asked["id"]])
    agent.applies()
    now.moves(minutes=1)
    fleet.assign(2)
    agent.heartbeat()
    agent.applies()

    (asked,) = ordered(tells(agent, components={"hash": second["hash"]}))
    tells(agent, components=second, done=[asked["id"]])
    assert (len(found(fleet, "filelog")), found(fleet, "otlp")) == (1, [])
    assert ordered(tells(agent, components={"hash": "b" * 64})) == []


def test_a_fleet_keeps_a_bounded_number_of_lists(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    first = components("receiver/c0")
    agent.tells(json.dumps({**ABLE, "components": {"hash": first["hash"]}}).encode())
    for n in range(40):
        tells(agent, components=components(f"receiver/c{n}"))
    last = components("receiver/last")
    tells(agent, components=last)

    assert found(fleet, "last") == []
    tells(agent, components={"hash": components("receiver/c31")["hash"]})
    assert found(fleet, "c31") == ["edge-1"]
