"""Supervisors speaking OpAMP to the local service: errors, requests a second, processor time, and what the tables cost.

python -m tests.benchmarks.bench_fleet [--instances 2000] [--minutes 1] [--interval 30] [--rollouts] [--data FOLDER]

All instances start, apply what their group runs and send heartbeats; then a person assigns the next version, and all
roll over to it; with `--rollouts` a good version is rolled out as well, and one that fails. `--data` keeps the
service's data and the instances, which join once: with it, `--ramp 2000,4000` measures heartbeats of so many of them.
The baseline of the requests is one that the service refuses by its credential: the same bytes over the same HTTP and
one read, and nothing of the fleet service. What an hour of an instance costs the tables is counted at the AWS client,
over an hour of a clock that is moved.
"""

import argparse
import heapq
import itertools
import json
import logging
import math
import socket
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.opamp import service
from headgate_opamp import opamp_pb2 as wire
from tests.support.aws import aws_for
from tests.support.fleet_of_agents import make_fleet
from tests.support.members import join
from tests.support.opamp_agent import Agent
from tests.support.request_units import counted, uncounted
from tests.support.service import Service, service_of_many_agents
from tests.support.spent import Spent

YAML = "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}\n"
BAD = f"# bad\n{YAML}"
THREADS = 32
APPLY_SECONDS = 10
"""The supervisor's `config_apply_timeout`: Applied is said no earlier."""
CLOSED_LOOP_SECONDS = 8
CLIENTS = 8
INSTANCES_OF_AN_HOUR = 40
LONGEST = 3_600
STEPS = [{"percent": 10, "soak_seconds": 30}, {"percent": 100, "soak_seconds": 30}]
HEAD = (
    f"{'':<44} {'requests':>8} {'errors':>7} {'a second':>8} {'median ms':>9} {'99 % ms':>8} {'service':>8} "
    f"{'these':>6} {'MB':>5}"
)
WHAT = "a message every {} s of each; processor ms a message of the service and of these, and the service's memory"


@dataclass
class Figures:
    """What the simulated supervisors saw."""

    since: Spent
    requests: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def print(self, name: str, took: float, until: Spent) -> None:
        """Processor time is in milliseconds a message."""
        ordered = sorted(self.seconds) or [math.nan]
        median, slow = (ordered[int(share * (len(ordered) - 1))] * 1000 for share in (0.5, 0.99))
        rate, errors, each = self.requests / took, sum(self.errors.values()), 1_000 / max(1, self.requests)
        service, here = (until.service - self.since.service) * each, (until.here - self.since.here) * each
        print(
            f"{name:<44} {self.requests:>8} {errors:>7} {rate:>8.1f} {median:>9.1f} {slow:>8.1f} {service:>8.2f} "
            f"{here:>6.2f} {until.megabytes:>5}",
            flush=True,
        )
        for kind, n in self.errors.items():
            print(f"  {n} x {kind}")


