"""Samples, steps, tests, coverage, comparisons and the graph in a real browser, by the real collector."""

import json
import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.support.agents_of_service import post_to
from tests.support.console import YAML, Made, Visit, console_browser, here, signed_in, verdict, violations
from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent
from tests.support.sizes import either

__all__ = ["console_browser", "here", "signed_in"]

pytestmark = pytest.mark.end_to_end

FILTERING = YAML.replace("processors: [transform]", "processors: [transform, filter]").replace(
    "exporters:\n  debug:",
    "  filter:\n    logs:\n      log_record: ['IsMatch(body, \"noise\")']\nexporters:\n  debug:",
)
# A stranger may have written it.
KEPT = "kept <img src=x onerror=alert(1)><script>alert(2)</script> \u202egnp.exe"
SAMPLE = f"{KEPT}\nnoise\n"
COUNTED = {
    **{"seconds": 30, "accepted": 1_200, "refused": 3, "sent": 1_100, "failed": 7, "dropped": 0, "queue": 0.25},
    "exporters": {"debug": {"sent": 1_100, "failed": 7, "queue": 0.25}},
}


def with_a_test(here: Visit, name: str) -> Made:
    made = here.make(name, FILTERING)
    rule = {"name": "it is set", "condition": 'attributes["a"] == "b"', "expect": "all"}
    test = {"target_pipeline": "logs", "sample": SAMPLE, "duration_seconds": 1, "rules": [rule]}
    here.asked("PUT", f"/configurations/{made.id}/versions/1/tests/sets", test)
    return made


def test_a_value_is_set_in_several_configurations_tested_and_published(here: Visit) -> None:
    page = here.page
    made = [with_a_test(here, "First"), with_a_test(here, "Second")]
    page.goto(f"{here.home}/configurations")
    for name in ("First", "Second"):
        page.get_by_label(f"Choose {name}", exact=True).check()
    page.get_by_text("Set a value in them").click()
    page.get_by_label("Setting").fill("exporters.debug.verbosity")
    page.get_by_label("Value").fill("detailed")
    page.get_by_role("button", name="Show what changes").click()
    expect(page.get_by_label("What changes")).to_contain_text("+    verbosity: detailed")
    expect(page.get_by_role("table").get_by_text("valid", exact=True)).to_have_count(2)
    assert violations(page) == []

    page.get_by_role("button", name="Save as drafts").click()
    publish = page.get_by_role("button", name="Publish 2 configurations")
    expect(publish).to_be_disabled()
    expect(page.get_by_text("All tests passed.")).to_be_visible(timeout=60_000)
    assert violations(page) == []
    publish.click()

    expect(page.get_by_role("heading", name="What was published")).to_be_visible()
    for one in made:
        version = here.asked("GET", f"/configurations/{one.id}/versions/1")
        assert (version["status"], "verbosity: detailed" in version["yaml"]) == ("published", True)
    assert here.complaints == []


