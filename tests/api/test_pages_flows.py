"""The pages of the gallery: pictures of what the collector resolves, filters, and harmless texts."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from flows.app import app
from flows.pictures import picture
from headgate.flows import publish, store
from headgate.flows.model import Flow, FlowPipeline, FlowRule, FlowTest, FullFlow
from headgate.foundation.settings import settings
from tests.support.in_process import TestClient
from tests.support.page_visitor import member_at
from tests.support.service import ROOT

SCRIPT = "<script>alert(1)</script>"
LOGS = FlowPipeline("logs", "logs", (("otlp", "receivers"),), (("batch", "processors"),), (("count", "connectors"),))
COUNTS = FlowPipeline("metrics", "metrics", (("count", "connectors"),), (), (("debug", "exporters"),))


@pytest.fixture(scope="module")
def gallery() -> dict[str, bytes]:
    return publish.build(ROOT / "flows")


@pytest.fixture
def browser(organization_id: str, gallery: dict[str, bytes]) -> Iterator[TestClient]:
    """A member's, while the gallery of the checkout is published."""
    publish.upload(gallery, settings().bucket)
    http = member_at(app, organization_id)
    http.base_url = http.base_url.join(f"/organizations/{organization_id}/")
    yield http
    publish.upload(gallery, settings().bucket)


def slugs(page: str) -> list[str]:
    return re.findall(r'<h2><a href="[^"]*/flows/([a-z0-9-]+)">', page)


def test_the_gallery_shows_every_flow_with_a_picture(browser: TestClient) -> None:
    shown = browser.get("flows").text

    assert len(slugs(shown)) == shown.count('<svg class="picture"') > 30
    assert "traces: otlp → memory_limiter → " in shown


@pytest.mark.parametrize(
    ("query", "found", "left_out"),
    [
        ({"signal": "traces"}, "span-metrics", "redis"),
        ({"tag": "migration"}, "migrate-zipkin", "redis"),
        ({"text": "Jaeger migrate"}, "migrate-jaeger", "migrate-zipkin"),
    ],
)
def test_flows_are_found_by_signal_tag_and_words(
    browser: TestClient, query: dict[str, str], found: str, left_out: str
) -> None:
    page = browser.get("flows", params=query).text
    listed = slugs(page)

    assert '<label for="signal">Signal</label>' in page
    assert found in listed
    assert left_out not in listed


def test_a_filter_that_finds_nothing_says_so(browser: TestClient) -> None:
    assert "No flow matches" in browser.get("flows", params={"text": f"nothing {SCRIPT}"}).text


def test_a_flow_shows_its_description_text_and_sample(browser: TestClient) -> None:
    shown = browser.get("flows/span-metrics").text

    for part in (
        "What to set",
        "<code>SPAN_METRICS_INTERVAL</code>",
        "spanmetrics:",
        "Its sample",
        "headgate flow use",
    ):
        assert part in shown
    assert browser.get("flows/no-such-flow").status_code == 404


def test_texts_of_a_flow_cannot_write_into_its_page(browser: TestClient) -> None:
    pipelines = (replace(LOGS, id=SCRIPT, receivers=((SCRIPT, "receivers"),)),)
    flow = Flow("evil", SCRIPT, SCRIPT, SCRIPT, SCRIPT, ("logs",), (SCRIPT,), "0.139.0", SCRIPT, pipelines)
    full = FullFlow(flow, f"**{SCRIPT}**\n\n- `{SCRIPT}` {SCRIPT}", SCRIPT, (_test(),))
    publish.upload(
        {store.INDEX_KEY: store.index_object([flow]), store.key_of("evil"): store.flow_object(full)}, settings().bucket
    )
    for page in ("flows", "flows/evil"):
        shown = browser.get(page)
        assert (shown.status_code, "<script>alert" in shown.text) == (200, False)


def _test() -> FlowTest:
    return FlowTest(SCRIPT, SCRIPT, "logs", 3, SCRIPT, (FlowRule(SCRIPT, SCRIPT),))


def test_a_connector_is_drawn_once_between_its_pipelines() -> None:
    drawn = picture([LOGS, COUNTS])
    places = {name: int(x) for x, name in re.findall(r'translate\((\d+) \d+\)">.*?>([a-z]+)</text>', drawn, re.DOTALL)}

    assert drawn.count(">count</text>") == 1
    assert sorted(places, key=lambda name: places[name]) == ["otlp", "batch", "count", "debug"]
    assert drawn.count('class="edge signal-logs"') == 2
    assert drawn.count('class="edge signal-metrics"') == 1


def test_a_picture_of_many_pipelines_ends() -> None:
    many = [
        replace(LOGS, id=f"logs/{n}", receivers=((f"c{n}", "connectors"),), exporters=((f"c{n + 1}", "connectors"),))
        for n in range(60)
    ]

    assert picture(many).count("<rect") == 121
