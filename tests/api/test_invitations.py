"""Invitations: nobody becomes a member without having said so, and an inviter learns nothing of an address."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from httpx2 import Response

from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.identity import attempts, invitation_store, invitations, keys, member_store, people, sessions
from headgate.identity.model import Session, User
from headgate.storage import table
from headgate_local import user_pool
from tests.support.organization_members import APP, IDENTITY, Browser, ada, con, enter, mails, signed_in

__all__ = ["ada", "con", "mails"]

PASSWORD = "four words in a row"


@pytest.fixture
def known(ada: Browser) -> User:
    """Somebody who has an account, and is a member of nothing."""
    user = User(new_id("usr"), f"known-{new_id('usr')[-8:]}@example.com", clock.now())
    member_store.put_user(user)
    user_pool.add_account(user.email, PASSWORD)
    return user


def unknown() -> str:
    return f"new-{new_id('usr')[-8:]}@example.com"


def invite(ada: Browser, email: str, role: str = "contributor") -> Response:
    return ada.app.post(f"{APP}/members", json={"email": email, "role": role})


def browser_of(user: User) -> Session:
    return sessions.begin(user, "browser", clock.now())[0]


def listed(ada: Browser) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in ada.app.get(f"{APP}/members").json()["items"]}


def changes(ada: Browser) -> list[str]:
    return [one["action"] for one in ada.app.get(f"{APP}/changes").json()["items"]]


def shape(text: str, email: str) -> str:
    """Without what differs for any two addresses."""
    text = re.sub(r"inv_[0-9a-z]{26}", "ID", text.replace(email, "ADDRESS"))
    return re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "TIME", text)


def test_an_invited_person_is_not_a_member_until_they_accept(ada: Browser, known: User) -> None:
    assert invite(ada, known.email).status_code == 201
    hers = signed_in(known, ada.organization_id)

    assert hers.public.get(IDENTITY).status_code == 403
    assert hers.app.get(f"{APP}/session").json()["organizations"] == []
    assert listed(ada)[known.email]["status"] == "invited"
    ((offered),) = hers.app.get(f"{APP}/invitations").json()["items"]
    assert (offered["organization_name"], offered["role"], offered["invited_by"]) == (
        "Acme",
        "contributor",
        ada.user.email,
    )

    assert hers.app.post(f"{APP}/invitations/{ada.organization_id}/accept").status_code == 200

    assert hers.public.get(IDENTITY).json()["role"] == "contributor"
    assert (listed(ada)[known.email]["status"], listed(ada)[known.email]["id"]) == ("active", known.id)
    assert hers.app.get(f"{APP}/invitations").json()["items"] == []
    assert changes(ada)[:2] == ["member.joined", "member.invited"]


def test_every_address_is_answered_and_shown_the_same(ada: Browser, known: User, mails: list[tuple[str, str]]) -> None:
    half = unknown()
    people.find_or_create(half, "https://x")
    elsewhere = enter(new_organization(ada), "else", "admin").user.email
    answers = {email: invite(ada, email) for email in (known.email, unknown(), half, elsewhere)}

    assert {shape(one.text, email) for email, one in answers.items()} == {shape(answers[half].text, half)}
    assert {one.status_code for one in answers.values()} == {201}
    heads = [{name for name in one.headers if name != "x-request-id"} for one in answers.values()]
    assert all(head == heads[0] for head in heads)
    assert {shape(one.headers["location"], email) for email, one in answers.items()} == {f"{APP}/members/ID"}
    rows = listed(ada)
    assert {shape(str({**rows[email], "created_at": "TIME"}), email) for email in answers} == {
        shape(str({**rows[half], "created_at": "TIME"}), half)
    }


def new_organization(ada: Browser) -> str:
    made: str = ada.app.post(f"{APP}/organizations", json={"name": "Else"}).json()["id"]
    return made


def test_the_answer_to_an_invitation_comes_at_even_times(
    ada: Browser, known: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    now = [100.0]

    class Time:
        monotonic = staticmethod(lambda: now[0])
        sleep = staticmethod(slept.append)

    monkeypatch.setattr(invitations, "time", Time)
    monkeypatch.setattr(invitations, "_ANSWERED_EVERY_SECONDS", 2.0)
    original = people.mail_account

    def slow(seconds: float) -> Callable[[str, str], User | None]:
        def mail_account(email: str, url: str) -> User | None:
            now[0] += seconds
            return original(email, url)

        return mail_account

    for email, seconds in ((known.email, 0.25), (unknown(), 1.5)):
        monkeypatch.setattr(people, "mail_account", slow(seconds))
        assert invite(ada, email).status_code == 201

    assert slept == [1.75, 0.5]


def test_a_new_person_chooses_a_password_and_then_accepts(ada: Browser, mails: list[tuple[str, str]]) -> None:
    email = f"New-{new_id('usr')[-8:]}@Example.com"
    assert invite(ada, email).json()["name"] == email.lower()
    ((to, temporary),) = mails
    assert to == email.lower()
    with pytest.raises(people.NewPasswordNeeded) as needed:
        people.sign_in(email, temporary, "192.0.2.1", clock.now())
    session, _ = people.replace_temporary(needed.value.challenge, PASSWORD, clock.now())

    assert sessions.organizations(session) == []
    assert listed(ada)[email.lower()]["status"] == "invited"
    invitations.accept(session, ada.organization_id)

    assert [one.organization_id for one in sessions.organizations(session)] == [ada.organization_id]


def test_inviting_again_mails_again_until_a_password_was_chosen(ada: Browser, mails: list[tuple[str, str]]) -> None:
    email = unknown()
    answers = [invite(ada, email).json() for _ in range(2)]
    (_, first), (_, second) = mails
    assert first != second
    assert answers[0]["id"] == answers[1]["id"]

    with pytest.raises(people.NewPasswordNeeded) as needed:
        people.sign_in(email, second, "192.0.2.1", clock.now())
    session, _ = people.replace_temporary(needed.value.challenge, PASSWORD, clock.now())
    assert invite(ada, email).status_code == 201
    assert len(mails) == 2
    invitations.accept(session, ada.organization_id)
    assert invite(ada, email).json()["code"] == "already_member"


def test_what_others_invite_does_not_show(ada: Browser, mails: list[tuple[str, str]]) -> None:
    email, other = unknown(), enter(new_organization(ada), "bob", "admin")
    answers = [invite(other, email).status_code for _ in range(6)]

    assert answers == [201] * 5 + [429]
    assert invite(ada, email).status_code == 201
    assert len(mails) == 5


def test_an_invitation_is_for_its_address(ada: Browser, con: Browser, known: User) -> None:
    invite(ada, known.email, "admin")

    assert con.app.get(f"{APP}/invitations").json()["items"] == []
    assert con.app.post(f"{APP}/invitations/{ada.organization_id}/accept").status_code == 404
    assert con.app.request("DELETE", f"{APP}/invitations/{ada.organization_id}").status_code == 404


def test_a_command_line_answers_no_invitation(ada: Browser, known: User) -> None:
    invite(ada, known.email)
    other = signed_in(known, ada.organization_id)
    _, value = sessions.begin(known, "cli", clock.now(), ada.organization_id)
    other.app.headers["Authorization"] = f"Bearer {value}"

    assert other.app.get(f"{APP}/invitations").status_code == 403
    assert other.app.post(f"{APP}/invitations/{ada.organization_id}/accept").status_code == 403
    assert listed(ada)[known.email]["status"] == "invited"


def test_a_declined_invitation_is_gone_and_recorded(ada: Browser, known: User) -> None:
    invite(ada, known.email)
    hers = signed_in(known, ada.organization_id)

    assert hers.app.request("DELETE", f"{APP}/invitations/{ada.organization_id}").status_code == 204

    assert known.email not in listed(ada)
    assert hers.app.post(f"{APP}/invitations/{ada.organization_id}/accept").status_code == 404
    record = ada.app.get(f"{APP}/changes").json()["items"][0]
    assert (record["action"], record["actor_name"]) == ("invitation.declined", known.email)
    assert known.id not in str(record)


def test_a_withdrawn_invitation_cannot_be_accepted(ada: Browser, con: Browser, known: User) -> None:
    pending = invite(ada, known.email).json()["id"]

    assert con.app.delete(f"{APP}/members/{pending}").status_code == 403
    assert ada.app.delete(f"{APP}/members/{pending}").status_code == 204
    assert ada.app.delete(f"{APP}/members/{pending}").status_code == 404
    with pytest.raises(invitations.InvitationNotFound):
        invitations.accept(browser_of(known), ada.organization_id)
    assert changes(ada)[0] == "invitation.withdrawn"
    assert invitation_store.of_address(known.email) == []


def test_an_invitation_of_another_organization_is_not_there(ada: Browser, known: User) -> None:
    stranger = enter(new_organization(ada), "eve", "admin")
    pending = invite(ada, known.email).json()["id"]

    assert stranger.app.delete(f"{APP}/members/{pending}").status_code == 404
    assert stranger.app.patch(f"{APP}/members/{pending}", json={"role": "admin"}).status_code == 404
    assert invite(stranger, known.email).json()["id"] != pending


def test_an_invitation_expires_after_seven_days(ada: Browser, known: User, monkeypatch: pytest.MonkeyPatch) -> None:
    pending = invite(ada, known.email).json()["id"]
    session, later = browser_of(known), clock.now() + timedelta(days=7, seconds=1)
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: later)
        assert invitations.of_person(session) == []
        with pytest.raises(invitations.InvitationNotFound):
            invitations.accept(session, ada.organization_id)
        found = member_store.members(ada.organization_id, 100, None).entries
        assert pending not in [one.principal.id for one in found]


def test_the_role_that_was_shown_is_the_one_that_is_accepted(ada: Browser, known: User) -> None:
    pending = invite(ada, known.email).json()["id"]
    assert ada.app.patch(f"{APP}/members/{pending}", json={"role": "admin"}).json()["role"] == "admin"
    (offered,) = invitations.of_person(browser_of(known))

    assert (offered.role, invitations.accept(browser_of(known), ada.organization_id).role) == ("admin", "admin")
    organization = table.identity.get(keys.organization(ada.organization_id))
    assert organization is not None
    # Those who were made without the application are not counted.
    assert organization["admins"] == 2


def outcomes(*calls: Callable[[], object]) -> list[str]:
    """What becomes of calls at once: nothing, or the error's code."""

    def outcome(call: Callable[[], object]) -> str:
        try:
            call()
        except Exception as error:  # noqa: BLE001  a thread's error becomes its result, which is asserted
            return getattr(error, "code", repr(error))
        return ""

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(outcome, calls))