def test_a_pipeline_is_tested_step_by_step_and_kept_as_a_test(here: Visit, service: LocalService) -> None:
    page = here.page
    made = here.make("Tested", FILTERING)
    body = {"configuration_id": made.id, "version_number": 1, "sample": SAMPLE, "signal_type": "logs"}
    untraced = here.asked("POST", "/testing/runs", body | {"target_pipeline": "logs", "duration_seconds": 1})["id"]
    page.goto(f"{made.path}/versions/1/run?pipeline=logs")
    page.get_by_label("Sample").fill(SAMPLE)
    page.get_by_label("How long").select_option("1")
    page.get_by_role("button", name="Add a rule").click()
    condition = page.get_by_label("Condition")
    condition.fill("attributes[")
    condition.press("Tab")
    expect(page.locator("#rule-1-error")).to_be_visible()
    condition.fill('attributes["a"] == "b"')
    condition.press("Tab")
    expect(page.locator("#rule-1-error")).to_be_hidden()
    page.get_by_label("Expected").select_option("count")
    page.get_by_label("At most").fill("1")
    assert violations(page) == []
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("heading", name="Run Success")).to_be_visible()
    expect(page.get_by_text("1 of 1 log record matched")).to_be_visible()

    steps = page.get_by_role("group", name="Steps")
    expect(steps.get_by_role("columnheader")).to_have_text(
        [
            re.compile(name)
            for name in ("Record", "1. filelog/sample", "transform", "filter", "count", "in the place of debug")
        ]
    )
    kept, dropped = steps.get_by_role("row").nth(1), steps.get_by_role("row").nth(2)
    expect(kept.get_by_role("cell")).to_have_text(["→ came in", "~ changed 1", "= unchanged", "→ taken", "= unchanged"])
    expect(dropped.get_by_role("cell").nth(2)).to_have_text(re.compile(r"✕ dropped.*IsMatch.*line 12: log_record"))
    expect(dropped.get_by_role("cell").nth(4)).to_have_text("– gone")
    expect(kept.get_by_role("rowheader")).to_contain_text("<script>alert(2)</script>")
    kept.get_by_role("button", name="~ changed 1, transform").click()
    expect(page.locator(".change.added")).to_contain_text('+ added attributes["a"]b')
    assert violations(page) == []

    page.get_by_role("button", name="Save as a test …").click()
    page.get_by_label("Name of the test").fill("drops-noise")
    page.get_by_role("button", name="Save the test").click()
    expect(page.get_by_text("The test drops-noise is saved with version 1.")).to_be_visible()
    page.get_by_role("button", name="Save as a test …").click()
    page.get_by_label("Name of the test").fill("drops-noise")
    page.get_by_role("button", name="Save the test").click()
    expect(page.get_by_role("alert")).to_contain_text(["drops-noise is there already: save again to replace it"])
    page.get_by_role("button", name="Save the test").click()
    expect(page.get_by_role("dialog")).to_have_count(0)

    # The sample comes from the test, from the run, and from a flow.
    page.reload()
    page.get_by_label("From a test of this version").select_option("drops-noise")
    expect(page.get_by_label("Sample", exact=True)).to_have_value(SAMPLE)
    expect(page.get_by_label("Condition")).to_have_value('attributes["a"] == "b"')
    expect(page.get_by_label("At most")).to_have_value("1")
    page.get_by_label("From a flow").select_option("host-logs")
    expect(page.get_by_label("Sample", exact=True)).not_to_have_value(SAMPLE)
    run = here.asked("GET", f"/testing/runs?configuration_id={made.id}")["items"][0]["id"]
    page.goto(f"{made.path}/versions/1/run?run={run}")
    expect(page.get_by_label("Sample", exact=True)).to_have_value(SAMPLE)
    expect(page.get_by_role("heading", name="Run Success")).to_be_visible()
    page.goto(f"{made.path}/versions/1/run?run={untraced}")
    expect(page.get_by_text("The run was not traced")).to_be_visible()
    assert [complaint for complaint in here.complaints if "404" in complaint] == []
    expect(page.get_by_label("Output", exact=True)).to_be_visible()


