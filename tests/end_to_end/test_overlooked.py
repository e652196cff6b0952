"""What an attacker finds between the parts: texts that no table holds, empty fields, and what outlives a password."""

from datetime import timedelta

import pytest
from fastapi import APIRouter, Request
from fastapi.testclient import TestClient

from headgate.configurations import service as configurations
from headgate.configurations.model import DISTRIBUTION
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.http.app import create_app, lambda_handler
from headgate.identity import logins, member_store, passwords, people, proofs, sessions, store
from headgate.identity.model import Caller, NotAuthenticated, Organization, Session
from tests.end_to_end.page_visitor import NEW_PASSWORD, PASSWORD, Person, ada, browser, csrf, http
from tests.lambda_runtime import http_event
from web.addresses import client_address

__all__ = ["ada", "http"]
pytestmark = pytest.mark.usefixtures("aws_here")

HALF = r"\ud83d"
PUBLIC = "/api/v1/public"
VERIFIER = "v" * 43


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"{PUBLIC}/configurations", '{"name": "x", "yaml": "a: b", "collector_distribution": "HALF"}'),
        (f"{PUBLIC}/configurations", '{"name": "HALF", "yaml": "a: b"}'),
        (f"{PUBLIC}/configurations", '{"name": "x", "yaml": "a: b", "HALF": 1}'),
        (
            f"{PUBLIC}/testing/runs",
            '{"yaml": "a", "sample": {"HALF": 1}, "signal_type": "logs", "target_pipeline": "logs", '
            '"rules": [{"name": "n", "condition": "true"}]}',
        ),
        (f"{PUBLIC}/ottl/lint", '{"context": "log", "conditions": ["HALF"]}'),
        ("/api/v1/app/service-accounts", '{"name": "HALF"}'),
    ],
)
def test_half_a_character_is_refused_wherever_it_stands(path: str, body: str, ada: Person) -> None:
    _, value = sessions.begin(ada.user, "cli", clock.now(), ada.organization_id)
    headers = {"Authorization": f"Bearer {value}", "X-Service-Org": ada.organization_id}
    headers["Content-Type"] = "application/json"

    answer = browser().post(path, content=body.replace("HALF", HALF).encode(), headers=headers)

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body"]), answer.text


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "x", "yaml": "a: b", "collector_distribution": "\xed\xa0\xbd"}',
        rf'{{"name": "x", "yaml": "a: b", "collector_distribution": "{HALF}"}}'.encode("utf-16"),
        rf'{{"name": "x", "yaml": "a: b", "collector_distribution": "{HALF}"}}'.encode("utf-32-le"),
        b'{"name": "\xff", "yaml": "a: b"}',
    ],
)
def test_a_body_is_in_utf8(body: bytes, ada: Person) -> None:
    _, value = sessions.begin(ada.user, "cli", clock.now(), ada.organization_id)
    headers = {"Authorization": f"Bearer {value}", "X-Service-Org": ada.organization_id}

    answer = browser().post(
        f"{PUBLIC}/configurations", content=body, headers={**headers, "Content-Type": "application/json"}
    )

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body"]), answer.text


def test_both_halves_of_a_character_are_a_text(ada: Person) -> None:
    _, value = sessions.begin(ada.user, "cli", clock.now(), ada.organization_id)
    headers = {"Authorization": f"Bearer {value}", "X-Service-Org": ada.organization_id}
    headers["Content-Type"] = "application/json"
    body = rf'{{"name": "{HALF}\ude00 \\ud83d", "yaml": "a: b"}}'

    answer = browser().post(f"{PUBLIC}/configurations", content=body.encode(), headers=headers)

    assert (answer.status_code, answer.json()["name"]) == (201, r"😀 \ud83d")


@pytest.mark.parametrize(
    ("path", "form", "expected"),
    [
        ("/forgot-password", {"email": ""}, 303),
        ("/forgot-password", {"email": " "}, 303),
        ("/reset-password", {"email": "", "code": "1", "password": PASSWORD}, 422),
        ("/reset-password", {"email": "a@example.com", "code": " ", "password": PASSWORD}, 422),
        ("/sign-in", {"email": "", "password": ""}, 403),
    ],
)
def test_a_stranger_sets_off_no_alarm_with_an_empty_field(path: str, form: dict[str, str], expected: int) -> None:
    # Alarms count what is answered 5xx, and undo deployments.
    http = browser()

    assert http.post(path, data={"csrf": csrf(http), **form}).status_code == expected


def caller_of(ada: Person) -> tuple[Session, Caller]:
    session, _ = sessions.begin(ada.user, "browser", clock.now())
    return session, sessions.caller(session, ada.organization_id)


