"""What a person sees while the collector is being built: each page says when, and asks again by itself."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from headgate.foundation.settings import settings
from tests.support.cli_support import EDGE
from tests.support.console import Visit, console_browser, verdict, violations, visit
from tests.support.first_program import KAFKA, needs_first_program, without_collector
from tests.support.local_service import LocalService

__all__ = ["console_browser"]

pytestmark = [pytest.mark.end_to_end, needs_first_program]

VALID = f"✓ Valid on collector {settings().collector_version}"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[LocalService]:
    """One that began without any collector, whose builds end with the files `first` and `whole`."""
    started = LocalService(tmp_path / "data", **without_collector(tmp_path))
    started.start()
    yield started
    started.stop()


@pytest.fixture
def person(console_browser: Browser, service: LocalService) -> Iterator[Visit]:
    with visit(console_browser, service) as opened:
        yield opened


PASTE = """(element, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


def pasted(page: Page, text: str) -> None:
    """Paste a text in place of what is in the editor."""
    editor = page.get_by_label("Configuration, YAML")
    editor.click()
    page.keyboard.press("Control+A")
    editor.evaluate(PASTE, text)


def picture(page: Page, name: str) -> None:
    """For who wants to look: HEADGATE_PICTURES names a folder."""
    if folder := os.environ.get("HEADGATE_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.full
def test_each_page_shows_itself_as_soon_as_it_can(person: Visit, tmp_path: Path) -> None:
    made = person.make("meanwhile", EDGE)
    home, components, policies, editor = (person.another_page() for _ in range(4))

    # Before the first program.
    home.goto(f"{person.home}/configurations/try")
    pasted(home, EDGE)
    verdict(home, "Not checked yet: The collector")
    verdict(home, "left until the first verdicts")
    for page, name in ((components, "components"), (policies, "policies")):
        page.goto(f"{person.home}/{name}")
        expect(page.get_by_role("heading", name="Not ready yet")).to_be_visible()
    editor.goto(f"{made.path}/edit")
    verdict(editor, "Not checked yet: The collector")
    assert violations(components) == []
    for page, name in ((home, "home"), (components, "components"), (policies, "policies"), (editor, "editor")):
        picture(page, f"1-{name}")

    # Between the two: nobody touches a page.
    (tmp_path / "first").touch()
    verdict(home, VALID)
    verdict(editor, VALID)
    expect(policies.get_by_role("heading", name="Policies", exact=True)).to_be_visible()
    expect(
        components.get_by_text("These are the components of the first build: the whole collector is")
    ).to_be_visible()
    expect(editor.get_by_label("Collector")).to_contain_text("(whole in about ")
    pasted(home, KAFKA)
    verdict(home, "Not checked yet: exporters::kafka: the first build of collector")
    for page, name in ((home, "home"), (components, "components"), (policies, "policies"), (editor, "editor")):
        picture(page, f"2-{name}")

    # The whole one.
    (tmp_path / "whole").touch()
    verdict(home, VALID)
    expect(components.get_by_text("These are the components of the first build")).to_have_count(0)
    expect(components.get_by_role("link", name="haproxy", exact=True).first).to_be_visible()
    expect(editor.get_by_label("Collector")).not_to_contain_text("(whole in about ")
    for page, name in ((home, "home"), (components, "components"), (editor, "editor")):
        picture(page, f"3-{name}")
    assert person.complaints == []
