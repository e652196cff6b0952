"""A fleet in a real browser: made, installed, assigned with what speaks against it said first, and its collectors."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from headgate.foundation.ids import new_id
from tests.support.console import Visit, console_browser, here, signed_in, violations
from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent

__all__ = ["console_browser", "here", "signed_in"]

pytestmark = pytest.mark.end_to_end

YAML = """\
receivers: {otlp: {protocols: {grpc: {endpoint: "${env:LISTEN}"}}}}
exporters: {debug: }
service: {pipelines: {logs: {receivers: [otlp], exporters: [debug]}}}
"""


def agent_of(service: LocalService, fleet_id: str, host_name: str) -> Agent:
    """A host of the fleet's Default group, with the token of an install."""
    with service.client() as api:
        connection = api.post(f"/fleets/{fleet_id}/install", json={"platform": "docker"}).json()["connection"]
    headers = {
        "Authorization": f"Bearer {connection['token']}",
        "X-Deployment-Id": connection["deployment_id"],
        "Content-Type": "application/x-protobuf",
    }
    return Agent(
        lambda body: httpx.post(f"{service.base_url}/v1/opamp", content=body, headers=headers).content, host_name
    )


def test_a_fleet_is_made_installed_assigned_and_looked_at(here: Visit, service: LocalService) -> None:
    page = here.page
    with service.client() as api:
        made = api.post("/configurations", json={"name": "For hosts", "yaml": YAML}).json()["id"]
        assert api.post(f"/configurations/{made}/versions/1/publish").status_code == 200
    label = f"Fleet {made[-6:]}"
    page.goto(f"{here.home}/fleets")
    page.get_by_label("Label").fill(label)
    assert violations(page) == []
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(label)
    # The command of a new fleet is there without a click.
    expect(page.get_by_label("Install command")).to_be_visible()
    fleet_id = page.url.rpartition("/")[2]

    expect(page.get_by_label("Group")).to_contain_text("Default")
    page.get_by_label("Take the official supervisor's place").check()
    page.get_by_role("button", name="Show the command").click()
    expect(page.get_by_text("No version is assigned to this group, so that")).to_be_visible()
    page.get_by_label("Take the official supervisor's place").uncheck()
    page.get_by_label("Environment").fill("LISTEN=it's 0.0.0.0:4317; rm -rf /")
    page.get_by_role("button", name="Show the command").click()
    expect(page.get_by_label("Install command")).to_contain_text("rm -rf /")
    expect(page.get_by_role("button", name="Copy", exact=True)).to_be_visible()
    assert violations(page) == []

    page.get_by_role("link", name="Default").click()
    page.get_by_label("Configuration", exact=True).select_option(label="For hosts")
    page.get_by_label("Version", exact=True).select_option("1")
    page.get_by_label("Why").fill("First try")
    assert violations(page) == []
    page.get_by_role("button", name="Review and assign …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("It needs the variables LISTEN")
    expect(dialog).to_contain_text("For hosts version 1 → group Default")
    expect(dialog).to_contain_text("0 hosts")
    assert violations(page) == []
    dialog.get_by_role("button", name="Assign").click()
    expect(page.get_by_text("Version 1 is assigned")).to_be_visible()
    group_page = page.url
    page.goto(f"{here.home}/fleets/{fleet_id}")
    page.get_by_label("Take the official supervisor's place").check()
    page.get_by_role("button", name="Show the command").click()
    expect(page.get_by_label("Install command")).to_contain_text("--systemd --from-official")
    expect(page.get_by_text("What does not stay: files in agent::config_files")).to_be_visible()
    page.get_by_label("Platform").select_option("docker")
    expect(page.get_by_label("Take the official supervisor's place")).to_be_hidden()
    page.goto(group_page)

    agents = [agent_of(service, fleet_id, name) for name in ("edge-1", "edge-<b>2</b>")]
    for agent in agents:
        agent.start()
    agents[0].applies()
    with service.client() as api:
        assert api.post(f"/configurations/{made}/versions", json={"yaml": YAML + "# two\n"}).status_code == 201
        assert api.post(f"/configurations/{made}/versions/2/publish").status_code == 200
    page.reload()
    page.get_by_label("Version", exact=True).select_option("2")
    page.get_by_label("How", exact=True).select_option("own")
    page.get_by_text("Canaries, window and gates").click()
    page.get_by_label("From").fill("00:00")
    page.get_by_label("To", exact=True).fill("23:59")
    page.get_by_label("In the time zone").fill("Nowhere")
    page.get_by_label("Failed to send").fill("9")
    page.get_by_role("button", name="Review and assign …").click()
    page.get_by_role("dialog").get_by_role("button", name="Start the rollout").click()
    expect(page.locator("#strategy-window-time_zone-error")).to_contain_text("This is not a time zone")
    assert violations(page) == []
    page.get_by_label("In the time zone").fill("UTC")
    page.get_by_role("button", name="Review and assign …").click()
    page.get_by_role("dialog").get_by_role("button", name="Start the rollout").click()
    page.wait_for_url(re.compile("/rollouts/rol_"))
    expect(page.get_by_role("row", name="send failed").get_by_text("9 percent points")).to_be_visible()
    expect(page.get_by_role("cell", name="edge-<b>2</b>")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("paused", exact=True)).to_be_visible()
    # It follows what others do, and what has the focus keeps it.
    page.get_by_role("link", name="edge-1").focus()
    with service.client() as api:
        api.post(page.url.partition("/fleets/")[2].join(("/fleets/", "/resume"))).raise_for_status()
    expect(page.get_by_text("in progress", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="edge-1")).to_be_focused()
    page.get_by_text("Abort …").click()
    page.get_by_role("button", name="Abort For hosts version 2").click()
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)

    # On a slow machine they would be silent by now.
    for agent in agents:
        agent.heartbeat()
    page.goto(f"{here.home}/fleets/{fleet_id}/collectors")
    page.get_by_label("State").select_option("applied")
    expect(page.get_by_text("1 collector", exact=True)).to_be_visible()
    expect(page.get_by_role("row").nth(1)).to_contain_text("edge-1")
    page.get_by_label("State").select_option("")
    expect(page.get_by_text("2 collectors", exact=True)).to_be_visible()
    every = page.get_by_label("All on this page")
    every.check()
    expect(page.get_by_text("With 2 chosen:")).to_be_visible()
    page.get_by_label("Choose edge-1").uncheck()
    expect(page.get_by_text("With 1 chosen:")).to_be_visible()
    assert every.evaluate("box => box.indeterminate")
    assert violations(page) == []
    page.get_by_label("Host").fill("<b>")
    expect(page.get_by_text("1 collector", exact=True)).to_be_visible()
    expect(page.get_by_role("row").nth(1)).to_contain_text("edge-<b>2</b>")
    assert page.url.endswith("/collectors?host=%3Cb%3E")
    page.get_by_label("Version").fill("x")
    expect(page.get_by_role("alert")).to_contain_text("a whole number")
    page.get_by_label("Version").fill("")
    expect(page.get_by_role("alert")).to_be_empty()
    assert violations(page) == []

    page.get_by_role("link", name="edge-<b>2</b>").click()
    expect(page.get_by_role("heading", name="Health")).to_be_visible()
    page.get_by_text("Run another version for a while").click()
    page.locator("#version_number").fill("1")
    page.get_by_label("Until (UTC)").fill("2020-01-01T10:00")
    page.get_by_role("button", name="Run it").click()
    expect(page.locator("#until-error")).to_contain_text("This time has passed")
    assert violations(page) == []
    agents[1].heartbeat()
    page.get_by_text("Delete …").click()
    page.get_by_role("button", name="Delete edge-<b>2</b>").click()
    expect(page.get_by_role("alert")).to_contain_text("This collector reports")
    # The zone that is not one, the time that has passed, and the deletion of what reports.
    here.complaints[:] = [one for one in here.complaints if not re.search("422|409", one)]


