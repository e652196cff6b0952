"""An hour's worth of mixed requests, as fast as they go: no error, and nothing that grows but what was kept.

`HEADGATE_TRUST_SOAK` is how many requests are made. Four credentials at their limit of 60 a minute make 14,400 an hour.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import psutil
import pytest

from headgate_engine.checker.limits import default_limits
from tests.support import processes, sizes
from tests.support.opamp_agent import Agent
from tests.support.service import Service, running_service

pytestmark = pytest.mark.sized

CLIENTS: Final = 4
# The last of these parts is held against the second; in the first, caches fill and processes start.
PARTS: Final = 6
# What moto holds of an item in memory, several times of its size on the wire, with its record of change.
BYTES_OF_A_WRITE: Final = 24_000
YAML: Final = (Path(__file__).parents[1] / "benchmarks" / "hundred_lines.yaml").read_text()
SMALL: Final = """\
receivers: {otlp: {protocols: {grpc: {endpoint: "127.0.0.1:4317"}}}}
processors: {filter: {logs: {log_record: ['body == "x"']}}}
exporters: {debug: {}}
service: {pipelines: {logs: {receivers: [otlp], processors: [filter], exporters: [debug]}}}
"""
RUN: Final = {"sample": "a line", "signal_type": "logs", "target_pipeline": "logs", "duration_seconds": 1}
FINAL: Final = ("Success", "Fail", "Error")


@dataclass(frozen=True)
class Sample:
    """What a process and its children hold."""

    resident: int
    files: int
    threads: int
    children: int
    largest_child: int


@dataclass
class Traffic:
    """Requests of one client; `kept` counts those that leave something."""

    http: httpx.Client
    configuration_id: str
    agent: Agent
    counted: Counter[str]
    kept: int = 0

    def one(self, draw: random.Random) -> None:
        version = f"/configurations/{self.configuration_id}/versions"
        edited = {"yaml": f"{SMALL}# {time.time()}"}
        wrong = YAML.replace("batch", "botch")
        kinds: list[tuple[int, str, Callable[[], httpx.Response]]] = [
            (20, "validate", lambda: self.http.post("/validate", json={"yaml": YAML})),
            (5, "validate, wrong", lambda: self.http.post("/validate", json={"yaml": wrong})),
            (10, "lint", lambda: self.http.post("/ottl/lint", json={"yaml": YAML})),
            (15, "configuration", lambda: self.http.get(f"/configurations/{self.configuration_id}")),
            (10, "configurations", lambda: self.http.get("/configurations")),
            (10, "versions", lambda: self.http.get(version)),
            (5, "identity", lambda: self.http.get("/identity")),
            (5, "flows", lambda: self.http.get("/flows")),
            (5, "fleets", lambda: self.http.get("/fleets")),
            (3, "edit", lambda: self.http.patch(f"{version}/2?validate=true", json=edited)),
            (1, "append", lambda: self.http.post(version, json={"yaml": SMALL})),
        ]
        if draw.random() < 0.15:
            self.agent.heartbeat()
            self.counted["heartbeat"] += 1
            return
        _, name, ask = draw.choices(kinds, [weight for weight, *_ in kinds])[0]
        response = ask()
        assert response.is_success, (name, response.status_code, response.text)
        self.counted[name] += 1
        self.kept += name in ("edit", "append")

    def run(self) -> None:
        """A pipeline test, to its end."""
        run = self.http.post("/testing/runs", json={**RUN, "yaml": SMALL}).raise_for_status().json()
        while run["status"] not in FINAL:
            time.sleep(0.2)
            run = self.http.get(f"/testing/runs/{run['id']}").raise_for_status().json()
        assert run["status"] == "Success", run
        self.counted["run"] += 1
        self.kept += 1


@pytest.fixture(scope="module")
def fleet_service(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with running_service(tmp_path_factory.mktemp("soak") / "data") as service:
        yield service


def test_nothing_grows_but_what_is_kept(fleet_service: Service) -> None:
    counted: Counter[str] = Counter()
    traffics = [traffic(fleet_service, number, counted) for number in range(CLIENTS)]
    parts: list[Sample] = []
    kept: list[int] = []
    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        for part in range(PARTS):
            work = [pool.submit(drive, one, part, number) for number, one in enumerate(traffics)]
            for done in work:
                done.result()
            parts.append(at_rest(fleet_service.pid, max((one.children for one in parts), default=None)))
            kept.append(sum(one.kept for one in traffics))
    took = time.perf_counter() - started

    for number, found in enumerate(parts):
        print(f"after part {number + 1}: {found}")
    print(f"{counted.total()} requests in {took:.0f} s: {dict(sorted(counted.items()))}; {kept[-1]} left something")
    early, late = parts[1], parts[-1]
    # A tenth is the noise of the allocator in a test of this size, not growth.
    assert late.resident <= early.resident * 1.1 + BYTES_OF_A_WRITE * (kept[-1] - kept[1])
    assert late.files <= early.files + CLIENTS
    assert late.threads <= early.threads + CLIENTS
    assert late.children <= max(one.children for one in parts[:-1])
    assert late.largest_child <= default_limits().recycle_bytes


def traffic(service: Service, number: int, counted: Counter[str]) -> Traffic:
    """Over a configuration and an agent of its own."""
    http = service.client()
    made = http.post("/configurations", json={"name": f"Soak {number}", "yaml": SMALL}).raise_for_status().json()["id"]
    http.post(f"/configurations/{made}/versions/1/publish").raise_for_status()
    http.post(f"/configurations/{made}/versions", json={"yaml": SMALL}).raise_for_status()
    label = {"label": f"Soak {number}", "type": "server-supervisor"}
    fleet = http.post("/fleets", json=label).raise_for_status().json()["id"]
    connection = (
        http.post(f"/fleets/{fleet}/install", json={"platform": "docker"}).raise_for_status().json()["connection"]
    )
    headers = {
        "Authorization": f"Bearer {connection['token']}",
        "X-Deployment-Id": connection["deployment_id"],
        "Content-Type": "application/x-protobuf",
    }
    post = httpx.Client(base_url=service.base_url, headers=headers, timeout=120)
    agent = Agent(lambda body: post.post("/v1/opamp", content=body).raise_for_status().content)
    agent.start()
    return Traffic(http, made, agent, counted)


def drive(one: Traffic, part: int, number: int) -> None:
    """A part of a client's requests. One client has a run in every second part, or each of them in all parts."""
    draw = random.Random(part * CLIENTS + number)
    for _ in range(sizes.SOAK // CLIENTS // PARTS):
        one.one(draw)
    if sizes.FULL or number == part / 2:
        one.run()


def at_rest(pid: int, most_children: int | None) -> Sample:
    """What is held with no request under way. A process that is being replaced or ended is given its time."""
    deadline = time.monotonic() + 60
    found = sample(pid)
    while most_children is not None and found.children > most_children and time.monotonic() < deadline:
        time.sleep(0.2)
        found = sample(pid)
    return found


def sample(pid: int) -> Sample:
    service = psutil.Process(pid)
    children = processes.children(pid, "otelcol", recursive=True)
    return Sample(
        resident=processes.resident_bytes(pid),
        files=service.num_fds(),
        threads=service.num_threads(),
        children=len(children),
        largest_child=max(map(processes.resident_bytes, children), default=0),
    )
