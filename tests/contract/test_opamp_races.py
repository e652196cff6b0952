"""Messages at once: of one instance, of many instances of one fleet, and beside what people assign."""

import hashlib
import json
import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from headgate.foundation import clock
from headgate_opamp import opamp_pb2 as wire
from tests.support import sizes
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import Member
from tests.support.opamp_agent import Agent

__all__ = ["ann", "fleet", "now"]

AGENTS = sizes.either(12, 60)


def test_messages_of_one_instance_at_once_leave_one_instance_counted_once(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    bodies = []
    for number in range(40):
        message = agent.full() if number % 10 == 0 else agent.message()
        message.sequence_num = number
        bodies.append(message.SerializeToString())
    random.Random(7).shuffle(bodies)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda body: fleet.post(body).status_code, bodies))

    assert set(answers) == {200}
    # As many as there are uids: that of the agent, and none for messages that only looked like a second process.
    assert fleet.counts() == {"total": 1, "pending_pickup": 1}


def test_one_new_instance_comes_of_many_first_messages(fleet: Fleet, ann: Member) -> None:
    agent = fleet.agent()
    body = agent.full().SerializeToString()
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: fleet.post(body).status_code, range(32)))

    assert set(answers) == {200}
    assert fleet.counts() == {"total": 1, "pending_pickup": 1}
    (seen,) = fleet.instances()
    told = ann.http.get(f"/api/v1/public/fleets/{fleet.id}/instances/{seen['id']}/history").json()["items"]
    assert [one["event"] for one in told] == ["offered", "first_seen"]


@pytest.mark.sized
def test_the_counters_are_exact_whatever_a_rollout_to_many_does_at_once(fleet: Fleet, ann: Member) -> None:
    agents = [fleet.agent(host_name=f"edge-{n}") for n in range(AGENTS)]

    def lives(agent: Agent) -> None:
        chance = random.Random(agent.host_name)
        agent.start()
        for _ in range(6):
            agent.heartbeat()
            if agent.answer.HasField("remote_config") or agent.status.last_remote_config_hash:
                said = chance.choice(["APPLYING", "APPLIED", "FAILED", ""])
                if said:
                    agent.report(wire.RemoteConfigStatuses.Value(f"RemoteConfigStatuses_{said}"), "no")

    with ThreadPoolExecutor(16) as pool:
        running = [pool.submit(lives, agent) for agent in agents]
        for n in (1, 2, None, 3):
            fleet.assign(n)
        for future in running:
            future.result()
    path = f"/api/v1/public/fleets/{fleet.id}/instances"
    states = [one["state"] for one in ann.http.get(path, params={"limit": 100}).json()["items"]]

    assert len(states) == AGENTS
    assert fleet.counts() == {"total": AGENTS, **{state: states.count(state) for state in set(states)}}


@pytest.mark.sized
def test_the_counters_stay_exact_while_time_passes(fleet: Fleet, ann: Member, now: Clock) -> None:
    fleet.assign(1)
    chance = random.Random(11)
    agents = [fleet.agent(host_name=f"edge-{n}") for n in range(12)]
    for agent in agents:
        agent.start()
    for _ in range(sizes.either(24, 60)):
        now.moves(seconds=chance.choice([10, 95, 400, 4_000, 90_000]))
        agent = chance.choice(agents)
        chance.choice([agent.start, agent.heartbeat, agent.applies])()
        listed = fleet.instances()
        states = [str(one["state"]) for one in listed]
        counted = {"total": len(states)} | {state: states.count(state) for state in set(states)}
        assert fleet.counts() == {state: n for state, n in counted.items() if n}


