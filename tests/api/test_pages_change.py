"""The page that sets a value in several configurations."""

import html
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from configurations import changing
from configurations.app import app, router
from configurations.changing import MOST_CHARACTERS, MOST_LINES
from headgate.audit import service as audit
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.identity import checks, sessions
from headgate.identity import service as identity
from headgate.identity.model import Session
from headgate.version_tests import service as version_tests
from headgate.version_tests.model import Evidence, TestVerdict, text_digest
from testing.app import app as of_testing
from tests.support import configurations as cfg
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith, Member
from tests.support.page_visitor import SESSION, SITE, csrf, member_at, send_form
from web.layout import OWN_FIELDS

pytestmark = pytest.mark.collector
DEBUG = """\
receivers: {otlp: {protocols: {grpc: }}}
exporters:
  debug: # to the log
    verbosity: normal
service:
  pipelines:
    logs: {receivers: [otlp], exporters: [debug]}
"""


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.fixture
def browser(ann: Member) -> TestClient:
    return member_at(app, ann.organization_id, "admin")


@pytest.fixture
def mine(ann: Member, browser: TestClient) -> Member:
    """The API for the person at the browser."""
    value = browser.cookies[SESSION]
    headers = {"Authorization": f"Bearer {value}", "X-Service-Org": ann.organization_id}
    return Member(ann.organization_id, "", value, TestClient(app, base_url=SITE, headers=headers))


@pytest.fixture
def path(ann: Member) -> str:
    return f"/organizations/{ann.organization_id}/configurations"


def texts(ann: Member, configuration_id: str) -> list[str]:
    items = cfg.get(ann, f"/{configuration_id}/versions").json()["items"]
    return [cfg.get(ann, f"/{configuration_id}/versions/{n}").json()["yaml"] for n in range(1, len(items) + 1)]


def status(member: Member, configuration_id: str) -> str:
    return str(cfg.get(member, f"/{configuration_id}/versions/1").json()["status"])


def evidence_of(configuration_id: str, text: str) -> None:
    """What a suite of the draft's test leaves that passed."""
    digest = version_tests.of_version(configuration_id, 1).sha256
    passed = (TestVerdict("a", "Success"),)
    evidence = Evidence("job_x", text_digest(text), digest, settings().collector_version, passed, clock.now())
    version_tests.record(configuration_id, 1, evidence)


def an_admin(member: Member) -> Caller:
    person = Principal("user", "usr_x", "ada@example.com")
    return Caller(member.organization_id, "Acme", person, person.name, "admin", "read_write", "ses_x")


def chosen_of(page: str) -> dict[str, str]:
    """The fields of the form that saves what the page shows."""
    return {
        name: html.unescape(value)
        for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page)
        if name not in OWN_FIELDS
    }


def test_a_value_is_shown_in_all_that_are_chosen_and_saved_as_drafts(
    mine: Member, browser: TestClient, path: str
) -> None:
    draft, published = cfg.create(mine, "draft", DEBUG), cfg.create(mine, "published", DEBUG)
    cfg.publish(mine, published)
    without = cfg.create(mine, "without")
    chosen = dict.fromkeys((draft, published, without), "yes")
    listed = browser.get(path).text
    assert all(f'name="{configuration_id}" value="yes" form="chosen"' in listed for configuration_id in chosen)

    shown = send_form(browser, path, "/change", setting="exporters.debug.verbosity", value="detailed", **chosen).text

    assert shown.count("+    verbosity: detailed") == 2
    assert shown.count(">valid</span>") == 2
    assert "It has no exporters::debug" in shown
    assert texts(mine, draft) == texts(mine, published) == [DEBUG]

    saved = send_form(browser, path, "/change", save="yes", **chosen_of(shown)).text

    after = DEBUG.replace("normal", "detailed")
    assert saved.count(">saved</span>") == 2
    assert texts(mine, draft) == [after]
    assert texts(mine, published) == [DEBUG, after]
    targets = {(record.action, record.target) for record in audit.records(an_admin(mine), 100, None).entries}
    assert ("version.changed", f"configurations/{draft}/versions/1") in targets
    assert ("version.created", f"configurations/{published}/versions/2") in targets


def test_what_changed_since_it_was_shown_is_not_saved(mine: Member, browser: TestClient, path: str) -> None:
    configuration_id = cfg.create(mine, "draft", DEBUG)
    setting = {"setting": "exporters.debug.verbosity", "value": "loud"}
    shown = send_form(browser, path, "/change", **setting, **{configuration_id: "yes"}).text
    assert ">1 error</span>" in shown
    cfg.patch(mine, configuration_id, 1, yaml=f"# Later.\n{DEBUG}")

    saved = send_form(browser, path, "/change", save="yes", **chosen_of(shown)).text

    assert ">not changed</span>" in saved
    assert texts(mine, configuration_id) == [f"# Later.\n{DEBUG}"]


