"""The command line's login in a real terminal, approved in a real browser, on the running service."""

import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pexpect
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.chromium import chromium
from tests.support.local_service import LocalService
from tests.support.service import ROOT

pytestmark = pytest.mark.end_to_end

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser, service: LocalService) -> Iterator[Page]:
    """A new browser profile at the service's start page."""
    context = browser.new_context(base_url=service.base_url)
    context.set_default_timeout(60_000)
    opened = context.new_page()
    yield opened
    context.close()


def sign_in(page: Page, service: LocalService) -> None:
    known = json.loads((service.data / "sign-in.json").read_text())
    page.goto("/sign-in")
    fill_in(page, known["email"], known["password"])
    page.wait_for_url(re.compile(r"/(organizations/org_.*)?$"))


def fill_in(page: Page, email: str, password: str) -> None:
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


@dataclass(frozen=True)
class Terminal:
    """A terminal of a person with a home of their own, where no browser can be opened."""

    home: Path
    url: str

    @property
    def credentials(self) -> Path:
        return self.home / "headgate" / "credentials.json"

    def start(self, *arguments: str, **environment: str) -> "pexpect.spawn[str]":
        variables = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{ROOT / 'cli'}:{ROOT / 'engine'}",
            "XDG_CONFIG_HOME": str(self.home),
            "HEADGATE_URL": self.url,
            "HOME": str(self.home),
            "BROWSER": "/nonexistent/browser",
            **environment,
        }
        command = ["-m", "headgate_cli.main", *arguments]
        return pexpect.spawn(
            sys.executable, command, env=variables, encoding="utf-8", timeout=120, dimensions=(40, 300)
        )

    def run(self, *arguments: str, **environment: str) -> tuple[int, str]:
        return ended(self.start(*arguments, **environment))


def ended(child: "pexpect.spawn[str]") -> tuple[int, str]:
    """The exit code, and what was printed since it was last looked at."""
    child.expect(pexpect.EOF)
    said = str(child.before)
    child.close()
    return child.exitstatus, said


def address(child: "pexpect.spawn[str]") -> str:
    child.expect(r"(http://127\.0\.0\.1:\d+/[^\s]+)")
    assert child.match is not None
    return str(child.match[1])


@pytest.fixture
def terminal(tmp_path: Path, service: LocalService) -> Terminal:
    return Terminal(tmp_path, service.base_url)


def test_a_login_is_approved_in_the_browser_and_its_code_is_refused_afterwards(
    page: Page, terminal: Terminal, service: LocalService
) -> None:
    child = terminal.start("login")
    asked = address(child)
    child.expect("No browser could be opened here")
    sign_in(page, service)
    page.goto(asked)
    # Other tests of this worker may have made organizations, which would come first.
    organization = page.get_by_label("Organization")
    if organization.count():
        organization.select_option(label="Local")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", name="Approved")).to_be_visible()

    code, said = ended(child)
    assert (code, "Signed in as admin@example.com in Local" in said) == (0, True)
    assert terminal.credentials.stat().st_mode & 0o777 == 0o600
    assert terminal.run("whoami") == (0, "admin@example.com in Local: admin, read and write\r\n")
    page.goto(asked)
    expect(page.get_by_role("alert")).to_contain_text("This code is not valid")


@pytest.mark.full
def test_a_login_asks_who_is_not_signed_in_to_sign_in_first(
    page: Page, terminal: Terminal, service: LocalService
) -> None:
    child = terminal.start("login")
    page.goto(address(child))
    known = json.loads((service.data / "sign-in.json").read_text())
    fill_in(page, known["email"], known["password"])
    page.get_by_role("button", name="Approve").click()

    assert ended(child)[0] == 0


def test_a_denied_login_exits_with_3(page: Page, terminal: Terminal, service: LocalService) -> None:
    child = terminal.start("login")
    asked = address(child)
    sign_in(page, service)
    page.goto(asked)
    page.get_by_role("button", name="Deny").click()

    code, said = ended(child)
    assert (code, "denied" in said) == (3, True)
    assert not terminal.credentials.exists()


def test_without_a_browser_the_code_is_pasted(page: Page, terminal: Terminal, service: LocalService) -> None:
    child = terminal.start("login", "--no-browser")
    asked = address(child)
    child.expect("Paste the code")
    sign_in(page, service)
    page.goto(asked)
    page.get_by_role("button", name="Show the code").click()
    code = page.locator("#code").inner_text()
    child.sendline(f"  {code.lower()} ")

    assert ended(child)[0] == 0
    assert terminal.run("whoami")[0] == 0

    again = terminal.start("login", "--no-browser")
    again.expect("Paste the code")
    again.sendline(code)
    assert ended(again)[0] == 3


def test_a_mistyped_code_exits_with_2_and_is_not_sent(terminal: Terminal) -> None:
    child = terminal.start("login", "--no-browser")
    child.expect("Paste the code")
    child.sendline("ABCDE-FGHJK-MNPQR-STVWX-YZ012-34567")

    code, said = ended(child)
    assert (code, "mistyped" in said) == (2, True)


