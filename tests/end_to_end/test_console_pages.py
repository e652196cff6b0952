"""Every page in a real browser: accessible, in light and dark, on a telephone and on a wall, and silent."""

from dataclasses import dataclass
from typing import Final, Literal

import httpx
import pytest
from playwright.sync_api import Browser, StorageState, ViewportSize, expect

from headgate_opamp import opamp_pb2 as wire
from tests.support.agents_of_service import post_observed, post_to
from tests.support.console import (
    DESK,
    PHONE,
    Visit,
    console_browser,
    here,
    signed_in,
    verdict,
    violations,
    visit,
)
from tests.support.counting_hosts import CountingHost
from tests.support.faults.every_page import COMPONENT, PAGES
from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent
from tests.support.sizes import either, turn

__all__ = ["console_browser", "here", "signed_in"]

pytestmark = pytest.mark.end_to_end

Scheme = Literal["light", "dark"]


@dataclass(frozen=True)
class View:
    scheme: Scheme
    size: ViewportSize


# 640 pixels are a desk's at a zoom of 200 %.
ZOOMED: Final[ViewportSize] = {"width": 640, "height": 450}
WALL: Final[ViewportSize] = {"width": 2560, "height": 1440}
VIEWS: Final = [
    View("light", PHONE),
    View("dark", DESK),
    View("light", WALL),
    View("dark", PHONE),
    View("light", DESK),
    View("dark", ZOOMED),
]
# What a form asks for, and an address that leads elsewhere at once.
LEFT_OUT: Final = {"GET /sign-in", "GET /reset-password"}
# By the table that a test holds to the routes, so that a new page is here, too.
ROWS: Final = [row for row in PAGES if row.endpoint.startswith("GET ") and row.endpoint not in LEFT_OUT]
# On each change every second page, in the view whose turn it is; in `make trust` all pages in all views.
SEEN: Final = either(ROWS[::2], ROWS)


@pytest.fixture(scope="module")
def ids(console_browser: Browser, service: LocalService, signed_in: StorageState) -> dict[str, str]:
    """What the pages show: one of each, with names that are long."""
    long = "a-name-without-a-place-to-break-it-" * 5
    with visit(console_browser, service, state=signed_in) as opened, service.client() as api:
        made = opened.make(f"Seen {long}")
        opened.asked("POST", f"/configurations/{made.id}/versions/1/publish")
        fleet = api.post("/fleets", json={"label": f"Seen {long}", "type": "server-supervisor"}).json()["id"]
        (group,) = api.get(f"/fleets/{fleet}/deployments").json()["items"]
        page = opened.page
        page.goto(f"{opened.home}/service-accounts")
        account = page.locator('main a[href*="/service-accounts/sva_"]').first.get_attribute("href") or ""
        webhook = opened.asked("POST", "/webhooks", {"name": "Seen", "url": "https://hooks.example.com/services/1"})
        with httpx.Client(base_url=service.base_url, timeout=60) as client:
            agent = Agent(post_to(client, api, fleet, group["id"]), host_name=f"{long}.example")
            agent.start()
            rollout = opened.asked(
                "POST",
                f"/fleets/{fleet}/deployments/{group['id']}/rollouts",
                {"configuration_id": made.id, "version_number": 1, "strategy": {"preset": "careful"}},
            )
            agent.start()
            counting = CountingHost(1_764_000_000_000)
            for taken in (9_000, 40_000):
                # What is counted, and costs, is drawn.
                counting.counts(taken, 180_000)
                counting.tells(agent)
            agent.report(wire.RemoteConfigStatuses_FAILED, f"it cannot bind to {long}")
            watched = {"label": f"Observed {long}", "type": "server-supervisor", "mode": "observed"}
            observed = api.post("/fleets", json=watched).json()["id"]
            (of_it,) = api.get(f"/fleets/{observed}/deployments").json()["items"]
            Agent(post_observed(client, api, observed, of_it["id"]), host_name=f"{long}.example").start()
        price = {"exporter": "otlphttp", "host": None, "per": "million_records", "amount": "0.25"}
        opened.asked("PUT", "/fleets/prices", {"currency": "USD", "prices": [price]})
        stored = {"variables": {"ZONE": long}, "secrets": {"API_KEY": "x"}}
        opened.asked("PATCH", f"/fleets/{fleet}/deployments/{group['id']}/env", stored)
        (instance,) = api.get(f"/fleets/{fleet}/instances").json()["items"]
        (observed_instance,) = api.get(f"/fleets/{observed}/instances").json()["items"]
        return {
            "organization_id": opened.home.rpartition("/")[2],
            "configuration_id": made.id,
            "n": "1",
            "fleet_id": fleet,
            "deployment_id": group["id"],
            "service_account_id": account.rpartition("/")[2],
            "webhook_id": webhook["id"],
            "instance_id": instance["id"],
            "observed_fleet_id": observed,
            "observed_instance_id": observed_instance["id"],
            "rollout_id": rollout["id"],
            "slug": "host-logs",
            **COMPONENT,
        }


@pytest.mark.sized
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: f"{view.scheme}-{view.size['width']}")
def test_everybody_can_use_every_page(
    view: View,
    console_browser: Browser,
    service: LocalService,
    signed_in: StorageState,
    ids: dict[str, str],
    subtests: pytest.Subtests,
) -> None:
    with visit(console_browser, service, scheme=view.scheme, size=view.size, state=signed_in) as opened:
        page = opened.page
        for at, row in enumerate(SEEN):
            if view not in turn(VIEWS, at):
                continue
            query = "" if "{" in row.query else row.query
            with subtests.test(row.endpoint):
                own = {name: ids.get(value, value) for name, value in row.ids.items()}
                page.goto(f"{row.endpoint.removeprefix('GET ').format_map({**ids, **own})}{query}")
                page.wait_for_load_state("networkidle")
                assert violations(page) == []
                assert page.evaluate("document.documentElement.scrollWidth") <= view.size["width"]
        assert opened.complaints == []


def test_the_editor_fills_a_wall_and_can_be_used_with_forced_colours(here: Visit, ids: dict[str, str]) -> None:
    page = here.page
    page.set_viewport_size(WALL)
    page.emulate_media(forced_colors="active")
    page.goto(f"{here.home}/configurations/{ids['configuration_id']}/edit")
    verdict(page, "Valid")
    page.get_by_role("tab", name="Graph").click()
    expect(page.get_by_role("group", name="All pipelines")).to_be_visible()
    box = page.locator(".editing").bounding_box()
    assert box is not None
    assert box["width"] > 2_400
    assert violations(page) == []
