"""What people are told of a collector that starts, stops, runs nothing or is unwell: Applied was seen to run."""

import pytest

from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, hash_of, now, revision
from tests.support.members import API

__all__ = ["ann", "fleet", "now"]

APPLIED = wire.RemoteConfigStatuses_APPLIED
FAILED = wire.RemoteConfigStatuses_FAILED


def test_an_applied_config_whose_collector_is_unhealthy_has_failed(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    agent.says_health(healthy=False, error="exporter: no route")

    (seen,) = fleet.instances()
    assert (seen["state"], seen["state_message"]) == ("apply_failed", "exporter: no route")
    agent.says_health(healthy=True)
    assert fleet.state() == "applied"


@pytest.mark.parametrize("begins_anew", [True, False])
def test_a_collector_that_starts_or_is_being_stopped_is_neither_applied_nor_applying(
    fleet: Fleet, begins_anew: bool
) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    agent.health = wire.ComponentHealth(healthy=False)
    if begins_anew:
        agent.start()
    else:
        agent.says_health(healthy=False)
    assert fleet.state() == "pending_pickup"
    agent.says_health(healthy=True)
    assert fleet.state() == "applied"


def test_applied_needs_a_collector_that_was_seen_healthy(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    message = agent.full()
    message.ClearField("health")
    agent.send(message)
    agent.applies()
    assert fleet.state() == "pending_pickup"
    agent.says_health(healthy=True)
    assert fleet.state() == "applied"


def test_an_agent_that_cannot_tell_its_health_is_taken_at_its_word(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.capabilities &= ~wire.AgentCapabilities_ReportsHealth
    message = agent.full()
    message.ClearField("health")
    agent.send(message)
    agent.applies()

    assert fleet.state() == "applied"


def test_a_host_that_is_uninstalled_says_so_and_one_that_is_installed_again_is_there(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    agent.leaves(b'{"v":1,"uninstalled":true}')
    (seen,) = fleet.instances()
    assert (fleet.state(), seen["state_message"]) == ("stopped", "The supervisor was uninstalled")

    agent.start()
    assert fleet.state() == "applied"
    agent.leaves()
    assert fleet.instances()[0]["state_message"] == "The supervisor was shut down"


def test_an_uninstalled_host_is_stopped_whatever_it_was_before(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.report(wire.RemoteConfigStatuses_FAILED, "no such exporter")
    assert fleet.state() == "apply_failed"
    agent.leaves(b'{"v":1,"uninstalled":true}')

    assert (fleet.state(), fleet.instances()[0]["state_message"]) == ("stopped", "The supervisor was uninstalled")


def test_a_states_message_is_short_and_begins_with_the_cause(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    log = "\n".join(f"goroutine {n} [running]" for n in range(100))
    agent.report(wire.RemoteConfigStatuses_FAILED, f"listen tcp 127.0.0.1:4317: bind: address already in use\n{log}")
    (seen,) = fleet.instances()
    whole = fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances/{seen['id']}").json()["attempted"]["reason"]

    said = str(seen["state_message"])
    assert (len(said) <= 300, said.endswith("…"), len(whole) > 1_500) == (True, True, True)
    assert whole.startswith(said[:-1])
    assert "address already in use" in said.splitlines()[0]


@pytest.mark.parametrize("n", [1, None])
def test_a_host_that_was_stopped_in_order_waits_until_it_starts_again(fleet: Fleet, now: Clock, n: int | None) -> None:
    fleet.assign(n)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    answer = agent.leaves()

    assert not answer.HasField("remote_config")
    (seen,) = fleet.instances()
    assert (fleet.state(), seen["state_message"]) == ("stopped", "The supervisor was shut down")
    assert fleet.running() is None
    now.moves(minutes=16)
    assert fleet.state() == "stale"
    agent.start()
    assert (fleet.state(), fleet.running()) == ("applied" if n else "idle", n)
    assert fleet.instances()[0]["state_message"] is None


def test_a_host_that_was_stopped_after_a_failure_still_says_why(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.report(FAILED, "no")
    agent.leaves()

    (seen,) = fleet.instances()
    assert (seen["state"], seen["state_message"]) == ("apply_failed", "no")


def test_heartbeats_of_a_host_without_an_assignment_are_rarely_written(fleet: Fleet, now: Clock) -> None:
    agent = fleet.agent()
    agent.start()
    agent.report(APPLIED)
    written = revision(fleet)
    for _ in range(20):
        now.moves(seconds=30)
        agent.heartbeat()

    assert revision(fleet) - written == 3
    fleet.assign(1)
    agent.heartbeat()
    agent.applies()
    assert fleet.state() == "applied"


def test_a_version_whose_host_was_killed_while_it_applied_it_is_offered_again(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.report(wire.RemoteConfigStatuses_APPLYING)
    # The official supervisor keeps what it said last, and says it again for ever.
    now.moves(minutes=10)
    agent.start()
    assert agent.answer.remote_config.config_hash.hex() == hash_of(fleet, 1)
    assert fleet.state() == "pending_pickup"
    # It runs what it is offered already.
    agent.report(wire.RemoteConfigStatuses_APPLIED)
    assert fleet.state() == "applied"


def test_an_agent_that_numbers_no_message_goes_on_applying(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.status.status = wire.RemoteConfigStatuses_APPLYING
    for _ in range(2):
        agent.start()
        assert not agent.answer.HasField("remote_config")

    assert fleet.state() == "applying"
