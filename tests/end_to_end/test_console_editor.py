"""A configuration from its creation to its publication in a real browser, checked by the real collector."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.console import (
    EDITOR,
    YAML,
    Made,
    Visit,
    console_browser,
    here,
    sign_in,
    signed_in,
    verdict,
    violations,
    visit,
)
from tests.support.local_service import LocalService
from tests.support.second_version import needs_second_version, older_and_newer

__all__ = ["console_browser", "here", "signed_in"]

pytestmark = pytest.mark.end_to_end

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)> \u202egnp.exe {{7*7}}"


def make(service: LocalService, here: Visit, yaml: str = YAML, name: str = "Edge") -> Made:
    """A configuration of a token's; the Admin may change it once it is published."""
    with service.client() as api:
        made = api.post("/configurations", json={"name": name, "yaml": yaml}).json()["id"]
        assert api.post(f"/configurations/{made}/versions/1/publish").status_code == 200
        assert api.post(f"/configurations/{made}/versions", json={"yaml": yaml}).status_code == 201
    return Made(made, f"{here.home}/configurations/{made}")


def create(here: Visit, name: str, yaml: str = YAML) -> Made:
    """A configuration of the Admin's own, and its editor."""
    made = here.make(name, yaml)
    here.page.goto(f"{made.path}/edit")
    return made


def create_by_hand(here: Visit, name: str, yaml: str = YAML) -> Made:
    """The same, made in the browser."""
    page = here.page
    page.goto(f"{here.home}/configurations/new")
    page.get_by_label("Name").fill(name)
    page.get_by_label(EDITOR).fill(yaml)
    page.get_by_role("button", name="Create and edit").click()
    page.wait_for_url(re.compile(r"/cfg_[0-9a-z]+/edit"))
    path = re.sub(r"^https?://[^/]+|/edit.*", "", page.url)
    return Made(path.rpartition("/")[2], path)


def go_to_end(page: Page) -> None:
    page.get_by_label(EDITOR).focus()
    page.keyboard.press("Control+End")


def test_a_configuration_is_written_checked_saved_and_published(here: Visit, service: LocalService) -> None:
    page = here.page
    made = create_by_hand(here, "By hand")
    verdict(page, "Valid on collector")

    page.get_by_label(EDITOR).focus()
    page.keyboard.press("Control+Home")
    for _ in range(8):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.type("\n- sett(log.body, 1)")
    verdict(page, "Not valid on collector")
    problem = page.get_by_role("button", name=re.compile('the function "sett"'))
    expect(problem).to_contain_text("line 10")
    expect(problem).to_contain_text("did you mean `set`?")
    go_to_end(page)
    problem.click()
    page.keyboard.press("Control+Shift+K")
    verdict(page, "✓ Valid on collector")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()

    # YAML ends this text at its number sign: the fix is in the list of the page, and in that of the editor.
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    page.keyboard.type('\n- set(log.body, "a #b")')
    verdict(page, "Not valid on collector")
    expect(page.locator(".problems").get_by_role("button", name="Fix it")).to_be_visible()
    page.keyboard.press("Control+Shift+M")
    page.locator(".cm-panel-lint").get_by_role("button", name="Fix it").click()
    verdict(page, "✓ Valid on collector")
    assert """- 'set(log.body, "a #b")'""" in here.text_in(EDITOR)
    page.keyboard.press("Control+Shift+K")
    verdict(page, "✓ Valid on collector")

    assert verdict_after_a_change(page) == "Checking …"
    verdict(page, "✓ Valid on collector")
    go_to_end(page)
    page.keyboard.type("# checked\n")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Version 1 is saved")).to_be_visible()
    page.get_by_role("button", name="Publish …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Notes").fill("First of all")
    dialog.get_by_role("button", name="Publish").click()
    expect(page.locator("#status")).to_have_text("published")

    page.get_by_label(EDITOR).focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("# more\n")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#which")).to_have_text("version 2")
    page.goto(f"{made.path}/compare")
    expect(page.get_by_label("Version 2")).to_contain_text("# more")
    page.goto(f"{made.path}/versions")
    expect(page.get_by_text("First of all")).to_be_visible()

    # Notes that are taken away are gone.
    version = f"/configurations/{made.id}/versions/2"
    assert here.asked("PATCH", version, {"description": "Not true any more"})["description"]
    page.goto(f"{made.path}/edit")
    page.get_by_role("button", name="Publish …").click()
    expect(dialog.get_by_label("Notes")).to_have_value("Not true any more")
    dialog.get_by_label("Notes").fill("")
    dialog.get_by_role("button", name="Publish").click()
    expect(page.locator("#status")).to_have_text("published")
    assert here.asked("GET", version)["description"] == ""


