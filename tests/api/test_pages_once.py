"""A form is carried out once: reloading its answer, a second click and the way back do not repeat it."""

import re
import zlib
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import pytest
from httpx2 import Response

from headgate.configurations import service as configurations
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.settings import settings
from headgate.http import idempotency
from headgate.identity import sessions
from headgate.storage import table
from tests.support.in_process import TestClient
from tests.support.page_visitor import PASSWORD, SITE, Person, ada, csrf, http, sign_in
from tests.support.scripted_policies import scripted

__all__ = ["ada", "http"]

URL = "https://hooks.example.com/services/planted"
WEBHOOK = {"name": "on-call", "url": URL, "format": "slack"}
TEXT = "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}"
OF_BROWSER = {"origin": SITE}
DONE = "This form was sent before"


@pytest.fixture(autouse=True)
def _fleets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
    settings.cache_clear()
    scripted(monkeypatch)


@pytest.fixture
def home(ada: Person) -> str:
    return f"/organizations/{ada.organization_id}"


@pytest.fixture
def caller(ada: Person) -> Caller:
    begun, _ = sessions.begin(ada.user, "browser", clock.now())
    return sessions.caller(begun, ada.organization_id)


@pytest.fixture
def account(http: TestClient, home: str) -> str:
    """The page of a service account."""
    return send(http, f"{home}/service-accounts", name="ci").headers["location"]


@pytest.fixture
def group(http: TestClient, home: str) -> str:
    """The page of a fleet's Default group."""
    fleet = send(http, f"{home}/fleets", label="Edge", type="server-supervisor").headers["location"].partition("#")[0]
    return fleet + re.findall(r"/deployments/dep_[0-9a-z]{26}", http.get(fleet).text)[0]


def fields(http: TestClient, page: str) -> dict[str, str]:
    """The fields that the forms of the page have beside their own."""
    shown = http.get(page).text
    hidden = re.search(r'name="csrf" value="([^"]+)"><input type="hidden" name="form_key" value="([^"]+)"', shown)
    assert hidden is not None
    return {"csrf": hidden[1], "form_key": hidden[2]}


def send(http: TestClient, page: str, action: str = "", **typed: str) -> Response:
    return http.post(page + action, data=fields(http, page) | typed, headers=OF_BROWSER)


def test_reloading_the_page_of_a_new_token_creates_no_second_token(http: TestClient, account: str) -> None:
    sent = fields(http, account) | {"name": "deploy"}
    first = http.post(f"{account}/tokens", data=sent)
    again = http.post(f"{account}/tokens", data=sent)

    assert 'id="token"' in first.text
    assert 'id="token"' not in again.text
    assert (again.status_code, DONE in again.text) == (200, True)
    assert f'href="{account}"' in again.text
    assert http.get(account).text.count("Delete deploy …") == 1


def test_reloading_the_page_of_a_webhooks_secret_neither_adds_nor_renews_a_second(http: TestClient, home: str) -> None:
    page = f"{home}/webhooks"
    added = fields(http, page) | WEBHOOK
    answers = [http.post(page, data=added) for _ in range(2)]
    (own,) = set(re.findall(rf"{page}/whk_[0-9a-z]{{26}}", http.get(page).text))
    renewed = fields(http, own)
    answers += [http.post(f"{own}/secret", data=renewed) for _ in range(2)]

    assert ['id="secret"' in answer.text for answer in answers] == [True, False, True, False]
    assert [DONE in answer.text for answer in answers] == [False, True, False, True]
    assert f'href="{own}"' in answers[1].text


def test_no_secret_that_a_page_showed_is_stored_in_clear(http: TestClient, account: str, home: str) -> None:
    token = send(http, account, "/tokens", name="deploy").text
    webhook = send(http, f"{home}/webhooks", **WEBHOOK).text
    secrets = re.findall(r'data-copy="the (?:secret|token)">([^<]+)<', token + webhook)
    stored = [*table.identity.scan("attribute_exists(pk)", {})]
    answers = [zlib.decompress(bytes(item["content"])).decode() for item in stored if "content" in item]

    assert len(secrets) == 2
    assert [path for path in answers if account in path]
    assert [secret for secret in secrets if unescape(secret) in f"{stored} {answers}"] == []


@pytest.mark.parametrize(
    ("page", "entry", "typed"),
    [
        ("service-accounts", "/service-accounts/sva_", {"name": "night"}),
        ("fleets", "/fleets/flt_", {"label": "Night", "type": "server-supervisor"}),
        ("members", "Role of ", {"email": "new@example.com", "role": "admin"}),
    ],
)
def test_a_form_sent_twice_at_once_creates_one_thing(
    http: TestClient, home: str, page: str, entry: str, typed: dict[str, str]
) -> None:
    before = http.get(f"{home}/{page}").text.count(entry)
    sent = fields(http, f"{home}/{page}") | typed
    with ThreadPoolExecutor(2) as pool:
        answers = [*pool.map(lambda _: http.post(f"{home}/{page}", data=sent), range(2))]

    assert sorted(answer.status_code for answer in answers) == [200, 303]
    assert http.get(f"{home}/{page}").text.count(entry) == before + 1


