"""Messages that are lost, late, twice there or of two processes, and what heals them."""

from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now

__all__ = ["ann", "fleet", "now"]

APPLYING = wire.RemoteConfigStatuses_APPLYING
APPLIED = wire.RemoteConfigStatuses_APPLIED
FAILED = wire.RemoteConfigStatuses_FAILED
FULL_STATE = wire.ServerToAgentFlags_ReportFullState


def test_an_unknown_instance_is_asked_for_everything(fleet: Fleet) -> None:
    agent = fleet.agent(sequence_num=41)
    answer = agent.heartbeat()

    assert answer.flags == FULL_STATE
    (seen,) = fleet.instances()
    assert seen["host_name"] == "edge-1"


def test_a_gap_while_something_is_under_way_is_asked_for(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    # "Applied" is lost on its way.
    agent.status.status = APPLIED
    agent.sequence_num += 1
    answer = agent.heartbeat()

    assert answer.flags == FULL_STATE
    assert fleet.state() == "applied"


def test_an_agent_that_ignores_the_request_is_not_asked_with_every_message(fleet: Fleet) -> None:
    agent = fleet.agent(sequence_num=7)
    answers = []
    for number in (7, 8, 9):
        agent.sequence_num = number
        answers.append(wire.ServerToAgent.FromString(agent.post(agent.message().SerializeToString())).flags)

    assert answers == [FULL_STATE, 0, 0]


def test_everything_is_asked_for_once_an_hour(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    # Its collector falls ill, and nobody hears of it.
    agent.health = wire.ComponentHealth(healthy=False, last_error="ill")
    asked = 0
    for _ in range(30):
        now.moves(minutes=5)
        asked += agent.heartbeat().flags == FULL_STATE

    assert asked == 2
    assert fleet.state() == "apply_failed"


def test_the_same_message_twice_is_answered_alike_and_counted_once(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    first = agent.full().SerializeToString()
    answers = [wire.ServerToAgent.FromString(agent.post(first)) for _ in range(3)]

    assert answers[0].HasField("remote_config")
    assert all(answer.remote_config == answers[0].remote_config for answer in answers)
    assert fleet.counts() == {"total": 1, "pending_pickup": 1}


def test_an_old_message_that_comes_late_is_healed_by_the_next(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.report(APPLYING)
    late = agent.message()
    late.sequence_num = 1
    late.remote_config_status.CopyFrom(agent.status)
    agent.report(APPLIED)
    agent.post(late.SerializeToString())
    agent.heartbeat()

    assert fleet.state() == "applied"


def test_two_processes_with_one_uid_become_two_instances(fleet: Fleet) -> None:
    first = fleet.agent()
    first.start()
    for _ in range(20):
        first.heartbeat()
    copy = fleet.agent(uid=first.uid, host_name="edge-2")
    copy.start()
    for _ in range(8):
        first.heartbeat()
        copy.heartbeat()

    assert first.uid != copy.uid
    assert sorted(str(one["host_name"]) for one in fleet.instances()) == ["edge-1", "edge-2"]
    assert fleet.counts() == {"total": 2, "pending_pickup": 2}


def test_an_agent_that_asks_for_a_uid_is_given_one(fleet: Fleet) -> None:
    agent = fleet.agent()
    message = agent.full()
    message.flags = wire.AgentToServerFlags_RequestInstanceUid
    before = agent.uid
    agent.send(message)

    assert agent.uid != before
    assert len(agent.uid) == 16
    assert fleet.instances() == []
    agent.start()
    assert len(fleet.instances()) == 1
