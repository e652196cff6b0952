"""The console without a pointer, and typing for a long time beside other tabs."""

import json
import re
import time

import httpx
import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests.support.agents_of_service import post_to
from tests.support.console import EDITOR, Visit, console_browser, here, signed_in, verdict, violations, visit, watched
from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent
from tests.support.sizes import either

__all__ = ["console_browser", "here", "signed_in"]

pytestmark = pytest.mark.end_to_end

# As often as somebody would press Tab before they gave up.
MOST_TABS = 60
_FOCUSED = """() => {
  let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
  const label = one?.labels?.[0]?.textContent;
  return [one?.getAttribute("aria-label"), label, one?.textContent].filter(Boolean).map(text => text.trim());
}"""


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what has that name has the focus."""
    seen = []
    for _ in range(MOST_TABS):
        names = page.evaluate(_FOCUSED)
        if name in names:
            return
        seen.append(names[:1])
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not come to {name!r}, but to {seen}")


def press(page: Page, name: str) -> None:
    tab_to(page, name)
    page.keyboard.press("Enter")


def choose(page: Page, name: str, beginning: str) -> None:
    """Choose an option by the letters that it begins with."""
    tab_to(page, name)
    page.keyboard.type(beginning)


@pytest.mark.full
def test_a_version_is_written_tested_published_and_assigned_by_keyboard(
    console_browser: Browser, service: LocalService
) -> None:
    context = console_browser.new_context(base_url=service.base_url, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    complaints: list[str] = []
    page = watched(context.new_page(), complaints)
    known = json.loads((service.data / "sign-in.json").read_text())
    with service.client() as api:
        home = f"/organizations/{api.get('/identity').json()['organization_id']}"
        fleet = api.post("/fleets", json={"label": "By keyboard", "type": "server-supervisor"}).json()["id"]
        (group,) = api.get(f"/fleets/{fleet}/deployments").json()["items"]

    page.goto(f"/sign-in?next={home}/configurations/new")
    tab_to(page, "Email address")
    page.keyboard.type(known["email"])
    tab_to(page, "Password")
    page.keyboard.type(known["password"])
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/configurations/new"))
    expect(page.get_by_label("Name")).to_be_visible()
    tab_to(page, "Name")
    page.keyboard.type("A keyboard's")
    press(page, "Create and edit")

    page.wait_for_url(re.compile(r"/cfg_[0-9a-z]+/edit"))
    path = re.sub(r"^https?://[^/]+|/edit.*", "", page.url)
    verdict(page, "Valid")
    tab_to(page, EDITOR)
    page.keyboard.press("Control+End")
    page.keyboard.type("# typed\n")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Version 1 is saved.")).to_be_visible()
    # Tab leaves the editor.
    tab_to(page, "Problems")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    press(page, "New test …")

    expect(page.get_by_label("Sample")).to_be_visible()
    tab_to(page, "Sample")
    page.keyboard.type("a line")
    choose(page, "How long the collector runs", "1 s")
    press(page, "Add a rule")
    expect(page.get_by_label("Condition")).to_be_focused()
    page.keyboard.type("true")
    press(page, "Run")
    expect(page.get_by_role("heading", name="Run Success")).to_be_visible()
    press(page, "→ came in, filelog/sample")
    expect(page.get_by_role("heading", name="1. filelog/sample")).to_be_visible()
    press(page, "Save as a test …")
    tab_to(page, "Name of the test")
    page.keyboard.type("first")
    press(page, "Save the test")
    expect(page.get_by_text("The test first is saved")).to_be_visible()

    page.goto(f"{path}/edit")
    verdict(page, "Valid")
    press(page, "Publish …")
    tab_to(page, "Notes")
    page.keyboard.type("By keyboard")
    press(page, "Publish")
    expect(page.locator("#status")).to_have_text("published")

    page.goto(f"{home}/fleets/{fleet}/deployments/{group['id']}")
    expect(page.get_by_label("Configuration").locator("option", has_text="A keyboard's")).to_be_attached()
    choose(page, "Configuration", "A keyb")
    expect(page.get_by_label("Version", exact=True)).not_to_have_value("")
    press(page, "Review and assign …")
    expect(page.get_by_role("dialog")).to_be_visible()
    press(page, "Assign at once")
    expect(page.get_by_text("Version 1 is assigned")).to_be_visible()

    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("To Configurations")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.type("gc")
    page.wait_for_url(f"**{home}/configurations")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox").first).to_be_focused()
    page.keyboard.type("?")
    expect(keys).to_have_count(0)
    assert complaints == []
    context.close()


@pytest.mark.sized
def test_typing_beside_two_other_tabs_is_never_refused(
    console_browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With the limits that a person has by default; three minutes in `make trust`, and a part of one on each change.

    On each change it is held against the limit what the time would come to in three minutes.
    """
    seconds = either(8, 180)
    own = LocalService(tmp_path_factory.mktemp("limited"), HEADGATE_CHECKS_UNDER_WAY="4")
    own.start()
    try:
        with visit(console_browser, own) as here:
            asked = _type_for(here, own, seconds)
    finally:
        own.stop()
    assert [status for status in asked if status == 429] == []
    # A person may ask 600 times a minute.
    assert len(asked) * 60 / seconds < 600


def _type_for(here: Visit, own: LocalService, seconds: int) -> list[int]:
    """The statuses of what the three tabs asked, while one typed in the first."""
    page = here.page
    asked: list[int] = []

    def note(answer: Response) -> None:
        if "/api/" in answer.url:
            asked.append(answer.status)

    made = here.make("Typed")
    here.asked("POST", f"/configurations/{made.id}/versions/1/publish")
    with own.client() as api, httpx.Client(base_url=own.base_url, timeout=60) as client:
        fleet = api.post("/fleets", json={"label": "Seen", "type": "server-supervisor"}).json()["id"]
        (group,) = api.get(f"/fleets/{fleet}/deployments").json()["items"]
        Agent(post_to(client, api, fleet, group["id"])).start()
    here.context.on("response", note)
    graph, collectors = here.another_page(), here.another_page()
    graph.goto(f"{made.path}/edit?version=1")
    graph.get_by_role("tab", name="Graph").click()
    collectors.goto(f"{here.home}/fleets/{fleet}/collectors")
    page.goto(f"{made.path}/edit")
    verdict(page, "Valid")
    page.get_by_label(EDITOR).focus()
    page.keyboard.press("Control+End")
    ends = time.monotonic() + seconds
    word = "# a comment that somebody types, with a pause at its end\n"
    while time.monotonic() < ends:
        page.keyboard.type(word, delay=60)
        page.wait_for_timeout(500)
    verdict(page, "Valid")
    return asked
