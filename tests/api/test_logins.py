"""Logins of the command line that somebody approves, beside a new password and another organization."""

from datetime import timedelta
from urllib.parse import quote

import pytest

from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.identity import logins, member_store, passwords, people, proofs, sessions
from headgate.identity.model import NotAuthenticated, Organization, Session
from tests.support.in_process import TestClient
from tests.support.page_visitor import NEW_PASSWORD, Person, ada, http

__all__ = ["ada", "http"]


VERIFIER = "v" * 43


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


def test_a_login_of_one_way_is_not_redeemed_in_the_other_and_stays(ada: Person) -> None:
    caller = caller_of(ada)[1]
    device = logins.begin_device("192.0.2.7", clock.now())
    logins.approve_device(caller, device.user_code, clock.now())
    code = logins.begin_code(caller, logins.challenge_of(VERIFIER), clock.now()).replace("-", "")[:26]

    # A code takes its verifier.
    with pytest.raises(logins.Expired):
        logins.redeem_device(code, clock.now())
    with pytest.raises(logins.InvalidGrant):
        logins.redeem_code(device.device_code, VERIFIER, clock.now())

    assert logins.redeem_device(device.device_code, clock.now()).session.user.email == ada.user.email
    assert logins.redeem_code(code, VERIFIER, clock.now()).session.user.email == ada.user.email


def test_the_page_shows_the_code_of_the_login_and_no_other_words_of_its_link(ada: Person, http: TestClient) -> None:
    code = logins.begin_device("192.0.2.7", clock.now()).user_code
    # Letters that look like Latin, and that no code has.
    link = quote(f"\u0430\u0441\u0441\u0435\u0440\u0442\u0435\u0501: {code.lower()}")

    shown = http.get(f"/device?user_code={link}").text

    assert f'<div class="code">{code}</div>' in shown
    assert f'name="user_code" value="{code}"' in shown


def test_an_old_password_that_was_checked_just_before_a_new_one_begins_no_session(
    ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = clock.now() - timedelta(seconds=1)
    set_new_password(ada, monkeypatch)

    with pytest.raises(NotAuthenticated):
        sessions.begin(ada.user, "browser", at)
    assert sessions.begin(ada.user, "browser", clock.now())


def test_two_organizations_of_one_name_are_told_apart_where_a_login_is_approved(ada: Person, http: TestClient) -> None:
    begun = logins.begin_device("192.0.2.7", clock.now())
    path = f"/device?user_code={begun.user_code}"
    assert f"({ada.organization_id})" not in http.get(path).text

    mine = member_store.organization_name(ada.organization_id)
    assert mine is not None
    other = Organization(new_id("org"), mine, clock.now())
    member_store.put_organization(other, ada.user, "active")

    for organization_id in (ada.organization_id, other.id):
        assert f"{mine} ({organization_id})" in http.get(path).text
