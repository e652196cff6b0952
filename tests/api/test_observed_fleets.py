"""Fleets whose collectors others install and configure: listed by what they report, sent nothing."""

from datetime import timedelta
from typing import Any

import pytest
import yaml

from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Fleet, ann, fleet, make_fleet, now
from tests.support.fleets import create
from tests.support.in_process import TestClient
from tests.support.members import API, Member
from tests.support.opamp_agent import Agent

__all__ = ["ann", "fleet", "now"]

EXTENSION = (
    wire.AgentCapabilities_ReportsStatus
    | wire.AgentCapabilities_ReportsEffectiveConfig
    | wire.AgentCapabilities_ReportsHealth
)
"""What the collector's own OpAMP extension says that it can do."""


@pytest.fixture
def observed(fleet: Fleet) -> Fleet:
    """An observed fleet of the same organization; `deployment_id` is that of its Default group."""
    made = create(fleet.member, "Found", mode="observed")
    assert made.status_code == 201, made.text
    assert made.json()["mode"] == "observed"
    fleet_id = made.json()["id"]
    (default,) = fleet.member.http.get(f"{API}/fleets/{fleet_id}/deployments").json()["items"]
    return Fleet(fleet.member, fleet_id, default["id"], fleet.configuration_id, fleet.http)


def without_group(fleet: Fleet, **fields: Any) -> Agent:
    """An agent that knows a token and no group, as every collector that was not installed by Headgate."""

    def post(body: bytes) -> bytes:
        response = fleet.http.post("/v1/opamp", content=body, headers={"authorization": f"Bearer {fleet.token}"})
        assert response.status_code == 200, response.text
        return response.content

    return Agent(post, **fields)


def test_a_collector_that_names_no_group_is_listed_as_running_by_its_own_report(observed: Fleet) -> None:
    agent = without_group(observed, capabilities=EXTENSION)
    answer = agent.start()

    assert not answer.HasField("remote_config")
    (seen,) = observed.instances()
    assert (seen["deployment_id"], seen["host_name"]) == (observed.deployment_id, "edge-1")
    assert observed.state() == "running"
    agent.says_health(healthy=False, error="exporter otlp: connection refused")
    assert observed.state() == "unhealthy"
    assert observed.instances()[0]["state_message"] == "exporter otlp: connection refused"
    agent.says_health(healthy=True)
    assert observed.state() == "running"
    agent.leaves()
    assert observed.state() == "stopped"


def test_nothing_is_offered_to_a_supervisor_of_an_observed_fleet(observed: Fleet) -> None:
    agent = without_group(observed)
    answers = [agent.start(), agent.heartbeat(), agent.heartbeat()]

    assert not any(answer.HasField("remote_config") for answer in answers)
    assert observed.state() == "running"


@pytest.mark.parametrize("how", ["assign", "rollout", "override", "group", "install", "variables"])
def test_what_would_configure_an_observed_collector_is_refused(observed: Fleet, how: str) -> None:
    http, path = observed.member.http, f"{API}/fleets/{observed.id}"
    version = {"configuration_id": observed.configuration_id, "version_number": 1}
    group = f"{path}/deployments/{observed.deployment_id}"
    without_group(observed, capabilities=EXTENSION).start()
    instance_id, until = observed.instances()[0]["id"], clock.rfc3339(clock.now() + timedelta(days=1))
    response = {
        "assign": lambda: http.patch(group, json=version),
        "rollout": lambda: http.post(f"{group}/rollouts", json=version),
        "override": lambda: http.put(f"{path}/instances/{instance_id}/override", json={**version, "until": until}),
        "group": lambda: http.post(f"{path}/deployments", json={"name": "more", **version}),
        "install": lambda: http.post(f"{path}/install", json={"platform": "linux"}),
        "variables": lambda: http.patch(f"{group}/env", json={"variables": {"PLACE": "/a"}, "secrets": {"KEY": "b"}}),
    }[how]()

    assert (response.status_code, response.json()["code"]) == (409, "fleet_observed")
    assert "headgate fleet mode FLEET managed" in response.json()["detail"]
    assert http.get(f"{group}/env").json()["revision"] == 0


