"""The review of an assignment: what it changes, on how many hosts, and what it ends, before somebody assigns it."""

import pytest

from fleets.app import app
from headgate_opamp import opamp_pb2 as wire
from tests.support import configurations as cfg
from tests.support.fleet_of_agents import Fleet, ann, fleet
from tests.support.in_process import TestClient
from tests.support.members import API
from tests.support.page_visitor import member_at

__all__ = ["ann", "fleet"]

OTHER = """\
receivers: {nop: }
processors: {batch: }
exporters: {nop: }
service: {pipelines: {logs: {receivers: [nop], processors: [batch], exporters: [nop]}}}
"""


@pytest.fixture
def browser(fleet: Fleet) -> TestClient:
    return member_at(app, fleet.member.organization_id)


def review(browser: TestClient, fleet: Fleet, configuration_id: str, n: int) -> str:
    path = f"/organizations/{fleet.member.organization_id}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/review"
    answer = browser.get(path, params={"configuration_id": configuration_id, "version_number": str(n)})
    assert answer.status_code == 200, answer.text
    return answer.text


def other(fleet: Fleet) -> str:
    made = cfg.create(fleet.member, "Other", OTHER)
    assert cfg.publish(fleet.member, made).status_code == 200
    return made


def test_it_names_version_group_hosts_and_what_changes(fleet: Fleet, browser: TestClient) -> None:
    fleet.assign(1)
    agents = [fleet.agent(host_name=f"edge-{n}") for n in range(2)]
    for agent in agents:
        agent.start()
    shown = review(browser, fleet, other(fleet), 1)

    assert "<strong>Other version 1</strong> → group <strong>Default</strong>" in shown
    assert "2 hosts" in shown
    assert "It is another configuration than the group runs" in shown
    assert "+ added</span> <strong>batch</strong>" in shown
    assert "<ins>+processors: {batch: }</ins>" in shown
    assert "This ends the rollout" not in shown


def test_it_says_that_it_ends_the_rollout_under_way(fleet: Fleet, browser: TestClient) -> None:
    fleet.assign(1)
    agent = fleet.agent(host_name="edge-1")
    agent.start()
    agent.applies()
    fleet.publish_up_to(2)
    started = fleet.member.http.post(
        f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/rollouts", json={"version_number": 2}
    )
    assert started.status_code == 201, started.text
    shown = review(browser, fleet, other(fleet), 1)

    assert "This ends the rollout of" in shown
    assert f"/rollouts/{started.json()['id']}" in shown


def test_the_same_text_again_changes_nothing(fleet: Fleet, browser: TestClient) -> None:
    fleet.assign(1)
    agent = fleet.agent(host_name="edge-1")
    agent.start()
    agent.report(wire.RemoteConfigStatuses_FAILED, "no")
    assert "Hosts on which it failed try it again" in review(browser, fleet, fleet.configuration_id, 1)


def test_a_version_that_is_not_there_is_not_reviewed(fleet: Fleet, browser: TestClient) -> None:
    path = f"/organizations/{fleet.member.organization_id}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/review"
    answer = browser.get(path, params={"configuration_id": fleet.configuration_id, "version_number": "99"})

    assert (answer.status_code, "No such version" in answer.text) == (404, True)
