"""Sessions: ten for a person, whatever begins at once, and a command line's held to one organization."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from application.app import app
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.identity import logins, member_store, session_store, sessions
from headgate.identity import service as identity
from headgate.identity.model import Member, NotAuthenticated, Session, User
from headgate.storage import aws, items, table
from tests.support.in_process import TestClient
from tests.support.organization_members import APP, Browser, ada

__all__ = ["ada"]


def listed(user: User) -> list[session_store.SessionPlace]:
    return session_store.places(user.id)


def live(user: User) -> list[str]:
    """The ids of the person's sessions in the whole table, found without their listing."""
    rows = [items.unmarshal(item) for item in aws.dynamodb().scan(TableName=settings().identity_table)["Items"]]
    return sorted(str(item["session_id"]) for item in rows if item["sk"] == "session" and item["user_id"] == user.id)


def authenticates(value: str) -> bool:
    try:
        identity.authenticate(value, clock.now())
    except NotAuthenticated:
        return False
    return True


def caller_of(ada: Browser) -> Caller:
    session, _ = sessions.begin(ada.user, "browser", clock.now())
    return sessions.caller(session, ada.organization_id)


@pytest.fixture
def begin(ada: Browser) -> Callable[[int], tuple[Session, str]]:
    """Begins a session of Ada's: a browser's by even numbers, a command line's by odd ones."""

    def begin(number: int) -> tuple[Session, str]:
        if number % 2:
            return sessions.begin(ada.user, "cli", clock.now(), ada.organization_id)
        return sessions.begin(ada.user, "browser", clock.now())

    return begin


def test_a_new_session_ends_the_oldest_of_ten(ada: Browser, begin: Callable[[int], tuple[Session, str]]) -> None:
    values = [begin(number)[1] for number in range(12)]

    assert [authenticates(value) for value in values] == [False] * 2 + [True] * 10
    assert not authenticates(ada.value)


def test_twenty_sign_ins_at_once_leave_the_ten_newest(
    ada: Browser, begin: Callable[[int], tuple[Session, str]]
) -> None:
    with ThreadPoolExecutor(20) as pool:
        begun = list(pool.map(begin, range(20)))

    assert len(live(ada.user)) == 10
    assert live(ada.user) == sorted(session.id for session, _ in begun)[-10:]
    assert len(listed(ada.user)) == 10
    assert sum(authenticates(value) for _, value in begun) == 10


def test_never_more_than_ten_are_live_while_others_begin(
    ada: Browser, begin: Callable[[int], tuple[Session, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    most: list[int] = []
    original = table.transact

    def seen(*given: Any) -> None:
        original(*given)
        most.append(len(live(ada.user)))

    monkeypatch.setattr(table, "transact", seen)
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(begin, range(24)))

    assert max(most) <= 10


def test_a_session_whose_place_was_taken_before_it_began_takes_another(
    ada: Browser, begin: Callable[[int], tuple[Session, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = sessions._end_the_oldest

    def overtaken(user: User) -> None:
        original(user)
        monkeypatch.setattr(sessions, "_end_the_oldest", original)
        for number in range(10):
            begin(number)

    monkeypatch.setattr(sessions, "_end_the_oldest", overtaken)
    _, value = begin(0)

    assert authenticates(value)
    assert len(live(ada.user)) == len(listed(ada.user)) == 10


def test_logins_of_the_command_line_count_too(ada: Browser) -> None:
    caller = caller_of(ada)
    devices = [logins.begin_device("192.0.2.1", clock.now()) for _ in range(12)]
    for device in devices:
        logins.approve_device(caller, device.user_code, clock.now())

    with ThreadPoolExecutor(12) as pool:
        granted = list(pool.map(lambda one: logins.redeem_device(one.device_code, clock.now()), devices))

    assert len(live(ada.user)) == 10
    assert {one.organization_id for one in granted} == {ada.organization_id}
    assert {one.session.organization_id for one in granted} == {ada.organization_id}


def test_a_login_that_was_used_begins_no_session_and_leaves_no_place(ada: Browser) -> None:
    device = logins.begin_device("192.0.2.1", clock.now())
    logins.approve_device(caller_of(ada), device.user_code, clock.now())

    def redeem(_: int) -> bool:
        try:
            return bool(logins.redeem_device(device.device_code, clock.now()))
        except logins.Expired:
            return False

    with ThreadPoolExecutor(6) as pool:
        granted = list(pool.map(redeem, range(6)))

    assert granted.count(True) == 1
    assert len(listed(ada.user)) == len(live(ada.user))


def second_organization(ada: Browser) -> str:
    other = identity.create_organization("Beta").id
    by = Principal("user", ada.user.id, ada.user.email)
    member_store.add_user(Member(other, by, "admin", "active", clock.now()))
    return other


def test_a_command_line_makes_no_token_in_another_organization_of_its_person(ada: Browser) -> None:
    other = second_organization(ada)
    account = identity.create_service_account(other, "ci").id
    _, value = sessions.begin(ada.user, "cli", clock.now(), ada.organization_id)
    headers = {"Authorization": f"Bearer {value}", "X-Service-Org": other}
    http = TestClient(app, headers=headers)

    made = http.post(f"{APP}/service-accounts/{account}/tokens", json={"name": "mine", "write_access": True})

    assert (made.status_code, made.json()["detail"]) == (403, "You are not an active member of this organization")
    assert http.post(f"{APP}/service-accounts", json={"name": "mine"}).status_code == 403
    named = [one["id"] for one in http.get(f"{APP}/session").json()["organizations"]]
    assert named == [ada.organization_id]


def test_a_browser_acts_in_every_organization_of_its_person(ada: Browser) -> None:
    other = second_organization(ada)

    answer = ada.app.get(f"{APP}/service-accounts", headers={"X-Service-Org": other})

    assert answer.status_code == 200


def test_a_command_lines_session_without_an_organization_has_to_sign_in_again(ada: Browser) -> None:
    _, value = sessions.begin(ada.user, "cli", clock.now())

    assert not authenticates(value)


def test_ending_a_persons_sessions_ends_those_that_are_beginning(ada: Browser) -> None:
    def begin(_: int) -> str | None:
        try:
            return sessions.begin(ada.user, "browser", clock.now())[1]
        except NotAuthenticated:
            return None

    with ThreadPoolExecutor(9) as pool:
        before = [pool.submit(begin, number) for number in range(4)]
        ended = pool.submit(sessions.end_all, ada.user)
        values = [one.result() for one in before]
        ended.result()

    assert len(listed(ada.user)) == len(live(ada.user))
    assert sum(authenticates(value) for value in values if value) == len(live(ada.user))
