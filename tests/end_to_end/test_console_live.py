"""Pages that stay true: what happens shows itself, an idle page asks little, and an outage heals without a reload."""

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Request, expect

from tests.support.agents_of_service import post_to
from tests.support.console import Visit, console_browser, here, signed_in, violations
from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent

__all__ = ["console_browser", "here", "signed_in"]

pytestmark = pytest.mark.end_to_end


def test_pages_of_hosts_stay_true_ask_little_and_heal_after_an_outage(here: Visit, service: LocalService) -> None:
    page, asked, waiting = here.page, list[str](), set[Request]()

    def note(request: Request) -> None:
        asked.append(request.url)
        waiting.add(request)

    def forget(request: Request) -> None:
        waiting.discard(request)

    def goes_on(until: Callable[[], bool]) -> None:
        """Let time pass on the page's clock, which waits neither for answers nor for the lock between tabs."""
        while not until():
            page.clock.run_for(10_000)
            page.wait_for_timeout(20)

    page.on("requestfinished", forget)
    page.on("requestfailed", forget)

    with service.client() as api, httpx.Client(base_url=service.base_url, timeout=60) as client:
        fleet = api.post("/fleets", json={"label": "Live", "type": "server-supervisor"}).json()["id"]
        (group,) = api.get(f"/fleets/{fleet}/deployments").json()["items"]
        paths = [
            here.home,
            f"{here.home}/fleets",
            f"{here.home}/fleets/{fleet}",
            f"{here.home}/fleets/{fleet}/deployments/{group['id']}",
            f"{here.home}/configurations",
            f"{here.home}/fleets/{fleet}/captures",
            f"{here.home}/fleets/{fleet}/collectors",
        ]
        page.clock.install()
        for path in paths:
            page.goto(path)
            expect(page.get_by_text("as of")).to_be_visible()
            page.wait_for_load_state("networkidle")
            page.on("request", note)
            asked.clear()
            waiting.clear()
            for _ in range(30):
                page.clock.run_for(10_000)
                # The page's clock does not wait for the service, and the next question comes after the answer.
                while waiting:
                    page.wait_for_timeout(20)
            page.remove_listener("request", note)
            # Five minutes, in which nothing happens.
            assert 2 <= len(asked) <= 5 * 6, (path, asked)

        Agent(post_to(client, api, fleet, group["id"]), host_name="live-1").start()
        goes_on(page.get_by_role("link", name="live-1").is_visible)
        # What somebody has chosen stays chosen, also when the focus is elsewhere.
        page.get_by_label("Choose live-1").check()
        page.get_by_label("Host").focus()
        Agent(post_to(client, api, fleet, group["id"]), host_name="live-2").start()
        asked.clear()
        page.on("request", note)
        goes_on(lambda: any("/collectors" in url for url in asked) and not waiting)
        expect(page.get_by_label("Choose live-1")).to_be_checked()
        page.get_by_label("Choose live-1").uncheck()
        page.get_by_label("Host").focus()
        goes_on(page.get_by_role("link", name="live-2").is_visible)

        page.goto(paths[2])
        expect(page.get_by_text("as of")).to_be_visible()
        page.route(f"**{paths[2]}*", lambda route: route.abort())
        goes_on(page.get_by_text("The service does not answer; trying again").is_visible)
        expect(page.get_by_role("link", name="Configurations")).to_be_visible()
        assert violations(page) == []
        page.unroute(f"**{paths[2]}*")
        page.get_by_role("button", name="Try now").click()
        goes_on(page.get_by_text("trying again").is_hidden)

        page.route("**/validate*", lambda route: route.abort())
        page.goto(f"{here.home}/configurations/try")
        page.get_by_role("button", name="Use an example with a mistake").click()
        page.clock.run_for(1_000)
        expect(page.get_by_role("tabpanel", name="Problems")).to_contain_text(
            re.compile(r"^Since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: Not checked: .*; trying again in 20 s\.$")
        )
        page.unroute("**/validate*")
        goes_on(page.locator(".problems li").first.is_visible)
        expect(page.get_by_text("trying again in 20 s")).to_have_count(0)
    here.complaints[:] = [one for one in here.complaints if "ERR_FAILED" not in one]