def test_a_fleet_is_read_without_scripts(here: Visit, service: LocalService) -> None:
    with service.client() as api:
        made = api.post("/fleets", json={"label": f"Read {new_id('usr')}", "type": "server-supervisor"}).json()["id"]
    agent_of(service, made, "edge-1").start()
    context = here.page.context.browser
    assert context is not None
    plain = context.new_context(
        base_url=service.base_url, java_script_enabled=False, storage_state=here.context.storage_state()
    ).new_page()
    plain.goto(f"{here.home}/fleets/{made}/collectors")
    expect(plain.get_by_text("All on this page")).to_be_hidden()
    plain.get_by_label("Host").fill("edge")
    plain.get_by_role("button", name="Filter").click()
    plain.get_by_role("link", name="edge-1").click()
    expect(plain.get_by_role("heading", name="Timeline")).to_be_visible()
    plain.get_by_label("What was so at (UTC)").fill("2020-01-01T10:00")
    plain.get_by_role("button", name="Show this time").click()
    expect(plain.locator("#at-error")).to_contain_text("History is kept for 90 days")
    # A form that a script makes says what does the same without one.
    plain.goto(f"{here.home}/fleets/{made}")
    assert f"headgate fleet install {made}" in plain.locator("#install").inner_text()
    plain.get_by_role("link", name="Default").click()
    assert f"headgate deployment assign {made}" in plain.locator("#assign").inner_text()
    plain.context.close()
