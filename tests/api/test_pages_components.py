"""The pages of the reference: searched, linked, and harmless whatever a component says of itself."""

import base64
import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping

import pytest

from components.app import app
from headgate import checker
from headgate.flows import publish
from headgate.foundation.settings import settings
from headgate.reference import builds
from tests.support.in_process import TestClient
from tests.support.page_visitor import member_at, without_own_scripts
from tests.support.service import ROOT

pytestmark = pytest.mark.collector

EVIL = "<script>alert('1')</script>"


@pytest.fixture
def browser(organization_id: str) -> TestClient:
    """A member of the organization, signed in."""
    return member_at(app, organization_id)


@pytest.fixture
def evil(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A collector whose every text would be HTML."""
    schema = {
        "type": "object",
        "properties": {EVIL: {"type": EVIL, "description": EVIL, "default": EVIL, "enum": [EVIL]}},
    }
    entry = {"kind": "receiver", "type": "evil", "aliases": ["ev"], "module": EVIL, "schema": schema}
    entry |= {"stability": {EVIL: EVIL, "logs": "beta"}, "summary": EVIL, "deprecated": EVIL}
    text = json.dumps({"version": "1", "components": [entry]}).encode()
    packed = {"digest": hashlib.sha256(text).hexdigest(), "gzip": base64.b64encode(gzip.compress(text)).decode()}
    place = {"component": "evil", "kind": EVIL, "context": "log"}
    function = {"name": EVIL, "kind": "editor", "signature": EVIL, "parameters": [], "in": [EVIL], "description": EVIL}
    path = {"path": EVIL, "type": EVIL, "writable": False, "description": EVIL}
    ottl = {
        **place,
        "paths": [path],
        "functions": [function],
        "enums": [{"name": EVIL, "value": 1, "description": EVIL}],
    }

    def call(op: str, fields: Mapping[str, object], **_: object) -> Mapping[str, object]:
        if op == "reference":
            return packed
        return ottl if fields else {"components": [{"component": "evil", "kind": EVIL, "contexts": ["log", EVIL]}]}

    monkeypatch.setattr(checker.COLLECTORS, "call", call)
    builds.forget()
    yield
    builds.forget()


def page(browser: TestClient, organization_id: str, path: str = "", expected: int = 200, **query: str) -> str:
    response = browser.get(f"/organizations/{organization_id}/components{path}", params=query)
    assert response.status_code == expected, response.text
    return response.text


def test_the_components_are_searched_by_kind_and_text(browser: TestClient, organization_id: str) -> None:
    everything = page(browser, organization_id)
    found = page(browser, organization_id, kind="exporter", text="otlp")

    base = f"/organizations/{organization_id}/components"
    assert "1 to 100 of " in everything
    assert f'href="{base}/connector/count"' in everything
    assert "sort=type&amp;page=2" in everything
    assert "Remove the filter </span>Kind: <b>exporter</b>" in found
    assert f'href="{base}/exporter/otlp"' in found
    assert f'href="{base}/receiver/otlp"' not in found
    assert 'value="otlp"' in found
    assert '<option value="exporter" selected>' in found


def test_a_search_without_a_result_says_what_to_do(browser: TestClient, organization_id: str) -> None:
    shown = page(browser, organization_id, text="no such component")

    assert "0 components" in shown
    assert "Leave some out" in shown


def test_a_component_shows_its_fields_and_an_example(browser: TestClient, organization_id: str) -> None:
    publish.upload(publish.build(ROOT / "flows"), settings().bucket)
    shown = page(browser, organization_id, "/processor/batch")

    assert "<code>timeout</code>" in shown
    assert "<code>&quot;200ms&quot;</code>" in shown
    assert "processors:\n  batch" in shown
    assert "headgate flow show " in shown


def test_the_components_are_in_the_navigation(browser: TestClient, organization_id: str) -> None:
    link = f'<a href="/organizations/{organization_id}/components" aria-current="page" title="Components">'

    assert link in page(browser, organization_id)
    assert link in page(browser, organization_id, "/ottl", place="transform/log")


def test_ottl_is_shown_by_component_and_context(browser: TestClient, organization_id: str) -> None:
    form = page(browser, organization_id, "/ottl")
    shown = page(browser, organization_id, "/ottl", place="transform/log")

    assert '<option value="transform/log">' in form
    assert "<h2>Paths</h2>" not in form
    assert '<option value="transform/log" selected>' in shown
    assert "SEVERITY_NUMBER_ERROR" in shown


def test_ottl_is_searched_by_words(browser: TestClient, organization_id: str) -> None:
    found = page(browser, organization_id, "/ottl", place="transform/log", text="replace PATTERN")
    nothing = page(browser, organization_id, "/ottl", place="transform/log", text="no such function")

    assert "<code>replace_pattern(" in found
    assert "SEVERITY_NUMBER_ERROR" not in found
    assert "Leave some out" in nothing


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/receiver/no_such_receiver", {}, 404),
        ("/gadget/otlp", {}, 404),
        ("", {"kind": "gadget"}, 404),
        ("", {"version": "latest"}, 404),
        ("", {"version": "0.1.0"}, 422),
        ("/ottl", {"place": "batch/log"}, 422),
        ("/ottl", {"place": "x" * 200}, 404),
    ],
)
def test_what_there_is_not_is_said_on_a_page(
    path: str, query: dict[str, str], status: int, browser: TestClient, organization_id: str
) -> None:
    assert '<div class="notice bad" role="alert">' in page(browser, organization_id, path, status, **query)


def test_a_long_text_is_cut(browser: TestClient, organization_id: str) -> None:
    assert f'value="{"x" * 100}"' in page(browser, organization_id, text="x" * 5_000)


def test_a_member_of_another_organization_sees_nothing(browser: TestClient, organization_id: str) -> None:
    page(browser, "org_" + "0" * 26, expected=404)


@pytest.mark.usefixtures("evil")
def test_no_text_of_a_component_becomes_html(browser: TestClient, organization_id: str) -> None:
    shown = [
        page(browser, organization_id, path, **query)
        for path, query in (("", {"text": EVIL}), ("/receiver/ev", {}), ("/ottl", {"place": "evil/log"}))
    ]

    for one in shown:
        assert "<script" not in without_own_scripts(one)
        assert "&lt;script&gt;" in one
