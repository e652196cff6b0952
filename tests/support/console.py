"""A browser at the console's pages, which notes what must not happen on any of them."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, StorageState, ViewportSize, expect

from tests.support.chromium import chromium
from tests.support.local_service import LocalService
from tests.support.service import ROOT

AXE: Final = ROOT / "console" / "node_modules" / "axe-core" / "axe.min.js"
RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
PHONE: Final[ViewportSize] = {"width": 390, "height": 844}
DESK: Final[ViewportSize] = {"width": 1280, "height": 900}


EDITOR: Final = "Configuration, YAML"
YAML: Final = """\
receivers:
  otlp:
    protocols:
      grpc:
        endpoint: localhost:4317
processors:
  transform:
    log_statements:
      - set(log.attributes["a"], "b")
exporters:
  debug:
connectors:
  count:
service:
  pipelines:
    logs:
      receivers: [otlp]
      processors: [transform]
      exporters: [debug, count]
    metrics:
      receivers: [count]
      exporters: [debug]
"""


@dataclass(frozen=True)
class Made:
    """A configuration, and the path of its page."""

    id: str
    path: str


@dataclass
class Visit:
    """A person's browser. `complaints` are console messages, breaches of the policy, and requests to other hosts."""

    context: BrowserContext
    page: Page
    home: str
    complaints: list[str] = field(default_factory=list)

    def text_in(self, label: str) -> str:
        """The text of an editor, whose lines outside the window are not elements."""
        return str(self.page.get_by_label(label).evaluate("element => element.cmTile.view.state.doc.toString()"))

    def another_page(self) -> Page:
        return watched(self.context.new_page(), self.complaints)

    def make(self, name: str, yaml: str = YAML) -> Made:
        """A configuration of the person's own, made by the API that pages call."""
        self.page.goto(f"{self.home}/configurations")
        made = self.asked("POST", "/configurations", {"name": name, "yaml": yaml})
        return Made(made["id"], f"{self.home}/configurations/{made['id']}")

    def asked(self, method: str, path: str, body: object = None) -> Any:
        """The answer to a request as the page's scripts make it."""
        return self.page.evaluate(_ASK, [method, path, body])

    def forget(self, *statuses: int) -> None:
        """What the browser itself says of requests that were refused with these statuses, as the test wants."""
        self.complaints[:] = [
            one for one in self.complaints if not any(f"status of {status}" in one for status in statuses)
        ]


_ASK: Final = """async ([method, path, body]) => {
  const { organization, csrf } = document.body.dataset;
  const headers = { "X-Service-Org": organization, "X-CSRF-Token": csrf, "Content-Type": "application/json" };
  const answer = await fetch("/api/v1/app/public" + path, { method, headers, body: body && JSON.stringify(body) });
  return answer.json();
}"""


# All else that axe-core tells, of each element of the page, takes more time than its checks.
_FIND: Final = """async tags => {
  const found = await axe.run(document, { runOnly: tags, resultTypes: ["violations"] });
  return found.violations;
}"""


@contextmanager
def visit(
    browser: Browser,
    service: LocalService,
    *,
    scheme: Literal["light", "dark"] = "light",
    size: ViewportSize = DESK,
    by_link: bool = False,
    state: StorageState | None = None,
) -> Iterator[Visit]:
    """The Admin's browser, signed in: by password, by the link that the service printed, which works once, or with the
    `state` of a browser that is signed in."""
    context = browser.new_context(
        base_url=service.base_url, viewport=size, color_scheme=scheme, reduced_motion="reduce", storage_state=state
    )
    context.set_default_timeout(60_000)
    complaints: list[str] = []
    page = watched(context.new_page(), complaints)
    with service.client() as api:
        home = f"/organizations/{api.get('/identity').json()['organization_id']}"
    if by_link:
        page.goto(service.sign_in_link)
    elif state is None:
        sign_in(page, service)
    yield Visit(context, page, home, complaints)
    context.close()


def watched(page: Page, complaints: list[str]) -> Page:
    page.on("console", lambda message: complaints.extend(_complaints_of(message)))
    page.on("pageerror", lambda error: complaints.append(f"uncaught: {error}"))
    page.on("request", lambda request: complaints.extend(_foreign(request.url)))
    return page


def sign_in(page: Page, service: LocalService) -> None:
    known = json.loads((service.data / "sign-in.json").read_text())
    page.goto("/sign-in")
    page.get_by_label("Email address").fill(known["email"])
    page.get_by_label("Password").fill(known["password"])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile(r"/(organizations/org_.*)?$"))


def violations(page: Page) -> list[str]:
    """What axe-core finds on the page, which is injected without the page's own scripts allowing it."""
    page.evaluate(AXE.read_text())
    found = page.evaluate(_FIND, RULES)
    return [f"{one['id']}: {node['html'][:200]} {node['failureSummary']}" for one in found for node in one["nodes"]]


def verdict(page: Page, text: str) -> None:
    """Wait until the editor tells that verdict."""
    expect(page.locator("#verdict")).to_contain_text(text)


@pytest.fixture(scope="module")
def console_browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def signed_in(console_browser: Browser, service: LocalService) -> StorageState:
    """What the browser of the Admin stores after the sign-in. Whoever signs out makes a visit of their own."""
    with visit(console_browser, service) as opened:
        return opened.context.storage_state()


@pytest.fixture
def here(console_browser: Browser, service: LocalService, signed_in: StorageState) -> Iterator[Visit]:
    """The Admin at a desk. Nothing must be told on the console, refused by the policy, or asked of another host."""
    with visit(console_browser, service, state=signed_in) as opened:
        yield opened
        assert opened.complaints == [], opened.complaints


def _complaints_of(message: ConsoleMessage) -> list[str]:
    # On a busy machine the checker may not answer in time: the page says so, and asks again.
    return [] if "status of 503" in message.text else [f"{message.type}: {message.text}"]


def _foreign(url: str) -> list[str]:
    host = urlsplit(url).hostname
    return [] if host in ("127.0.0.1", None) else [f"request to {url}"]