@pytest.mark.full
def test_a_captured_sample_is_run_through_the_version_of_its_host(here: Visit, service: LocalService) -> None:
    page = here.page
    made = here.make("Captured", FILTERING)
    here.asked("POST", f"/configurations/{made.id}/versions/1/publish")
    page.goto(f"{here.home}/fleets")
    page.get_by_label("Label").fill(f"Captured {made.id}")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Captured {made.id}")
    page.get_by_role("link", name="New group").click()
    page.get_by_label("Name").fill("web")
    page.get_by_label("Configuration").fill(made.id)
    assert violations(page) == []
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("web")
    fleet_id, group_id = re.findall("(?:flt|dep)_[0-9a-z]{26}", page.url)

    with service.client() as api, httpx.Client(base_url=service.base_url, timeout=60) as client:
        agent = Agent(post_to(client, api, fleet_id, group_id), host_name="edge-1")
        agent.start()
        agent.tells(b'{"v": 1, "supervisor": {"version": "0.3.0"}, "can": ["capture"]}')
        agent.applies()
        page.get_by_role("button", name="Allow them").click()
        expect(page.get_by_text("Writers may take samples on the hosts of this group.")).to_be_visible()
        page.goto(f"{here.home}/fleets/{fleet_id}/captures")
        assert page.locator("details[data-deployment]").count() == 1
        page.get_by_text("Choose in the graph of web").click()
        page.get_by_role("button", name="exporter").first.click()
        expect(page.get_by_text("choose a receiver or a processor")).to_be_visible()
        expect(page.locator("#component")).to_have_value("")
        page.get_by_role("button", name="processor transform").click()
        expect(page.get_by_text("choose a receiver or a processor")).to_have_count(0)
        expect(page.locator("#component")).to_be_focused()
        assert [page.locator(f"#{name}").input_value() for name in ("where", "pipeline", "component")] == [
            group_id,
            "logs",
            "transform",
        ]
        assert violations(page) == []
        page.get_by_role("button", name="Take it").click()
        expect(page.get_by_text("pending")).to_be_visible()
        (capture,) = here.asked("GET", f"/fleets/{fleet_id}/captures")["items"]
        agent.captured(capture["id"], status="running")
        records = [{"body": {"stringValue": text}} for text in (KEPT, "noise")]
        line = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]})
        agent.captured(capture["id"], f"{line}\n", records=2)
    page.reload()
    page.get_by_role("link", name="Run it through the version").click()
    expect(page.get_by_label("Sample", exact=True)).to_have_value(f"{line}\n")
    expect(page.get_by_label("Pipeline")).to_have_value("logs")
    page.get_by_label("How long").select_option("1")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", name="Run Success")).to_be_visible()
    steps = page.get_by_role("group", name="Steps")
    expect(steps.get_by_role("row").nth(1).get_by_role("rowheader")).to_contain_text("<script>alert(2)</script>")
    expect(steps.get_by_role("row").nth(2)).to_contain_text("✕ dropped")


@pytest.mark.full
def test_tests_run_and_say_in_the_text_what_they_do_not_notice(here: Visit, service: LocalService) -> None:
    page = here.page
    made = with_a_test(here, "Covered")
    gates = ["+service.profilesSupport"]
    here.asked("PATCH", f"/configurations/{made.id}/versions/1", {"feature_gates": gates})
    page.goto(f"{made.path}/edit")
    verdict(page, "Valid")
    page.get_by_role("tab", name="Tests").click()
    panel = page.get_by_role("tabpanel")
    expect(panel.get_by_text("1 rule · not run on this text")).to_be_visible()
    page.get_by_role("button", name="Run all").click()
    expect(panel.get_by_text("✓ All passed")).to_be_visible()
    expect(panel.get_by_text("1 rule · ✓ passed")).to_be_visible()

    page.get_by_role("button", name="Show coverage").click()
    marks = page.locator(".cm-coverage .coverage")
    expect(marks).to_have_text(["●", "○", "○"])
    expect(panel.get_by_text("Tests notice 50 % of the changes that were tried")).to_be_visible()
    panel.get_by_role("button", name="line 12").click()
    expect(page.locator(".cm-activeLine")).to_contain_text("log_record")
    assert violations(page) == []

    # A sample runs beside the editor: by the keys, and locally by itself after the last one.
    page.get_by_role("tab", name="Run").click()
    page.get_by_role("textbox", name="Sample").fill("keep\nnoise\n")
    with page.expect_response(lambda response: response.url.endswith("/testing/runs")) as begun:
        page.keyboard.press("Control+Enter")
    assert begun.value.status == 202
    assert begun.value.request.post_data_json["feature_gates"] == gates
    expect(page.get_by_label("Output")).to_contain_text("keep")
    expect(page.get_by_label("Output")).not_to_contain_text("noise")
    expect(page.get_by_role("group", name="Steps").get_by_role("button", name="✕ dropped")).to_have_count(1)
    with page.expect_response(lambda response: response.url.endswith("/testing/runs")):
        page.get_by_role("textbox", name="Sample").fill("kept again\n")
    expect(page.get_by_label("Output")).to_contain_text("kept again")
    assert violations(page) == []

    page.get_by_role("tab", name="Graph").click()
    graph = page.get_by_role("group", name="All pipelines")
    expect(graph.get_by_role("button", name="processor filter 1 test")).to_be_visible()
    page.get_by_label("Search components and pipelines").fill("filt")
    expect(graph.get_by_role("button", name=re.compile("filter.*found"))).to_be_visible()
    expect(graph.get_by_role("button")).to_have_count(5)