class Connection:
    """HTTP over one socket. A client of a library takes more of the processors than the service does for a message."""

    def __init__(self, base_url: str, headers: dict[str, str]) -> None:
        address, _, port = base_url.removeprefix("http://").partition(":")
        self._address = address, int(port)
        lines = [f"{name}: {value}" for name, value in {"Host": address, **headers}.items()]
        self._head = "\r\n".join(["POST /v1/opamp HTTP/1.1", "Content-Type: application/x-protobuf", *lines])
        self._socket: socket.socket | None = None

    def post(self, body: bytes) -> tuple[int, float, bytes]:
        """The status, the seconds of Retry-After, and the content. Raises OSError."""
        try:
            return self._post(body)
        except (OSError, ValueError) as error:
            self._socket = None
            raise OSError(type(error).__name__) from error

    def _post(self, body: bytes) -> tuple[int, float, bytes]:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=30)
        self._socket.sendall(f"{self._head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._received()
        head, _, content = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").lower().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines)
        while len(content) < int(fields["content-length"]):
            content += self._received()
        return int(first.split()[1]), float(fields.get("retry-after", 1)), content

    def _received(self) -> bytes:
        assert self._socket is not None
        if not (part := self._socket.recv(65_536)):
            raise ConnectionError
        return part


class Supervisors:
    """Agents of one group, each with its next message due at a time of its own; threads send what is due."""

    def __init__(self, running: Service, token: str, group: str, agents: Sequence[Agent], interval: float) -> None:
        self._base_url, self._pid = running.base_url, running.pid
        self._headers = {"Authorization": f"Bearer {token}", "X-Deployment-Id": group}
        self._interval = interval
        self._lock = threading.Lock()
        self._mine = threading.local()
        self._order = itertools.count()
        self.figures = Figures(Spent.by(self._pid))
        self.stopped = False
        self.with_bad: set[bytes] = set()
        begin = time.monotonic()
        # Spread over one interval, as hosts are that did not start together.
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        for n, agent in enumerate(agents):
            agent.post = self._post
            self._at(begin + interval * n / len(agents), self._start(agent))

    @contextmanager
    def running(self) -> Iterator["Supervisors"]:
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield self
        finally:
            self.stopped = True
            thread.join()

    def _run(self) -> None:
        with ThreadPoolExecutor(THREADS) as pool:
            for work in [pool.submit(self._work) for _ in range(THREADS)]:
                work.result()

    def told(self, name: str, took: float) -> None:
        """Print the figures since the last call."""
        now = Spent.by(self._pid)
        with self._lock:
            figures, self.figures = self.figures, Figures(now)
        figures.print(name, took, now)

    def _work(self) -> None:
        self._mine.connection = Connection(self._base_url, self._headers)
        while not self.stopped:
            with self._lock:
                due = self._due[0][0] - time.monotonic() if self._due else 1.0
                act = heapq.heappop(self._due)[2] if due <= 0 else None
            if act is None:
                time.sleep(min(due, 0.05))
            else:
                act()

    def _at(self, moment: float, act: Callable[[], None]) -> None:
        with self._lock:
            heapq.heappush(self._due, (moment, next(self._order), act))

    def _start(self, agent: Agent) -> Callable[[], None]:
        def act() -> None:
            agent.start()
            self._follow(agent)

        return act

    def _heartbeat(self, agent: Agent, interval: float) -> Callable[[], None]:
        def act() -> None:
            agent.heartbeat()
            self._follow(agent, interval)

        return act

    def _ends(self, agent: Agent) -> Callable[[], None]:
        def act() -> None:
            if agent.config == BAD.encode():
                agent.report(wire.RemoteConfigStatuses_FAILED, "no such exporter")
            else:
                agent.report(wire.RemoteConfigStatuses_APPLIED)
            self._follow(agent)

        return act

    def _follow(self, agent: Agent, interval: float = 0) -> None:
        if agent.answer.HasField("remote_config"):
            if agent.config == BAD.encode():
                self.with_bad.add(agent.uid)
            agent.report(wire.RemoteConfigStatuses_APPLYING)
            self._at(time.monotonic() + APPLY_SECONDS, self._ends(agent))
            return
        told = agent.answer.connection_settings.opamp.heartbeat_interval_seconds
        interval = told or interval or self._interval
        self._at(time.monotonic() + interval, self._heartbeat(agent, interval))

    def _post(self, body: bytes) -> bytes:
        """As the supervisor does it: 503 and 429 are sent again, anything else is lost."""
        while True:
            began = time.perf_counter()
            try:
                connection: Connection = self._mine.connection
                code, wait, content = connection.post(body)
                status = str(code)
            except OSError as error:
                status, wait, content = str(error), 1.0, b""
            took = time.perf_counter() - began
            with self._lock:
                self.figures.requests += 1
                self.figures.seconds.append(took)
                if status != "200":
                    self.figures.errors[status] += 1
            if status == "200":
                return content
            if status not in ("503", "429") or self.stopped:
                return b""
            time.sleep(wait)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--instances", type=int, default=2_000)
    arguments.add_argument("--minutes", type=float, default=1)
    arguments.add_argument("--interval", type=int, default=30)
    arguments.add_argument("--rollouts", action="store_true")
    arguments.add_argument("--data", type=Path)
    arguments.add_argument("--ramp", default="")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = chosen.data or Path(temporary)
        with (
            service_of_many_agents(folder / "data", chosen.interval) as running,
            running.client() as client,
        ):
            fleet = a_fleet(client, folder / "fleet.json")
            if chosen.ramp:
                ramp(running, fleet, [int(n) for n in chosen.ramp.split(",")], chosen.minutes, chosen.interval)
            else:
                load(running, client, fleet, chosen.instances, chosen.minutes, chosen.interval, chosen.rollouts)
            fleet.save()
            as_fast_as_it_goes(running, fleet)
        if not chosen.data:
            an_hour(Path(temporary), chosen.interval)


@dataclass
class BenchFleet:
    """A fleet, its group, a configuration with two good versions, of which it runs 1, and a bad one; its agents."""

    file: Path
    id: str
    group: str
    configuration_id: str
    token: str
    agents: list[Agent] = field(default_factory=list)

    @property
    def path(self) -> str:
        return f"/fleets/{self.id}/deployments/{self.group}"

    def of(self, instances: int) -> list[Agent]:
        """So many agents; those that are new have not started."""
        for n in range(len(self.agents), instances):
            self.agents.append(Agent(bytes, host_name=f"edge-{n}", uid=uuid.uuid4().bytes))
        return self.agents[:instances]

    def save(self) -> None:
        known = [[agent.uid.hex(), agent.status.SerializeToString().hex()] for agent in self.agents]
        ids = {"id": self.id, "group": self.group, "configuration_id": self.configuration_id, "token": self.token}
        self.file.write_text(json.dumps({**ids, "agents": known}))

    @classmethod
    def read(cls, file: Path) -> "BenchFleet":
        known = json.loads(file.read_text())
        agents = [
            Agent(
                bytes,
                host_name=f"edge-{n}",
                uid=bytes.fromhex(uid),
                status=wire.RemoteConfigStatus.FromString(bytes.fromhex(status)),
            )
            for n, (uid, status) in enumerate(known.pop("agents"))
        ]
        return cls(file, **known, agents=agents)


def load(
    running: Service,
    client: httpx.Client,
    fleet: BenchFleet,
    instances: int,
    minutes: float,
    interval: int,
    rollouts: bool,
) -> None:
    print(
        f"\n{instances} supervisors, a message every {interval} s each; processor ms a message, and its memory\n{HEAD}"
    )
    with Supervisors(running, fleet.token, fleet.group, fleet.of(instances), interval).running() as supervisors:
        took = wait_until_applied(client, fleet.id, instances)
        supervisors.told("all start and apply what they run", took)
        time.sleep(minutes * 60)
        supervisors.told("heartbeats", minutes * 60)
        body = {"configuration_id": fleet.configuration_id, "version_number": 2}
        client.patch(fleet.path, json=body).raise_for_status()
        took = wait_until_applied(client, fleet.id, instances)
        supervisors.told("all roll over to version 2", took)
        print(f"  applied by all {took:.1f} s after the assignment, {APPLY_SECONDS} s of it the supervisor's own wait")
        for name, n in (("a good version is rolled out", 1), ("a bad version is rolled out", 3)) if rollouts else ():
            status, took = rolled_out(client, fleet, n)
            supervisors.told(name, took)
            print(f"  {status} after {took:.0f} s; {len(supervisors.with_bad)} hosts ever had the bad version")


def ramp(running: Service, fleet: BenchFleet, sizes: Sequence[int], minutes: float, interval: int) -> None:
    """Heartbeats of more and more instances that have joined before: all start again, and then report for a while."""
    print(f"\n{WHAT.format(interval)}\n{HEAD}")
    for instances in sizes:
        with Supervisors(running, fleet.token, fleet.group, fleet.of(instances), interval).running() as supervisors:
            time.sleep(interval + 5)
            supervisors.told(f"{instances} start again", interval + 5)
            time.sleep(minutes * 60)
            supervisors.told(f"heartbeats of {instances}", minutes * 60)


def rolled_out(client: httpx.Client, fleet: BenchFleet, n: int) -> tuple[str, float]:
    """How a rollout of a version to a tenth and then to all ended, and after how many seconds."""
    began = time.perf_counter()
    body = {"version_number": n, "strategy": {"steps": STEPS}}
    path = f"{fleet.path}/rollouts"
    rollout = client.post(path, json=body).raise_for_status().json()["id"]
    while True:
        shown = client.get(f"{path}/{rollout}").raise_for_status().json()
        if shown["status"] in ("completed", "halted", "rolled_back"):
            return shown["status"], time.perf_counter() - began
        if time.perf_counter() - began > LONGEST:
            raise RuntimeError(f"it is {shown}")
        time.sleep(1)


def as_fast_as_it_goes(running: Service, fleet: BenchFleet) -> None:
    """A few clients that do not wait between heartbeats, against requests that are refused."""
    refused = closed_loop(running.base_url, fleet, "ft_" + "A" * 43, 401)
    answered = closed_loop(running.base_url, fleet, fleet.token, 200)
    print(f"\nas fast as 8 clients ask: {answered:.0f} heartbeats a second, {refused:.0f} refusals (baseline)", end="")
    print(f": a heartbeat costs {refused / answered:.2f} refusals")


def closed_loop(base_url: str, fleet: BenchFleet, token: str, expected: int) -> float:
    """The messages a second; each is of another instance, since one may send two a second."""
    until = time.monotonic() + CLOSED_LOOP_SECONDS
    headers = {"Authorization": f"Bearer {token}", "X-Deployment-Id": fleet.group}

    def asks(client: int) -> int:
        connection = Connection(base_url, headers)

        def post(body: bytes) -> bytes:
            status, _, content = connection.post(body)
            if status != expected:
                raise RuntimeError(f"{status} in the place of {expected}: {content.decode()}")
            return content if expected == 200 else b""

        for done, agent in enumerate(itertools.cycle(fleet.agents[client::CLIENTS])):
            if time.monotonic() >= until:
                return done
            agent.post = post
            agent.heartbeat()
        raise RuntimeError("there are no instances")

    with ThreadPoolExecutor(CLIENTS) as pool:
        return sum(pool.map(asks, range(CLIENTS))) / CLOSED_LOOP_SECONDS


def a_fleet(client: httpx.Client, file: Path) -> BenchFleet:
    """The one that the file names, or a new one."""
    if file.exists():
        return BenchFleet.read(file)
    made = client.post("/configurations", json={"name": "Edge", "yaml": YAML}).raise_for_status().json()
    path = f"/configurations/{made['id']}/versions"
    for text in (f"# 2\n{YAML}", BAD):
        client.post(path, json={"yaml": text}).raise_for_status()
    for n in (1, 2, 3):
        client.post(f"{path}/{n}/publish").raise_for_status()
    fleet = client.post("/fleets", json={"label": "Bench", "type": "server-supervisor"}).raise_for_status().json()
    (group,) = client.get(f"/fleets/{fleet['id']}/deployments").json()["items"]
    assigned = {"configuration_id": made["id"], "version_number": 1}
    client.patch(f"/fleets/{fleet['id']}/deployments/{group['id']}", json=assigned).raise_for_status()
    install = client.post(f"/fleets/{fleet['id']}/install", json={"platform": "linux"}).raise_for_status().json()
    return BenchFleet(file, fleet["id"], group["id"], made["id"], install["connection"]["token"])


def wait_until_applied(client: httpx.Client, fleet_id: str, instances: int) -> float:
    """Seconds until the fleet's own counters say so."""
    began = time.perf_counter()
    while True:
        counts = client.get(f"/fleets/{fleet_id}").json()["instances"]
        if counts["applied"] == counts["total"] == instances:
            return time.perf_counter() - began
        if time.perf_counter() - began > LONGEST:
            raise RuntimeError(f"after an hour there are {counts}")
        time.sleep(0.25)


def an_hour(folder: Path, interval: int) -> None:
    """Calls and request units of an instance's hour: one in which nothing happens, and one with a rollout."""
    # A line for each change of a state would bury the figures.
    logging.getLogger("headgate").setLevel(logging.WARNING)
    with pytest.MonkeyPatch.context() as monkeypatch:
        for _ in aws_for(monkeypatch, folder):
            monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
            monkeypatch.setenv("HEADGATE_FLEET_HEARTBEAT_SECONDS", str(interval))
            settings.cache_clear()
            count_an_hour(monkeypatch, interval)


def count_an_hour(monkeypatch: pytest.MonkeyPatch, interval: int) -> None:
    now = [clock.now()]
    monkeypatch.setattr(clock, "now", lambda: now[0])
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", "/nonexistent")
    organization_id = identity.create_organization("Bench").id
    fleet = make_fleet(join([*fleets_routers, configurations_router], default_organization_id=organization_id))
    fleet.assign(1)
    agents = [
        Agent(lambda body: service.exchange(fleet.token, fleet.deployment_id, body).encode(), host_name=f"edge-{n}")
        for n in range(INSTANCES_OF_AN_HOUR)
    ]
    for agent in agents:
        agent.start()
        agent.applies()
    print(f"\nan hour of an instance that sends a message every {interval} s, counted at the client")
    print(f"{'':<28} {'messages':>8} {'calls':>8} {'read units':>11} {'write units':>12}")
    for name, n in (("nothing happens", 1), ("one rollout", 2)):
        with counted() as (calls, units):
            messages = 0
            for second in range(0, 3_600, interval):
                if n == 2 and second == 1_800:
                    # What a person does is not the instances'.
                    with uncounted():
                        fleet.assign(n)
                for agent in agents:
                    before = agent.sequence_num
                    agent.heartbeat()
                    if agent.answer.HasField("remote_config"):
                        agent.applies()
                    messages += agent.sequence_num - before
                now[0] += timedelta(seconds=interval)
        per = 1 / len(agents)
        line = f"{messages * per:>8.1f} {sum(calls.values()) * per:>8.1f}"
        print(f"{name:<28} {line} {units['read'] * per:>11.1f} {units['write'] * per:>12.1f}")
        print("  " + ", ".join(f"{done * per:.1f} {operation}" for operation, done in sorted(calls.items())))


if __name__ == "__main__":
    main()
