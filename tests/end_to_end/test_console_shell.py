"""What every page has around it, in a real browser: the palette, the drawer of a phone, and how pages look."""

import re

import httpx
import pytest
from playwright.sync_api import Browser, Route, StorageState, expect

from tests.support.agents_of_service import post_to
from tests.support.console import PHONE, YAML, Visit, console_browser, here, signed_in, violations, visit
from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent

__all__ = ["console_browser", "here", "signed_in"]

pytestmark = pytest.mark.end_to_end


def test_the_palette_goes_to_configurations_hosts_components_and_actions(here: Visit, service: LocalService) -> None:
    page = here.page
    here.make("Palette of the shop")
    with service.client() as api, httpx.Client(base_url=service.base_url, timeout=60) as client:
        fleet = api.post("/fleets", json={"label": "Palette fleet", "type": "server-supervisor"}).json()["id"]
        (group,) = api.get(f"/fleets/{fleet}/deployments").json()["items"]
        Agent(post_to(client, api, fleet, group["id"]), host_name="palette-host-7").start()
    page.goto(f"{here.home}/members")

    for typed, shown, address in (
        ("palette shop", "Palette of the shop configuration", r"/configurations/cfg_[0-9a-z]+$"),
        ("palette fleet", "Palette fleet fleet", r"/fleets/flt_[0-9a-z]+$"),
        ("palette-host", "palette-host-7 host of Palette fleet", r"/fleets/flt_[0-9a-z]+/collectors/ins_[0-9a-z]+$"),
        ("batch processor", "batch processor", r"/components/processor/batch$"),
        ("new conf", "New configuration action", r"/configurations/new$"),
        ("try a", "Try a configuration action", r"/configurations/try$"),
    ):
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Page, configuration, fleet, host").fill(typed)
        expect(page.get_by_role("option", name=shown)).to_be_visible()
        if typed == "palette shop":
            assert violations(page) == []
        page.get_by_role("option", name=shown).click()
        page.wait_for_url(re.compile(address))

    # What was typed before the fleets are there is searched in them once they are.
    late: list[Route] = []
    page.route("**/fleets?limit=100", lambda route: late.append(route))
    page.keyboard.press("Control+k")
    with page.expect_request(re.compile(r"/configurations\?.*name=palette-host")):
        page.get_by_role("combobox", name="Page, configuration, fleet, host").fill("palette-host")
    late[0].continue_()
    expect(page.get_by_role("option", name="palette-host-7 host of Palette fleet")).to_be_visible()


def test_a_phone_has_the_sidebar_as_a_drawer(
    console_browser: Browser, service: LocalService, signed_in: StorageState
) -> None:
    with visit(console_browser, service, size=PHONE, state=signed_in) as opened:
        page = opened.page
        page.goto(opened.home)
        fleets = page.get_by_role("link", name="Fleets", exact=True)
        expect(fleets).to_be_hidden()
        page.get_by_role("button", name="Menu").click()
        expect(fleets).to_be_visible()
        assert violations(page) == []
        page.keyboard.press("Escape")
        expect(fleets).to_be_hidden()
        page.get_by_role("button", name="Menu").click()
        fleets.click()
        page.wait_for_url("**/fleets")
        assert opened.complaints == []


def test_a_chosen_theme_and_time_zone_hold_on_every_page(
    console_browser: Browser, service: LocalService, signed_in: StorageState
) -> None:
    with service.client() as api:
        configuration = api.post("/configurations", json={"name": "Edge", "yaml": YAML}).json()["id"]
        assert api.post(f"/configurations/{configuration}/versions/1/publish").is_success
        path = f"/organizations/{api.get('/identity').json()['organization_id']}/configurations/{configuration}"
    with console_browser.new_context(
        base_url=service.base_url, storage_state=signed_in, color_scheme="light", timezone_id="Asia/Kolkata"
    ) as context:
        page = context.new_page()
        page.goto("/account")
        page.get_by_label("Theme").select_option("dark")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Saved.")).to_be_visible()
        page.goto(f"{path}/versions")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 21, 27)"
        expect(page.locator("main time").first).to_have_text(re.compile(r"UTC\+5:30$"))
        page.goto("/account")
        page.get_by_label("Times are shown in").select_option("utc")
        page.get_by_role("button", name="Save").click()
        page.goto(f"{path}/versions")
        expect(page.locator("main time").first).to_have_text(re.compile(r" UTC$"))


def test_a_double_click_and_a_reload_create_one_token_whose_value_is_seen(here: Visit) -> None:
    page = here.page
    page.goto(f"{here.home}/service-accounts")
    page.get_by_label("Name").fill("Sent once")
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url(re.compile(r"/service-accounts/sva_[0-9a-z]+$"))
    page.get_by_label("Name").fill("deploy")
    page.get_by_role("button", name="Create token").dblclick()
    expect(page.locator("#token")).to_be_visible()

    page.reload()
    expect(page.get_by_role("heading", name="Done before")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="See what it did").click()
    expect(page.locator("summary", has_text="Delete …")).to_have_count(1)