def test_of_two_tabs_that_save_at_once_the_first_appends_a_version(
    mine: Member, browser: TestClient, path: str
) -> None:
    configuration_id = cfg.create(mine, "published", DEBUG)
    cfg.publish(mine, configuration_id)
    browsers = [browser, TestClient(app, base_url=SITE, cookies=dict(browser.cookies))]
    shown = [
        send_form(http, path, "/change", setting="exporters.debug.verbosity", value=value, **{configuration_id: "yes"})
        for http, value in zip(browsers, ("basic", "detailed"), strict=True)
    ]

    with ThreadPoolExecutor(2) as pool:
        saved = pool.map(
            lambda http, page: send_form(http, path, "/change", save="yes", **chosen_of(page.text)).text,
            browsers,
            shown,
        )

    assert sorted(re.findall(">(saved|not changed)</span>", "".join(saved))) == ["not changed", "saved"]
    assert len(texts(mine, configuration_id)) == 2


def test_an_admin_changes_and_publishes_what_somebody_else_has_a_draft_of(
    mine: Member, ann: Member, browser: TestClient, path: str
) -> None:
    configuration_id = cfg.create(mine, "published", DEBUG)
    cfg.publish(mine, configuration_id)
    cfg.append(mine, configuration_id, "of: the owner")
    http = member_at(app, ann.organization_id, "admin")
    chosen = {"setting": "exporters.debug.verbosity", "value": "basic", configuration_id: "yes"}
    saved = send_form(http, path, "/change", save="yes", **chosen_of(send_form(http, path, "/change", **chosen).text))
    assert "version 3, a draft" in saved.text

    done = send_form(http, path, "/change", publish="yes", **chosen_of(saved.text)).text

    assert ">published</span>" in done
    assert cfg.get(mine, f"/{configuration_id}").json()["published_version"] == 3


def test_drafts_are_published_together_once_the_tests_of_each_passed(
    mine: Member, browser: TestClient, path: str
) -> None:
    text = DEBUG.replace("debug: #", "otlp/b: {endpoint: '${env:THERE}'}\n  debug: #").replace(
        "[debug]", "[debug, otlp/b]"
    )
    tested, plain = cfg.create(mine, "tested", DEBUG), cfg.create(mine, "plain", text)
    test = {"target_pipeline": "logs", "sample": "a", "rules": [{"name": "some", "condition": "true"}]}
    saving = TestClient(of_testing, base_url=SITE, headers=dict(mine.http.headers))
    assert saving.put(f"{API}/configurations/{tested}/versions/1/tests/a", json=test).status_code == 200
    chosen = {"setting": "exporters.debug.verbosity", "value": "detailed", tested: "yes", plain: "yes"}
    assert ">1 error</span>" in send_form(browser, path, "/change", **chosen).text
    wrong = send_form(browser, path, "/change", **chosen, env="THERE")
    assert (wrong.status_code, "Line 1 has no =" in wrong.text) == (422, True)
    shown = send_form(browser, path, "/change", **chosen, env="THERE=localhost:4317\n").text
    assert shown.count(">valid</span>") == 2
    saved = send_form(browser, path, "/change", save="yes", env="THERE=localhost:4317", **chosen_of(shown)).text
    assert f'data-tests="{tested}" data-version="1"' in saved
    fields = chosen_of(saved)

    early = send_form(browser, path, "/change", publish="yes", **fields).text
    assert "No suite of all tests of this version has ended yet" in early
    assert status(mine, tested) == status(mine, plain) == "draft"

    evidence_of(tested, cfg.get(mine, f"/{tested}/versions/1").json()["yaml"])
    unset = send_form(browser, path, "/change", publish="yes", **fields | {"env": ""}).text
    assert "The collector does not accept it: line 3: " in unset
    assert status(mine, tested) == "draft"
    done = send_form(browser, path, "/change", publish="yes", **fields).text
    assert done.count(">published</span>") == 2
    assert status(mine, tested) == status(mine, plain) == "published"
    late = send_form(browser, path, "/change", publish="yes", **fields).text
    assert late.count("Somebody changed it since") == 2


