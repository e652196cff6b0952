"""What one host is to run, was offered, tried and runs: what it reports is compared with what it was assigned."""

import hashlib
import json
from typing import Any

import pytest

from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, hash_of, now, version
from tests.support.members import API
from tests.support.opamp_agent import Agent

__all__ = ["ann", "fleet", "now"]

APPLIED = wire.RemoteConfigStatuses_APPLIED
FAILED = wire.RemoteConfigStatuses_FAILED
WITHOUT_PIPELINES = "receivers: {nop: }\nservice: {pipelines: {}}\n"


def told(text: str | None, **more: object) -> bytes:
    """What a host says of the text that runs; None for nothing."""
    text_hash = hashlib.sha256(text.encode()).hexdigest() if text is not None else ""
    return json.dumps({"v": 1, "config": {"hash": text_hash, "drifted": []}, **more}).encode()


def known(fleet: Fleet) -> dict[str, Any]:
    """The one instance, as it is read by its id; the list and the counters agree with it."""
    (listed,) = fleet.instances()
    answer = fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances/{listed['id']}")
    assert answer.status_code == 200, answer.text
    seen: dict[str, Any] = answer.json()
    assert seen["state"] == fleet.state()
    return seen


def moment(seen: dict[str, Any] | None) -> tuple[object, object] | None:
    return seen and (seen["version_number"], seen["at"][11:19] if seen["at"] else None)