def test_variables_that_are_stored_when_a_fleet_becomes_observed_can_be_removed(fleet: Fleet) -> None:
    http, env = fleet.member.http, f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/env"
    http.patch(f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}", json={"configuration_id": None})
    assert http.patch(env, json={"variables": {"A": "1", "B": "2"}}).status_code == 200
    observed = http.put(f"{API}/fleets/{fleet.id}/mode", json={"mode": "observed"})
    assert observed.status_code == 200, observed.text

    assert http.patch(env, json={"variables": {"A": "3", "B": None}}).json()["code"] == "fleet_observed"
    assert [each["name"] for each in http.get(env).json()["items"]] == ["A", "B"]
    removed = http.patch(env, json={"variables": {"A": None, "B": None}, "forget_removed": True})
    assert (removed.status_code, removed.json()["items"]) == (200, [])


def test_a_collector_of_a_managed_fleet_without_remote_configuration_says_what_it_lacks(fleet: Fleet) -> None:
    agent = without_group(fleet, capabilities=EXTENSION)
    agent.start()
    assert fleet.state() == "running"
    fleet.assign(1)
    agent.heartbeat()
    assert fleet.state() == "pending_pickup"
    assert "does not accept remote configuration" in str(fleet.instances()[0]["state_message"])


def test_without_a_group_a_fleet_that_has_no_default_says_what_to_send(ann: Member) -> None:
    fleet = make_fleet(ann, "kubernetes-supervisor", "Cluster")
    http: TestClient = fleet.http
    response = http.post("/v1/opamp", content=b"", headers={"authorization": f"Bearer {fleet.token}"})

    assert (response.status_code, response.json()["code"]) == (400, "group_not_named")
    assert "X-Deployment-Id" in response.json()["detail"]
    assert http.post("/v1/opamp", content=b"", headers={"authorization": "Bearer ft_x"}).status_code == 401


def test_a_kubernetes_fleet_can_be_observed(ann: Member) -> None:
    made = create(ann, "Bridge", "kubernetes-supervisor", mode="observed")
    assert made.status_code == 201, made.text
    (default,) = ann.http.get(f"{API}/fleets/{made.json()['id']}/deployments").json()["items"]
    assert (default["name"], default["role"]) == ("Default", None)


@pytest.mark.parametrize("transport", ["http", "websocket"])
@pytest.mark.parametrize("client", ["extension", "supervisor", "bridge", "chart", "operator"])
def test_what_makes_a_collector_report_names_the_token_and_does_not_contain_it(
    observed: Fleet, client: str, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_HEARTBEAT_SECONDS", "60")
    settings.cache_clear()
    body = {"client": client, "transport": transport}
    response = observed.member.http.post(f"{API}/fleets/{observed.id}/observe", json=body)
    assert response.status_code == 200, response.text
    composed = response.json()

    assert all(yaml.safe_load_all(composed["text"]))
    assert composed["token"] == observed.token
    assert observed.token not in composed["text"]
    assert composed["endpoint"] in composed["text"]
    assert composed["endpoint"].startswith("ws" if transport == "websocket" else "http")
    assert ("on AWS, a collector" in str(composed["notes"])) == (transport == "websocket")
    asks = transport == "http" and client in ("extension", "chart", "operator")
    assert ("`polling_interval: 60s`" in str(composed["notes"])) == asks
    assert "HEADGATE_FLEET_TOKEN" in composed["text"]
    # A list of values replaces the chart's, whose probes need this extension.
    assert ("extensions: [health_check, opamp]" in composed["text"]) == (client == "chart")


def test_a_managed_fleet_is_not_observed(fleet: Fleet) -> None:
    response = fleet.member.http.post(f"{API}/fleets/{fleet.id}/observe", json={})
    assert (response.status_code, response.json()["code"]) == (409, "fleet_managed")


def test_only_known_modes_are_taken(ann: Member) -> None:
    response = create(ann, "Odd", mode="watched")
    assert response.status_code == 422
    assert "mode" in response.text
