"""The tests on the page of a version, with what their suites came to."""

import re
from dataclasses import replace
from textwrap import indent

import pytest

from headgate.configurations import service as configurations
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.identity import sessions
from headgate.runs.suites import service as suites
from headgate.version_tests import service as version_tests
from headgate.version_tests.model import Evidence, TestVerdict, text_digest
from headgate_engine.rules.model import Rule
from headgate_engine.testing.named_test import NamedTest
from testing.app import app
from tests.support.in_process import TestClient
from tests.support.page_visitor import csrf, send_form
from tests.support.world import joined

TEXT = "service: {pipelines: {logs/a: {}}}"
RULE = Rule("some", "true", "log", "any")


class Browser:
    """An Admin's, who has a draft with two tests."""

    def __init__(self, organization_id: str) -> None:
        session, value = sessions.begin(joined(organization_id, "admin"), "browser", clock.now())
        self.caller: Caller = sessions.caller(session, organization_id)
        self.http = TestClient(app, base_url="https://testserver")
        self.http.cookies.set("__Host-headgate-session", value)
        self.id = configurations.create(self.caller, "Edge", TEXT, "otelcol-contrib", None)[0].id
        self.put("a", NamedTest("logs/a", "logs", "x", rules=(RULE,)))
        self.put("b", NamedTest("logs/<b>", "logs", "x", rules=(RULE, replace(RULE, name="more")), expected=""))

    def put(self, name: str, test: NamedTest) -> None:
        suites.put(self.caller, self.id, 1, name, test, None)

    def card(self) -> str:
        path = f"/organizations/{self.caller.organization_id}/configurations/{self.id}/versions/1"
        page = self.http.get(path)
        assert page.status_code == 200, page.text
        found = re.search(r"<h2>Tests</h2>.*?</div>", page.text, re.DOTALL)
        assert found is not None
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found[0])).strip()

    def ended(self, collector_version: str = "0.139.0") -> None:
        tests = version_tests.of_version(self.id, 1)
        verdicts = (TestVerdict("a", "Success"), TestVerdict("b", "Fail"))
        digests = (text_digest(TEXT), tests.sha256)
        version_tests.record(self.id, 1, Evidence(new_id("job"), *digests, collector_version, verdicts, clock.now()))


@pytest.fixture
def ada(organization_id: str) -> Browser:
    return Browser(organization_id)


def test_tests_are_listed_with_what_they_expect(ada: Browser) -> None:
    card = ada.card()

    assert "No suite of these tests has ended yet." in card
    assert "a logs/a 1 rule none" in card
    assert "b logs/&lt;b&gt; 2 rules, an output none" in card


def test_a_suite_of_this_version_is_shown_test_by_test(ada: Browser) -> None:
    ada.ended()
    card = ada.card()

    assert "Tests failed on collector 0.139.0, " in card
    assert "1 rule Success" in card
    assert "an output Fail" in card


def test_a_suite_of_something_else_is_not_taken_for_one_of_this_version(ada: Browser) -> None:
    ada.ended("0.158.0")
    card = ada.card()

    assert "failed before on collector 0.158.0, " in card
    assert "run them again" in card
    assert "Fail" not in card.replace("failed", "")


def test_a_version_without_tests_says_so(ada: Browser) -> None:
    for name in "ab":
        suites.delete(ada.caller, ada.id, 1, name, None)

    assert "None yet: choose Test above" in ada.card()


def test_a_test_of_a_draft_is_deleted_by_a_form_and_one_of_a_published_version_is_not(ada: Browser) -> None:
    path = f"/organizations/{ada.caller.organization_id}/configurations/{ada.id}/versions/1"
    foreign = ada.http.post(path, data={"delete_test": "a"})
    deleted = send_form(ada.http, path, "", delete_test="a")
    again = send_form(ada.http, path, "", delete_test="a")
    token = csrf(ada.http, path)
    configurations.publish(ada.caller, ada.id, 1)
    refused = ada.http.post(path, data={"csrf": token, "delete_test": "b"})

    assert (foreign.status_code, deleted.status_code, again.status_code, refused.status_code) == (403, 303, 404, 409)
    assert "is published" in refused.text
    assert [one.name for one in version_tests.of_version(ada.id, 1).tests] == ["b"]
    assert "Delete" not in ada.card()


WRAPPED = f"kind: ConfigMap\ndata:\n  relay: |\n{indent(TEXT, '    ')}"


@pytest.mark.parametrize("page", ["tests", "versions/1", "versions/1/run"])
def test_a_text_around_a_configuration_says_where_it_is_taken_out(ada: Browser, page: str) -> None:
    around = configurations.create(ada.caller, "Around", WRAPPED, "otelcol-contrib", None)[0].id
    home = f"/organizations/{ada.caller.organization_id}/configurations"
    words = "inside of a ConfigMap or another document, open it in the editor, which takes it out"

    assert words in ada.http.get(f"{home}/{around}/{page}").text
    assert words not in ada.http.get(f"{home}/{ada.id}/{page}").text
