"""Supervisors speaking OpAMP to the local service: errors, requests a second, and what they cost the tables.

python -m tests.benchmarks.bench_fleet [--instances 2000] [--minutes 1] [--interval 30]

All instances start, apply what their group runs and send heartbeats; then a person assigns the next version, and all
roll over to it. The baseline of the requests is one that the service refuses by its credential: the same bytes over the
same HTTP and one read, and nothing of the fleet service. What an hour of an instance costs the tables is counted at the
AWS client, over an hour of a clock that is moved.
"""

import argparse
import heapq
import itertools
import logging
import math
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from configurations.app import router as configurations_router
from fleets.app import router as fleets_router
from headgate.foundation import clock
from headgate.identity import service as identity
from headgate.opamp import service
from headgate.settings import settings
from headgate_opamp import opamp_pb2 as wire
from tests.support.aws import aws_for
from tests.support.fleet_of_agents import make_fleet
from tests.support.members import join
from tests.support.opamp_agent import Agent
from tests.support.request_units import counted, uncounted
from tests.support.service import Service, running_service

YAML = "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}\n"
THREADS = 32
APPLY_SECONDS = 10
"""The supervisor's `config_apply_timeout`: Applied is said no earlier."""
CLOSED_LOOP_SECONDS = 8
INSTANCES_OF_AN_HOUR = 40


@dataclass
class Figures:
    """What the simulated supervisors saw."""

    requests: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def print(self, name: str, took: float) -> None:
        ordered = sorted(self.seconds) or [math.nan]
        median, slow = (ordered[int(share * (len(ordered) - 1))] * 1000 for share in (0.5, 0.99))
        rate, errors = self.requests / took, sum(self.errors.values())
        print(f"{name:<44} {self.requests:>8} {errors:>7} {rate:>8.1f} {median:>9.1f} {slow:>8.1f}", flush=True)
        for kind, n in self.errors.items():
            print(f"  {n} x {kind}")


class Supervisors:
    """Agents of one group, each with its next message due at a time of its own; threads send what is due."""

    def __init__(self, base_url: str, token: str, group: str, instances: int, interval: float) -> None:
        self._http = httpx.Client(
            base_url=base_url,
            headers={"Authorization": f"Bearer {token}", "X-Deployment-Id": group},
            limits=httpx.Limits(max_connections=THREADS, max_keepalive_connections=THREADS),
            timeout=30,
        )
        self._interval = interval
        self._lock = threading.Lock()
        self._order = itertools.count()
        self.figures = Figures()
        self.stopped = False
        begin = time.monotonic()
        # Spread over one interval, as hosts are that did not start together.
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        for n in range(instances):
            agent = Agent(self._post, host_name=f"edge-{n}", uid=uuid.uuid4().bytes)
            self._at(begin + interval * n / instances, self._start(agent))

    def run(self) -> None:
        """Until `stopped`."""
        with ThreadPoolExecutor(THREADS) as pool:
            for work in [pool.submit(self._work) for _ in range(THREADS)]:
                work.result()

    def take_figures(self) -> Figures:
        with self._lock:
            figures, self.figures = self.figures, Figures()
        return figures

    def _work(self) -> None:
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

    def _heartbeat(self, agent: Agent) -> Callable[[], None]:
        def act() -> None:
            agent.heartbeat()
            self._follow(agent)

        return act

    def _applied(self, agent: Agent) -> Callable[[], None]:
        def act() -> None:
            agent.report(wire.RemoteConfigStatuses_APPLIED)
            self._follow(agent)

        return act

    def _follow(self, agent: Agent) -> None:
        if agent.answer.HasField("remote_config"):
            agent.report(wire.RemoteConfigStatuses_APPLYING)
            self._at(time.monotonic() + APPLY_SECONDS, self._applied(agent))
        else:
            self._at(time.monotonic() + self._interval, self._heartbeat(agent))

    def _post(self, body: bytes) -> bytes:
        """As the supervisor does it: 503 and 429 are sent again, anything else is lost."""
        while True:
            began = time.perf_counter()
            try:
                response = self._http.post("/v1/opamp", content=body)
                status = str(response.status_code)
            except httpx.HTTPError as error:
                response, status = None, type(error).__name__
            took = time.perf_counter() - began
            with self._lock:
                self.figures.requests += 1
                self.figures.seconds.append(took)
                if status != "200":
                    self.figures.errors[status] += 1
            if response is not None and status == "200":
                return response.content
            if status not in ("503", "429") or response is None:
                return b""
            time.sleep(float(response.headers.get("retry-after", 1)))


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--instances", type=int, default=2_000)
    arguments.add_argument("--minutes", type=float, default=1)
    arguments.add_argument("--interval", type=int, default=30)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        load(Path(folder), chosen.instances, chosen.minutes, chosen.interval)
        an_hour(Path(folder), chosen.interval)


