"""Pictures of the console's main places in light and dark, as docs/screenshots/PLACE-THEME.webp.

`make screenshots` runs it: a service of its own with what a small organization would have, and Chromium.
"""

import base64
import json
import math
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import httpx
from playwright.sync_api import Page, expect

from headgate_opamp import opamp_pb2 as wire
from tests.support.agents_of_service import post_to
from tests.support.chromium import chromium
from tests.support.console import Made, Visit, sign_in, verdict, visit
from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent
from tests.support.service import ROOT

FOLDER: Final = ROOT / "docs" / "screenshots"
# Small enough for the repository, and letters stay sharp.
QUALITY: Final = 60
SIZE: Final = {"width": 1280, "height": 860}
YAML: Final = """\
receivers:
  otlp:
    protocols:
      grpc:
        endpoint: localhost:4317
processors:
  memory_limiter:
    check_interval: 1s
    limit_mib: 400
  transform/severity:
    log_statements:
      - set(log.severity_text, "ERROR") where IsMatch(log.body, "failed")
      - set(log.attributes["team"], "shop")
  filter/health:
    logs:
      log_record: ['IsMatch(log.body, "GET /healthz")']
exporters:
  otlphttp/backend:
    endpoint: https://otel.example.com
connectors:
  count:
service:
  pipelines:
    logs:
      receivers: [otlp]
      processors: [memory_limiter, transform/severity, filter/health]
      exporters: [otlphttp/backend, count]
    metrics:
      receivers: [count]
      processors: [memory_limiter]
      exporters: [otlphttp/backend]
"""
SAMPLE: Final = "payment 17 failed: card declined\nGET /healthz 200\norder 4 shipped\n"
TEST: Final = {
    "target_pipeline": "logs",
    "sample": SAMPLE,
    "duration_seconds": 1,
    "rules": [
        {"name": "health checks are dropped", "condition": 'IsMatch(log.body, "healthz")', "expect": "none"},
        {"name": "the team is set", "condition": 'log.attributes["team"] == "shop"', "expect": "all"},
    ],
}
HOURS: Final = 24
# As often as hosts are stored.
EVERY: Final = 180
SHIFTED: Final = ROOT / "tests" / "support" / "shifted"
COUNTERS: Final = {
    **{"seconds": 30, "accepted": 18_420, "refused": 0, "sent": 17_998, "failed": 12, "dropped": 0, "queue": 0.1},
    "exporters": {"otlphttp/backend": {"sent": 17_998, "failed": 12, "queue": 0.1}},
}


