"""The pages of a version and its rules, where no collector is installed; tests/end_to_end/test_pages.py has one."""

import re
from dataclasses import astuple

import pytest
from httpx2 import Response

from headgate.audit import service as audit
from headgate.configurations import service as configurations
from headgate.foundation import clock
from headgate.foundation.caller import Caller, Role
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Actor, Principal
from headgate.foundation.settings import settings
from headgate.identity import member_store, sessions
from headgate.identity.model import Member, User
from headgate.runs.rules import store
from headgate.runs.rules.model import RuleSet, StoredRule
from headgate_engine.rules.model import MAX_RULES, Rule
from testing.app import app
from tests.support.in_process import TestClient

TEXT = "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs/a b: {receivers: [nop], exporters: [nop]}}}"
PIPELINE = "logs/a b"
RULE = {"name": "typed name", "condition": 'attributes["x"] == 1', "context": "log", "expect": "any"}


@pytest.fixture(autouse=True)
def _no_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", "/nonexistent")
    settings.cache_clear()


class Browser:
    """A person's, with a session."""

    def __init__(self, organization_id: str, role: Role) -> None:
        user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
        member_store.put_user(user)
        principal = Principal("user", user.id, user.email)
        member_store.add_user(Member(organization_id, principal, role, "active", clock.now()))
        session, value = sessions.begin(user, "browser", clock.now())
        self.caller: Caller = sessions.caller(session, organization_id)
        self.http = TestClient(
            app, base_url="https://testserver", follow_redirects=False, raise_server_exceptions=False
        )
        self.http.cookies.set("__Host-headgate-session", value)

    def page(self, configuration_id: str, **query: str) -> Response:
        return self.http.get(self._path(configuration_id), params={"pipeline": PIPELINE, **query})

    def post(self, configuration_id: str, csrf: str = "", **form: str) -> Response:
        found = re.search(r'name="csrf" value="([0-9a-f]{32})"', self.page(configuration_id).text)
        assert found is not None
        return self.http.post(self._path(configuration_id), data={"csrf": found[1], "pipeline": PIPELINE, **form})

    def _path(self, configuration_id: str) -> str:
        return f"/organizations/{self.caller.organization_id}/configurations/{configuration_id}/versions/1/rules"


@pytest.fixture
def ada(organization_id: str) -> Browser:
    return Browser(organization_id, "contributor")


@pytest.fixture
def configuration_id(ada: Browser) -> str:
    """Ada's, published, with a rule by hand and one by the API."""
    made, _ = configurations.create(ada.caller, "Edge", TEXT, "otelcol-contrib", None)
    configurations.publish(ada.caller, made.id, 1)
    rules = (stored("hand", api_owned=False), stored("api", api_owned=True))
    store.save(made.id, 1, RuleSet(PIPELINE, "n", "logs", rules, 1))
    return made.id


def stored(name: str, *, api_owned: bool) -> StoredRule:
    return StoredRule(new_id("rul"), api_owned, Rule(name, "true", "log", "count", 1, 2))


def kept(configuration_id: str) -> dict[str, str]:
    """The ids of the rules that are kept, by name."""
    found = store.rule_set(configuration_id, 1, PIPELINE)
    assert found is not None
    return {one.rule.name: one.id for one in found.rules}


def test_a_version_shows_its_pipelines_with_their_rules_and_its_text(ada: Browser, configuration_id: str) -> None:
    path = ada._path(configuration_id).removesuffix("/rules")
    text = ada.http.get(path).text

    assert f'href="{path}/rules?pipeline=logs%2Fa%20b"' in text
    assert "1 saved through the API, 1 added here" in text
    assert "receivers: {nop: }" in text


def test_rules_of_the_api_are_shown_and_have_no_buttons(ada: Browser, configuration_id: str) -> None:
    text = ada.page(configuration_id).text

    assert "1 to 2 × log must match" in text
    assert ('aria-label="Edit hand"' in text, 'aria-label="Remove hand"' in text) == (True, True)
    assert ('aria-label="Edit api"' in text, 'aria-label="Remove api"' in text) == (False, False)