def load(folder: Path, instances: int, minutes: float, interval: int) -> None:
    with (
        # All at once, more than a fleet lets in.
        running_service(
            folder / "data",
            as_people_do=True,
            HEADGATE_FLEET_HEARTBEAT_SECONDS=str(interval),
            HEADGATE_INSTANCE_LIMIT=str(instances),
            HEADGATE_NEW_INSTANCES_PER_MINUTE=str(instances),
        ) as running,
        running.client() as client,
    ):
        fleet_id, group, configuration_id, token = a_fleet(client)
        print(f"\n{instances} supervisors, a message every {interval} s each")
        print(f"{'':<44} {'requests':>8} {'errors':>7} {'a second':>8} {'median ms':>9} {'99 % ms':>8}")
        supervisors = Supervisors(running.base_url, token, group, instances, interval)
        thread = threading.Thread(target=supervisors.run)
        thread.start()
        try:
            took = wait_until_applied(client, fleet_id, instances)
            supervisors.take_figures().print("all start and apply version 1", took)
            time.sleep(minutes * 60)
            supervisors.take_figures().print("heartbeats", minutes * 60)
            path = f"/fleets/{fleet_id}/deployments/{group}"
            client.patch(path, json={"configuration_id": configuration_id, "version_number": 2}).raise_for_status()
            took = wait_until_applied(client, fleet_id, instances)
            supervisors.take_figures().print("all roll over to version 2", took)
            print(
                f"  applied by all {took:.1f} s after the assignment, {APPLY_SECONDS} s of it the supervisor's own wait"
            )
        finally:
            supervisors.stopped = True
            thread.join()
        as_fast_as_it_goes(running, token, group)


def as_fast_as_it_goes(running: Service, token: str, group: str) -> None:
    """A few agents that do not wait between heartbeats, against requests that are refused."""
    refused = closed_loop(running.base_url, {"Authorization": "Bearer ft_" + "A" * 43, "X-Deployment-Id": group}, 401)
    answered = closed_loop(running.base_url, {"Authorization": f"Bearer {token}", "X-Deployment-Id": group}, 200)
    print(f"\nas fast as 8 clients ask: {answered:.0f} heartbeats a second, {refused:.0f} refusals (baseline)", end="")
    print(f": a heartbeat costs {refused / answered:.2f} refusals")


def closed_loop(base_url: str, headers: dict[str, str], expected: int) -> float:
    until = time.monotonic() + CLOSED_LOOP_SECONDS

    def asks(_: int) -> int:
        done = 0
        with httpx.Client(base_url=base_url, headers=headers, timeout=30) as http:
            # Refused, or answered: in the second case an instance that has applied what it is to run.
            def post(body: bytes) -> bytes:
                response = http.post("/v1/opamp", content=body)
                if response.status_code != expected:
                    raise RuntimeError(f"{response.status_code} in the place of {expected}: {response.text}")
                return response.content if expected == 200 else b""

            agent = Agent(post)
            agent.start()
            agent.report(wire.RemoteConfigStatuses_APPLIED)
            while time.monotonic() < until:
                agent.heartbeat()
                done += 1
        return done

    with ThreadPoolExecutor(8) as pool:
        return sum(pool.map(asks, range(8))) / CLOSED_LOOP_SECONDS


def a_fleet(client: httpx.Client) -> tuple[str, str, str, str]:
    """The ids of a fleet, its group, a configuration with two published versions, of which it runs 1; its token."""
    made = client.post("/configurations", json={"name": "Edge", "yaml": YAML}).raise_for_status().json()
    path = f"/configurations/{made['id']}/versions"
    client.post(path, json={"yaml": f"# 2\n{YAML}"}).raise_for_status()
    for n in (1, 2):
        client.post(f"{path}/{n}/publish").raise_for_status()
    fleet = client.post("/fleets", json={"label": "Bench", "type": "server-supervisor"}).raise_for_status().json()
    (group,) = client.get(f"/fleets/{fleet['id']}/deployments").json()["items"]
    assigned = {"configuration_id": made["id"], "version_number": 1}
    client.patch(f"/fleets/{fleet['id']}/deployments/{group['id']}", json=assigned).raise_for_status()
    install = client.post(f"/fleets/{fleet['id']}/install", json={"platform": "linux"}).raise_for_status().json()
    return fleet["id"], group["id"], made["id"], install["connection"]["token"]


def wait_until_applied(client: httpx.Client, fleet_id: str, instances: int) -> float:
    """Seconds until the fleet's own counters say so."""
    began = time.perf_counter()
    while True:
        counts = client.get(f"/fleets/{fleet_id}").json()["instances"]
        if counts["applied"] == counts["total"] == instances:
            return time.perf_counter() - began
        if time.perf_counter() - began > 600:
            raise RuntimeError(f"after ten minutes there are {counts}")
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
    fleet = make_fleet(join([fleets_router, configurations_router], default_organization_id=organization_id))
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