class Clock:
    """The time of the service: that of this machine, and what a file says beyond."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "clock"
        self.at(-HOURS * 3_600)

    def at(self, seconds: float) -> None:
        # Whole for whoever reads it meanwhile.
        after = self.file.with_suffix(".after")
        after.write_text(str(seconds))
        after.replace(self.file)

    @property
    def environment(self) -> dict[str, str]:
        paths = [str(SHIFTED), *(str(ROOT / name) for name in ("shared", "engine", "functions", "local"))]
        return {"PYTHONPATH": os.pathsep.join(paths), "HEADGATE_TESTS_CLOCK": str(self.file)}


class Shop:
    """What is shown: a configuration with two versions and a test, and a fleet in which a version is rolled out."""

    def __init__(self, service: LocalService, here: Visit, clock: Clock) -> None:
        self.service = service
        self.here = here
        self.clock = clock
        self.made = self._configurations()
        self.taken: Counter[int] = Counter()
        self.fleet, self.group = self._fleet()
        # The session of a day ago is over.
        sign_in(here.page, service)
        price = {"exporter": "otlphttp", "host": None, "per": "gigabyte", "amount": "0.50"}
        here.asked("PUT", "/fleets/prices", {"currency": "USD", "prices": [price]})

    def _configurations(self) -> Made:
        here = self.here
        made = here.make("Shop: edge logs", YAML)
        path = f"/configurations/{made.id}"
        here.asked("PATCH", path, {"description": "Collectors on the shop's hosts"})
        here.asked("PUT", f"{path}/versions/1/tests/drops-health-checks", TEST)
        here.asked("POST", f"{path}/versions/1/publish")
        changed = YAML.replace('"shop"', '"checkout"').replace("limit_mib: 400", "limit_mib: 500")
        here.asked("POST", f"{path}/versions", {"yaml": changed})
        here.asked("POST", f"{path}/versions/2/publish")
        here.asked("POST", f"{path}/versions", {"yaml": changed.replace("check_interval", "check_intervall")})
        for slug in ("host-metrics", "kafka-to-otlp"):
            flow = here.asked("GET", f"/flows/{slug}")
            here.asked("POST", "/configurations", {"name": flow["name"], "yaml": flow["yaml"]})
        return made

    def _fleet(self) -> tuple[str, str]:
        with self.service.client() as api, httpx.Client(base_url=self.service.base_url, timeout=60) as client:
            fleet = _ok(api.post("/fleets", json={"label": "Shop, eu-west", "type": "server-supervisor"}))["id"]
            (group,) = _ok(api.get(f"/fleets/{fleet}/deployments"))["items"]
            path = f"/fleets/{fleet}/deployments/{group['id']}"
            first = {"configuration_id": self.made.id, "version_number": 1, "message": "The first version"}
            _ok(api.patch(path, json=first))
            post = post_to(client, api, fleet, group["id"])
            agents = [Agent(post, host_name=f"shop-{n}.eu-west") for n in range(1, 9)]
            for number, agent in enumerate(agents):
                agent.start()
                if number == len(agents) - 1:
                    agent.report(
                        wire.RemoteConfigStatuses_FAILED, "listen tcp 127.0.0.1:4317: bind: address already in use"
                    )
                    continue
                agent.applies()
            self._day(agents)
            rollout = {"configuration_id": self.made.id, "version_number": 2, "strategy": {"preset": "careful"}}
            _ok(api.post(f"{path}/rollouts", json={**rollout, "message": "The team is called checkout now"}))
        return fleet, str(group["id"])

    def _day(self, agents: list[Agent]) -> None:
        """The agents count for a day, more in the afternoon than at night; one of them is away for a while."""
        for minute in range(0, HOURS * 60 + 1, EVERY // 60):
            self.clock.at(60 * minute - HOURS * 3_600)
            wave = 1 + 0.8 * math.sin(2 * math.pi * (minute / 60 - 8) / 24)
            for number, agent in enumerate(agents):
                if number == 3 and 600 < minute < 780:
                    continue
                told = {"v": 1, "supervisor": {"version": "0.5.0"}, "name": f"shop-{number + 1}", "counters": COUNTERS}
                agent.tells(json.dumps({**told, "totals": self._totals(number, minute, wave)}).encode())

    def _totals(self, number: int, minute: int, wave: float) -> dict[str, Any]:
        self.taken[number] += round(wave * (2_000 + 150 * number) * EVERY / 60)
        taken = self.taken[number]
        passed, failed = taken * 7 // 10, taken // 500
        return {
            "run": 1_764_000_000_000 + number,
            "milliseconds": (60 * minute + EVERY) * 1_000,
            "of": {
                "logs|receiver/otlp": [taken, 0, 0, 0, 0, 310 * taken],
                "logs|processor/memory_limiter": [taken, 0, taken],
                "logs|processor/transform/severity": [taken, 0, taken],
                "logs|processor/filter/health": [taken, 0, passed],
                "logs|exporter/otlphttp/backend": [0, 0, passed - failed, failed, 0, 0, 310 * passed, 10],
            },
        }


def _ok(response: httpx.Response) -> Any:
    response.raise_for_status()
    return response.json()


def editor(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.made.path}/edit")
    verdict(page, "Not valid")
    page.get_by_role("button", name=re.compile("line 8")).first.click()


def graph(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.made.path}/edit?version=1")
    verdict(page, "alid on")
    page.get_by_role("tab", name="Graph").click()
    expect(page.get_by_text("On the lines")).to_be_visible()
    page.get_by_role("button", name="Across the page").click()


def steps(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.made.path}/versions/1/run?pipeline=logs")
    page.get_by_label("From a test of this version").select_option("drops-health-checks")
    expect(page.get_by_label("Sample")).not_to_have_value("")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("group", name="Steps").get_by_role("button", name="~ changed").first.click()
    page.get_by_role("heading", name="Run Success").scroll_into_view_if_needed()
    page.evaluate("window.scrollBy(0, 500)")


def compared(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.made.path}/compare?from=1&to=2")
    expect(page.get_by_label("Version 2")).to_be_visible()


def traffic(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.here.home}/fleets/{shop.fleet}/deployments/{shop.group}?day=yes")
    page.wait_for_load_state("networkidle")
    page.locator("#traffic").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('#traffic').scrollIntoView()")


def at(path: str) -> Callable[[Page, Shop], None]:
    def go(page: Page, shop: Shop) -> None:
        page.goto(f"{shop.here.home}{path.format(fleet=shop.fleet, group=shop.group)}")
        page.wait_for_load_state("networkidle")

    return go


PLACES: Final[dict[str, Callable[[Page, Shop], None]]] = {
    "home": at(""),
    "configurations": at("/configurations"),
    "editor": editor,
    "graph": graph,
    "steps": steps,
    "compare": compared,
    "fleet": at("/fleets/{fleet}"),
    "rollout": at("/fleets/{fleet}/deployments/{group}"),
    "traffic": traffic,
    "collectors": at("/fleets/{fleet}/collectors"),
    "flows": at("/flows"),
    "component": at("/components/processor/filter"),
    "changes": at("/changes"),
}


@contextmanager
def shop_of(service: LocalService, clock: Clock) -> Iterator[tuple[Visit, Shop]]:
    with chromium() as browser, visit(browser, service, size=SIZE) as here:
        yield here, Shop(service, here, clock)


def take(page: Page, file: Path) -> int:
    """Save the picture of what is seen; its size in bytes."""
    session = page.context.new_cdp_session(page)
    picture = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    content = base64.b64decode(picture["data"])
    file.write_bytes(content)
    session.detach()
    return len(content)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock(Path(folder))
        service = LocalService(Path(folder) / "data", as_people_do=True, **clock.environment)
        service.start()
        try:
            with shop_of(service, clock) as (here, shop):
                for name, go in PLACES.items():
                    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
                    go(here.page, shop)
                    for theme in themes:
                        here.page.emulate_media(color_scheme=theme)
                        total += take(here.page, FOLDER / f"{name}-{theme}.webp")
        finally:
            service.stop()
    print(f"{len(PLACES)} places in light and dark: {total:,} bytes in {FOLDER.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
