"""Real hosts of one group with telemetry: supervisor, collector, senders, and a backend that counts."""

import json
import os
import re
import shlex
import signal
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import httpx

from tests.support import fleet_host
from tests.support.fleet_host import PATIENCE, Host, until
from tests.support.listening import listening
from tests.support.ports import free_port

# The same text for all hosts: each has its own ports in its environment.
TEXT: Final = """\
receivers:
  otlp:
    protocols:
      http: {{endpoint: "127.0.0.1:${{env:OTLP_PORT}}"}}
exporters:
  otlphttp: {{endpoint: "{backend}", encoding: json, compression: none, headers: {{step: "{step}"}}}}
service:
  telemetry:
    metrics: {{readers: [{{pull: {{exporter: {{prometheus: {{host: 127.0.0.1, port: "${{env:METRICS_PORT}}"}}}}}}}}]}}
  pipelines:
    logs: {{receivers: [otlp], exporters: [otlphttp]}}
"""
# Until a host has reported that its collector ended, and a tick has judged it.
_TOLD_SECONDS: Final = 15
_BODY: Final = re.compile(rb'"stringValue":"([a-z0-9-]+ [0-9]+)"')
Entity = dict[str, Any]


@dataclass
class Backend:
    """Takes OTLP/JSON at `good`, and answers 401 at `wrong`. `taken` are the bodies of the log records, counted.

    `places` are the paths at which it was asked, each with how often.
    """

    good: str = ""
    wrong: str = ""
    taken: set[bytes] = field(default_factory=set)
    places: Counter[str] = field(default_factory=Counter)


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A collector that is killed leaves its connections open."""


@contextmanager
def backend() -> Iterator[Backend]:
    found = Backend()

    class Taking(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            found.places[self.path] += 1
            denied = self.path.startswith("/wrong/")
            if not denied:
                found.taken.update(_BODY.findall(content))
            self.send_response(401 if denied else 200)
            self.send_header("Content-Length", "2")
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = _Quiet(("127.0.0.1", 0), Taking)
    address = f"http://127.0.0.1:{server.server_port}"
    found.good, found.wrong = address, f"{address}/wrong"
    with listening(server):
        yield found


@dataclass
class Sender:
    """Sends log records to a host, each once. `sent` were taken by its collector, `refused` not."""

    name: str
    port: int
    every_seconds: float
    sent: set[bytes] = field(default_factory=set)
    refused: int = 0
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        number, due = 0, time.monotonic()
        with httpx.Client(timeout=5) as client:
            while not self.ended.is_set():
                number += 1
                body = f"{self.name} {number}"
                record = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": body}}]}]}]}
                try:
                    taken = client.post(f"http://127.0.0.1:{self.port}/v1/logs", json=record).status_code == 200
                except httpx.TransportError:
                    taken = False
                if taken:
                    self.sent.add(body.encode())
                else:
                    self.refused += 1
                due = max(due + self.every_seconds, time.monotonic() - 1)
                self.ended.wait(max(0, due - time.monotonic()))


@dataclass(frozen=True)
class Loss:
    """What a host's collector took in a while, what never arrived, and what was refused."""

    sent: int
    lost: int
    refused: int


