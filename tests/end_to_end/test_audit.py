"""Every endpoint that changes something leaves a record: who, what, when, and by which credential.

An endpoint that is in neither table fails the first test: whoever adds one says here what it records, or why nothing.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import pytest

from headgate.foundation import clock
from tests.support.admin import YAML, Admin, Browser, Json
from tests.support.local_service import LocalService
from tests.support.routes import operations

pytestmark = pytest.mark.end_to_end

PUBLIC = "/api/v1/public"
APP = "/api/v1/app"
RULES = {"signal_type": "logs", "rules": [{"name": "r", "condition": "true"}]}


@dataclass(frozen=True)
class Change:
    """A request that an endpoint is tried with, and the action and the target of its record.

    The target may be the path that was asked for, or `{id}` of the answer.
    """

    path: str
    body: Json | None
    action: str
    target: str


def fleet_group(world: Admin) -> Json:
    at = world.published()
    return {"name": "g", "configuration_id": at.partition("/")[2], "version_number": 1}


def run_body() -> Json:
    return {"yaml": YAML, "sample": "x", "signal_type": "logs", "target_pipeline": "logs", "duration_seconds": 1}


def deletion_of_token(world: Admin) -> Change:
    account, token = world.token()
    return Change(f"{APP}/service-accounts/{account}/tokens/{token}", None, "token.deleted", token)


def of_public(path: str, body: Json | None, action: str, target: str = "") -> Change:
    return Change(f"{PUBLIC}/{path}", body, action, target or path)


def of_member(world: Admin, body: Json | None, action: str) -> Change:
    member = world.person()
    return Change(f"{APP}/members/{member}", body, action, member)


def of_account(world: Admin, action: str) -> Change:
    account = world.account()
    return Change(f"{APP}/service-accounts/{account}", None, action, account)


def of_fleet_token(world: Admin) -> Change:
    fleet = world.group().partition("/deployments")[0]
    return Change(f"{APP}/{fleet}/token", {"grace": "1d"}, "fleet.token_renewed", fleet)


def of_group(world: Admin) -> Change:
    group = world.group()
    return Change(f"{APP}/{group}/volume-mounts", {"volume_mounts": []}, "deployment.volume_mounts_changed", group)


def of_rules_by_hand(world: Admin) -> Change:
    version = f"{world.configuration()}/versions/1"
    return Change(f"{APP}/{version}/validation-pipelines/logs", RULES, "rules_by_hand.saved", version)


CHANGES: dict[str, Callable[[Admin], Change]] = {
    f"POST {PUBLIC}/configurations": lambda _: of_public(
        "configurations", {"name": "c", "yaml": YAML}, "configuration.created", "configurations/{id}"
    ),
    f"PATCH {PUBLIC}/configurations/{{configuration_id}}": lambda world: of_public(
        world.configuration(), {"name": "d"}, "configuration.changed"
    ),
    f"POST {PUBLIC}/configurations/{{configuration_id}}/versions": lambda world: of_public(
        f"{(at := world.configuration())}/versions", {"yaml": YAML}, "version.created", f"{at}/versions/2"
    ),
    f"PATCH {PUBLIC}/configurations/{{configuration_id}}/versions/{{n}}": lambda world: of_public(
        f"{world.configuration()}/versions/1", {"yaml": YAML}, "version.changed"
    ),
    f"POST {PUBLIC}/configurations/{{configuration_id}}/versions/{{n}}/publish": lambda world: of_public(
        f"{world.configuration()}/versions/1/publish", None, "version.published"
    ),
    f"PUT {PUBLIC}/configurations/{{configuration_id}}/versions/{{n}}/validation-pipelines/{{pipeline}}": (
        lambda world: of_public(f"{world.configuration()}/versions/1/validation-pipelines/logs", RULES, "rules.saved")
    ),
    f"POST {PUBLIC}/testing/runs": lambda _: of_public("testing/runs", run_body(), "run.started", "testing/runs/{id}"),
    f"POST {PUBLIC}/fleets": lambda _: of_public(
        "fleets", {"label": f"l {clock.now()}", "type": "server-supervisor"}, "fleet.created", "fleets/{id}"
    ),
    # The answer holds the fleet's token.
    f"POST {PUBLIC}/fleets/{{fleet_id}}/install": lambda world: of_public(
        f"{world.fleet()}/install", {"platform": "docker"}, "install.composed"
    ),
    f"POST {PUBLIC}/fleets/{{fleet_id}}/deployments": lambda world: of_public(
        f"{(at := world.fleet())}/deployments", fleet_group(world), "deployment.created", f"{at}/deployments/{{id}}"
    ),
    f"PATCH {PUBLIC}/fleets/{{fleet_id}}/deployments/{{deployment_id}}": lambda world: of_public(
        world.group(), {"name": "g"}, "deployment.changed"
    ),
    f"POST {APP}/organizations": lambda _: Change(
        f"{APP}/organizations", {"name": "o"}, "organization.created", "{id}"
    ),
    f"PATCH {APP}/organization": lambda world: Change(
        f"{APP}/organization", {"name": "Local"}, "organization.renamed", world.organization_id
    ),
    f"POST {APP}/members": lambda _: Change(
        f"{APP}/members", {"email": f"{clock.now().timestamp()}@example.com", "role": "admin"}, "member.invited", "{id}"
    ),
    f"PATCH {APP}/members/{{member_id}}": lambda world: of_member(world, {"role": "admin"}, "member.role_changed"),
    f"DELETE {APP}/members/{{member_id}}": lambda world: of_member(world, None, "invitation.withdrawn"),
    f"POST {APP}/service-accounts": lambda _: Change(
        f"{APP}/service-accounts", {"name": "ci"}, "service_account.created", "{id}"
    ),
    f"DELETE {APP}/service-accounts/{{service_account_id}}": lambda world: of_account(world, "service_account.deleted"),
    f"POST {APP}/service-accounts/{{service_account_id}}/tokens": lambda world: Change(
        f"{APP}/service-accounts/{world.account()}/tokens", {"name": "t"}, "token.created", "{id}"
    ),
    f"DELETE {APP}/service-accounts/{{service_account_id}}/tokens/{{token_id}}": deletion_of_token,
    f"PUT {APP}/configurations/{{configuration_id}}/versions/{{n}}/validation-pipelines/{{pipeline}}": of_rules_by_hand,
    f"PUT {APP}/fleets/{{fleet_id}}/deployments/{{deployment_id}}/volume-mounts": of_group,
    f"POST {APP}/fleets/{{fleet_id}}/token": of_fleet_token,
}

# Why there is no record.
NO_CHANGES = {
    f"POST {PUBLIC}/validate": "reads only",
    f"POST {PUBLIC}/ottl/lint": "reads only",
    f"POST {APP}/invitations/{{organization_id}}/accept": "recorded where it leads, tests/api/test_invitations.py",
    f"DELETE {APP}/invitations/{{organization_id}}": "recorded where it leads, tests/api/test_invitations.py",
    f"DELETE {APP}/session": "ends the person's own session, which is of no organization",
    f"POST {APP}/device_authorization": "begins a login of nobody yet",
    f"POST {APP}/token": "the record is that of the approval, test_an_approved_login_is_recorded",
}


@pytest.fixture(scope="module")
def world(service: LocalService) -> Iterator[Admin]:
    made = Admin(service)
    yield made
    made.http.close()


def test_every_endpoint_that_may_change_something_is_in_a_table() -> None:
    changing = {endpoint for endpoint in operations() if not endpoint.startswith("GET ")}

    assert changing == set(CHANGES) | set(NO_CHANGES)


@pytest.mark.parametrize("endpoint", CHANGES)
def test_a_change_is_recorded(endpoint: str, world: Admin) -> None:
    change = CHANGES[endpoint](world)
    before = world.newest()
    began = clock.rfc3339(clock.now())
    answer = world.http.request(endpoint.partition(" ")[0], change.path, json=change.body)
    record = world.newest()

    assert answer.is_success, answer.text
    assert record["id"] != before.get("id")
    assert record["action"] == change.action
    made = str(answer.json()["id"]) if "{id}" in change.target else ""
    assert record["target"] == change.target.replace("{id}", made)
    assert (record["actor_kind"], record["actor_name"], record["credential_name"]) == ("user", world.email, world.email)
    assert str(record["credential_id"]).startswith("ses_")
    assert began <= str(record["at"]) <= clock.rfc3339(clock.now())


@pytest.mark.parametrize("endpoint", CHANGES)
def test_what_is_refused_is_not_recorded(endpoint: str, world: Admin) -> None:
    change = CHANGES[endpoint](world)
    before = world.newest()
    answer = httpx.request(endpoint.partition(" ")[0], f"{world.http.base_url}{change.path}", json=change.body)

    assert answer.status_code == 401
    assert world.newest() == before


def test_a_token_is_recorded_as_its_service_account(service: LocalService, world: Admin) -> None:
    with service.client() as api:
        api.post("/configurations", json={"name": "c", "yaml": YAML})
    record = world.newest()

    assert (record["actor_kind"], record["actor_name"], record["credential_name"]) == (
        "service_account",
        "local",
        "local read-write",
    )


def test_an_approved_login_is_recorded(service: LocalService, world: Admin) -> None:
    known = json.loads((service.data / "sign-in.json").read_text())
    browser = Browser(service)
    browser.sign_in(known["email"], known["password"])
    code = httpx.post(f"{service.base_url}{APP}/device_authorization").json()["user_code"]
    form = {"user_code": code, "answer": "approve", "organization_id": world.organization_id}
    browser.post("/device", csrf=browser.csrf(f"/device?user_code={code}"), **form)

    assert (world.newest()["action"], world.newest()["actor_name"]) == ("login.approved", world.email)
