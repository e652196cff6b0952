"""What guessing brings, and what answers tell of who has an account: nothing, and slowly."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import botocore.client
import pytest
from fastapi import APIRouter, Request

from application import login_pages, oauth, sign_in_pages
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.http.app import create_app, lambda_handler
from headgate.identity import attempts, proofs, sessions
from headgate_local import user_pool
from tests.support.in_process import TestClient
from tests.support.lambda_runtime import http_event
from tests.support.page_visitor import (
    KNOWN,
    NEW_PASSWORD,
    SESSION,
    Person,
    ada,
    browser,
    csrf,
    http,
    sign_in,
)
from web.addresses import client_address

__all__ = ["ada", "http"]


@dataclass
class Calls:
    operations: list[str]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The calls to AWS that are made: where they are the same, so is the time."""
    made = Calls([])
    original = botocore.client.BaseClient._make_api_call

    def recorded(client: object, operation: str, arguments: object) -> object:
        made.operations.append(operation)
        return original(client, operation, arguments)

    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", recorded)
    return made


def without_form_values(text: str) -> str:
    return re.sub(r'value="[^"]*"', "", text)


def test_a_wrong_password_and_an_unknown_address_are_answered_the_same_by_the_same_steps(
    ada: Person, calls: Calls
) -> None:
    answers, steps = [], []
    for email in (ada.user.email, f"nobody-{new_id('usr')[-8:]}@example.com"):
        http = browser()
        form = csrf(http)
        calls.operations.clear()
        answers.append(http.post("/sign-in", data={"csrf": form, "email": email, "password": "wrong password"}))
        steps.append(list(calls.operations))

    assert [answer.status_code for answer in answers] == [403, 403]
    assert without_form_values(answers[0].text) == without_form_values(answers[1].text)
    assert steps[0] == steps[1]
    assert "AdminInitiateAuth" in steps[0]


def test_asking_for_a_new_password_tells_nobody_who_has_an_account(ada: Person, calls: Calls) -> None:
    answers, steps = [], []
    for email in (ada.user.email, f"nobody-{new_id('usr')[-8:]}@example.com"):
        http = browser()
        form = csrf(http, "/forgot-password")
        calls.operations.clear()
        response = http.post("/forgot-password", data={"csrf": form, "email": email})
        steps.append(list(calls.operations))
        answers.append((response.status_code, without_form_values(http.get(response.headers["location"]).text)))

    assert answers[0] == answers[1]
    assert steps[0] == steps[1]


def test_a_wrong_code_for_a_new_password_tells_nobody_who_has_an_account(ada: Person) -> None:
    answers = []
    for email in (ada.user.email, f"nobody-{new_id('usr')[-8:]}@example.com"):
        http = browser()
        form = {"csrf": csrf(http), "email": email, "request": proofs.of_mail(email, clock.now())}
        response = http.post("/reset-password", data={**form, "code": "000000", "password": NEW_PASSWORD})
        answers.append((response.status_code, without_form_values(response.text)))

    assert answers[0] == answers[1]
    assert answers[0][0] == 422


@pytest.fixture
def fixed_clock(monkeypatch: pytest.MonkeyPatch) -> "FixedClock":
    """The clock of the attempts stands, a second after a window began: none ends between two tries."""
    standing = FixedClock(datetime.fromtimestamp(clock.now().timestamp() // 900 * 900 + 1, UTC))
    for module in (sign_in_pages, login_pages, oauth):
        monkeypatch.setattr(module, "clock", standing)
    return standing


@dataclass
class FixedClock:
    at: datetime

    def now(self) -> datetime:
        return self.at

    rfc3339 = staticmethod(clock.rfc3339)
    parse = staticmethod(clock.parse)


def test_guessing_a_password_is_slowed_even_for_the_right_one(ada: Person, fixed_clock: FixedClock) -> None:
    http = browser("192.0.2.77")
    guesses = [sign_in(http, ada.user.email, f"guess number {n}").status_code for n in range(5)]
    slowed = sign_in(http, ada.user.email)

    assert guesses == [403] * 5
    assert (slowed.status_code, slowed.headers["retry-after"]) == (429, "899")
    assert sign_in(browser("192.0.2.78"), ada.user.email).status_code == 303
    fixed_clock.at += timedelta(seconds=899)
    assert sign_in(http, ada.user.email).status_code == 303


def test_guesses_at_once_are_slowed_as_well(ada: Person, fixed_clock: FixedClock) -> None:
    http = browser("192.0.2.79")
    form = {"csrf": csrf(http), "email": ada.user.email, "password": "a wrong guess"}
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: http.post("/sign-in", data=form).status_code, range(30)))

    assert (answers.count(403), answers.count(429)) == (5, 25)


def test_one_address_cannot_try_many_accounts(ada: Person, fixed_clock: FixedClock) -> None:
    http = browser("192.0.2.80")
    form = csrf(http)
    answers = [
        http.post("/sign-in", data={"csrf": form, "email": f"n{n}@example.com", "password": "summer2026"}).status_code
        for n in range(52)
    ]

    assert answers == [403] * 50 + [429] * 2


