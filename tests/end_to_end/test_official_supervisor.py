"""The official OpAMP supervisor, with a file of its own, in fleets of Headgate."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.fleet_host import FLOWING, LOG, until
from tests.support.installing import installs
from tests.support.local_service import LocalService
from tests.support.official_supervisor import NEWER, OfficialSupervisor, official_supervisor
from tests.support.ports import free_port

__all__ = ["installs"]

pytestmark = [pytest.mark.end_to_end, pytest.mark.full]


@dataclass
class Managed:
    """A managed fleet with that one host."""

    api: httpx.Client
    fleet: str
    group: str
    host: OfficialSupervisor
    token: str
    configuration: str = ""

    def post(self, path: str, body: object = None) -> dict[str, Any]:
        answer = self.api.post(path, json=body)
        assert answer.is_success, answer.text
        read: dict[str, Any] = answer.json()
        return read

    def instances(self) -> list[dict[str, Any]]:
        read: list[dict[str, Any]] = self.api.get(f"/fleets/{self.fleet}/instances").json()["items"]
        return read

    def assign(self, yaml: str) -> int:
        """The number of a new version, which the group runs from now on."""
        if self.configuration:
            number = int(self.post(f"/configurations/{self.configuration}/versions", {"yaml": yaml})["n"])
        else:
            number = 1
            self.configuration = str(self.post("/configurations", {"name": f"edge {self.fleet}", "yaml": yaml})["id"])
        self.post(f"/configurations/{self.configuration}/versions/{number}/publish")
        body = {"configuration_id": self.configuration, "version_number": number}
        assert self.api.patch(f"/fleets/{self.fleet}/deployments/{self.group}", json=body).is_success
        return number

    def state(self, state: str, number: int | None = None) -> dict[str, Any]:
        """The instance once it is in that state."""

        def there() -> bool:
            items = self.instances()
            return len(items) == 1 and items[0]["state"] == state and items[0]["assigned"]["version_number"] == number

        until(there, lambda: f"{self.instances()}\n{self.host.log()}", seconds=90)
        return self.instances()[0]


@pytest.fixture(params=["http", "ws", NEWER])
def managed(installs: LocalService, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Managed]:
    """A fleet of an organization's own, with the one host, which reports over plain HTTP or WebSocket, or is newer."""
    newer = request.param == NEWER
    api = installs.client()
    fleet = api.post("/fleets", json={"label": f"official-{request.param}", "type": "server-supervisor"}).json()["id"]
    install = api.post(f"/fleets/{fleet}/install", json={"platform": "linux", "root_deploy_path": "/opt/x"}).json()
    connection = install["connection"]
    server = {
        "endpoint": connection["endpoint"].replace("http", "ws" if request.param == "ws" else "http", 1),
        "headers": {
            "Authorization": "Bearer ${HEADGATE_FLEET_TOKEN}",
            "X-Deployment-Id": connection["deployment_id"],
        },
    }
    with official_supervisor(tmp_path, server, newer=newer) as host:
        host.start(HEADGATE_FLEET_TOKEN=connection["token"])
        yield Managed(api, fleet, connection["deployment_id"], host, connection["token"])


def test_the_official_supervisor_takes_versions_keeps_what_worked_and_comes_back(managed: Managed) -> None:
    port, output = free_port(), managed.host.folder / "output.jsonl"

    def flowing(step: str) -> str:
        return FLOWING.format(port=port, output=output, step=step)

    def sends() -> bool:
        try:
            return httpx.post(f"http://127.0.0.1:{port}/v1/logs", json=LOG, timeout=10).status_code == 200
        except httpx.TransportError:
            return False

    managed.state("idle")
    first = managed.assign(flowing("first"))
    managed.state("applied", first)
    until(sends, managed.host.log)
    until(lambda: output.exists() and '"first"' in output.read_text(), managed.host.log)

    second = managed.assign(flowing("second").replace("action: upsert", "action: nothing"))
    failed = managed.state("apply_failed", second)
    assert "exited unexpectedly" in failed["state_message"]
    until(sends, managed.host.log)

    third = managed.assign(flowing("third"))
    managed.state("applied", third)
    managed.host.stop()
    # Over plain HTTP the official client does not say that it stops.
    until(lambda: managed.instances()[0]["state"] in ("silent", "stopped"), managed.host.log)

    managed.host.start(HEADGATE_FLEET_TOKEN=managed.token)
    managed.state("applied", third)
    until(sends, managed.host.log)