def test_the_graph_is_the_collectors_and_leads_to_the_text(here: Visit, service: LocalService) -> None:
    page = here.page
    made = here.make("Drawn", YAML.replace("exporters: [debug]", "exporters: [debug, gone]"))
    page.goto(f"{made.path}/edit")
    verdict(page, "Not valid")
    page.get_by_role("tab", name="Graph").click()
    graph = page.get_by_role("group", name="All pipelines")
    # Pipelines are framed in the order of the text, and all of it is seen.
    expect(graph.locator(".frame")).to_have_text(["logs", "metrics"])
    expect(graph.locator(".edge.joins")).to_have_count(1)
    for node in graph.get_by_role("button").all():
        expect(node).to_be_in_viewport(ratio=1)
    expect(page.locator(".map")).to_be_hidden()
    page.get_by_role("button", name="100 %").click()
    page.get_by_role("button", name="Larger").click()
    expect(page.locator(".map")).to_be_visible()
    page.get_by_role("button", name="Fit").click()
    expect(page.locator(".map")).to_be_hidden()
    logs = graph.get_by_role("group", name="Pipeline logs")
    expect(graph.get_by_role("button", name="not declared gone")).to_be_visible()
    logs.get_by_role("button", name=re.compile("^processor transform.*, of logs")).press("Enter")
    expect(page.locator(".cm-activeLine")).to_have_text("  transform:")
    page.keyboard.type("#")
    expect(page.get_by_text("The text has changed since it was checked")).to_be_visible()
    page.keyboard.press("Backspace")
    expect(page.get_by_text("The text has changed since it was checked")).to_be_hidden()
    page.get_by_label("Pipeline", exact=True).select_option("metrics")
    chosen = page.get_by_role("group", name="Pipeline metrics and those connected to it")
    expect(chosen.locator(".frame.chosen")).to_have_text("metrics")
    assert violations(page) == []

    page.get_by_role("tab", name="Graph").press("ArrowRight")
    table = page.get_by_role("group", name="Pipelines as a table")
    expect(table.get_by_role("row")).to_have_count(2)
    page.get_by_label("Pipeline", exact=True).select_option("")
    expect(table.get_by_role("row").nth(1)).to_contain_text("otlp")
    table.get_by_role("button", name="count").first.click()
    expect(page.locator(".cm-activeLine")).to_have_text("  count:")


