"""Home in Chromium: first content, and what an answer of the overview takes, in a new organization and in a large one.

Then the first content of a fleet's page and of its group's, with the collectors of the large organization that are in
one fleet: `--fleets 1` for all of them.

The baseline is the page `/style` of the same run, which reads nothing but the session.

python -m tests.benchmarks.bench_home [--collectors 2000] [--configurations 250] [--fleets 10] [--loads 9]
"""

import argparse
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from playwright.sync_api import Page

from headgate_opamp import opamp_pb2 as wire
from tests.support.admin import YAML
from tests.support.agents_of_service import post_to
from tests.support.chromium import chromium
from tests.support.console import visit
from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent, Post

_PAINTED = "performance.getEntriesByName('first-contentful-paint').length"
_FIRST = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
_AT_ONCE = 4
# One of so many collectors fails to apply its version.
_FAILS = 50


def fill(service: LocalService, configurations: int, fleets: int, collectors: int) -> None:
    with service.client() as api, httpx.Client(base_url=service.base_url, timeout=120) as client:
        made = [
            api.post("/configurations", json={"name": f"c{number}", "yaml": YAML}).json()["id"]
            for number in range(configurations)
        ]
        api.post(f"/configurations/{made[0]}/versions/1/publish").raise_for_status()
        assigned = {"configuration_id": made[0], "version_number": 1}
        posts: list[Post] = []
        for number in range(fleets):
            body = {"label": f"fleet {number}", "type": "server-supervisor"}
            fleet_id = api.post("/fleets", json=body).json()["id"]
            (group,) = api.get(f"/fleets/{fleet_id}/deployments").json()["items"]
            api.patch(f"/fleets/{fleet_id}/deployments/{group['id']}", json=assigned).raise_for_status()
            posts.append(post_to(client, api, fleet_id, group["id"]))

        def join(number: int) -> None:
            agent = Agent(posts[number % fleets], host_name=f"host-{number}")
            agent.start()
            if number % _FAILS:
                agent.applies()
            else:
                agent.report(wire.RemoteConfigStatuses_FAILED, "bind: address already in use")

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(join, range(collectors)))


def first_content(page: Page, path: str, loads: int) -> float:
    """The median, in milliseconds."""
    times = []
    for _ in range(loads + 1):
        # What one page asks for after its first content is not to compete with the next one.
        page.goto(path, wait_until="networkidle")
        # The page's policy refuses what Playwright waits with.
        while not page.evaluate(_PAINTED):
            page.wait_for_timeout(50)
        times.append(float(page.evaluate(_FIRST)))
    # The first one fills the caches.
    return statistics.median(times[1:])


def pages_of_a_fleet(service: LocalService) -> dict[str, str]:
    """The paths below the organization's."""
    with service.client() as api:
        fleet = f"/fleets/{api.get('/fleets').json()['items'][0]['id']}"
        group = api.get(f"{fleet}/deployments").json()["items"][0]["id"]
    return {"a fleet": fleet, "a group": f"{fleet}/deployments/{group}", "collectors": f"{fleet}/collectors"}


def answer(service: LocalService, loads: int) -> float:
    """The median of the overview's answers, in milliseconds."""
    times = []
    with service.client() as api:
        for _ in range(loads + 1):
            began = time.perf_counter()
            api.get("/overview").raise_for_status()
            times.append(1_000 * (time.perf_counter() - began))
    return statistics.median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, number in (("collectors", 2_000), ("configurations", 250), ("fleets", 10), ("loads", 9)):
        parser.add_argument(f"--{name}", type=int, default=number)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        service = LocalService(
            Path(folder), HEADGATE_NEW_INSTANCES_PER_MINUTE="1000000", HEADGATE_PERSON_RATE_LIMIT_PER_MINUTE="1000000"
        )
        service.start()
        try:
            with visit(browser, service) as here:
                baseline = first_content(here.page, "/style", given.loads)
                print(f"first content of /style {baseline:.0f} ms")
                for name in ("new", "large"):
                    if name == "large":
                        fill(service, given.configurations, given.fleets, given.collectors)
                    home, overview = first_content(here.page, here.home, given.loads), answer(service, given.loads)
                    print(
                        f"{name} organization: first content of Home {home:.0f} ms, {home / baseline:.1f} × /style; "
                        f"GET /overview {overview:.0f} ms"
                    )
                for name, path in pages_of_a_fleet(service).items():
                    first = first_content(here.page, here.home + path, given.loads)
                    print(f"first content of {name} {first:.0f} ms, {first / baseline:.1f} × /style")
        finally:
            service.stop()


if __name__ == "__main__":
    main()