def set_new_password(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the right code, as from the mail."""
    monkeypatch.setattr(passwords, "reset", lambda *_: None)
    proof = proofs.of_mail(ada.user.email, clock.now())
    people.reset_password(ada.user.email, proof, "123456", NEW_PASSWORD, clock.now())


def test_a_login_approved_before_a_new_password_begins_no_session(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    session, caller = caller_of(ada)
    stolen = logins.begin_device("192.0.2.7", clock.now())
    logins.find_device(session, stolen.user_code, clock.now())
    logins.approve_device(caller, stolen.user_code, clock.now())
    code = logins.begin_code(caller, logins.challenge_of(VERIFIER), clock.now()).replace("-", "")[:26]

    set_new_password(ada, monkeypatch)

    with pytest.raises(logins.Expired):
        logins.redeem_device(stolen.device_code, clock.now())
    with pytest.raises(logins.InvalidGrant):
        logins.redeem_code(code, VERIFIER, clock.now())


def test_a_login_begun_before_a_new_password_can_be_approved_after_it(
    ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = logins.begin_device("192.0.2.7", clock.now())
    set_new_password(ada, monkeypatch)

    logins.approve_device(caller_of(ada)[1], mine.user_code, clock.now())

    assert logins.redeem_device(mine.device_code, clock.now()).session.user.email == ada.user.email


def test_an_old_password_that_was_checked_just_before_a_new_one_begins_no_session(
    ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = clock.now() - timedelta(seconds=1)
    set_new_password(ada, monkeypatch)

    with pytest.raises(NotAuthenticated):
        sessions.begin(ada.user, "browser", at)
    assert sessions.begin(ada.user, "browser", clock.now())


def test_nobody_is_sent_one_invitation_after_the_other(ada: Person, http: TestClient) -> None:
    address = f"{new_id('usr')}@example.com"
    path = f"/organizations/{ada.organization_id}/members"
    token = csrf(http, path)
    sent = [
        http.post(path, data={"csrf": token, "email": given, "role": "contributor"})
        for given in (address, address.upper(), *[f" {address} "] * 4)
    ]

    assert [answer.status_code for answer in sent] == [303] * 5 + [429]
    assert int(sent[-1].headers["Retry-After"]) <= 900


def test_two_organizations_of_one_name_are_told_apart_where_a_login_is_approved(ada: Person, http: TestClient) -> None:
    begun = logins.begin_device("192.0.2.7", clock.now())
    path = f"/device?user_code={begun.user_code}"
    assert f"({ada.organization_id})" not in http.get(path).text

    mine = member_store.organization_name(ada.organization_id)
    assert mine is not None
    other = Organization(new_id("org"), mine, clock.now())
    member_store.put_organization(other, ada.user, "active")

    for one in (ada.organization_id, other.id):
        assert f"{mine} ({one})" in http.get(path).text


@pytest.mark.parametrize("after", ["abc", "1", "-5", "\u0661", "~", "v#00000001", "member#usr_", "x" * 1_000, "\0"])
def test_a_page_of_a_list_begins_where_a_page_said_only(after: str, ada: Person, http: TestClient) -> None:
    # Elsewhere the table refuses the place, which would count as a fault of ours.
    created, _ = configurations.create(caller_of(ada)[1], "a", "a: b", DISTRIBUTION, None)
    home = f"/organizations/{ada.organization_id}"
    pages = ["members", "changes", "service-accounts", "configurations", f"configurations/{created.id}", "fleets"]

    answers = {http.get(f"{home}/{one}", params={"after": after}).status_code for one in pages}

    assert answers == {422}


def test_what_is_no_id_is_not_looked_for(ada: Person, http: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    # A key of more than a kilobyte is a fault to the table, and would be counted as one of ours.
    def looks(*_: object) -> None:
        raise AssertionError("the table was asked")

    monkeypatch.setattr(store, "service_account", looks)
    home = f"/organizations/{ada.organization_id}/service-accounts"
    token = csrf(http, f"/organizations/{ada.organization_id}/members")

    for account in ("x" * 2_000, new_id("tok"), f"{new_id('sva')}%0A"):
        assert http.get(f"{home}/{account}").status_code == 404
        assert http.post(f"{home}/{account}/delete", data={"csrf": token}).status_code == 404
        assert http.post(f"{home}/{account}/tokens", data={"csrf": token, "name": "a"}).status_code == 404
    path = f"{home}/{new_id('sva')}/tokens/{'x' * 2_000}/delete"
    assert http.post(path, data={"csrf": token}).status_code == 404


@pytest.mark.parametrize("name", ["x-forwarded-for", "forwarded", "x-real-ip", "true-client-ip", "client-ip"])
def test_in_lambda_nobody_chooses_the_address_that_attempts_are_counted_for(name: str) -> None:
    router = APIRouter()

    @router.get("/who")
    def who(request: Request) -> str:
        return client_address(request)

    event = http_event("GET", "/who")
    headers = event["headers"]
    assert isinstance(headers, dict)
    headers[name] = "for=203.0.113.9" if name == "forwarded" else "203.0.113.9, 203.0.113.10"

    assert lambda_handler(create_app("Test", [router]))(event, None)["body"] == '"192.0.2.1"'