def test_what_is_over_the_limit_of_characters_stays_as_it_is(mine: Member, browser: TestClient, path: str) -> None:
    large = DEBUG + f"# {'-' * 90}\n" * (MOST_CHARACTERS * 2 // 3 // 93)
    ids = [cfg.create(mine, name, large) for name in ("first", "second")]
    setting = {"setting": "exporters.debug.verbosity", "value": "detailed"}

    shown = send_form(browser, path, "/change", **setting, **dict.fromkeys(ids, "yes")).text

    assert shown.count("+    verbosity: detailed") == 1
    assert "The texts have more than 200,000 characters together" in shown
    saved = send_form(browser, path, "/change", save="yes", **setting, **dict.fromkeys(ids, '"1-1"')).text
    assert saved.count(">not changed</span>") == 1
    assert [text.count("detailed") for configuration_id in ids for text in texts(mine, configuration_id)] == [1, 0]


def test_a_text_of_more_lines_than_are_compared_stays_as_it_is(mine: Member, browser: TestClient, path: str) -> None:
    many = cfg.create(mine, "many", DEBUG + "#\n" * MOST_LINES)
    setting = {"setting": "exporters.debug.verbosity", "value": "detailed"}

    shown = send_form(browser, path, "/change", **setting, **{many: "yes"}).text

    assert "It has more than 10,000 lines" in shown
    assert "detailed</pre>" not in shown


def test_who_has_all_their_checks_under_way_reads_no_texts(mine: Member, browser: TestClient, path: str) -> None:
    draft = cfg.create(mine, "draft", DEBUG)
    session, _ = identity.authenticate(mine.token, clock.now())
    assert isinstance(session, Session)
    caller = sessions.caller(session, mine.organization_id)
    setting = {"setting": "exporters.debug.verbosity", "value": "detailed"}
    with ExitStack() as held:
        for _ in range(settings().checks_under_way):
            held.enter_context(checks.under_way(caller))
        assert send_form(browser, path, "/change", **setting, **{draft: "yes"}).status_code == 429

    assert send_form(browser, path, "/change", **setting, **{draft: "yes"}).status_code == 200


def test_what_there_is_no_time_to_check_is_shown_and_can_be_saved(
    mine: Member, browser: TestClient, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changing, "MOST_SECONDS", -1)
    configuration_id = cfg.create(mine, "draft", DEBUG)
    setting = {"setting": "exporters.debug.verbosity", "value": "loud"}

    shown = send_form(browser, path, "/change", **setting, **{configuration_id: "yes"}).text

    assert ">not checked</span>" in shown
    assert ">valid</span>" not in shown
    saved = send_form(browser, path, "/change", save="yes", **chosen_of(shown)).text
    assert saved.count(">saved</span>") == 1
    assert texts(mine, configuration_id) == [DEBUG.replace("normal", "loud")]


def test_all_of_a_page_of_the_list_are_changed_at_once(mine: Member, browser: TestClient, path: str) -> None:
    for number in range(51):
        cfg.create(mine, f"draft {number}", DEBUG)
    page = browser.get(path).text
    assert "data-all> All on this page</label>" in page
    chosen = dict.fromkeys(re.findall(r'name="(cfg_[0-9a-z]{26})" value="yes" form="chosen"', page), "yes")
    assert len(chosen) == 50
    setting = {"setting": "exporters.debug.verbosity", "value": "normal"}

    shown = send_form(browser, path, "/change", **setting, **chosen).text

    assert shown.count("has this value already") == 50


def test_only_who_may_change_a_configuration_chooses_and_changes_it(ann: Member, path: str) -> None:
    configuration_id = cfg.create(ann, "mine", DEBUG)
    cfg.publish(ann, configuration_id)
    fields = {"setting": "exporters.debug.verbosity", "value": "basic", configuration_id: '"1-1"', "save": "yes"}
    http = member_at(app, ann.organization_id)
    assert 'form="chosen"' not in http.get(path).text

    answer = http.post(f"{path}/change", data=fields)
    assert answer.status_code == 403
    answer = http.post(f"{path}/change", data=fields | {"csrf": csrf(http, f"{path}/{configuration_id}")})

    assert ">not changed</span>" in answer.text
    assert texts(ann, configuration_id) == [DEBUG]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"setting": "exporters.debug.verbosity"}, "Choose configurations in the list first"),
        ({"setting": "verbosity", "cfg_" + "0" * 26: "yes"}, "is not the path of a setting"),
        ({"setting": "exporters.debug.verbosity", "value": "{a", "cfg_" + "0" * 26: "yes"}, "the value is not YAML"),
        ({"setting": "a.b.c", **{f"cfg_{n:026}": "yes" for n in range(51)}}, "Choose at most 50 configurations"),
    ],
)
def test_a_wrong_form_is_refused_with_the_way_out(
    browser: TestClient, mine: Member, path: str, fields: dict[str, str], said: str
) -> None:
    cfg.create(mine, "draft", DEBUG)
    answer = send_form(browser, path, "/change", **fields)

    assert answer.status_code == 422
    assert said in html.unescape(answer.text)