def test_completion_and_help_are_those_of_the_reference(here: Visit, service: LocalService) -> None:
    page = here.page
    create(here, "Helped")
    verdict(page, "Valid")
    options = page.locator(".cm-tooltip-autocomplete")
    for after, typed, offered in (
        ("exporters:\n  debug:", "\n    verb", "verbosity"),
        ("receivers:", "\n  filel", "filelog"),
    ):
        place(page, after)
        page.keyboard.type(typed)
        page.keyboard.press("Control+Space")
        expect(options.get_by_text(offered, exact=True).first).to_be_visible()
        page.keyboard.press("Escape")
        undo(here)
    place(page, '- set(log.attributes["a"], "b")')
    # By the place in the text: no linter has seen this statement.
    page.keyboard.type("\n- replace_pat")
    expect(options.get_by_text("replace_pattern", exact=True)).to_be_visible()
    expect(options.get_by_text("IsMatch", exact=True)).to_have_count(0)
    options.get_by_text("replace_pattern", exact=True).click()
    assert "- replace_pattern(" in here.text_in(EDITOR)
    page.keyboard.press("Escape")
    undo(here)
    place(page, '- set(log.attributes["a"], "b")')
    page.keyboard.type("\n- set(log.sev")
    page.keyboard.press("Control+Space")
    expect(options.get_by_text("log.severity_text", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    undo(here)
    verdict(page, "✓ Valid")

    page.get_by_text("protocols", exact=True).first.hover()
    expect(page.locator(".help")).to_contain_text("protocols")
    page.mouse.move(0, 0)
    expect(page.locator(".help")).to_have_count(0)
    for after, told in (("- se", "set"), ("set(log.attr", "attributes"), ("exporters:\n  de", "debug")):
        place(page, after)
        page.keyboard.press("Control+i")
        expect(page.get_by_role("status").locator("strong")).to_contain_text(told)
        page.keyboard.press("Escape")
        expect(page.locator(".help")).to_have_count(0)


def test_a_component_is_gone_to_by_its_name_and_from_where_it_is_used(here: Visit, service: LocalService) -> None:
    page = here.page
    create(here, "Gone to")
    verdict(page, "Valid")
    line = page.locator(".cm-activeLine")
    place(page, "receivers: [ot")
    page.keyboard.press("Control+b")
    expect(line).to_have_text("  otlp:")
    page.keyboard.press("Control+b")
    expect(line).to_contain_text("receivers: [otlp]")
    page.locator(".cm-content").get_by_text("count", exact=True).click(modifiers=["Control"])
    expect(line).to_contain_text("exporters: [debug, count]")

    page.keyboard.press("Control+Shift+O")
    page.keyboard.type("met pipe")
    expect(page.get_by_role("dialog").get_by_role("option")).to_have_count(1)
    assert violations(page) == []
    page.keyboard.press("Enter")
    expect(line).to_contain_text("metrics:")
    page.get_by_role("tab", name="Outline").click()
    page.get_by_role("button", name="transform", exact=True).click()
    expect(line).to_have_text("  transform:")


def undo(here: Visit) -> None:
    """Take back what was typed since the text was saved."""
    for _ in range(20):
        here.page.keyboard.press("Control+z")
    assert here.text_in(EDITOR) == YAML


def verdict_after_a_change(page: Page) -> str:
    """What the page says of a text that is not checked yet: the verdict was about the one before."""
    told = page.get_by_label(EDITOR).evaluate(
        """element => {
        const view = element.cmTile.view;
        view.dispatch({changes: {from: view.state.doc.length, insert: "# typed\\n"}});
        return document.querySelector("#verdict").textContent; }"""
    )
    return str(told)


def place(page: Page, after: str) -> None:
    """Put the cursor behind a text."""
    page.get_by_label(EDITOR).evaluate(
        """(element, after) => {
        const view = element.cmTile.view;
        view.dispatch({selection: {anchor: view.state.doc.toString().indexOf(after) + after.length}});
        view.focus(); }""",
        after,
    )


def test_an_admin_in_two_windows_and_the_owner_change_one_draft_and_lose_nothing(
    here: Visit, service: LocalService
) -> None:
    page = here.page
    made = make(service, here)
    page.goto(f"{made.path}/edit?version=1")
    go_to_end(page)
    page.keyboard.type("# mine\n")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#which")).to_have_text("version 3")

    other = here.another_page()
    other.goto(f"{made.path}/edit?version=3")
    go_to_end(page)
    page.keyboard.type("# more of mine\n")
    place(other, "receivers:")
    other.keyboard.type(" # theirs")
    other.get_by_role("button", name="Save").click()
    expect(other.get_by_text("Version 3 is saved.")).to_be_visible()
    # The Admin's two windows, and the owner by the API.
    with service.client() as api:
        mine = f"{YAML}# mine\n".replace("receivers:", "receivers: # theirs", 1)
        theirs = mine.replace("exporters:", "exporters: # the owner's", 1)
        assert api.patch(f"/configurations/{made.id}/versions/3", json={"yaml": theirs}).status_code == 200
    page.get_by_role("button", name="Save").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("You changed different lines")
    assert violations(page) == []
    dialog.get_by_role("button", name="Save the right side").click()
    expect(page.get_by_text("Version 3 is saved.")).to_be_visible()

    other.reload()
    expect(other.get_by_label(EDITOR)).to_contain_text("# more of mine")
    assert here.text_in(EDITOR) == f"{theirs}# more of mine\n"
    here.forget(412)


def test_what_is_typed_survives_the_end_of_the_session_and_is_erased_at_sign_out(
    console_browser: Browser, service: LocalService
) -> None:
    # A sign-in of its own, which it ends.
    with visit(console_browser, service) as here:
        _type_through_the_end_of_a_session(here, service)
        assert here.complaints == []


def _type_through_the_end_of_a_session(here: Visit, service: LocalService) -> None:
    page = here.page
    made = create(here, "Kept", YAML)
    verdict(page, "Valid")
    other = here.another_page()
    other.goto(here.home)
    go_to_end(page)
    page.keyboard.type("# typed\n")
    here.context.clear_cookies()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Your session has ended")
    assert here.text_in(EDITOR).endswith("# typed\n")

    sign_in(other, service)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Version 1 is saved.")).to_be_visible()
    go_to_end(page)
    page.keyboard.type("# not saved\n")
    page.reload()
    expect(page.get_by_text("This is what you typed before")).to_be_visible()
    assert here.text_in(EDITOR).endswith("# not saved\n")

    page.get_by_role("button", name="Sign out").click()
    assert "# not saved" not in page.evaluate("JSON.stringify(localStorage)")
    sign_in(page, service)
    page.goto(f"{made.path}/edit")
    expect(page.get_by_label(EDITOR)).to_contain_text("# typed")
    assert here.text_in(EDITOR).endswith("# typed\n")
    here.forget(401, 403)


def test_hostile_names_and_texts_are_texts(here: Visit, service: LocalService) -> None:
    page = here.page
    name = f"{EVIL} {'x' * 100}"
    yaml = f'receivers:\n  "otlp/{EVIL[:60]}": # {EVIL}\nservice:\n  pipelines:\n    "logs/{"y" * 2_000}":\n'
    yaml += f'      receivers: ["{EVIL[:60]}"]\n'
    made = create(here, name, yaml)
    verdict(page, "Not valid")
    for tab in ("Outline", "Graph", "Table", "Problems"):
        page.get_by_role("tab", name=tab).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280, tab
    # What stands against publishing leads to where it is mended.
    page.get_by_role("tab", name="Outline").click()
    page.get_by_role("button", name="Publish …").click()
    against = page.get_by_role("dialog").get_by_role("listitem").filter(has_text="hosts would refuse it")
    against.get_by_role("button", name="Go there").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("tab", name="Problems")).to_have_attribute("aria-selected", "true")
    assert page.locator("script:not([src])").count() == 0
    assert page.locator("img[src]").count() == 0
    # A direction that is changed is shown in the text itself.
    expect(page.locator(".cm-specialChar").first).to_be_visible()
    page.goto(f"{here.home}/configurations")
    page.get_by_label("Name, owner or text").fill("<script>")
    expect(page.get_by_role("link", name=EVIL[:20]).first).to_be_visible()
    # The row stands in the whole list as well, until it is searched.
    expect(page.locator("td.choose input")).to_have_count(1)
    page.get_by_label("All on this page").check()
    expect(page.get_by_text("With 1 chosen:")).to_be_visible()
    expect(page.locator("td.choose :checked")).to_have_count(1)
    page.get_by_text("Set a value in them").click()
    page.get_by_label("Setting").fill("receivers.otlp.protocols")
    page.get_by_role("button", name="Show what changes").click()
    expect(page.get_by_role("heading", name="Change 0 configurations")).to_be_visible()
    page.goto(made.path)
    expect(page.locator("#graph").get_by_text("the collector cannot read the configuration")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert violations(page) == []
    page.get_by_role("link", name="Settings", exact=True).last.click()
    expect(page.get_by_label("Name")).to_have_value(name)
    page.get_by_role("button", name=re.compile("^Archive")).click()
    expect(page.get_by_role("button", name=re.compile("^Restore"))).to_be_visible()
    page.get_by_text("Delete …").click()
    page.get_by_role("button", name=re.compile("^Delete")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Configurations")


def test_a_configuration_begins_with_a_flow_or_a_file(here: Visit, service: LocalService) -> None:
    page = here.page
    page.goto(f"{here.home}/configurations/new")
    flows = page.get_by_label("From a flow")
    expect(flows.locator("option")).not_to_have_count(1)
    expect(page.get_by_label("along", exact=False)).to_be_hidden()
    # Each flow brings its own name, and what was typed before comes back without one.
    page.get_by_label(EDITOR).fill("# an hour's work\n")
    flows.select_option(index=2)
    expect(page.get_by_label("Name")).not_to_have_value("")
    of_another = page.get_by_label("Name").input_value()
    flows.select_option("")
    expect(page.get_by_label(EDITOR)).to_have_value("# an hour's work\n")
    flows.select_option(index=1)
    expect(page.get_by_label(EDITOR)).to_have_value(re.compile("service:"))
    expect(page.get_by_label("Name")).not_to_have_value(of_another)
    expect(page.get_by_label("Bring its test along", exact=False)).to_be_checked()
    page.get_by_role("button", name="Create and edit").click()
    page.wait_for_url(re.compile("/edit"))
    made_of_a_flow = re.findall("cfg_[0-9a-z]{26}", page.url)[0]
    (test,) = here.asked("GET", f"/configurations/{made_of_a_flow}/versions/1/tests")["items"]
    assert test["target_pipeline"]
    page.goto(f"{here.home}/configurations/new")

    windows = YAML.replace("\n", "\r\n").encode()
    page.get_by_label("From a file").set_input_files(
        {"name": "edge.yaml", "mimeType": "text/yaml", "buffer": b"\xff\xfe"}
    )
    expect(page.locator("#file-error")).to_contain_text("not UTF-8")
    page.get_by_label("Name").fill("")
    page.get_by_label("From a file").set_input_files({"name": "edge.yaml", "mimeType": "text/yaml", "buffer": windows})
    expect(page.get_by_label("Name")).to_have_value("edge")
    page.get_by_role("button", name="Create and edit").click()
    page.wait_for_url(re.compile("/edit"))
    verdict(page, "Valid")
    go_to_end(page)
    page.keyboard.type("# end\n")
    with page.expect_request(lambda request: request.method == "PATCH") as saving:
        page.keyboard.press("Control+s")
    assert saving.value.post_data_json["yaml"].encode() == windows + b"# end\r\n"


@pytest.mark.full
@needs_second_version
def test_another_collector_version_says_what_it_would_change(here: Visit, service: LocalService) -> None:
    page = here.page
    older, newer = older_and_newer()
    made = here.make(
        "Switched", YAML.replace("exporters:\n", "exporters:\n  otlphttp: {endpoint: 'https://a.example'}\n", 1)
    )
    here.asked("PATCH", f"/configurations/{made.id}/versions/1", {"collector_version": older})
    page.goto(f"{made.path}/edit")
    verdict(page, f"alid on collector {older}")
    page.get_by_label("Collector version").select_option(newer)
    expect(page.get_by_text(f"From collector {older} to {newer}: 1 rename")).to_be_visible()
    page.get_by_text("Show them").click()
    page.get_by_role("button", name="Renamed, line 11 otlphttp is otlp_http there").click()
    expect(page.locator(".cm-activeLine")).to_contain_text("otlphttp:")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Version 1 is saved.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Collector version")).to_have_value(newer)


@pytest.mark.full
def test_pages_can_be_read_without_scripts(here: Visit, service: LocalService) -> None:
    made = make(service, here)
    browser, state = here.context.browser, here.context.storage_state()
    assert browser is not None
    context = browser.new_context(base_url=service.base_url, java_script_enabled=False, storage_state=state)
    page = context.new_page()
    page.goto(f"{made.path}/edit")
    expect(page.get_by_text("endpoint: localhost:4317")).to_be_visible()
    page.goto(f"{made.path}/compare?from=1&to=1")
    expect(page.get_by_text("endpoint: localhost:4317").first).to_be_visible()
    page.goto(f"{here.home}/configurations")
    expect(page.get_by_role("link", name="Edge").first).to_be_visible()
    context.close()
