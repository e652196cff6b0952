"""Organizations, members, service accounts and tokens, by the application's API on moto."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta

import pytest

from application.app import app as pages
from configurations.app import app as configurations
from headgate.audit import store as audit_store
from headgate.audit.model import AuditRecord
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.http import credentials
from headgate.identity import member_store, service_account_store, sessions
from headgate.identity import service as identity
from headgate.storage import aws, table
from identity.app import app as public
from tests.support.in_process import TestClient
from tests.support.organization_members import APP, IDENTITY, Browser, ada, con, enter
from tests.support.page_visitor import SESSION, SITE, send_form

__all__ = ["ada", "con"]


@dataclass(frozen=True)
class Account:
    path: str
    id: str
    token_id: str
    token: str


def add_account(ada: Browser, **token: object) -> Account:
    """A service account with a token, made over the API."""
    account = ada.app.post(f"{APP}/service-accounts", json={"name": "ci"}).json()["id"]
    path = f"{APP}/service-accounts/{account}"
    created = ada.app.post(f"{path}/tokens", json={"name": "deploy", **token})
    assert created.status_code == 201, created.text
    return Account(path, account, created.json()["id"], created.json()["value"])


def status_of(token: str) -> int:
    http = TestClient(public, headers={"Authorization": f"Bearer {token}"})
    return http.get(IDENTITY).status_code


def test_a_session_acts_as_its_user_in_the_organization_it_names(ada: Browser) -> None:
    assert ada.public.get(IDENTITY).json() == {
        "organization_id": ada.organization_id,
        "organization_name": "Acme",
        "kind": "user",
        "id": ada.user.id,
        "name": ada.user.email,
        "role": "admin",
        "access": "read_write",
    }


@pytest.mark.parametrize("header", [None, "", "Acme", "org_", "usr_01m7xn22mmew8vas67q9pf68d8", "ORG"])
def test_a_session_that_names_no_organization_is_400(ada: Browser, header: str | None) -> None:
    ada.public.headers.pop("x-service-org")
    response = ada.public.get(IDENTITY, headers={} if header is None else {"X-Service-Org": header})

    assert (response.status_code, response.json()["code"]) == (400, "organization_header")


@pytest.mark.parametrize("exists", [True, False])
def test_a_session_in_an_organization_of_others_is_403_whether_it_exists_or_not(ada: Browser, exists: bool) -> None:
    other = identity.create_organization("Other").id if exists else new_id("org")
    response = ada.public.get(IDENTITY, headers={"X-Service-Org": other})

    assert response.status_code == 403
    assert response.json()["detail"] == "You are not an active member of this organization"


def test_a_removed_person_is_403_at_once(ada: Browser, con: Browser) -> None:
    assert con.public.get(IDENTITY).status_code == 200
    assert ada.app.delete(f"{APP}/members/{con.user.id}").status_code == 204

    response = con.public.get(IDENTITY)
    assert response.status_code == 403
    assert response.json()["detail"] == "You are not an active member of this organization"


def test_a_session_ends_at_once_on_sign_out(ada: Browser) -> None:
    assert ada.app.delete(f"{APP}/session").status_code == 204

    assert ada.public.get(IDENTITY).status_code == 401


def test_a_session_ends_after_twelve_hours(ada: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    before = clock.now() + sessions.LIFETIME - timedelta(minutes=1)
    monkeypatch.setattr(credentials.clock, "now", lambda: before)
    assert ada.public.get(IDENTITY).status_code == 200

    monkeypatch.setattr(credentials.clock, "now", lambda: before + timedelta(minutes=2))
    assert ada.public.get(IDENTITY).status_code == 401


def test_a_person_has_several_organizations_with_a_role_in_each(ada: Browser, con: Browser) -> None:
    made = ada.app.post(f"{APP}/organizations", json={"name": "Beta"}).json()
    there = {"X-Service-Org": made["id"]}
    ada.app.post(f"{APP}/members", json={"email": con.user.email, "role": "admin"}, headers=there)
    con.app.post(f"{APP}/invitations/{made['id']}/accept")

    shown = con.app.get(f"{APP}/session").json()["organizations"]
    assert [(one["name"], one["role"]) for one in shown] == [("Acme", "contributor"), ("Beta", "admin")]
    assert con.public.get(IDENTITY, headers=there).json()["role"] == "admin"


def test_an_idempotency_key_is_good_in_one_organization(ada: Browser) -> None:
    other = ada.app.post(f"{APP}/organizations", json={"name": "Beta"}).json()["id"]
    http = TestClient(configurations, headers={**ada.app.headers, "Idempotency-Key": "k"})
    body = {"name": "Edge", "yaml": "a: b\n"}
    made = [
        http.post("/api/v1/public/configurations", json=body, headers={"X-Service-Org": one}).json()["id"]
        for one in (ada.organization_id, other)
    ]

    assert made[0] != made[1]
    assert http.get(f"/api/v1/public/configurations/{made[1]}").status_code == 404


# The four ways in which a token stops.


def test_a_deleted_token_stops_at_once(ada: Browser) -> None:
    account = add_account(ada)
    assert status_of(account.token) == 200

    assert ada.app.delete(f"{account.path}/tokens/{account.token_id}").status_code == 204
    assert status_of(account.token) == 401
    assert ada.app.get(f"{account.path}/tokens").json() == {"items": []}


def test_a_token_stops_when_it_expires(ada: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    at = clock.now() + timedelta(minutes=10)
    account = add_account(ada, expires_at=clock.rfc3339(at))
    assert status_of(account.token) == 200

    monkeypatch.setattr(credentials.clock, "now", lambda: at)
    assert status_of(account.token) == 401


def test_every_token_stops_at_once_when_its_service_account_is_deleted(ada: Browser) -> None:
    account = add_account(ada)
    values = [ada.app.post(f"{account.path}/tokens", json={"name": "t"}).json()["value"] for _ in range(39)]
    assert {status_of(value) for value in values} == {200}

    assert ada.app.delete(account.path).status_code == 204
    assert {status_of(value) for value in [account.token, *values]} == {401}
    assert ada.app.get(account.path).status_code == 404


def test_every_token_stops_at_once_when_the_member_is_removed_and_stays_so(ada: Browser) -> None:
    account = add_account(ada)
    assert ada.app.delete(f"{APP}/members/{account.id}").status_code == 204
    assert status_of(account.token) == 401
    assert ada.app.post(f"{account.path}/tokens", json={"name": "t"}).status_code == 404

    assert ada.app.post(f"{APP}/members", json={"service_account_id": account.id}).status_code == 201
    assert status_of(account.token) == 401
    again = ada.app.post(f"{account.path}/tokens", json={"name": "t"}).json()["value"]
    assert status_of(again) == 200


def test_a_token_made_while_its_account_is_deleted_does_not_outlive_it(ada: Browser) -> None:
    for _ in range(5):
        account = add_account(ada)
        with ThreadPoolExecutor(6) as pool:
            made = [pool.submit(ada.app.post, f"{account.path}/tokens", json={"name": "t"}) for _ in range(5)]
            deleted = pool.submit(ada.app.delete, account.path)
        assert deleted.result().status_code in (204, 503)
        if deleted.result().status_code == 204:
            values = [one.result().json()["value"] for one in made if one.result().status_code == 201]
            assert {status_of(value) for value in values} <= {401}


def test_tokens_that_are_created_at_once_all_exist(organization_id: str) -> None:
    # Each changes the account's revision: without pauses between the attempts, a quarter of thirty gave up.
    account = identity.create_service_account(organization_id, "busy")

    def create(number: int) -> str:
        return identity.create_token(organization_id, account.id, name=str(number), access="read")[0].id

    with ThreadPoolExecutor(20) as pool:
        created = list(pool.map(create, range(20)))

    listed = service_account_store.tokens(organization_id, account.id)
    assert sorted(created) == sorted(token.id for token in listed)


def test_an_account_has_at_most_forty_tokens(ada: Browser) -> None:
    account = add_account(ada)
    for _ in range(39):
        assert ada.app.post(f"{account.path}/tokens", json={"name": "t"}).status_code == 201

    response = ada.app.post(f"{account.path}/tokens", json={"name": "t"})
    assert (response.status_code, response.json()["code"]) == (409, "too_many_tokens")


def test_a_token_has_the_access_it_was_made_with_and_reads_otherwise(ada: Browser) -> None:
    values = add_account(ada).token, add_account(ada, write_access=True).token
    access = [
        TestClient(public, headers={"Authorization": f"Bearer {value}"}).get(IDENTITY).json()["access"]
        for value in values
    ]

    assert access == ["read", "read_write"]


def test_the_value_of_a_token_is_shown_once_and_kept_nowhere(ada: Browser) -> None:
    account = add_account(ada)
    listed = ada.app.get(f"{account.path}/tokens")

    assert account.token not in listed.text
    items = json.dumps(aws.dynamodb().scan(TableName=settings().identity_table)["Items"], default=str)
    assert account.token not in items
    assert account.token[3:] not in items
    assert ada.value[3:] not in items


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({}, ["body", "name"]),
        ({"name": ""}, ["body", "name"]),
        ({"name": "x" * 201}, ["body", "name"]),
        ({"name": "x", "write": True}, ["body", "write"]),
        ({"name": "x", "write_access": "yes"}, ["body", "write_access"]),
        ({"name": "x", "expires_at": "tomorrow"}, ["body", "expires_at"]),
        ({"name": "x", "expires_at": "2020-01-01T00:00:00.000Z"}, ["body", "expires_at"]),
    ],
)
def test_a_bad_token_is_422_naming_the_field(ada: Browser, body: dict[str, object], loc: list[str]) -> None:
    account = add_account(ada)
    response = ada.app.post(f"{account.path}/tokens", json=body)

    assert (response.status_code, response.json()["errors"][0]["loc"]) == (422, loc)


# Members.


def test_the_last_admin_can_neither_be_removed_nor_become_a_contributor(ada: Browser, con: Browser) -> None:
    path = f"{APP}/members/{ada.user.id}"

    assert ada.app.delete(path).json()["code"] == "last_admin"
    assert ada.app.patch(path, json={"role": "contributor"}).status_code == 409
    assert ada.app.patch(f"{APP}/members/{con.user.id}", json={"role": "admin"}).status_code == 200
    assert ada.app.patch(path, json={"role": "contributor"}).status_code == 200
    assert con.app.delete(f"{APP}/members/{con.user.id}").status_code == 409


def test_two_admins_who_remove_each_other_at_once_leave_one(organization_id: str) -> None:
    for _ in range(5):
        organization = identity.create_organization("Race").id
        two = enter(organization, "one", "admin"), enter(organization, "two", "admin")
        with ThreadPoolExecutor(2) as pool:
            pairs = ((two[0], two[1]), (two[1], two[0]))
            answers = list(pool.map(lambda pair: pair[0].app.delete(f"{APP}/members/{pair[1].user.id}"), pairs))

        assert sorted(answer.status_code for answer in answers)[0] == 204
        left = member_store.members(organization, 10, None).entries
        assert [member.role for member in left] == ["admin"]


def test_a_contributor_manages_nothing(ada: Browser, con: Browser) -> None:
    account = add_account(ada)
    answers = [
        con.app.post(f"{APP}/members", json={"email": "x@example.com", "role": "admin"}),
        con.app.patch(f"{APP}/members/{con.user.id}", json={"role": "admin"}),
        con.app.delete(f"{APP}/members/{ada.user.id}"),
        con.app.post(f"{APP}/service-accounts", json={"name": "mine"}),
        con.app.get(f"{account.path}/tokens"),
        con.app.post(f"{account.path}/tokens", json={"name": "mine"}),
        con.app.patch(f"{APP}/organization", json={"name": "Mine"}),
        con.app.get(f"{APP}/changes"),
    ]

    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(403, "admin_required")}


def test_another_organizations_things_are_404(ada: Browser) -> None:
    account = add_account(ada)
    eve = enter(identity.create_organization("Other").id, "eve", "admin")

    assert eve.app.get(account.path).status_code == 404
    assert eve.app.delete(account.path).status_code == 404
    assert eve.app.delete(f"{account.path}/tokens/{account.token_id}").status_code == 404
    assert eve.app.delete(f"{APP}/members/{ada.user.id}").status_code == 404
    assert status_of(account.token) == 200


def test_a_token_cannot_use_the_application(ada: Browser) -> None:
    account = add_account(ada, write_access=True)
    response = ada.app.get(f"{APP}/members", headers={"Authorization": f"Bearer {account.token}"})

    assert (response.status_code, response.json()["code"]) == (403, "session_required")


def test_a_new_name_of_the_organization_is_what_its_tokens_say_too(ada: Browser) -> None:
    account = add_account(ada)
    assert ada.app.patch(f"{APP}/organization", json={"name": "Acme 2"}).json()["name"] == "Acme 2"

    http = TestClient(public, headers={"Authorization": f"Bearer {account.token}"})
    assert http.get(IDENTITY).json()["organization_name"] == "Acme 2"


def test_members_are_paged(ada: Browser, con: Browser) -> None:
    add_account(ada)
    first = con.app.get(f"{APP}/members?limit=2").json()
    rest = con.app.get(f"{APP}/members", params={"cursor": first["next_cursor"]}).json()

    found = {one["name"] for one in first["items"] + rest["items"]}
    assert (len(first["items"]), found) == (2, {"ci", ada.user.email, con.user.email})


# The record of changes.


def test_every_change_is_recorded_with_who_what_when_and_the_credential(ada: Browser, con: Browser) -> None:
    account = add_account(ada)
    ada.app.delete(f"{account.path}/tokens/{account.token_id}")
    ada.app.delete(account.path)
    ada.app.patch(f"{APP}/members/{con.user.id}", json={"role": "admin"})
    ada.app.delete(f"{APP}/members/{con.user.id}")
    ada.app.patch(f"{APP}/organization", json={"name": "Renamed"})

    changes = ada.app.get(f"{APP}/changes").json()["items"]
    assert [change["action"] for change in changes] == [
        "organization.renamed",
        "member.removed",
        "member.role_changed",
        "service_account.deleted",
        "token.deleted",
        "token.created",
        "service_account.created",
    ]
    assert {change["actor_name"] for change in changes} == {ada.user.email}
    assert {change["credential_id"][:4] for change in changes} == {"ses_"}
    assert changes[3]["target"] == account.id
    assert account.token not in json.dumps(changes)


def test_a_change_by_the_public_api_is_recorded_with_its_token(ada: Browser) -> None:
    account = add_account(ada, write_access=True)
    http = TestClient(configurations, headers={"Authorization": f"Bearer {account.token}", "Idempotency-Key": "k"})
    for _ in range(2):
        made = http.post("/api/v1/public/configurations", json={"name": "Edge", "yaml": "a: b\n"}).json()["id"]
    http.get(f"/api/v1/public/configurations/{made}")
    http.patch(f"/api/v1/public/configurations/{made}", json={"nme": "x"})

    change, *_ = ada.app.get(f"{APP}/changes").json()["items"]
    assert (change["action"], change["target"], change["credential_id"], change["actor_kind"]) == (
        "configuration.created",
        f"configurations/{made}",
        account.token_id,
        "service_account",
    )
    assert [one["action"] for one in ada.app.get(f"{APP}/changes").json()["items"]].count("configuration.created") == 1


def test_a_record_from_before_actions_had_names_of_their_own_is_shown_as_it_was(ada: Browser) -> None:
    organization_id = ada.app.get(f"{APP}/organization").json()["id"]
    principal = Principal("service_account", new_id("sva"), "ci")
    target = "configurations/cfg_01jd4zq1n8e3vt0h9m5x7k2b6c/versions/1/publish"
    record = AuditRecord(
        new_id("aud"), organization_id, clock.now(), principal, new_id("tok"), "ci", "publish_version", target, {}
    )
    table.write(audit_store.put(record))

    change, *_ = ada.app.get(f"{APP}/changes").json()["items"]
    assert (change["id"], change["action"], change["target"]) == (record.id, "publish_version", target)


def test_a_refused_change_is_not_recorded(ada: Browser) -> None:
    refused = ada.app.delete(f"{APP}/members/{ada.user.id}")

    assert refused.status_code == 409, refused.text
    assert ada.app.get(f"{APP}/changes").json()["items"] == []


@pytest.mark.parametrize("email", ["nobody", "a b@example.com", "<a>@example.com", "n@a.b"])
def test_a_malformed_address_is_refused_by_its_field(ada: Browser, email: str) -> None:
    """The last one is for the user pool alone to refuse."""
    answer = ada.app.post(f"{APP}/members", json={"email": email, "role": "contributor"})

    assert (answer.status_code, answer.json()["errors"]) == (
        422,
        [{"loc": ["body", "email"], "message": "This is not an email address"}],
    )


def test_a_token_tells_who_created_it_and_who_holds_it(ada: Browser, con: Browser) -> None:
    account = add_account(ada, owner=con.user.email.upper())
    (token,) = ada.app.get(f"{account.path}/tokens").json()["items"]
    refused = ada.app.post(f"{account.path}/tokens", json={"name": "t", "owner": "nobody@example.com"})

    assert (token["created_by"]["id"], token["owner"]["id"]) == (ada.user.id, con.user.id)
    assert ada.app.get(account.path).json()["created_by"]["id"] == ada.user.id
    assert (refused.status_code, refused.json()["code"]) == (422, "owner_not_found")
    assert refused.json()["errors"][0]["loc"] == ["body", "owner"]


def test_the_page_of_a_service_account_names_who_holds_its_tokens(ada: Browser, con: Browser) -> None:
    account = add_account(ada)
    browser = TestClient(pages, raise_server_exceptions=False, base_url=SITE, cookies={SESSION: ada.value})
    page = f"/organizations/{ada.organization_id}/service-accounts/{account.id}"
    wrong = send_form(browser, page, "/tokens", name="nightly", owner="nobody@example.com")
    right = send_form(browser, page, "/tokens", name="nightly", owner=con.user.email)

    assert (wrong.status_code, "No member of the organization has this address" in wrong.text) == (422, True)
    assert 'value="nobody@example.com"' in wrong.text
    assert "Your new token" in right.text
    assert f'<td data-label="Held by">{con.user.email}</td>' in browser.get(page).text
