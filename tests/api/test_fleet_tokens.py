"""A fleet's token is renewed: by whom, how long the one before goes on, and what installs show."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from fleets.app import app
from headgate.audit import service as audit
from headgate.fleets import service, tokens
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.identity import member_store, sessions
from headgate.identity.model import Member, User
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.in_process import TestClient
from tests.support.members import API

__all__ = ["ann", "fleet", "now"]


def person(organization_id: str, role: str) -> tuple[Caller, dict[str, str]]:
    """Signed in: as a caller, and the headers of the session."""
    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    found = Principal("user", user.id, user.email)
    member_store.add_user(
        Member(organization_id, found, "admin" if role == "admin" else "contributor", "active", clock.now())
    )
    begun, value = sessions.begin(user, "cli", clock.now(), organization_id)
    return sessions.caller(begun, organization_id), {
        "Authorization": f"Bearer {value}",
        "X-Service-Org": organization_id,
    }


@pytest.fixture
def caller(fleet: Fleet, organization_id: str) -> Caller:
    return person(organization_id, "admin")[0]


def status(fleet: Fleet, generation: int) -> int:
    """What a collector with that token is answered."""
    message = fleet.agent().full().SerializeToString()
    return fleet.post(message, token=tokens.value_of(fleet.id, generation)).status_code


def shown(fleet: Fleet) -> str:
    asked = {"platform": "docker", "deployment_id": fleet.deployment_id}
    return str(fleet.member.http.post(f"{API}/fleets/{fleet.id}/install", json=asked).json()["command"])


def test_the_token_before_goes_on_for_the_grace_and_installs_show_the_new_one(
    fleet: Fleet, now: Clock, organization_id: str
) -> None:
    _, headers = person(organization_id, "admin")
    http = TestClient(app, raise_server_exceptions=False, headers=headers)
    answer = http.post(f"/api/v1/app/fleets/{fleet.id}/token", json={})

    assert answer.status_code == 200, answer.text
    assert answer.json() == fleet.member.http.get(f"{API}/fleets/{fleet.id}").json()
    assert tokens.value_of(fleet.id, 2) in shown(fleet)
    assert "ft_" not in answer.text
    assert (status(fleet, 1), status(fleet, 2), status(fleet, 3)) == (200, 200, 401)
    now.moves(days=1)
    assert (status(fleet, 1), status(fleet, 2)) == (401, 200)


def test_without_a_grace_every_token_before_stops_at_once(fleet: Fleet, caller: Caller) -> None:
    service.renew_token(caller, fleet.id, "7d")
    service.renew_token(caller, fleet.id, "1d")
    assert [status(fleet, generation) for generation in (1, 2, 3)] == [200, 200, 200]

    service.renew_token(caller, fleet.id, "none")
    assert [status(fleet, generation) for generation in (1, 2, 3, 4)] == [401, 401, 401, 200]


def test_at_once_ends_every_token_however_often_somebody_renewed_before(fleet: Fleet, caller: Caller) -> None:
    # Whoever leaves could else keep an old token going for a week, out of the reach of whoever cleans up.
    for _ in range(52):
        service.renew_token(caller, fleet.id, "7d")
    assert (status(fleet, 4), status(fleet, 52)) == (200, 200)

    service.renew_token(caller, fleet.id, "none")
    assert {status(fleet, generation) for generation in range(1, 54)} == {401}
    assert status(fleet, 54) == 200


def test_a_renewed_token_has_its_whole_lifetime_again(fleet: Fleet, caller: Caller, now: Clock) -> None:
    made = fleet.member.http.post(
        f"{API}/fleets", json={"label": "For a while", "type": "server-supervisor", "expires_in": "180d"}
    ).json()
    now.moves(days=179, hours=12)
    renewed = service.renew_token(caller, made["id"], "7d")

    assert renewed.token_expires_at is not None
    assert (renewed.token_expires_at - now.at).days == 180
    # The old one ends when it would have ended, not a week later.
    old = tokens.value_of(made["id"], 1)
    group = fleet.member.http.get(f"{API}/fleets/{made['id']}/deployments").json()["items"][0]["id"]
    message = fleet.agent().full().SerializeToString()
    headers = {"authorization": f"Bearer {old}", "x-deployment-id": group, "content-type": "application/x-protobuf"}
    assert fleet.http.post("/v1/opamp", content=message, headers=headers).status_code == 200
    now.moves(hours=13)
    assert fleet.http.post("/v1/opamp", content=message, headers=headers).status_code == 401


def test_only_admins_renew_and_a_grace_is_one_of_three(fleet: Fleet, organization_id: str) -> None:
    path = f"/api/v1/app/fleets/{fleet.id}/token"
    for role, body, expected in (("contributor", {}, 403), ("admin", {"grace": "2d"}, 422)):
        _, headers = person(organization_id, role)
        http = TestClient(app, raise_server_exceptions=False, headers=headers)
        assert http.post(path, json=body).status_code == expected
    assert (status(fleet, 1), status(fleet, 2)) == (200, 401)


def test_a_request_that_is_repeated_under_a_key_renews_once(fleet: Fleet, now: Clock, organization_id: str) -> None:
    _, headers = person(organization_id, "admin")
    http = TestClient(app, raise_server_exceptions=False, headers=headers)
    group = fleet.add_group("own", 1)
    stored = fleet.member.http.patch(f"{API}/fleets/{fleet.id}/deployments/{group}/env", json={"variables": {"A": "b"}})
    assert stored.status_code == 200
    for path, owner in ((f"/fleets/{fleet.id}", fleet.id), (f"/fleets/{fleet.id}/deployments/{group}", group)):
        key = {"Idempotency-Key": owner}

        def renew(_: int, path: str = path, key: dict[str, str] = key) -> tuple[int, object]:
            answer = http.post(f"{API}{path}/token", json={"grace": "1d"}, headers=key)
            return answer.status_code, answer.json().get("code", "")

        with ThreadPoolExecutor(4) as pool:
            answers = {*pool.map(renew, range(4))}
        assert answers <= {(200, ""), (409, "idempotency_key_in_use")}
        # Somebody who lost the answers asks again.
        assert renew(0) == (200, "")
        shown = http.get(f"{API}{path}/token").json()
        assert shown["token_id"] == tokens.current_id(owner, 2)
        another = http.post(f"{API}{path}/token", json={"grace": "none"}, headers=key)
        assert (another.status_code, another.json()["code"]) == (422, "idempotency_key_reused")


def test_the_change_is_recorded(fleet: Fleet, caller: Caller) -> None:
    service.renew_token(caller, fleet.id, "none")

    newest = audit.records(caller, 1, None).entries[0]
    assert (newest.action, newest.target, newest.details) == (
        "fleet.token_renewed",
        f"fleets/{fleet.id}",
        {"grace": "none"},
    )


def test_of_many_who_renew_at_once_each_gets_a_token_of_its_own_and_one_is_left(fleet: Fleet, caller: Caller) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: service.renew_token(caller, fleet.id, "none").token_generation, range(8)))

    assert sorted(made) == list(range(2, 10))
    assert [status(fleet, generation) for generation in range(1, 11)] == [401] * 8 + [200, 401]


def test_collectors_that_report_while_it_is_renewed_are_answered_or_refused(fleet: Fleet, caller: Caller) -> None:
    agent = fleet.agent()
    agent.start()
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(status, fleet, 1) for _ in range(20)]
        renewed = pool.submit(service.renew_token, caller, fleet.id, "none")
        answers += [pool.submit(status, fleet, 1) for _ in range(20)]
        renewed.result()

    assert {answer.result() for answer in answers} <= {200, 401, 503}
    assert status(fleet, 1) == 401