@dataclass
class Hosts:
    """The hosts of a group, by name; the first one is the canary. Texts are versions of one configuration."""

    api: httpx.Client
    fleet_id: str
    deployment_id: str
    backend: Backend
    hosts: dict[str, Host]
    senders: dict[str, Sender] = field(default_factory=dict)
    configuration_id: str = ""
    before: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    @property
    def group(self) -> str:
        return f"/fleets/{self.fleet_id}/deployments/{self.deployment_id}"

    @property
    def canary(self) -> str:
        return next(iter(self.hosts))

    def publish(
        self,
        step: str,
        *,
        backend: str = "",
        collector: str = "",
        grpc: object = None,
        instead: tuple[tuple[str, str], ...] = (),
    ) -> int:
        """The number of a new, published version for that collector; with `grpc`, it takes OTLP there as well.

        `instead` are parts of the text and what stands in their place.
        """
        first = next(iter(self.hosts.values()))
        text = TEXT.format(step=step, backend=backend or self.backend.good)
        if grpc is not None:
            text = text.replace("protocols:\n", f'protocols:\n      grpc: {{endpoint: "{grpc}"}}\n')
        for part, other in instead:
            assert part in text
            text = text.replace(part, other)
        n = first.publish(text, collector)
        self.configuration_id = first.configuration_id
        return n

    def assign(self, n: int, message: str) -> None:
        body = {"configuration_id": self.configuration_id, "version_number": n, "message": message}
        self._done(self.api.patch(self.group, json=body))

    def start(
        self,
        n: int,
        message: str,
        first: int,
        second: int,
        *,
        upgrade_collector: bool = False,
        variables: int | None = None,
        **gates: int | None,
    ) -> str:
        """The id of a rollout to the canary and then to all, with these soaks, and of that revision of `variables`."""
        asked = self.asks(n, message, first, second, upgrade_collector=upgrade_collector, variables=variables, **gates)
        return str(self._done(asked)["id"])

    def asks(
        self,
        n: int,
        message: str,
        first: int,
        second: int,
        *,
        upgrade_collector: bool = False,
        variables: int | None = None,
        **gates: int | None,
    ) -> httpx.Response:
        """What the service answers to such a start."""
        steps = [{"canaries": True, "soak_seconds": first}, {"percent": 100, "soak_seconds": second}]
        strategy = {"canaries": {"role": "canary"}, "steps": steps}
        body: Entity = {"version_number": n, "strategy": strategy, "gates": gates, "message": message}
        body |= {"upgrade_collector": upgrade_collector, "variables_revision": variables}
        return self.api.post(f"{self.group}/rollouts", json=body)

    def stores(self, **changes: object) -> int:
        """Change the group's stored variables; gives their revision."""
        return int(self._done(self.api.patch(f"{self.group}/env", json=changes))["revision"])

    def rollout(self, rollout_id: str) -> Entity:
        return self._done(self.api.get(f"{self.group}/rollouts/{rollout_id}"))

    def until(self, rollout_id: str, there: Callable[[Entity], bool], seconds: int = PATIENCE) -> Entity:
        until(lambda: there(self.rollout(rollout_id)), lambda: f"{self.rollout(rollout_id)}\n{self.log()}", seconds)
        return self.rollout(rollout_id)

    def ends(self, rollout_id: str, seconds: int = PATIENCE) -> Entity:
        final = ("completed", "halted", "rolled_back")
        return self.until(rollout_id, lambda shown: shown["status"] in final, seconds)

    def instances(self) -> dict[str, Entity]:
        """By the names of their hosts."""
        listed = self._done(self.api.get(f"/fleets/{self.fleet_id}/instances"))["items"]
        return {one["name"]: one for one in listed}

    def running(self) -> dict[str, int | None]:
        """The number of the version that each host runs in health."""
        return {
            name: one["running"] and one["running"]["version_number"] if one["state"] == "applied" else None
            for name, one in self.instances().items()
        }

    def all_run(self, n: int) -> None:
        until(lambda: self.running() == dict.fromkeys(self.hosts, n), lambda: f"{self.instances()}\n{self.log()}")

    def flow(self) -> None:
        """Each host's telemetry comes out."""
        before = len(self.backend.taken)
        until(lambda: len(self.backend.taken) > before + 3 * len(self.hosts), self.log)

    def crash(self, name: str, rollout_id: str) -> Entity:
        """End a host's collector, as running out of memory would, until its rollout is taken back: three times at most.

        The version before must not be ended as well while it comes back.
        """
        for _ in range(3):
            (pid,) = self.collectors(name)
            os.kill(pid, signal.SIGKILL)
            self._runs_another(name, pid)
            told = time.monotonic() + _TOLD_SECONDS
            while time.monotonic() < told:
                if self.rollout(rollout_id)["status"] != "in_progress":
                    return self.ends(rollout_id)
                time.sleep(0.2)
        return self.ends(rollout_id)

    def _runs_another(self, name: str, pid: int) -> None:
        until(lambda: self.collectors(name) not in ([], [pid]), self.hosts[name].log)

    def collectors(self, name: str) -> list[int]:
        """The collector processes of a host, without those that only validate a configuration."""
        root = str(self.hosts[name].root)
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                validates = b"\0validate\0" in (process / "cmdline").read_bytes()
                program = (process / "exe").readlink()
                if program.name == "otelcol-contrib" and str(program).startswith(f"{root}/") and not validates:
                    found.append(int(process.name))
            except OSError:
                continue
        return found

    def losses(self) -> dict[str, Loss]:
        """The figures of each host since the last call, once nothing is on the way any more."""
        found = {}
        for name, sender in self.senders.items():
            sent, refused = set(sender.sent), sender.refused
            patience = time.monotonic() + 10
            while sent - self.backend.taken and time.monotonic() < patience:
                time.sleep(0.1)
            lost = len(sent - self.backend.taken)
            were_sent, were_refused, were_lost = self.before.get(name, (0, 0, 0))
            self.before[name] = (len(sent), refused, lost)
            found[name] = Loss(len(sent) - were_sent, lost - were_lost, refused - were_refused)
        return found

    def log(self) -> str:
        return "\n".join(f"== {name}\n{host.log()[-2000:]}" for name, host in self.hosts.items())

    @staticmethod
    def _done(response: httpx.Response) -> Entity:
        assert response.is_success, response.text
        found: Entity = response.json()
        return found