def test_asking_on_and_on_is_not_refused_and_sends_one_mail(ada: Person, fixed_clock: FixedClock, calls: Calls) -> None:
    def ask(http: TestClient, email: str) -> int:
        return http.post("/forgot-password", data={"csrf": csrf(http, "/forgot-password"), "email": email}).status_code

    of_account = [ask(browser(), ada.user.email) for _ in range(6)]
    mails = calls.operations.count("ForgotPassword")
    http = browser()
    from_address = [ask(http, f"n{n}-{new_id('usr')[-8:]}@example.com") for n in range(61)]

    assert (of_account, mails) == ([303] * 6, 1)
    assert from_address == [303] * 60 + [429]


def test_without_the_link_of_the_mail_no_code_is_tried(ada: Person, fixed_clock: FixedClock, calls: Calls) -> None:
    def guess(code: str, request: str) -> int:
        http = browser()
        form = {"csrf": csrf(http), "email": ada.user.email, "code": code, "password": NEW_PASSWORD}
        return http.post("/reset-password", data={**form, "request": request}).status_code

    assert [guess(f"00000{n}", "made up") for n in range(7)] == [422] * 7
    assert "ConfirmForgotPassword" not in calls.operations
    mailed = proofs.of_mail(ada.user.email, fixed_clock.now())
    assert [guess(f"00000{n}", mailed) for n in range(6)] == [422] * 5 + [429]


def test_strangers_from_everywhere_have_ten_guesses_and_do_not_lock_out_who_was_here_before(
    ada: Person, fixed_clock: FixedClock
) -> None:
    hers = browser()
    assert sign_in(hers, ada.user.email).status_code == 303
    hers.cookies.delete(SESSION)
    guesses = [sign_in(browser(), ada.user.email, "a wrong guess").status_code for _ in range(12)]

    assert guesses == [403] * 10 + [429] * 2
    assert sign_in(browser(), ada.user.email).status_code == 429
    assert sign_in(hers, ada.user.email).status_code == 303


def test_a_known_browser_has_five_guesses_of_its_own(ada: Person, fixed_clock: FixedClock) -> None:
    hers = browser()
    assert sign_in(hers, ada.user.email).status_code == 303
    hers.cookies.delete(SESSION)

    assert [sign_in(hers, ada.user.email, "wrong").status_code for _ in range(6)] == [403] * 5 + [429]
    hers.cookies.delete(KNOWN)
    assert sign_in(hers, ada.user.email).status_code == 303


def test_who_has_the_mail_signs_in_while_strangers_guess(
    ada: Person, fixed_clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "clock", fixed_clock)
    codes: list[str] = []
    monkeypatch.setattr(user_pool._People, "mail", lambda _self, _kind, _to, code, _metadata: codes.append(code))
    for _ in range(12):
        sign_in(browser(), ada.user.email, "a wrong guess")
        browser().post("/forgot-password", data={"csrf": "x", "email": ada.user.email})

    hers = browser()
    hers.post("/forgot-password", data={"csrf": csrf(hers), "email": ada.user.email})
    form = {"csrf": csrf(hers), "email": ada.user.email, "code": codes[-1], "password": NEW_PASSWORD}
    proof = proofs.of_mail(ada.user.email, fixed_clock.now())
    assert hers.post("/reset-password", data={**form, "request": proof}).status_code == 303
    assert sign_in(hers, ada.user.email, NEW_PASSWORD).status_code == 303


def test_one_address_cannot_begin_many_logins(fixed_clock: FixedClock) -> None:
    http = browser()
    answers = [http.post("/api/v1/app/device_authorization").status_code for _ in range(61)]

    assert answers == [200] * 60 + [429]


def test_a_terminals_code_cannot_be_guessed_from_a_session(http: TestClient, fixed_clock: FixedClock) -> None:
    answers = [http.get(f"/device?user_code=BCDFGHJ{letter}").status_code for letter in "BCDFGHJKLMNP"]

    assert answers == [404] * 10 + [429] * 2


def test_the_challenge_of_a_temporary_password_is_good_for_its_own_address_only(ada: Person) -> None:
    http = browser()
    form = {"csrf": csrf(http), "challenge": "bm9uc2Vuc2U=", "password": "another password"}
    response = http.post("/sign-in/new-password", data=form)

    assert response.status_code == 403
    assert sign_in(browser(), ada.user.email).status_code == 303


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


@pytest.mark.usefixtures("aws_here")
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


@pytest.mark.usefixtures("aws_here")
def test_a_limit_counts_anew_in_each_window_and_says_when_that_begins() -> None:
    begins = datetime(2026, 11, 26, 12, tzinfo=UTC)
    limit, subject = attempts.Limit("test", 2, 900), new_id("usr")
    late = begins + timedelta(seconds=899)
    counts = [attempts.take(limit, subject, begins), attempts.take(limit, subject, late)]
    refused = []
    for at in (begins, late):
        with pytest.raises(attempts.TooManyAttempts) as error:
            attempts.take(limit, subject, at)
        refused.append((error.value.retry_after, str(error.value)))
    attempts.give_back(limit, subject)
    counts.append(attempts.take(limit, subject, late))
    counts.append(attempts.take(limit, subject, begins + timedelta(seconds=900)))

    assert counts == [1, 2, 2, 1]
    assert refused == [
        (900, "Too many attempts; try again in 15 minutes"),
        (1, "Too many attempts; try again in 1 minute"),
    ]
