"""A host in a fleet: the printed install line, run as it is printed, with the real supervisor and collector."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.support.ports import free_port

# A configuration that takes OTLP over HTTP and writes it to a file, adding the text of `step` to every record.
FLOWING = """\
receivers:
  otlp:
    protocols:
      http: {{endpoint: "127.0.0.1:{port}"}}
processors:
  attributes:
    actions: [{{key: step, value: "{step}", action: upsert}}]
exporters:
  file: {{path: "{output}", flush_interval: 100ms}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines:
    logs: {{receivers: [otlp], processors: [attributes], exporters: [file]}}
"""
LOG = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "hello"}}]}]}]}
PATIENCE = 120


@dataclass
class Host:
    """An installed host. `api` is a client of the public API, again after each start of the service."""

    folder: Path
    api: httpx.Client
    fleet_id: str
    deployment_id: str
    command: str
    root: Path
    health_port: int
    configuration_id: str = ""
    port: int = field(default_factory=free_port)

    @property
    def output(self) -> Path:
        return self.folder / "output.jsonl"

    @property
    def pid(self) -> int:
        """The process id of the supervisor."""
        return int((self.root / "var" / "supervisor.pid").read_text())

    def install(self) -> str:
        """Run the line as somebody whose shell has a token for the API; what it printed."""
        command, shell = ["/bin/sh", "-c", self.command], {**os.environ, "SERVICE_API_TOKEN": "sv_of-a-person"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=shell)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def uninstall(self) -> str:
        script = self.root / "bin" / "headgate-install"
        done = subprocess.run(
            [script, "--uninstall", "--root", self.root], capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def publish(self, yaml: str, collector: str = "") -> int:
        """The number of a new, published version, for that collector."""
        if not self.configuration_id:
            made = self._done(self.api.post("/configurations", json={"name": "edge", "yaml": yaml}))
            self.configuration_id, n = made["id"], 1
        else:
            n = self._done(self.api.post(f"/configurations/{self.configuration_id}/versions", json={"yaml": yaml}))["n"]
        version = f"/configurations/{self.configuration_id}/versions/{n}"
        if collector:
            self._done(self.api.patch(version, json={"collector_version": collector}))
        self._done(self.api.post(f"{version}/publish"))
        return n

    def flowing(self, step: str, **changes: object) -> str:
        return FLOWING.format(**{"port": self.port, "output": self.output, "step": step, **changes})

    def assign(self, n: int | None) -> dict[str, Any]:
        body: dict[str, object] = {"configuration_id": None}
        if n is not None:
            body = {"configuration_id": self.configuration_id, "version_number": n}
        return self._done(self.api.patch(f"/fleets/{self.fleet_id}/deployments/{self.deployment_id}", json=body))

    def instance(self) -> dict[str, Any]:
        items = self._done(self.api.get(f"/fleets/{self.fleet_id}/instances"))["items"]
        assert len(items) == 1, items
        return items[0]

    def told(self) -> dict[str, Any]:
        """All that is known of the instance."""
        return self._done(self.api.get(f"/fleets/{self.fleet_id}/instances/{self.instance()['id']}"))

    def order(self, act: str) -> None:
        """Order a restart, or a retry."""
        self._done(self.api.post(f"/fleets/{self.fleet_id}/instances/{self.instance()['id']}/{act}"))

    def wait_for(self, state: str, n: int | None) -> dict[str, Any]:
        """The instance once it is in that state under that assignment."""

        def there() -> bool:
            one = self.instance()
            return one["state"] == state and one["assigned"]["version_number"] == n

        until(there, lambda: f"{self.instance()}\n{self.log()[-4000:]}")
        return self.instance()

    def proves(self, n: int) -> None:
        """Wait until it has run the version healthily for a time, so that it goes back to it."""
        until(lambda: (self.told()["last_healthy"] or {}).get("version_number") == n, self.log)

    def apply(self, yaml: str) -> int:
        """Publish and assign, and wait until it is applied."""
        n = self.publish(yaml)
        self.assign(n)
        self.wait_for("applied", n)
        return n

    def sends(self) -> bool:
        """Whether a log record was taken."""
        try:
            return httpx.post(f"http://127.0.0.1:{self.port}/v1/logs", json=LOG, timeout=10).status_code == 200
        except httpx.TransportError:
            return False

    def flows_as(self, step: str) -> bool:
        """Whether a record that is sent now comes out with that step."""
        before = self.output.stat().st_size if self.output.exists() else 0
        if not self.sends():
            return False
        until(lambda: self.output.exists() and self.output.stat().st_size > before, self.log)
        return f'"key":"step","value":{{"stringValue":"{step}"}}' in self.output.read_text()[before:]

    def log(self) -> str:
        return (self.root / "var" / "supervisor.log").read_text(errors="replace")

    def stop(self) -> None:
        """End whatever is left of it."""
        try:
            os.kill(self.pid, signal.SIGCONT)
            self.uninstall()
        except (FileNotFoundError, ProcessLookupError):
            pass

    @staticmethod
    def _done(response: httpx.Response) -> dict[str, Any]:
        assert response.is_success, response.text
        found: dict[str, Any] = response.json()
        return found


@contextmanager
def host(
    folder: Path,
    api: httpx.Client,
    label: str,
    *,
    apply_timeout: str = "3s",
    fleet_id: str = "",
    options: Mapping[str, object] | None = None,
    **env: str,
) -> Iterator[Host]:
    """A line to install a host under `folder`, of that fleet or of a new one; `options` are more of the install's."""
    if not fleet_id:
        fleet_id = Host._done(api.post("/fleets", json={"label": label, "type": "server-supervisor"}))["id"]
    health_port = free_port()
    root = folder / "scratch root"
    variables = {
        "HEADGATE_HEALTH_ENDPOINT": f"127.0.0.1:{health_port}",
        "HEADGATE_APPLY_TIMEOUT": apply_timeout,
        **env,
    }
    body = {"platform": "linux", "systemd": False, "root_deploy_path": str(root), "env": variables, **(options or {})}
    made = Host._done(api.post(f"/fleets/{fleet_id}/install", json=body))
    one = Host(folder, api, fleet_id, made["deployment_id"], made["command"], root, health_port)
    try:
        yield one
    finally:
        one.stop()


@contextmanager
def taken_port() -> Iterator[int]:
    """A port that something listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


def until(there: Callable[[], bool], told: Callable[[], str], seconds: int = PATIENCE) -> None:
    """Wait for it. Raises AssertionError, with what is told, when it does not come about."""
    end = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < end, told()
        # Most of these questions are requests, which cost the service more than the wait.
        time.sleep(0.5)