def test_each_has_its_version_and_its_time(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    now.moves(seconds=10)
    agent = fleet.agent()
    agent.start()
    waiting = known(fleet)
    assert (moment(waiting["desired"]), moment(waiting["offered"])) == ((1, "12:00:00"), (1, "12:00:10"))
    assert (waiting["attempted"], moment(waiting["running"])) == (None, (None, None))

    now.moves(seconds=1)
    agent.report(wire.RemoteConfigStatuses_APPLYING)
    applying = known(fleet)["attempted"]
    assert (moment(applying), applying["outcome"]) == ((1, "12:00:11"), "applying")

    now.moves(seconds=10)
    agent.report(APPLIED)
    now.moves(seconds=30)
    agent.heartbeat()
    seen = known(fleet)
    assert (moment(seen["running"]), moment(seen["attempted"])) == ((1, "12:00:21"), (1, "12:00:21"))
    assert seen["running"]["configuration_name"] == seen["desired"]["configuration_name"] == "Edge"


def test_what_failed_was_tried_and_what_worked_before_runs(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    now.moves(seconds=60)
    fleet.assign(2)
    agent.heartbeat()
    now.moves(seconds=1)
    agent.report(FAILED, "bad endpoint")
    seen = known(fleet)

    assert (moment(seen["desired"]), moment(seen["running"])) == ((2, "12:01:00"), (1, "12:00:00"))
    assert (moment(seen["attempted"]), seen["attempted"]["outcome"]) == ((2, "12:01:01"), "failed")
    assert (seen["attempted"]["reason"], seen["state_message"]) == ("bad endpoint", "bad endpoint")
    # It was sent the one that worked, so that the supervisor does not keep trying the other.
    assert moment(seen["offered"]) == (1, "12:01:01")


def test_what_was_killed_on_the_way_back_is_sent_three_times_and_none_older(fleet: Fleet) -> None:
    agent = fleet.agent()
    agent.start()
    for n in (1, 2, 3):
        fleet.assign(n)
        agent.heartbeat()
        agent.applies()
    fleet.assign(2)
    agent.heartbeat()
    killed = "config validation failed: signal: killed, output: "
    answers = [agent.report(FAILED, killed, own=True), *(agent.heartbeat() for _ in range(3))]

    sent = [answer.remote_config.config_hash for answer in answers if answer.HasField("remote_config")]
    assert sent == [agent.status.last_remote_config_hash] * 2
    assert known(fleet)["state"] == "apply_failed"
    agent.report(APPLIED)
    assert (known(fleet)["state"], known(fleet)["running"]["version_number"]) == ("applied", 2)


def test_a_host_that_applied_another_text_is_not_green(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    agent.tells(told(version(1)))
    assert known(fleet)["state"] == "applied"
    agent.tells(told("another text"))
    seen = known(fleet)

    assert (seen["state"], moment(seen["running"])) == ("apply_failed", (None, None))
    assert "runs another text" in seen["state_message"]
    agent.tells(told(None))
    assert known(fleet)["state"] == "apply_failed"
    agent.tells(told(version(1)))
    assert (known(fleet)["state"], known(fleet)["running"]["version_number"]) == ("applied", 1)


@pytest.mark.parametrize("runs", ["the text before", None])
def test_a_host_that_starts_with_another_text_than_it_had_applied_is_offered_the_version_again(
    fleet: Fleet, now: Clock, runs: str | None
) -> None:
    """As after a power cut, or a disk that was full, which left its files of different times."""
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    agent.tells(told(version(1)))
    agent.sequence_num = 0
    first = agent.full()
    first.custom_message.capability, first.custom_message.type = "io.headgate.host", "report"
    first.custom_message.data = told(runs)
    answer = agent.send(first)

    assert answer.remote_config.config.config_map[""].body == version(1).encode()
    agent.applies()
    agent.tells(told(version(1)))
    assert (known(fleet)["state"], known(fleet)["running"]["version_number"]) == ("applied", 1)


def test_a_host_that_still_runs_the_version_before_is_shown_so(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    fleet.assign(2)
    agent.heartbeat()
    agent.applies()
    agent.tells(told(version(1)))
    seen = known(fleet)

    assert (seen["state"], seen["running"]["version_number"]) == ("apply_failed", 1)


def test_a_host_that_runs_something_though_nothing_is_assigned_is_not_idle(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    fleet.assign(None)
    agent.heartbeat()
    agent.applies()
    agent.tells(told(version(1)))
    assert known(fleet)["state"] == "apply_failed"
    agent.tells(told(None))
    assert known(fleet)["state"] == "idle"


def test_a_host_whose_supervisor_no_longer_reports_texts_is_judged_by_its_status(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    agent.tells(told(version(1), supervisor={"version": "0.2.0"}))
    agent.start()
    fleet.assign(2)
    agent.heartbeat()
    agent.applies()

    assert (known(fleet)["state"], known(fleet)["supervisor_version"]) == ("applied", None)


def reports_applied(agent: Agent) -> None:
    agent.start()
    agent.report(APPLIED)


def test_without_pipelines_has_failed_also_when_it_is_assigned_again(fleet: Fleet) -> None:
    n = fleet.publish(WITHOUT_PIPELINES)
    agent = fleet.agent(capabilities=wire.AgentCapabilities_ReportsRemoteConfig | wire.AgentCapabilities_ReportsStatus)
    fleet.change(configuration_id=fleet.configuration_id, version_number=n)
    agent.status.last_remote_config_hash = bytes.fromhex(hash_of(fleet, n))
    reports_applied(agent)
    assert fleet.state() == "apply_failed"

    fleet.change(version_number=n)
    agent.heartbeat()
    assert fleet.state() == "apply_failed"


def test_without_pipelines_has_failed_also_where_another_server_had_applied_it(fleet: Fleet) -> None:
    n = fleet.publish(WITHOUT_PIPELINES)
    fleet.assign(1)
    agent = fleet.agent(capabilities=wire.AgentCapabilities_ReportsRemoteConfig | wire.AgentCapabilities_ReportsStatus)
    agent.status.last_remote_config_hash = bytes.fromhex(hash_of(fleet, n))
    reports_applied(agent)
    fleet.change(configuration_id=fleet.configuration_id, version_number=n)
    agent.heartbeat()

    assert fleet.state() == "apply_failed"
    assert "at least one pipeline" in str(fleet.instances()[0]["state_message"])


@pytest.mark.parametrize("failures", [5, 9])
def test_what_worked_is_known_however_many_versions_failed_since(fleet: Fleet, failures: int) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    for n in range(2, failures + 2):
        fleet.assign(n)
        agent.heartbeat()
        agent.report(FAILED, "no")
        agent.applies()

    assert (fleet.state(), fleet.running()) == ("apply_failed", 1)
    assert agent.config == version(1).encode()