def test_what_people_order_and_what_a_host_reports_at_once_lose_nothing(fleet: Fleet, ann: Member) -> None:
    fleet.assign(1)
    fleet.publish_up_to(2)
    agent = fleet.agent()
    agent.start()
    agent.tells(b'{"v":1,"supervisor":{"version":"0.2.0"},"can":["restart","retry"]}')
    agent.applies()
    (seen,) = fleet.instances()
    path = f"/api/v1/public/fleets/{fleet.id}/instances/{seen['id']}"
    until = {"version_number": 2, "until": clock.rfc3339(clock.now() + timedelta(hours=1))}
    with ThreadPoolExecutor(8) as pool:
        beats = [pool.submit(fleet.post, beat(agent, n)) for n in range(12)]
        restarts = [pool.submit(ann.http.post, f"{path}/restart") for _ in range(4)]
        overrides = [pool.submit(ann.http.put, f"{path}/override", json=until) for _ in range(3)]
        assert {one.result().status_code for one in (*beats, *overrides)} == {200}
        ordered = {one.result().json()["id"] for one in restarts}
    known = ann.http.get(path).json()

    # All asked for the same restart; nothing that was stored at the same time took it or the override away.
    assert len(ordered) == 1
    assert [one["id"] for one in known["orders"]] == [*ordered]
    assert known["override"]["version_number"] == 2
    assert fleet.counts() == {"total": 1, known["state"]: 1}
    events = [one["event"] for one in ann.http.get(f"{path}/history").json()["items"]]
    assert events.count("override") == 3


def test_hosts_that_prove_a_version_at_once_disturb_no_change_of_their_group(
    fleet: Fleet, ann: Member, now: Clock
) -> None:
    fleet.assign(1)
    agents = [fleet.agent(host_name=f"edge-{n}") for n in range(8)]
    for agent in agents:
        agent.start()
        agent.applies()
    group = f"/api/v1/public/fleets/{fleet.id}/deployments/{fleet.deployment_id}"
    now.moves(seconds=120)
    bodies = [agent.message().SerializeToString() for agent in agents]
    with ThreadPoolExecutor(12) as pool:
        beats = [pool.submit(fleet.post, body) for body in bodies]
        renamed = [pool.submit(ann.http.patch, group, json={"name": f"web {n}"}) for n in range(4)]
        assert {one.result().status_code for one in (*beats, *renamed)} == {200}

    # A rename may have taken the note away, and the next message writes it again.
    agents[0].heartbeat()
    fleet.assign(2)
    known = ann.http.get(group).json()
    assert known["goes_back_to"] == {"configuration_id": fleet.configuration_id, "version_number": 1}
    assert known["name"].startswith("web ")


def test_many_who_end_an_override_end_it_once(fleet: Fleet, ann: Member) -> None:
    fleet.assign(1)
    fleet.agent().start()
    (seen,) = fleet.instances()
    path = f"/api/v1/public/fleets/{fleet.id}/instances/{seen['id']}/override"
    until = clock.rfc3339(clock.now() + timedelta(hours=1))
    assert ann.http.put(path, json={"version_number": 1, "until": until}).status_code == 200
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(ann.http.delete, path) for _ in range(8)]

    assert sorted(one.result().status_code for one in answers) == [204] + [404] * 7


def test_lists_of_components_that_hosts_tell_at_once_are_all_kept(fleet: Fleet, ann: Member) -> None:
    agents = [fleet.agent(host_name=f"edge-{n}") for n in range(8)]

    def tells(n: int) -> None:
        name = f"receiver/r{n}"
        able = {"v": 1, "supervisor": {"version": "0.2.0"}, "can": ["components"]}
        known = {"hash": hashlib.sha256(name.encode()).hexdigest(), "list": [name]}
        agents[n].start()
        agents[n].tells(json.dumps({**able, "components": {"hash": known["hash"]}}).encode())
        agents[n].tells(json.dumps({"v": 1, "components": known}).encode())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(tells, range(8)))
    path = f"/api/v1/public/fleets/{fleet.id}/instances"
    found = [ann.http.get(path, params={"component": f"r{n}"}).json()["items"] for n in range(8)]

    assert [[one["host_name"] for one in items] for items in found] == [[f"edge-{n}"] for n in range(8)]


def beat(agent: Agent, n: int) -> bytes:
    """A heartbeat after all that the agent has sent, with news: the collector ended once more."""
    message = agent.message()
    message.sequence_num = agent.sequence_num + n
    message.custom_message.capability = "io.headgate.host"
    message.custom_message.data = b'{"v":1,"exits":{"since_apply":%d,"last":[]}}' % n
    return message.SerializeToString()