def test_accepting_twice_at_once_joins_once(ada: Browser, known: User) -> None:
    for _ in range(5):
        invite(ada, known.email, "admin")
        session = browser_of(known)

        found = outcomes(*[partial(invitations.accept, session, ada.organization_id)] * 6)

        assert sorted(found) == [""] + ["invitation_not_found"] * 5
        assert changes(ada).count("member.joined") == 1 + changes(ada).count("member.removed")
        assert ada.app.delete(f"{APP}/members/{known.id}").status_code == 204
        attempts.forget(attempts.INVITATION_OF_ACCOUNT, f"{ada.organization_id} {known.email}")


def test_withdrawing_and_accepting_at_once_one_of_them_wins(ada: Browser, known: User) -> None:
    caller = sessions.caller(browser_of(ada.user), ada.organization_id)
    session = browser_of(known)
    for _ in range(8):
        pending = invite(ada, known.email).json()["id"]

        accepted, withdrawn = outcomes(
            partial(invitations.accept, session, ada.organization_id), partial(invitations.withdraw, caller, pending)
        )

        joined = member_store.member(ada.organization_id, known.id) is not None
        assert (accepted == "", withdrawn == "") in ((True, False), (False, True))
        assert joined == (accepted == "")
        assert pending not in [one["id"] for one in listed(ada).values()]
        if joined:
            ada.app.delete(f"{APP}/members/{known.id}")
        attempts.forget(attempts.INVITATION_OF_ACCOUNT, f"{ada.organization_id} {known.email}")


def test_inviting_and_removing_at_once_leave_no_member(ada: Browser, known: User) -> None:
    caller = sessions.caller(browser_of(ada.user), ada.organization_id)
    session = browser_of(known)
    for _ in range(6):
        invite(ada, known.email)
        invitations.accept(session, ada.organization_id)

        outcomes(
            lambda: ada.app.delete(f"{APP}/members/{known.id}"),
            lambda: invitations.invite(caller, known.email, "admin", "https://x"),
        )

        assert member_store.member(ada.organization_id, known.id) is None
        attempts.forget(attempts.INVITATION_OF_ACCOUNT, f"{ada.organization_id} {known.email}")
