"""Pages of a fleet with many collectors, against the same pages of a fleet with one, in this process on moto.

python -m tests.benchmarks.bench_fleet_pages [--instances 2000] [--times 10]
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

import pytest

from configurations.app import router as configurations_router
from fleets.app import app
from fleets.app import routers as fleets_routers
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.opamp import service as opamp
from tests.support.aws import aws_for
from tests.support.fleet_of_agents import Fleet, make_fleet
from tests.support.in_process import TestClient
from tests.support.members import join
from tests.support.opamp_agent import Agent
from tests.support.page_visitor import member_at

PAGES: Final = {
    "the fleet": "",
    "a group": "/deployments/{group}",
    "a group's bars, after it": "/deployments/{group}?count=yes",
    "collectors": "/collectors",
    "collectors, by a label": "/collectors?label=site=x",
    "one collector": "/collectors/{instance}",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=2_000)
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args()
    with pytest.MonkeyPatch.context() as monkeypatch, tempfile.TemporaryDirectory() as folder:
        for _ in aws_for(monkeypatch, Path(folder)):
            monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
            monkeypatch.setenv("HEADGATE_NEW_INSTANCES_PER_MINUTE", str(options.instances))
            monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", "/nonexistent")
            settings.cache_clear()
            measure(options.instances, options.times)


def measure(instances: int, times: int) -> None:
    organization_id = identity.create_organization("Bench").id
    member = join([*fleets_routers, configurations_router], default_organization_id=organization_id)
    small, large = (of_agents(make_fleet(member, label=str(count)), count) for count in (1, instances))
    browser = member_at(app, organization_id)
    print(f"{'page':<24} {'1 collector':>14} {f'{instances:,} collectors':>18}   ratio")
    for name, below in PAGES.items():
        one, many = (median(browser, fleet, below, times) for fleet in (small, large))
        print(f"{name:<24} {one:>11.0f} ms {many:>15.0f} ms {many / one:>7.1f}", flush=True)


def of_agents(fleet: Fleet, count: int) -> Fleet:
    """The fleet with so many collectors that run its version."""
    fleet.assign(1)
    for number in range(count):
        agent = Agent(
            lambda body: opamp.exchange(fleet.token, fleet.deployment_id, body).encode(), host_name=f"edge-{number}"
        )
        agent.start()
        agent.applies()
    return fleet


def median(browser: TestClient, fleet: Fleet, below: str, times: int) -> float:
    """Milliseconds."""
    first = str(fleet.instances()[0]["id"])
    path = f"/organizations/{fleet.member.organization_id}/fleets/{fleet.id}"
    took = []
    for _ in range(times + 1):
        began = time.perf_counter()
        answer = browser.get(path + below.format(group=fleet.deployment_id, instance=first))
        took.append((time.perf_counter() - began) * 1_000)
        assert answer.status_code == 200, answer.text
    return statistics.median(took[1:])


if __name__ == "__main__":
    main()
