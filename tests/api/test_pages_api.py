"""The reference of the API at /docs: complete, searched without a script, and for everyone."""

import re

import pytest

from components.api_document import document
from components.app import app
from headgate.foundation.settings import settings
from tests.support.in_process import TestClient


@pytest.fixture
def browser(organization_id: str) -> TestClient:
    """The browser of somebody who is not signed in, at a service that has organizations."""
    return TestClient(app, base_url="https://testserver")


def links(page: str) -> set[str]:
    return set(re.findall(r'href="/docs/([A-Za-z]+)"', page))


def test_every_operation_is_listed_with_its_method_and_path(browser: TestClient) -> None:
    page = browser.get("/docs")

    assert page.status_code == 200
    assert links(page.text) == set(document().operations)
    assert "versions/<wbr>{n}/<wbr>publish" in page.text
    assert "openapi.json" in page.text


@pytest.mark.parametrize(
    ("searched", "found"),
    [
        ("publish version", {"publishVersion"}),
        ("PUBLISHVERSION", {"publishVersion"}),
        ("soak_seconds", {"startRollout", "StepIn", "RolloutStepOut"}),
        ("nosuchword publish", set()),
    ],
)
def test_a_search_finds_operations_and_shapes_by_all_of_its_words(
    browser: TestClient, searched: str, found: set[str]
) -> None:
    page = browser.get("/docs", params={"q": searched})

    assert links(page.text) >= found
    assert len(links(page.text)) < len(document().operations)
    assert ("Nothing has all of these words" in page.text) == (not found)


def test_every_link_leads_to_a_page(browser: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_RATE_LIMIT_PER_MINUTE", "100000")
    settings.cache_clear()
    waiting, seen = links(browser.get("/docs").text), set()
    while waiting:
        name = waiting.pop()
        page = browser.get(f"/docs/{name}")
        assert page.status_code == 200, name
        seen.add(name)
        waiting |= links(page.text) - seen

    assert {*document().operations, "VersionDetail", "Problem"} <= seen


def test_an_operation_says_all_that_a_caller_needs(browser: TestClient) -> None:
    page = browser.get("/docs/startRun").text

    for said in (
        "a token with write access or a session",
        "Idempotency-Key",
        '<a href="/docs/RunOut">RunOut</a>',
        "at least 1, at most 60",
        "For how long the collector runs, in seconds",
        "The requests of this minute are used up",
        "curl -X POST &quot;$HEADGATE_URL/api/v1/public/testing/runs&quot;",
    ):
        assert said in page
    assert "Needs no credential" in browser.get("/docs/getComponentsSchema").text


def test_what_is_searched_is_shown_as_text(browser: TestClient) -> None:
    page = browser.get("/docs", params={"q": '"><script>alert(1)</script>' + "x" * 5_000})

    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert "x" * 200 not in page.text


@pytest.mark.parametrize("name", ["noSuchOperation", "..", "%00", "a" * 81])
def test_what_is_not_in_the_reference_is_404(browser: TestClient, name: str) -> None:
    assert browser.get(f"/docs/{name}").status_code == 404


@pytest.mark.parametrize("path", ["/docs", "/docs?q=publish", "/docs/startRun"])
def test_a_page_that_the_browser_has_is_not_sent_again(browser: TestClient, path: str) -> None:
    first = browser.get(path)
    again = browser.get(path, headers={"If-None-Match": first.headers["etag"]})
    other = browser.get("/docs?q=webhook", headers={"If-None-Match": first.headers["etag"]})

    assert (again.status_code, again.content, again.headers["cache-control"]) == (304, b"", "private, no-cache")
    assert other.status_code == 200


def test_the_pages_of_an_address_are_counted(aws_here: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_RATE_LIMIT_PER_MINUTE", "2")
    settings.cache_clear()
    stranger = TestClient(app, base_url="https://testserver", client=("192.0.2.38", 50_000))
    # More than two in each of the two minutes that this may take.
    answers = [stranger.get(path) for path in ("/docs", "/docs/startRun") * 3]
    refused = [answer for answer in answers if answer.status_code == 429]

    assert [answer.status_code for answer in answers[:2]] == [200, 200]
    assert refused
    assert int(refused[0].headers["retry-after"]) <= 60
