"""Rules by hand and volume mounts in a real browser, with the collector's own parser behind the rules."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.admin import YAML
from tests.support.admin import Browser as Http
from tests.support.chromium import chromium
from tests.support.local_service import LocalService

pytestmark = pytest.mark.end_to_end

PHONE = {"width": 390, "height": 844}


@dataclass(frozen=True)
class Made:
    """What the command line made: a published configuration with a rule, and a fleet whose group runs it."""

    organization_id: str
    configuration_id: str
    fleet_id: str
    deployment_id: str

    @property
    def home(self) -> str:
        return f"/organizations/{self.organization_id}"

    @property
    def rules(self) -> str:
        return f"{self.home}/configurations/{self.configuration_id}/versions/1/rules"

    @property
    def group(self) -> str:
        return f"{self.home}/fleets/{self.fleet_id}/deployments/{self.deployment_id}"


@pytest.fixture
def made(service: LocalService) -> Made:
    with service.client() as api:
        organization_id = api.get("/identity").json()["organization_id"]
        configuration_id = api.post("/configurations", json={"name": "Edge", "yaml": YAML}).json()["id"]
        assert api.post(f"/configurations/{configuration_id}/versions/1/publish").status_code == 200
        rule = {"name": "by the API", "condition": 'body != ""'}
        path = f"/configurations/{configuration_id}/versions/1/validation-pipelines/logs"
        assert api.put(path, json={"signal_type": "logs", "rules": [rule]}).status_code == 200
        fleet = {"label": f"Fleet of {configuration_id}", "type": "server-supervisor"}
        fleet_id = api.post("/fleets", json=fleet).json()["id"]
        group = {"name": "Web servers", "configuration_id": configuration_id, "version_number": 1}
        deployment_id = api.post(f"/fleets/{fleet_id}/deployments", json=group).json()["id"]
    return Made(organization_id, configuration_id, fleet_id, deployment_id)


def stored(service: LocalService, made: Made) -> dict[str, tuple[str, bool]]:
    """The conditions of the stored rules, and whose they are, by name."""
    with service.client() as api:
        path = f"/configurations/{made.configuration_id}/versions/1/validation-pipelines"
        (one,) = api.get(path).json()["items"]
    return {rule["name"]: (rule["condition"], rule["api_owned"]) for rule in one["rules"]}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser, service: LocalService) -> Iterator[Page]:
    """Signed in, on a phone."""
    context = browser.new_context(base_url=service.base_url, viewport=PHONE)
    context.set_default_timeout(60_000)
    opened = context.new_page()
    known = json.loads((service.data / "sign-in.json").read_text())
    opened.goto("/sign-in")
    opened.get_by_label("Email address").fill(known["email"])
    opened.get_by_label("Password").fill(known["password"])
    opened.get_by_role("button", name="Sign in").click()
    opened.wait_for_url(re.compile(r"/(organizations/org_.*)?$"))
    yield opened
    context.close()


def test_a_rule_is_added_edited_and_removed_by_hand(page: Page, service: LocalService, made: Made) -> None:
    page.goto(made.home)
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Configurations", exact=True).click()
    page.locator(f'a[href$="{made.configuration_id}"]').click()
    page.get_by_role("link", name="Tests", exact=True).click()
    page.get_by_role("link", name="logs", exact=True).click()
    expect(page.get_by_text("by the API").first).to_be_visible()
    expect(page.get_by_role("button", name="Remove")).to_have_count(0)

    page.get_by_label("Name").fill("From nginx")
    page.get_by_label("Condition").fill('attributes["service"] === "nginx"')
    page.get_by_label("Expected").select_option("count")
    page.get_by_label("At least").fill("2")
    page.get_by_role("button", name="Add rule").click()
    condition = page.get_by_label("Condition")
    expect(page.locator("#condition-error")).to_contain_text("unexpected token")
    expect(condition).to_have_value('attributes["service"] === "nginx"')
    expect(condition).to_have_attribute("aria-describedby", "condition-hint condition-error")
    expect(page.get_by_label("Name")).to_have_value("From nginx")
    expect(page.get_by_label("At least")).to_have_value("2")

    condition.fill('attributes["service"] == "nginx"')
    page.get_by_role("button", name="Add rule").click()
    expect(page.get_by_text("At least 2 × log must match")).to_be_visible()
    assert stored(service, made)["From nginx"] == ('attributes["service"] == "nginx"', False)

    page.get_by_role("link", name="Edit From nginx").click()
    page.get_by_label("Condition").fill("attributes[")
    page.get_by_role("button", name="Save rule").click()
    expect(page.locator("#condition-error")).to_be_visible()
    page.get_by_label("Condition").fill('attributes["service"] == "apache"')
    page.get_by_role("button", name="Save rule").click()
    expect(page.get_by_role("heading", name="Add a rule")).to_be_visible()
    assert stored(service, made) == {
        "by the API": ('body != ""', True),
        "From nginx": ('attributes["service"] == "apache"', False),
    }

    page.get_by_role("button", name="Remove From nginx").click()
    expect(page.get_by_text("From nginx")).to_have_count(0)
    assert list(stored(service, made)) == ["by the API"]


def test_rules_that_are_added_at_the_same_time_are_all_kept(service: LocalService, made: Made) -> None:
    http = Http(service)
    known = json.loads((service.data / "sign-in.json").read_text())
    http.sign_in(known["email"], known["password"])
    csrf = http.csrf(f"{made.rules}?pipeline=logs")

    def add(n: int) -> int:
        form = {"csrf": csrf, "pipeline": "logs", "name": f"rule {n}", "condition": "true", "expect": "any"}
        return http.post(made.rules, **form).status_code

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(add, range(4))) == [303] * 4
    assert set(stored(service, made)) == {"by the API", *(f"rule {n}" for n in range(4))}


@pytest.mark.full
def test_a_mount_is_added_and_removed(page: Page, service: LocalService, made: Made) -> None:
    page.goto(made.home)
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Fleets", exact=True).click()
    page.get_by_role("link", name=f"Fleet of {made.configuration_id}").click()
    expect(page.get_by_role("link", name="Edge")).to_be_visible()
    page.get_by_role("link", name="Web servers").click()
    for host_path in ("/var/log", "../somewhere"):
        page.get_by_label("Path on the host").fill(host_path)
        page.get_by_label("Path in the container").fill("/logs")
        page.get_by_role("button", name="Add mount").click()
        expect(page.get_by_text("/var/log")).to_be_visible()
    expect(page.locator("#mount_path-error")).to_have_text("Another mount is at this path already")
    expect(page.get_by_label("Path on the host")).to_have_value("../somewhere")
    page.get_by_label("Path in the container").fill("/other")
    page.get_by_role("button", name="Add mount").click()
    expect(page.locator("tbody tr").nth(1)).to_contain_text("left out")

    with service.client() as api:
        asked = {"platform": "docker", "deployment_id": made.deployment_id}
        command = api.post(f"/fleets/{made.fleet_id}/install", json=asked).json()["command"]
    assert "--volume /var/log:/logs" in command
    assert command.count("--volume") == 1

    page.get_by_role("button", name="Remove /logs").click()
    expect(page.get_by_text("/var/log")).to_have_count(0)
    expect(page.get_by_text("../somewhere")).to_be_visible()


def test_a_form_that_is_not_accepted_keeps_what_was_typed_and_marks_the_field(page: Page, made: Made) -> None:
    def refused(button: str, field: str, typed: str) -> None:
        page.get_by_role("button", name=button, exact=True).click()
        marked = page.locator("[aria-invalid]")
        expect(marked).to_have_count(1)
        expect(marked).to_have_value(typed)
        expect(marked).to_have_attribute("aria-describedby", re.compile(f"{field}-error"))
        expect(page.locator(f"#{field}-error")).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_be_visible()

    page.goto(f"{made.home}/settings")
    page.locator("#name").fill("  ")
    refused("Rename", "name", "  ")
    page.locator("#other").fill("   ")
    refused("Create", "other", "   ")
    # As when somebody goes to the address bar and presses Enter.
    page.goto(page.url)
    expect(page.get_by_role("alert")).to_contain_text("only accepts a form")

    # One with a single Admin: to others' organization, another test may have added a second.
    page.goto(f"{made.home}/settings")
    page.locator("#other").fill("Of one Admin")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Of one Admin")
    home = re.sub(r"[?#].*", "", page.url)
    page.goto(f"{home}/members")
    page.get_by_label("Role", exact=True).select_option("admin")
    page.get_by_label("Email address").fill("admin@example.com")
    refused("Invite", "email", "admin@example.com")
    expect(page.get_by_label("Role", exact=True)).to_have_value("admin")
    page.get_by_label("Remove admin@example.com …").click()
    page.get_by_role("button", name="Remove admin@example.com").click()
    expect(page.get_by_role("alert")).to_contain_text("The last Admin")
    expect(page.get_by_role("button", name="Invite", exact=True)).to_be_visible()

    page.goto(f"{home}/service-accounts")
    page.get_by_label("Name").fill("  ")
    refused("Create", "name", "  ")
    page.get_by_label("Name").fill("builder")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("builder")
    page.get_by_label("Name").fill("  ")
    page.get_by_label("Expires").select_option("90")
    page.get_by_label("Allow write access").check()
    refused("Create token", "name", "  ")
    expect(page.get_by_label("Expires")).to_have_value("90")
    expect(page.get_by_label("Allow write access")).to_be_checked()


def test_a_page_that_is_not_there_says_so_in_its_heading(page: Page) -> None:
    page.goto("/nowhere")

    expect(page).to_have_title("Not found · Headgate")
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found")


@pytest.mark.full
def test_an_organization_with_a_long_name_fits_a_phone(page: Page, made: Made) -> None:
    page.goto(f"{made.home}/settings")
    page.locator("#other").fill("x" * 200)
    page.get_by_role("button", name="Create").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("x" * 200)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.full
def test_long_names_leave_room_for_what_stands_beside_them(page: Page, service: LocalService, made: Made) -> None:
    with service.client() as api:
        api.post("/configurations", json={"name": "x" * 200, "yaml": YAML})
        created = api.get("/configurations").json()["items"][0]["id"]
        api.post(f"/configurations/{created}/versions/1/publish")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{made.home}/configurations")

    headings = page.locator("thead th")
    # A row's height, in pixels, so that no heading is broken into lines.
    heights = [headings.nth(at).evaluate("cell => cell.clientHeight") for at in range(headings.count())]
    assert heights
    assert max(heights) <= 38
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.full
def test_no_page_is_wider_than_a_phone(page: Page, made: Made, subtests: pytest.Subtests) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    for path in (
        made.home,
        f"{made.home}/settings",
        f"{made.home}/expiring-tokens",
        f"{made.home}/members",
        f"{made.home}/service-accounts",
        f"{made.home}/changes",
        f"{made.home}/configurations",
        f"{made.home}/configurations/{made.configuration_id}",
        made.rules.removesuffix("/rules"),
        f"{made.rules}?pipeline=logs",
        f"{made.home}/fleets",
        f"{made.home}/fleets/{made.fleet_id}",
        made.group,
    ):
        with subtests.test(path):
            page.goto(path)

            expect(page.get_by_role("heading", level=1)).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
            assert complaints == []
        complaints.clear()
