"""Messages at once: of one instance, of many instances of one fleet, and beside what people assign."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from headgate.opamp.wire import opamp_pb2 as wire
from tests.support import sizes
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import Member
from tests.support.opamp_agent import Agent

__all__ = ["ann", "fleet", "now"]

AGENTS = sizes.either(20, 60)


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


def test_one_new_instance_comes_of_many_first_messages(fleet: Fleet) -> None:
    agent = fleet.agent()
    body = agent.full().SerializeToString()
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: fleet.post(body).status_code, range(32)))

    assert set(answers) == {200}
    assert fleet.counts() == {"total": 1, "pending_pickup": 1}


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


def test_the_counters_stay_exact_while_time_passes(fleet: Fleet, ann: Member, now: Clock) -> None:
    fleet.assign(1)
    chance = random.Random(11)
    agents = [fleet.agent(host_name=f"edge-{n}") for n in range(12)]
    for agent in agents:
        agent.start()
    for _ in range(60):
        now.moves(seconds=chance.choice([10, 95, 400, 4_000, 90_000]))
        agent = chance.choice(agents)
        chance.choice([agent.start, agent.heartbeat, agent.applies])()
        listed = fleet.instances()
        states = [str(one["state"]) for one in listed]
        counted = {"total": len(states)} | {state: states.count(state) for state in set(states)}
        assert fleet.counts() == {state: n for state, n in counted.items() if n}