@contextmanager
def hosts(
    folder: Path,
    api: httpx.Client,
    *,
    number: int,
    a_second: int,
    apply_timeout: str = "3s",
    under: str = "",
    stored: Mapping[str, object] | None = None,
    place: str = "",
    **env: str,
) -> Iterator[Hosts]:
    """So many hosts that are installed, run version 1, and are sent so many log records a second.

    `under` is a command that runs the installation, `env` are more variables of the hosts. What is `stored` are
    variables of their group; `place` is where at the backend the first version sends.
    """
    with ExitStack() as stack:
        taking = stack.enter_context(backend())
        found: dict[str, Host] = {}
        fleet_id = _with_variables(api, stored) if stored else ""
        for name in (f"web-{place}" for place in range(1, number + 1)):
            ports = env | {"OTLP_PORT": str(free_port()), "METRICS_PORT": str(free_port())}
            options = {"name": name, "labels": {"role": "canary" if name == "web-1" else "web"}}
            (folder / name).mkdir()
            one = stack.enter_context(
                fleet_host.host(
                    folder / name, api, "web", apply_timeout=apply_timeout, fleet_id=fleet_id, options=options, **ports
                )
            )
            fleet_id, one.port = one.fleet_id, int(ports["OTLP_PORT"])
            if under:
                one.command = f"{under} {shlex.quote(one.command)}"
            one.install()
            found[name] = one
        group = Hosts(api, fleet_id, found["web-1"].deployment_id, taking, found)
        group.assign(group.publish("the first version", backend=taking.good + place), "first version")
        group.all_run(1)
        for name, one in found.items():
            sender = Sender(name, one.port, 1 / a_second)
            group.senders[name] = sender
            thread = threading.Thread(target=sender.run)
            thread.start()
            stack.callback(thread.join)
            stack.callback(sender.ended.set)
        group.flow()
        yield group


def _with_variables(api: httpx.Client, stored: Mapping[str, object]) -> str:
    """A fleet whose Default group has these variables."""
    # The tests of a module share a service.
    label = f"stored-{uuid.uuid4().hex}"
    fleet_id = str(api.post("/fleets", json={"label": label, "type": "server-supervisor"}).json()["id"])
    (group,) = api.get(f"/fleets/{fleet_id}/deployments").json()["items"]
    api.patch(f"/fleets/{fleet_id}/deployments/{group['id']}/env", json=stored).raise_for_status()
    return fleet_id


def told(event: Entity) -> str:
    """An entry of a timeline in a line."""
    return f"{event['at']}  " + json.dumps({name: value for name, value in event.items() if name != "at" and value})
