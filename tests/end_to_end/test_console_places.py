"""Flows, components, OTTL, changes and webhooks in a real browser: searched as one types, and harmless names."""

import re

import pytest
from playwright.sync_api import expect

from headgate.foundation.ids import new_id
from tests.support.console import Visit, console_browser, here, signed_in, violations
from tests.support.local_service import LocalService

__all__ = ["console_browser", "here", "signed_in"]

pytestmark = pytest.mark.end_to_end

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"{SCRIPT}\u202egnp.exe {'x' * 120}"


def test_lists_follow_what_one_types_and_names_stay_names(here: Visit, service: LocalService) -> None:
    page = here.page
    page.goto(f"{here.home}/flows")
    expect(page.get_by_role("img").first).to_be_visible()
    page.get_by_label("Signal").select_option("traces")
    page.get_by_label("Text").fill("zipkin")
    expect(page.get_by_text("1 flow", exact=True)).to_be_visible()
    page.get_by_role("link", name="Zipkin").click()
    page.get_by_role("button", name="Try it with its sample").click()
    page.wait_for_url(re.compile(r"/versions/1/run\?flow=migrate-zipkin$"))
    expect(page.get_by_label("Sample", exact=True)).to_have_value(re.compile("resourceSpans"))

    page.goto(f"{here.home}/components")
    page.get_by_label("Text").fill("batch")
    page.get_by_label("Kind").select_option("processor")
    expect(page.get_by_role("status").filter(has_text=re.compile("^[0-9] components?$"))).to_be_visible()
    page.get_by_role("link", name="batch", exact=True).click()
    expect(page.get_by_text("send_batch_size", exact=True)).to_be_visible()

    page.goto(f"{here.home}/components/ottl")
    page.get_by_label("Component and context").select_option("transform/log")
    page.get_by_role("searchbox", name="Text").fill("replace_pattern")
    expect(page.get_by_text("replace_pattern(").first).to_be_visible()
    assert violations(page) == []

    label = f"{new_id('flt')[-6:]} {HOSTILE}"
    with service.client() as api:
        made = api.post("/fleets", json={"label": label, "type": "server-supervisor"}).json()["id"]
        api.delete(f"/fleets/{made}").raise_for_status()
    page.goto(f"{here.home}/changes")
    page.get_by_label("Object").fill(made)
    expect(page.get_by_text("2 changes", exact=True)).to_be_visible()
    expect(page.get_by_role("row").nth(1)).to_contain_text(label)
    page.get_by_label("Person").fill("nobody")
    expect(page.get_by_text("No change matches")).to_be_visible()
    assert violations(page) == []

    page.goto(f"{here.home}/webhooks")
    page.get_by_label("Name", exact=True).fill(HOSTILE)
    page.get_by_label("Address").fill("https://hooks.example.com/1")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#secret")).to_contain_text("whsec_")
    expect(page.get_by_role("heading", level=1)).to_contain_text(SCRIPT)
    assert violations(page) == []
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_role("cell", name="webhook.test")).to_be_visible()
    expect(page.locator("#secret")).to_have_count(0)