def test_a_mount_sent_twice_is_added_once(http: TestClient, group: str) -> None:
    sent = fields(http, group) | {"host_path": "/var/log", "mount_path": "/logs"}
    answers = [http.post(f"{group}/volume-mounts", data=sent) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [303, 200]
    assert DONE in answers[1].text
    assert "a part may be missing" not in answers[1].text
    assert http.get(group).text.count("<code>/logs</code>") == 1


def test_a_form_that_is_changed_on_the_way_back_is_carried_out(http: TestClient, home: str) -> None:
    page = f"{home}/service-accounts"
    same = fields(http, page)
    first, second = (http.post(page, data=same | {"name": name}) for name in ("one", "two"))

    assert (first.status_code, second.status_code) == (303, 303)
    assert first.headers["location"] != second.headers["location"]


def test_a_refused_form_may_be_sent_again(http: TestClient, account: str) -> None:
    sent = fields(http, account) | {"name": "", "days": "30"}
    answers = [http.post(f"{account}/tokens", data=sent) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [422, 422]
    assert [DONE in answer.text for answer in answers] == [False, False]


def test_a_form_whose_answer_was_lost_says_that_a_part_may_be_missing(
    http: TestClient, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "store_answer", lambda *_: None)
    page = f"{home}/fleets"
    sent = fields(http, page) | {"label": "Night", "type": "server-supervisor"}
    answers = [http.post(page, data=sent, headers={"referer": f"{SITE}{page}"}) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [303, 200]
    assert "a part may be missing" in answers[1].text
    assert f'<a class="button" href="{page}">' in answers[1].text


def test_a_form_of_another_site_takes_no_key(http: TestClient, account: str) -> None:
    sent = fields(http, account) | {"name": "deploy"}
    foreign = http.post(f"{account}/tokens", data=sent, headers={"origin": "https://evil.example"})

    assert foreign.status_code == 403
    assert 'id="token"' in http.post(f"{account}/tokens", data=sent).text


def renewed_session(http: TestClient, ada: Person, page: str) -> dict[str, str]:
    """The fields of a page of a session that has ended since, while the person has signed in again."""
    sent = fields(http, page)
    http.post("/sign-out", data={"csrf": csrf(http, page)})
    assert sign_in(http, ada.user.email, PASSWORD).status_code == 303
    return sent


def test_the_form_of_a_token_outlives_its_session(http: TestClient, ada: Person, account: str) -> None:
    sent = renewed_session(http, ada, account)
    answer = http.post(f"{account}/tokens", data=sent | {"name": "typed name", "days": "90"}, headers=OF_BROWSER)

    assert answer.status_code == 403
    assert 'value="typed name"' in answer.text
    assert '<option value="90" selected>' in answer.text


def test_the_form_of_a_mount_outlives_its_session(http: TestClient, ada: Person, group: str) -> None:
    sent = renewed_session(http, ada, group) | {"host_path": "/var/typed", "mount_path": "/typed"}
    answer = http.post(f"{group}/volume-mounts", data=sent, headers=OF_BROWSER)

    assert answer.status_code == 403
    assert 'value="/var/typed"' in answer.text
    assert "You signed in again after this form was opened: send it again" in answer.text


def test_the_form_of_policies_outlives_its_session(http: TestClient, ada: Person, home: str) -> None:
    page = f"{home}/policies"
    etag = re.findall(r'name="etag" value="([^"]*)"', http.get(page).text)[0]
    sent = renewed_session(http, ada, page) | {"severity.plain_http": "off", "requires.tests": "yes", "etag": etag}
    answer = http.post(page, data=sent, headers=OF_BROWSER)

    assert answer.status_code == 403
    assert re.search(r'name="severity.plain_http".*?<option value="off" selected>', answer.text)
    assert re.search(r'name="requires.tests" value="yes" checked', answer.text)
    assert "are not published" not in answer.text


def test_the_form_of_a_rule_outlives_its_session(http: TestClient, ada: Person, home: str, caller: Caller) -> None:
    made, _ = configurations.create(caller, "Edge", TEXT, "otelcol-contrib", None)
    path = f"{home}/configurations/{made.id}/versions/1/rules"
    sent = renewed_session(http, ada, f"{path}?pipeline=logs") | {"pipeline": "logs", "do": "save"}
    rule = {"name": "typed rule", "condition": "true", "context": "log", "expect": "all"}
    answer = http.post(path, data=sent | rule, headers=OF_BROWSER)

    assert answer.status_code == 403
    assert 'value="typed rule"' in answer.text


def test_a_password_of_a_form_that_outlived_its_session_is_not_shown(http: TestClient, ada: Person) -> None:
    page = "/reset-password?request=planted"
    sent = renewed_session(http, ada, page) | {"request": "planted", "email": ada.user.email, "code": "123456"}
    answer = http.post("/reset-password", data=sent | {"password": "typed words in a row"}, headers=OF_BROWSER)

    assert answer.status_code == 403
    assert "go back, reload the page and send the form again" in answer.text
    assert "typed words in a row" not in answer.text


def test_a_form_without_a_page_of_its_own_is_shown_to_be_sent_again(http: TestClient, ada: Person, group: str) -> None:
    fleet = group.partition("/deployments/")[0]
    sent = renewed_session(http, ada, fleet) | {"order": "restart", "ins_01kyqzq3dbepyjf8jkf2gqv6rg": "yes"}
    answer = http.post(f"{fleet}/collectors/orders", data=sent, headers=OF_BROWSER)
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', answer.text.partition("<main")[2]))
    again = http.post(f"{fleet}/collectors/orders", data=hidden, headers=OF_BROWSER)

    assert answer.status_code == 403
    assert "You signed in again after this form was opened: send it again" in answer.text
    assert {name: hidden[name] for name in ("order", "ins_01kyqzq3dbepyjf8jkf2gqv6rg")} == {
        "order": "restart",
        "ins_01kyqzq3dbepyjf8jkf2gqv6rg": "yes",
    }
    assert (again.status_code, "not ordered" in again.text) == (200, True)
