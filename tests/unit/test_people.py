"""Invitations, mailed passwords and new ones: how people come in, and come back."""

import hashlib
import json

import pytest

from headgate import aws, clock
from headgate.identity import members, passwords, people, sessions
from headgate.ids import new_id
from headgate.settings import settings
from headgate_local import template
from tests.organization_members import APP, IDENTITY, Browser, ada, signed_in

__all__ = ["ada"]


@pytest.fixture
def mails(aws_here: template.Template, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The mails that are sent: to whom, with which password or code."""
    from headgate_local import user_pool

    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(user_pool._People, "mail", lambda _self, _kind, to, code, _metadata: sent.append((to, code)))
    return sent


def forgetful(ada: Browser, mails: list[tuple[str, str]]) -> tuple[str, Browser]:
    """Somebody who has a session, and is mailed a code for a new password."""
    email = f"reset-{new_id('usr')[-8:]}@example.com"
    members.add_first_admin(ada.organization_id, email)
    with pytest.raises(people.NewPasswordNeeded) as needed:
        people.sign_in(email, mails[-1][1], "192.0.2.1", clock.now())
    session, _ = people.replace_temporary(needed.value.challenge, "four words in a row", clock.now())
    other = signed_in(session.user, ada.organization_id)
    people.forgot_password(email, "192.0.2.1", "https://x", clock.now())
    return email, other


def test_an_invited_person_comes_in_with_the_mailed_password_and_sets_their_own(
    ada: Browser, mails: list[tuple[str, str]]
) -> None:
    email = f"New-{new_id('usr')[-8:]}@Example.com"
    invited = ada.app.post(f"{APP}/members", json={"email": email, "role": "contributor"}).json()
    ((to, temporary),) = mails
    assert (invited["status"], invited["name"], to) == ("invited", email.lower(), email.lower())

    with pytest.raises(people.NewPasswordNeeded) as needed:
        people.sign_in(email, temporary, "192.0.2.1", clock.now())
    session, _ = people.replace_temporary(needed.value.challenge, "four words in a row", clock.now())

    assert session.user.email == email.lower()
    people.sign_in(email, "four words in a row", "192.0.2.1", clock.now())
    names = {one["name"]: one["status"] for one in ada.app.get(f"{APP}/members").json()["items"]}
    assert names[email.lower()] == "active"


def test_inviting_somebody_again_sends_the_mail_again_until_they_have_come(
    ada: Browser, mails: list[tuple[str, str]]
) -> None:
    body = {"email": f"late-{new_id('usr')[-8:]}@example.com", "role": "contributor"}
    answers = [ada.app.post(f"{APP}/members", json=body) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    (_, first), (_, second) = mails
    assert first != second

    with pytest.raises(people.NewPasswordNeeded) as needed:
        people.sign_in(body["email"], second, "192.0.2.1", clock.now())
    people.replace_temporary(needed.value.challenge, "four words in a row", clock.now())
    assert ada.app.post(f"{APP}/members", json=body).json()["code"] == "already_member"


def test_a_mailed_code_sets_a_new_password_once_and_ends_every_session(
    ada: Browser, mails: list[tuple[str, str]]
) -> None:
    email, other = forgetful(ada, mails)
    assert other.public.get(IDENTITY).status_code == 200

    code = mails[-1][1]
    people.reset_password(email, code, "quite another password", clock.now())

    assert other.public.get(IDENTITY).status_code == 401
    people.sign_in(email, "quite another password", "192.0.2.1", clock.now())
    with pytest.raises(passwords.WrongCode):
        people.reset_password(email, code, "and another password", clock.now())


def test_a_wrong_code_is_wrong_with_the_right_password_too(ada: Browser, mails: list[tuple[str, str]]) -> None:
    email, other = forgetful(ada, mails)

    for _ in range(2):
        with pytest.raises(passwords.WrongCode):
            people.reset_password(email, "000000", "four words in a row", clock.now())

    assert other.public.get(IDENTITY).status_code == 200


def test_a_mailed_code_cannot_be_found_by_trying_all_against_the_table(
    ada: Browser, mails: list[tuple[str, str]]
) -> None:
    email, _ = forgetful(ada, mails)
    code = mails[-1][1]
    people.reset_password(email, code, "quite another password", clock.now())

    kept = json.dumps(aws.dynamodb().scan(TableName=settings().identity_table)["Items"], default=str)
    assert "unanswered#" in kept
    for typed in (code, f"reset {email} {code}"):
        assert hashlib.sha256(typed.encode()).hexdigest() not in kept
        assert f'"{typed}"' not in kept


def test_a_reset_that_died_after_its_code_was_used_is_finished_by_the_same_again(
    ada: Browser, mails: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    email, other = forgetful(ada, mails)
    code = mails[-1][1]

    with monkeypatch.context() as patch:
        patch.setattr(sessions, "end_all", dies)
        with pytest.raises(MemoryError):
            people.reset_password(email, code, "quite another password", clock.now())
    with pytest.raises(passwords.WrongCode):
        people.reset_password(email, code, "somebody's password", clock.now())
    assert other.public.get(IDENTITY).status_code == 200
    people.reset_password(email, code, "quite another password", clock.now())

    assert other.public.get(IDENTITY).status_code == 401


def dies(_: object) -> None:
    raise MemoryError