def test_the_organization_is_chosen_on_the_page(page: Page, terminal: Terminal, service: LocalService) -> None:
    child = terminal.start("login")
    asked = address(child)
    sign_in(page, service)
    page.goto("/")
    first = page.get_by_role("link", name=re.compile("^Local$"))
    if first.count():
        first.first.click()
    page.get_by_role("link", name="Settings").first.click()
    page.locator("#other").fill("Second")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Second").first).to_be_visible()
    page.goto(asked)
    page.get_by_label("Organization").select_option(label="Second")
    page.get_by_role("button", name="Approve").click()

    code, said = ended(child)
    assert (code, "in Second" in said) == (0, True)
    assert "in Second: admin" in terminal.run("whoami")[1]


def test_a_token_needs_no_browser_and_the_environment_goes_first(terminal: Terminal, service: LocalService) -> None:
    assert terminal.run("login", "--token", service.read_only_token) == (
        0,
        "local read-only in Local: contributor, read\r\n",
    )
    assert "read and write" in terminal.run("whoami", SERVICE_API_TOKEN=service.read_write_token)[1]
    assert terminal.run("login", "--token", "sv_" + "a" * 43)[0] == 3
    assert "read-only" in terminal.run("whoami")[1]


def test_logout_forgets_the_credential_and_revokes_nothing(terminal: Terminal, service: LocalService) -> None:
    terminal.run("login", "--token", service.read_only_token)
    assert terminal.run("logout")[0] == 0
    assert not terminal.credentials.exists()
    assert terminal.run("whoami")[0] == 3

    headers = {"Authorization": f"Bearer {service.read_only_token}"}
    assert httpx.get(f"{service.base_url}/api/v1/public/identity", headers=headers).status_code == 200


def test_a_server_that_is_not_there_is_said(terminal: Terminal) -> None:
    code, said = terminal.run("login", "--url", "http://127.0.0.1:1")

    assert (code, "cannot reach" in said) == (3, True)


def test_no_server_named_is_a_usage_error(terminal: Terminal) -> None:
    assert terminal.run("login", HEADGATE_URL="")[0] == 2


# People.


def test_an_invited_person_signs_in_with_the_mailed_password_sets_their_own_and_signs_out(
    page: Page, browser: Browser, service: LocalService
) -> None:
    sign_in(page, service)
    page.goto("/")
    local = page.get_by_role("link", name=re.compile("^Local$"))
    if local.count():
        local.first.click()
    page.get_by_role("link", name="Members").click()
    page.get_by_label("Email address").fill("grace@example.com")
    page.get_by_role("button", name="Invite", exact=True).click()
    expect(page.get_by_text("grace@example.com")).to_be_visible()
    mail = next(one.read_text() for one in (service.data / "mail").iterdir() if "grace@" in one.read_text())
    temporary = re.search("Temporary password: (.*)", mail)
    assert temporary is not None

    hers = browser.new_context(base_url=service.base_url, viewport=PHONE).new_page()
    hers.goto("/")
    fill_in(hers, "grace@example.com", temporary[1])
    hers.get_by_label("New password").fill("four words in a row")
    hers.get_by_role("button", name="Set password").click()
    expect(hers.get_by_role("heading", name="You are invited")).to_be_visible()
    expect(hers.get_by_text("as Contributor, by admin@example.com")).to_be_visible()
    hers.get_by_role("button", name="Accept Local").click()
    hers.get_by_role("button", name="Menu").click()
    hers.get_by_role("link", name="Settings").click()
    expect(hers.get_by_text("you are a Contributor")).to_be_visible()
    hers.get_by_role("button", name="Menu").click()
    hers.get_by_role("link", name="Members").click()
    expect(hers.get_by_role("button", name="Invite", exact=True)).to_have_count(0)
    hers.get_by_role("button", name="Menu").click()
    hers.get_by_role("button", name="Sign out").click()
    expect(hers.get_by_text("You are signed out.")).to_be_visible()
    hers.goto("/")
    expect(hers.get_by_role("heading", name="Sign in")).to_be_visible()
    fill_in(hers, "grace@example.com", "four words in a row")
    hers.get_by_role("button", name="Menu").click()
    hers.get_by_role("link", name="Settings").click()
    expect(hers.get_by_text("you are a Contributor")).to_be_visible()
    hers.context.close()


@pytest.mark.full
def test_no_page_is_wider_than_a_phone(browser: Browser, service: LocalService, subtests: pytest.Subtests) -> None:
    context = browser.new_context(base_url=service.base_url, viewport=PHONE)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    sign_in(page, service)
    page.goto("/")
    local = page.get_by_role("link", name=re.compile("^Local$"))
    if local.count():
        local.first.click()
        page.wait_for_url("**/organizations/*")
    home = page.url
    for path in ("", "/members", "/service-accounts", "/changes"):
        with subtests.test(path):
            page.goto(home + path)

            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
            assert complaints == []
        complaints.clear()
    context.close()
