"""What an agent is answered, message by message, and the state that people see of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient

from configurations.app import router as configurations_router
from fleets.app import router as fleets_router
from headgate import clock
from headgate.fleets import tokens
from headgate.opamp import service
from headgate.opamp.wire import opamp_pb2 as wire
from headgate.settings import settings
from opamp.app import app
from tests.conftest import API, JoinWith, Member
from tests.opamp_agent import Agent
from tests.unit import test_configurations as cfg
from tests.unit.test_fleets import create as create_fleet

APPLYING = wire.RemoteConfigStatuses_APPLYING
FAILED = wire.RemoteConfigStatuses_FAILED
FULL_STATE = wire.ServerToAgentFlags_ReportFullState


@dataclass
class Clock:
    at: datetime

    def moves(self, **by: float) -> None:
        self.at += timedelta(**by)


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", "/nonexistent")
    settings.cache_clear()


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock, which stands until it is moved."""
    stopped = Clock(datetime(2026, 11, 21, 12, 0, 0, 0, UTC))
    monkeypatch.setattr(clock, "now", lambda: stopped.at)
    return stopped


@dataclass
class Fleet:
    """A fleet, its Default group, and what people see of it."""

    member: Member
    id: str
    deployment_id: str
    configuration_id: str
    http: TestClient

    def assign(self, n: int | None) -> None:
        body = (
            {"configuration_id": None}
            if n is None
            else {
                "configuration_id": self.configuration_id,
                "version_number": n,
            }
        )
        path = f"{API}/fleets/{self.id}/deployments/{self.deployment_id}"
        assert self.member.http.patch(path, json=body).status_code == 200

    def instances(self) -> list[dict[str, object]]:
        found: list[dict[str, object]] = self.member.http.get(f"{API}/fleets/{self.id}/instances").json()["items"]
        return found

    def counts(self) -> dict[str, int]:
        """The counters of the list, those that are not zero."""
        (fleet,) = [one for one in self.member.http.get(f"{API}/fleets").json()["items"] if one["id"] == self.id]
        return {state: n for state, n in fleet["instances"].items() if n}

    def state(self) -> object:
        """The state of the one instance, which the counters have to agree with."""
        (instance,) = self.instances()
        assert self.counts() == {"total": 1, str(instance["state"]): 1}
        return instance["state"]

    def agent(self, **fields: object) -> Agent:
        headers = {"authorization": f"Bearer {tokens.value_of(self.id, 1)}", "x-deployment-id": self.deployment_id}

        def post(body: bytes) -> bytes:
            response = self.http.post("/v1/opamp", content=body, headers=headers)
            assert response.status_code == 200, response.text
            return response.content

        return Agent(post, **fields)  # type: ignore[arg-type]


@pytest.fixture
def fleet(join: JoinWith) -> Fleet:
    """A server fleet, and a configuration with three published versions."""
    ann = join([fleets_router, configurations_router], "ann")
    configuration_id = cfg.create(ann)
    assert cfg.publish(ann, configuration_id).status_code == 200
    for n in (2, 3):
        assert cfg.append(ann, configuration_id, yaml=f"# version {n}\n").status_code == 201
        assert cfg.publish(ann, configuration_id, n).status_code == 200
    made = create_fleet(ann).json()
    (default,) = ann.http.get(f"{API}/fleets/{made['id']}/deployments").json()["items"]
    return Fleet(ann, made["id"], default["id"], configuration_id, TestClient(app))


def test_a_new_agent_is_listed_told_its_interval_and_given_what_its_group_runs(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    answer = agent.start()

    assert answer.instance_uid == agent.uid
    assert answer.connection_settings.opamp.heartbeat_interval_seconds == 30
    assert not answer.connection_settings.opamp.destination_endpoint
    assert answer.flags == 0
    assert agent.config == cfg.YAML.encode()
    (seen,) = fleet.instances()
    assigned = {"configuration_id": fleet.configuration_id, "version_number": 1}
    assert seen == {
        "id": seen["id"],
        "deployment_id": fleet.deployment_id,
        "host_name": "edge-1",
        "os": "linux",
        "arch": "amd64",
        "collector_version": "0.139.0",
        "state": "pending_pickup",
        "state_message": None,
        "assigned": assigned,
        "running": {"configuration_id": None, "version_number": None},
        "last_seen_at": "2026-11-21T12:00:00.000Z",
        "first_seen_at": "2026-11-21T12:00:00.000Z",
    }
    assert fleet.counts() == {"total": 1, "pending_pickup": 1}


def test_a_rollout_goes_from_pending_over_applying_to_applied(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    assert fleet.state() == "pending_pickup"
    agent.report(APPLYING)
    assert fleet.state() == "applying"
    answer = agent.report(wire.RemoteConfigStatuses_APPLIED)
    assert fleet.state() == "applied"
    assert not answer.HasField("remote_config")
    fleet.assign(2)
    assert fleet.state() == "pending_pickup"
    agent.heartbeat()
    assert agent.config == b"# version 2\n"
    agent.applies()
    assert fleet.state() == "applied"
    (seen,) = fleet.instances()
    assert seen["running"] == seen["assigned"] == {"configuration_id": fleet.configuration_id, "version_number": 2}
