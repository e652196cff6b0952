"""How often hosts are told to report, and when one that does not counts as silent."""

import pytest

from headgate.foundation.settings import settings
from headgate.instances.state.intervals import QUICK_SECONDS
from headgate.rollouts import service as rollouts
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API

__all__ = ["ann", "fleet", "now"]


@pytest.fixture(autouse=True)
def _a_minute_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    at_rest(monkeypatch, 60)


def at_rest(monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_HEARTBEAT_SECONDS", str(seconds))
    settings.cache_clear()


class Told:
    """An agent, and the interval that it was told last."""

    def __init__(self, fleet: Fleet) -> None:
        self.agent = fleet.agent()
        self.seconds = 0
        self.hears(self.agent.start())

    def hears(self, answer: wire.ServerToAgent) -> None:
        self.seconds = answer.connection_settings.opamp.heartbeat_interval_seconds or self.seconds

    def heartbeat(self) -> int:
        self.hears(self.agent.heartbeat())
        return self.seconds

    def applies(self) -> int:
        self.hears(self.agent.report(wire.RemoteConfigStatuses_APPLYING))
        self.hears(self.agent.report(wire.RemoteConfigStatuses_APPLIED))
        return self.seconds


@pytest.fixture
def host(fleet: Fleet) -> Told:
    """A host that applied version 1 and is at rest."""
    fleet.assign(1)
    told = Told(fleet)
    assert told.applies() > QUICK_SECONDS
    return told


def test_a_host_is_quick_from_its_assignment_until_it_has_applied_it(fleet: Fleet) -> None:
    fleet.assign(1)
    told = Told(fleet)
    assert 10 <= told.seconds <= 30
    assert 54 <= told.applies() <= 60
    fleet.assign(2)
    assert 10 <= told.heartbeat() <= 30
    assert 54 <= told.applies() <= 60


def test_a_heartbeat_without_news_says_no_interval_again(host: Told) -> None:
    assert not host.agent.heartbeat().HasField("connection_settings")


def test_a_host_with_an_order_is_quick_until_it_has_carried_it_out(fleet: Fleet, host: Told) -> None:
    host.agent.tells(b'{"v":1,"supervisor":{"version":"0.3.0"},"can":["restart"]}')
    instance = fleet.instances()[0]["id"]
    order = fleet.member.http.post(f"{API}/fleets/{fleet.id}/instances/{instance}/restart")
    assert order.status_code == 202, order.text
    assert 10 <= host.heartbeat() <= 30
    done = f'{{"v":1,"supervisor":{{"version":"0.3.0"}},"done":["{order.json()["id"]}"]}}'
    host.hears(host.agent.tells(done.encode()))
    assert 54 <= host.heartbeat() <= 60


def test_hosts_that_started_together_do_not_report_together(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.assign(1)
    hosts = [Told(fleet) for _ in range(12)]

    assert len({host.seconds for host in hosts}) > 3
    at_rest(monkeypatch, 300)
    assert len({host.applies() for host in hosts}) > 3


def test_another_interval_at_rest_is_told_with_the_next_answer(host: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    at_rest(monkeypatch, 300)

    assert 270 <= host.heartbeat() <= 300


@pytest.mark.parametrize("seconds", [60, 300])
def test_a_host_at_rest_is_silent_after_two_of_its_own_intervals(
    fleet: Fleet, now: Clock, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    at_rest(monkeypatch, seconds)
    fleet.assign(1)
    host = Told(fleet)
    host.applies()
    now.moves(minutes=3, seconds=2 * seconds)
    assert fleet.state() == "applied"
    now.moves(seconds=11)
    assert fleet.state() == "silent"
    now.moves(minutes=15)
    assert fleet.state() == "stale"


def test_a_host_that_is_quick_is_silent_sooner(fleet: Fleet, now: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    at_rest(monkeypatch, 300)
    fleet.assign(1)
    host = Told(fleet)
    now.moves(seconds=30)
    # Each of its heartbeats is written.
    host.heartbeat()
    now.moves(minutes=2)
    assert fleet.state() == "pending_pickup"
    now.moves(seconds=11)
    assert fleet.state() == "silent"


def test_a_host_of_a_service_with_short_intervals_is_silent_after_less_than_a_minute(
    fleet: Fleet, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_rest(monkeypatch, 5)
    fleet.assign(1)
    host = Told(fleet)
    host.applies()
    for _ in range(5):
        now.moves(seconds=5)
        host.heartbeat()
    assert fleet.state() == "applied"
    now.moves(seconds=51)
    assert fleet.state() == "silent"


def test_a_host_with_an_order_is_silent_after_three_of_its_quick_heartbeats(
    fleet: Fleet, now: Clock, host: Told
) -> None:
    host.agent.tells(b'{"v":1,"supervisor":{"version":"0.3.0"},"can":["restart"]}')
    instance = fleet.instances()[0]["id"]
    assert fleet.member.http.post(f"{API}/fleets/{fleet.id}/instances/{instance}/restart").status_code == 202
    for _ in range(3):
        now.moves(seconds=30)
        host.heartbeat()
    now.moves(minutes=2)
    assert fleet.state() == "applied"
    now.moves(seconds=11)
    assert fleet.state() == "silent"


def test_hosts_rest_while_their_rollout_waits_for_a_person(fleet: Fleet, host: Told) -> None:
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/rollouts"
    strategy = {"steps": [{"percent": 100, "soak_seconds": 600}]}
    fleet.publish_up_to(2)
    started = fleet.member.http.post(path, json={"version_number": 2, "strategy": strategy})
    assert started.status_code == 201, started.text
    rollout = started.json()["id"]
    rollouts.tick(fleet.id, fleet.deployment_id, rollout)
    assert 10 <= host.heartbeat() <= 30
    assert 10 <= host.applies() <= 30

    assert fleet.member.http.post(f"{path}/{rollout}/pause").status_code == 200
    assert 54 <= host.heartbeat() <= 60
    assert fleet.member.http.post(f"{path}/{rollout}/resume").status_code == 200
    assert 10 <= host.heartbeat() <= 30


def test_a_host_that_falls_silent_after_the_services_clock_was_set_back_is_counted_as_silent(
    fleet: Fleet, now: Clock, host: Told
) -> None:
    now.moves(hours=-1)
    host.heartbeat()
    assert (fleet.state(), fleet.counts()["applied"]) == ("applied", 1)
    now.moves(minutes=10)

    assert (fleet.state(), fleet.counts()["silent"]) == ("silent", 1)
