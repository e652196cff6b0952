"""Mailed codes and new passwords: how people come back."""

import hashlib
import json
from datetime import timedelta

import pytest

from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.identity import attempts, members, passwords, people, proofs, sessions
from headgate.storage import aws
from tests.support.organization_members import IDENTITY, Browser, ada, mails, signed_in

__all__ = ["ada", "mails"]


def proof(email: str) -> str:
    """What stands in the link of a mail to the address."""
    return proofs.of_mail(email, clock.now())


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


def test_a_mailed_code_sets_a_new_password_once_and_ends_every_session(
    ada: Browser, mails: list[tuple[str, str]]
) -> None:
    email, other = forgetful(ada, mails)
    assert other.public.get(IDENTITY).status_code == 200

    code = mails[-1][1]
    people.reset_password(email, proof(email), code, "quite another password", clock.now())

    assert other.public.get(IDENTITY).status_code == 401
    people.sign_in(email, "quite another password", "192.0.2.1", clock.now())
    with pytest.raises(passwords.WrongCode):
        people.reset_password(email, proof(email), code, "and another password", clock.now())


def test_a_wrong_code_is_wrong_with_the_right_password_too(ada: Browser, mails: list[tuple[str, str]]) -> None:
    email, other = forgetful(ada, mails)

    for _ in range(2):
        with pytest.raises(passwords.WrongCode):
            people.reset_password(email, proof(email), "000000", "four words in a row", clock.now())

    assert other.public.get(IDENTITY).status_code == 200


def test_a_mailed_code_cannot_be_found_by_trying_all_against_the_table(
    ada: Browser, mails: list[tuple[str, str]]
) -> None:
    email, _ = forgetful(ada, mails)
    code = mails[-1][1]
    people.reset_password(email, proof(email), code, "quite another password", clock.now())

    kept = json.dumps(aws.dynamodb().scan(TableName=settings().identity_table)["Items"], default=str)
    assert "attempts#reset-same-code#" in kept
    for typed in (code, f"{email} {code}"):
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
            people.reset_password(email, proof(email), code, "quite another password", clock.now())
    with pytest.raises(passwords.WrongCode):
        people.reset_password(email, proof(email), code, "somebody's password", clock.now())
    assert other.public.get(IDENTITY).status_code == 200
    people.reset_password(email, proof(email), code, "quite another password", clock.now())

    assert other.public.get(IDENTITY).status_code == 401


def dies(_: object) -> None:
    raise MemoryError


def test_a_stranger_uses_up_no_try_of_who_has_the_mail(ada: Browser, mails: list[tuple[str, str]]) -> None:
    email, _ = forgetful(ada, mails)
    guesses = ["", "x", proof("another@example.com"), proof(email)[:-2], proofs.of_browser(email)] * 4
    for guess in guesses:
        with pytest.raises(passwords.WrongCode):
            people.reset_password(email, guess, "000000", "quite another password", clock.now())

    people.reset_password(email, proof(email), mails[-1][1], "quite another password", clock.now())


def test_a_stranger_who_asks_on_and_on_keeps_no_mail_from_the_owner(ada: Browser, mails: list[tuple[str, str]]) -> None:
    email, _ = forgetful(ada, mails)
    before, code = len(mails), mails[-1][1]
    for _ in range(20):
        people.forgot_password(email, "192.0.2.66", "https://x", clock.now())

    assert len(mails) <= before + 1
    later = clock.now() + timedelta(minutes=16)
    people.forgot_password(email, "192.0.2.1", "https://x", later)
    assert mails[-1][1] != code
    people.reset_password(email, proof(email), mails[-1][1], "quite another password", later)


def test_a_link_has_five_tries_and_lives_an_hour(ada: Browser, mails: list[tuple[str, str]]) -> None:
    email, _ = forgetful(ada, mails)
    at = clock.now()
    mailed = proofs.of_mail(email, at)
    for _ in range(5):
        with pytest.raises(passwords.WrongCode):
            people.reset_password(email, mailed, "wrong", "quite another password", at)
    with pytest.raises(attempts.TooManyAttempts):
        people.reset_password(email, mailed, mails[-1][1], "quite another password", at)

    old = proofs.of_mail(email, at - timedelta(minutes=61))
    with pytest.raises(passwords.WrongCode):
        people.reset_password(email, old, mails[-1][1], "quite another password", at)


def test_the_link_of_a_mail_is_for_its_address(ada: Browser, mails: list[tuple[str, str]]) -> None:
    email, _ = forgetful(ada, mails)

    assert proofs.is_of_mail(proof(email), email, clock.now())
    assert not proofs.is_of_mail(proof(email), "another@example.com", clock.now())
    assert proofs.known_browser(proofs.of_browser(email), email)
    assert proofs.known_browser(proofs.of_browser(email), "another@example.com") is None
    assert proofs.known_browser("", email) is None


@pytest.mark.usefixtures("aws_here")
@pytest.mark.parametrize("length", [11, 12, 256, 257])
def test_a_password_has_twelve_to_256_characters(length: int) -> None:
    refusal = passwords.WrongCode if 12 <= length <= 256 else passwords.WeakPassword

    with pytest.raises(refusal):
        passwords.reset("nobody@example.com", "000000", "a" * length)
