"""The first minute in a real browser: the link, then a pasted configuration, its verdict, its graph and its draft."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.console import console_browser, violations, visit
from tests.support.local_service import LocalService

__all__ = ["console_browser"]

pytestmark = pytest.mark.end_to_end


def test_somebody_new_signs_in_by_the_link_and_sees_what_the_collector_says(
    console_browser: Browser, tmp_path: Path
) -> None:
    service = LocalService(tmp_path / "data", as_people_do=True)
    service.start()
    try:
        with visit(console_browser, service, by_link=True) as here:
            page = here.page
            expect(page.get_by_role("heading", name="Begin here")).to_be_visible()
            expect(page.get_by_text("✓ nothing")).to_be_visible()
            assert violations(page) == []

            page.set_viewport_size({"width": 1440, "height": 900})
            page.get_by_role("link", name="Paste a configuration").click()
            page.get_by_role("button", name="Use an example with a mistake").click()
            expect(page.locator("#verdict")).to_contain_text("Not valid on collector")
            # Text, verdict and findings are seen beside each other, without scrolling.
            for seen in (page.locator(".code-host"), page.locator("#verdict"), page.get_by_role("tabpanel")):
                expect(seen).to_be_in_viewport(ratio=1)
            page.get_by_role("button", name=re.compile("unknown unit")).click()
            # The click has led to the line of the mistake.
            page.keyboard.press("End")
            page.keyboard.press("Shift+Home")
            page.keyboard.type("timeout: 5s")
            expect(page.locator("#verdict")).to_contain_text("✓ Valid on collector")
            page.get_by_role("tab", name="Graph").click()
            graph = page.get_by_role("group", name="All pipelines")
            expect(graph.get_by_role("button", name=re.compile("filelog"))).to_be_visible()
            assert violations(page) == []
            page.reload()
            expect(page.get_by_label("Configuration, YAML")).to_contain_text("timeout: 5s")

            expect(page.locator("#verdict")).to_contain_text("✓ Valid on collector")
            page.get_by_role("button", name="Use an example with a mistake").click()
            expect(page.locator("#verdict")).to_contain_text("Not valid on collector")
            page.get_by_role("button", name="Save as a configuration").click()
            page.get_by_label("Name").fill("Shop")
            page.get_by_role("button", name="Save and edit").click()
            page.wait_for_url(re.compile(r"/cfg_[0-9a-z]+/edit"))

            page.goto(here.home)
            # The draft is checked after the page has come.
            expect(page.get_by_role("row").filter(has_text="Draft not valid")).to_contain_text("unknown unit")
            page.get_by_role("link", name="Shop version 1").click()
            expect(page.locator("#verdict")).to_contain_text("Not valid on collector")
            assert here.complaints == []

            second = here.another_page()
            second.goto(service.sign_in_link)
            expect(second.get_by_text("was used already")).to_be_visible()
    finally:
        service.stop()