def test_the_graph_shows_what_hosts_report_of_the_version_that_they_run(here: Visit, service: LocalService) -> None:
    page = here.page
    with service.client() as api, httpx.Client(base_url=service.base_url, timeout=60) as client:
        made = api.post("/configurations", json={"name": "Reported", "yaml": YAML}).json()["id"]
        assert api.post(f"/configurations/{made}/versions/1/publish").status_code == 200
        fleet = api.post("/fleets", json={"label": made, "type": "server-supervisor"}).json()["id"]
        group = api.get(f"/fleets/{fleet}/deployments").json()["items"][0]["id"]
        chosen = {"configuration_id": made, "version_number": 1}
        assert api.patch(f"/fleets/{fleet}/deployments/{group}", json=chosen).status_code == 200
        agent = Agent(post_to(client, api, fleet, group), host_name="web-1")
        agent.start()
        agent.applies()
        agent.tells(json.dumps({"v": 1, "supervisor": {"version": "0.2.0"}, "counters": COUNTED}).encode())
        page.goto(f"{here.home}/configurations/{made}/edit?version=1")
        verdict(page, "Valid")
        page.get_by_role("tab", name="Graph").click()
        expect(page.get_by_text("Runs on 1 host, which accepted 1,200 and refused 3 records")).to_be_visible()
        graph = page.get_by_role("group", name="Pipeline logs")
        expect(graph.get_by_role("button", name="exporter debug runs on 1 host sent 1,100 ! failed 7")).to_be_visible()
        expect(graph.get_by_role("button", name=re.compile("receiver otlp runs on 1 host$"))).to_be_visible()
        graph.get_by_role("button", name=re.compile("^exporter debug")).focus()
        agent.leaves()
        expect(graph.get_by_role("button", name=re.compile("^exporter debug(?! runs on)"))).to_be_focused()
        assert violations(page) == []

        agent.leaves()
        page.reload()
        page.get_by_role("tab", name="Graph").click()
        expect(page.get_by_text("No host runs this version.")).to_be_visible()
        expect(graph.get_by_role("button", name="exporter debug", exact=True)).to_be_visible()
        expect(graph.get_by_text("sent 1,100")).to_have_count(0)


# test_comparisons.py compares versions; the page shows what it answers.
@pytest.mark.full
def test_two_versions_are_compared_by_text_components_and_outputs(here: Visit, service: LocalService) -> None:
    page = here.page
    made = with_a_test(here, "Compared")
    path = f"/configurations/{made.id}"
    here.asked("POST", f"{path}/versions", {"yaml": FILTERING.replace('"b"', '"c"')})
    page.goto(f"{made.path}/compare")
    expect(page.get_by_role("row", name="transform processors ~ changed 7 → 7")).to_be_visible()
    expect(page.get_by_text("restarts its whole collector")).to_be_visible()
    expect(page.get_by_label("Version 2")).to_contain_text('"c"')

    page.get_by_text("Compare what they put out").click()
    page.get_by_role("button", name="With all tests").click()
    found = page.locator("#outputs .record")
    expect(found).to_contain_text("≠ differs")
    expect(found.locator(".change")).to_contain_text(re.compile(r'~ changedattributes\["a"\]bc'))
    assert violations(page) == []
    page.get_by_label("Sample").fill("noise\n")
    page.get_by_role("button", name="With this sample").click()
    expect(found).to_contain_text("= the same")


@pytest.mark.sized
def test_a_text_with_many_pipelines_is_drawn_searched_and_read(here: Visit, service: LocalService) -> None:
    page = here.page
    many = either(60, 250)
    pipelines = "".join(
        f"    logs/{n}: {{receivers: [otlp], processors: [transform, batch/{n}], exporters: [debug]}}\n"
        for n in range(many)
    )
    processors = "".join(f"  batch/{n}:\n" for n in range(many))
    yaml = (
        "receivers:\n  otlp: {protocols: {grpc: {endpoint: 'localhost:4317'}}}\nprocessors:\n  transform:\n"
        f"{processors}exporters:\n  debug:\nservice:\n  pipelines:\n{pipelines}"
    )
    made = here.make("Many", yaml)
    page.goto(f"{made.path}/edit")
    verdict(page, "Valid")
    page.get_by_role("tab", name="Graph").click()
    expect(page.get_by_text(f"{many - 40} more pipelines are not drawn")).to_be_visible()
    last = f"batch/{many - 1}"
    page.get_by_label("Search components and pipelines").fill(last)
    graph = page.get_by_role("group", name="All pipelines")
    expect(graph.get_by_role("button")).to_have_count(4)
    graph.get_by_role("button", name=f"processor {last}").press("Enter")
    expect(page.locator(".cm-activeLine")).to_have_text(f"  {last}:")
    page.get_by_role("tab", name="Table").click()
    table = page.get_by_role("group", name="Pipelines as a table")
    expect(table.get_by_role("row")).to_have_count(2)
    page.get_by_label("Search components and pipelines").fill("")
    expect(table.get_by_role("row")).to_have_count(many + 1)