def test_what_was_typed_stays_when_the_sandbox_does_not_answer(ada: Browser, configuration_id: str) -> None:
    answer = ada.post(configuration_id, **RULE)

    assert answer.status_code == 503
    assert "no rule was saved, try again shortly" in answer.text
    assert 'value="typed name"' in answer.text
    assert "attributes[&quot;x&quot;] == 1</textarea>" in answer.text
    assert 'role="alert"' in answer.text
    assert list(kept(configuration_id)) == ["hand", "api"]


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("name", {"name": "  "}),
        ("name", {"name": "x" * 201}),
        ("condition", {"condition": ""}),
        ("condition", {"condition": "x" * 4_097}),
        ("context", {"context": "nonsense"}),
        ("expect", {"expect": "some"}),
        ("min", {"expect": "count", "min": "two"}),
        ("max", {"expect": "count", "max": "-1"}),
        ("max", {"expect": "count", "max": "9" * 5_000}),
        ("min", {"expect": "count"}),
        ("min", {"min": "1"}),
        ("min", {"expect": "count", "min": "3", "max": "2"}),
    ],
)
def test_what_is_wrong_stands_beside_its_field(
    ada: Browser, configuration_id: str, field: str, change: dict[str, str]
) -> None:
    answer = ada.post(configuration_id, **(RULE | change))

    assert answer.status_code == 422
    assert f'<p class="error" id="{field}-error">' in answer.text
    assert re.search(rf'name="{field}"[^>]*aria-invalid="true"', answer.text)


def test_a_rule_by_hand_is_removed_and_the_others_stay(ada: Browser, configuration_id: str) -> None:
    answer = ada.post(configuration_id, do="remove", rule=kept(configuration_id)["hand"])
    (record, *_) = audit.records(_admin(ada).caller, 1, None).entries

    assert answer.status_code == 303
    assert list(kept(configuration_id)) == ["api"]
    assert (record.action, record.actor, record.details["pipeline"]) == (
        "rule_by_hand.removed",
        Actor(*astuple(ada.caller.principal)),
        PIPELINE,
    )


@pytest.mark.parametrize("do", ["remove", "save"])
def test_a_rule_of_the_api_is_neither_edited_nor_removed(
    ada: Browser, configuration_id: str, do: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the sandbox says of the rule is not what is asked here.
    monkeypatch.setattr("headgate.runs.rules.service.require_testable", lambda *_: None)
    answer = ada.post(configuration_id, do=do, rule=kept(configuration_id)["api"], **RULE)

    assert answer.status_code == 404
    assert list(kept(configuration_id)) == ["hand", "api"]


def test_names_repeat_and_too_many_rules_are_said_on_the_page(
    ada: Browser, configuration_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate.runs.rules.service.require_testable", lambda *_: None)
    repeated = ada.post(configuration_id, **(RULE | {"name": "api"}))
    many = tuple(stored(str(n), api_owned=True) for n in range(MAX_RULES))
    store.save(configuration_id, 1, RuleSet(PIPELINE, "n", "logs", many, 2))
    full = ada.post(configuration_id, **RULE)

    assert (repeated.status_code, full.status_code) == (422, 422)
    assert '<p class="error" id="name-error">The rule name &#x27;api&#x27; is used twice' in repeated.text
    assert "20 is the most" in full.text


def test_who_may_not_change_the_configuration_sees_its_rules_and_no_form(ada: Browser, configuration_id: str) -> None:
    other = Browser(ada.caller.organization_id, "contributor")
    text = other.page(configuration_id).text

    assert "api" in text
    assert ("<textarea" in text, "Remove" in text) == (False, False)
    assert other.post(configuration_id, do="remove", rule=kept(configuration_id)["hand"]).status_code == 403
    assert other.post(configuration_id, **RULE).status_code == 403
    assert "<textarea" in _admin(ada).page(configuration_id).text


def test_a_draft_of_another_and_an_unknown_pipeline_are_not_found(ada: Browser, configuration_id: str) -> None:
    made, _ = configurations.create(ada.caller, "Draft", TEXT, "otelcol-contrib", None)

    assert Browser(ada.caller.organization_id, "admin").page(made.id).status_code == 404
    assert ada.page(configuration_id, pipeline="logs/none").status_code == 404


def _admin(of: Browser) -> Browser:
    return Browser(of.caller.organization_id, "admin")
