"""A fleet, a configuration for it, and agents that report to it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from httpx2 import Response

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.audit import service as audit
from headgate.deployments.versions import Assignment
from headgate.fleets import keys, tokens
from headgate.fleets.model import FleetType
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.instances.desired.model import config_hash
from headgate.storage import aws, items
from opamp.app import app
from tests.support import configurations as cfg
from tests.support.fleets import create as create_fleet
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith, Member
from tests.support.opamp_agent import Agent


def version(n: int) -> str:
    """A text with a pipeline."""
    return f"# version {n}\nservice: {{pipelines: {{logs: {{receivers: [nop], exporters: [nop]}}}}}}\n"


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    at: datetime

    def moves(self, **by: float) -> None:
        self.at += timedelta(**by)


@dataclass
class Fleet:
    """A fleet, one of its groups, and what people see of it."""

    member: Member
    id: str
    deployment_id: str
    configuration_id: str
    http: TestClient
    published: int = 1

    @property
    def token(self) -> str:
        return tokens.value_of(self.id, 1)

    def assign(self, n: int | None, **more: object) -> None:
        """Assign version `n`, None for nothing."""
        named: dict[str, object] = {"configuration_id": None}
        if n is not None:
            self.publish_up_to(n)
            named = {"configuration_id": self.configuration_id, "version_number": n}
        self.change(**named, **more)

    def publish_up_to(self, n: int) -> None:
        """Version 2 is the text of `version(2)`, and so on."""
        for number in range(self.published + 1, n + 1):
            self.publish(version(number))

    def publish(self, yaml: str, collector: str = "") -> int:
        """The number of a new published version, for that collector."""
        assert cfg.append(self.member, self.configuration_id, yaml=yaml).status_code == 201
        self.published += 1
        if collector:
            changed = cfg.patch(self.member, self.configuration_id, self.published, collector_version=collector)
            assert changed.status_code == 200, changed.text
        assert cfg.publish(self.member, self.configuration_id, self.published).status_code == 200
        return self.published

    def change(self, **fields: Any) -> None:
        path = f"{API}/fleets/{self.id}/deployments/{self.deployment_id}"
        response = self.member.http.patch(path, json=fields)
        assert response.status_code == 200, response.text

    def add_group(self, name: str, n: int, **fields: Any) -> str:
        self.publish_up_to(n)
        body = {"name": name, "configuration_id": self.configuration_id, "version_number": n, **fields}
        response = self.member.http.post(f"{API}/fleets/{self.id}/deployments", json=body)
        assert response.status_code == 201, response.text
        return str(response.json()["id"])

    def instances(self) -> list[dict[str, object]]:
        found: list[dict[str, object]] = self.member.http.get(f"{API}/fleets/{self.id}/instances").json()["items"]
        return found

    def counts(self) -> dict[str, int]:
        """The counters of the list of fleets, those that are not zero."""
        (fleet,) = [one for one in self.member.http.get(f"{API}/fleets").json()["items"] if one["id"] == self.id]
        return {state: n for state, n in fleet["instances"].items() if n}

    def state(self) -> object:
        """The state of the one instance, which the counters have to agree with."""
        (instance,) = self.instances()
        assert self.counts() == {"total": 1, str(instance["state"]): 1}
        return instance["state"]

    def running(self) -> object:
        """The number of the version that the one instance runs."""
        (instance,) = self.instances()
        running = instance["running"]
        assert isinstance(running, dict)
        return running["version_number"]

    def post(self, body: bytes, *, token: str | None = None, group: str | None = None, **headers: str) -> Response:
        return self.http.post(
            "/v1/opamp",
            content=body,
            headers={
                "authorization": f"Bearer {token or self.token}",
                "x-deployment-id": group or self.deployment_id,
                **headers,
            },
        )

    def agent(self, group: str | None = None, **fields: Any) -> Agent:
        def post(body: bytes) -> bytes:
            response = self.post(body, group=group)
            assert response.status_code == 200, response.text
            return response.content

        return Agent(post, **fields)


def make_fleet(
    member: Member, fleet_type: FleetType = "server-supervisor", label: str = "Edge", **fields: str
) -> Fleet:
    """With a published version of a configuration; a Kubernetes fleet with a group that runs it."""
    configuration_id = cfg.create(member, yaml=version(1))
    assert cfg.publish(member, configuration_id).status_code == 200
    created = create_fleet(member, label, fleet_type, **fields)
    assert created.status_code == 201, created.text
    fleet = Fleet(member, created.json()["id"], "", configuration_id, TestClient(app))
    if fleet_type == "kubernetes-supervisor":
        fleet.deployment_id = fleet.add_group("nodes", 1, role="node")
    else:
        (default,) = member.http.get(f"{API}/fleets/{fleet.id}/deployments").json()["items"]
        fleet.deployment_id = default["id"]
    return fleet


def admin_of(fleet: Fleet) -> Caller:
    """An Admin of the fleet's organization."""
    person = Principal("user", "usr_x", "ada@example.com")
    return Caller(fleet.member.organization_id, "Acme", person, person.name, "admin", "read_write", "ses_x")


def changes_of(fleet: Fleet) -> dict[str, str]:
    """The targets of the changes in the fleet's organization by their actions."""
    return {record.action: record.target for record in audit.records(admin_of(fleet), 100, None).entries}


def hash_of(fleet: Fleet, n: int) -> str:
    """What version `n` is known by to agents."""
    return config_hash(Assignment(fleet.configuration_id, n))


def revision(fleet: Fleet) -> int:
    """How often the one instance was written."""
    (seen,) = fleet.instances()
    key = items.marshal(keys.instance(fleet.id, str(seen["id"])))
    item = aws.dynamodb().get_item(TableName=settings().fleets_table, Key=key)["Item"]
    return items.number(items.unmarshal(item), "revision")


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Clock:
    stopped = Clock(datetime(2026, 11, 21, 12, 0, 0, 0, UTC))
    monkeypatch.setattr(clock, "now", lambda: stopped.at)
    return stopped


@pytest.fixture
def ann(join: JoinWith, fleets_without_collector: None) -> Member:
    return join([*fleets_routers, configurations_router], "ann")


@pytest.fixture
def fleet(ann: Member) -> Fleet:
    return make_fleet(ann)
