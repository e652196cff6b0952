"""Every endpoint with every kind of credential: the exact status, and the exact message where one is refused.

An endpoint that is not in the table fails the first test: whoever adds one says here what it takes. Ids in paths name
nothing and bodies are `{}`, so that the status of who is let in tells that they were, and nothing is changed.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import pytest
from fastapi.testclient import TestClient

from headgate.foundation import clock
from headgate.foundation.caller import Access, Caller, Role
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.identity import member_store, members, sessions
from headgate.identity import service as identity
from headgate.identity.model import Member, User
from tests.support.routes import operations

Takes = Literal["nothing", "read", "write", "person", "browser", "member", "admin"]
PUBLIC = "/api/v1/public"
APP = "/api/v1/app"
INSTALL = "/api/v1/fleet-install"

# What an endpoint takes, and the status of a request that is let in.
ENDPOINTS: dict[str, tuple[Takes, int]] = {
    f"GET {PUBLIC}/identity": ("read", 200),
    f"GET {PUBLIC}/configurations": ("read", 200),
    f"POST {PUBLIC}/configurations": ("write", 422),
    f"GET {PUBLIC}/configurations/{{configuration_id}}": ("read", 404),
    f"PATCH {PUBLIC}/configurations/{{configuration_id}}": ("write", 422),
    f"GET {PUBLIC}/configurations/{{configuration_id}}/versions": ("read", 404),
    f"POST {PUBLIC}/configurations/{{configuration_id}}/versions": ("write", 422),
    f"GET {PUBLIC}/configurations/{{configuration_id}}/versions/{{n}}": ("read", 404),
    f"PATCH {PUBLIC}/configurations/{{configuration_id}}/versions/{{n}}": ("write", 422),
    f"POST {PUBLIC}/configurations/{{configuration_id}}/versions/{{n}}/publish": ("write", 404),
    f"GET {PUBLIC}/configurations/{{configuration_id}}/versions/{{n}}/validation-pipelines": ("read", 404),
    f"PUT {PUBLIC}/configurations/{{configuration_id}}/versions/{{n}}/validation-pipelines/{{pipeline}}": (
        "write",
        422,
    ),
    f"POST {PUBLIC}/validate": ("read", 422),
    f"POST {PUBLIC}/ottl/lint": ("read", 422),
    f"POST {PUBLIC}/testing/runs": ("write", 422),
    f"GET {PUBLIC}/testing/runs/{{run_id}}": ("read", 404),
    f"GET {PUBLIC}/testing/runs/{{run_id}}/output": ("read", 404),
    f"GET {PUBLIC}/fleets": ("read", 200),
    f"POST {PUBLIC}/fleets": ("write", 422),
    f"GET {PUBLIC}/fleets/{{fleet_id}}": ("read", 404),
    f"GET {PUBLIC}/fleets/{{fleet_id}}/instances": ("read", 404),
    f"POST {PUBLIC}/fleets/{{fleet_id}}/install": ("write", 422),
    f"GET {PUBLIC}/fleets/{{fleet_id}}/deployments": ("read", 404),
    f"POST {PUBLIC}/fleets/{{fleet_id}}/deployments": ("write", 422),
    f"GET {PUBLIC}/fleets/{{fleet_id}}/deployments/{{deployment_id}}": ("read", 404),
    f"PATCH {PUBLIC}/fleets/{{fleet_id}}/deployments/{{deployment_id}}": ("write", 422),
    # No gallery is published here.
    f"GET {PUBLIC}/flows": ("read", 503),
    f"GET {PUBLIC}/flows/{{slug}}": ("read", 404),
    f"GET {APP}/session": ("person", 200),
    f"DELETE {APP}/session": ("person", 204),
    f"POST {APP}/organizations": ("admin", 422),
    f"GET {APP}/organization": ("member", 200),
    f"PATCH {APP}/organization": ("admin", 422),
    f"GET {APP}/members": ("member", 200),
    f"POST {APP}/members": ("admin", 422),
    f"GET {APP}/invitations": ("browser", 200),
    f"POST {APP}/invitations/{{organization_id}}/accept": ("browser", 404),
    f"DELETE {APP}/invitations/{{organization_id}}": ("browser", 404),
    f"PATCH {APP}/members/{{member_id}}": ("admin", 422),
    f"DELETE {APP}/members/{{member_id}}": ("admin", 404),
    f"GET {APP}/service-accounts": ("admin", 200),
    f"POST {APP}/service-accounts": ("admin", 422),
    f"GET {APP}/service-accounts/{{service_account_id}}": ("admin", 404),
    f"DELETE {APP}/service-accounts/{{service_account_id}}": ("admin", 404),
    f"GET {APP}/service-accounts/{{service_account_id}}/tokens": ("admin", 404),
    f"POST {APP}/service-accounts/{{service_account_id}}/tokens": ("admin", 422),
    f"DELETE {APP}/service-accounts/{{service_account_id}}/tokens/{{token_id}}": ("admin", 404),
    f"GET {APP}/changes": ("admin", 200),
    f"PUT {APP}/configurations/{{configuration_id}}/versions/{{n}}/validation-pipelines/{{pipeline}}": ("member", 422),
    f"PUT {APP}/fleets/{{fleet_id}}/deployments/{{deployment_id}}/volume-mounts": ("member", 422),
    f"POST {APP}/fleets/{{fleet_id}}/token": ("admin", 404),
    f"POST {APP}/device_authorization": ("nothing", 200),
    f"POST {APP}/token": ("nothing", 422),
    # The link itself is what lets in; here it has no signature.
    f"GET {INSTALL}/{{platform}}/{{deployment_id}}": ("nothing", 403),
    f"GET {INSTALL}/{{platform}}/{{deployment_id}}/{{name}}": ("nothing", 403),
}

UNAUTHENTICATED = (401, "The credential is missing, malformed, revoked or expired")
NO_ORGANIZATION = (400, "The header X-Service-Org must hold the id of one of your organizations")
NOT_A_MEMBER = (403, "You are not an active member of this organization")
NO_WRITE_ACCESS = (403, "This endpoint requires the 'write' claim")
NO_SESSION = (403, "This endpoint requires a session; an API token cannot use it")
NO_BROWSER = (403, "A session of the command line cannot do this; sign in with a browser")
NO_ADMIN = (403, "This needs the Admin role")

Refusal = tuple[int, str]
IN_ORGANIZATION: tuple[Takes, ...] = ("read", "write", "member", "admin")
EVERYWHERE: tuple[Takes, ...] = (*IN_ORGANIZATION, "person", "browser")
APPLICATION: tuple[Takes, ...] = ("person", "browser", "member", "admin")

# By kind of credential: what refuses it, by what the endpoint takes; it is let in elsewhere.
REFUSALS: dict[str, dict[Takes, Refusal]] = {
    "none": dict.fromkeys(EVERYWHERE, UNAUTHENTICATED),
    "malformed": dict.fromkeys(EVERYWHERE, UNAUTHENTICATED),
    "unknown token": dict.fromkeys(EVERYWHERE, UNAUTHENTICATED),
    "deleted token": dict.fromkeys(EVERYWHERE, UNAUTHENTICATED),
    "expired token": dict.fromkeys(EVERYWHERE, UNAUTHENTICATED),
    "token of a deleted service account": dict.fromkeys(EVERYWHERE, UNAUTHENTICATED),
    "token of a removed member": dict.fromkeys(EVERYWHERE, UNAUTHENTICATED),
    "read token": {"write": NO_WRITE_ACCESS, **dict.fromkeys(APPLICATION, NO_SESSION)},
    "read-write token": dict.fromkeys(APPLICATION, NO_SESSION),
    "contributor": {"admin": NO_ADMIN},
    "admin": {},
    "session without an organization": dict.fromkeys(IN_ORGANIZATION, NO_ORGANIZATION),
    "session with a malformed organization": dict.fromkeys(IN_ORGANIZATION, NO_ORGANIZATION),
    "session in another organization": dict.fromkeys(IN_ORGANIZATION, NOT_A_MEMBER),
    "session of a removed member": dict.fromkeys(IN_ORGANIZATION, NOT_A_MEMBER),
    "ended session": dict.fromkeys(EVERYWHERE, UNAUTHENTICATED),
    "command line": {"browser": NO_BROWSER},
    "command line without an organization": {"browser": NO_BROWSER, **dict.fromkeys(IN_ORGANIZATION, NO_ORGANIZATION)},
    "command line in another organization of the person": {
        "browser": NO_BROWSER,
        **dict.fromkeys(IN_ORGANIZATION, NOT_A_MEMBER),
    },
    "command line of before sessions kept their organization": dict.fromkeys(EVERYWHERE, UNAUTHENTICATED),
}


@dataclass(frozen=True)
class Organization:
    """An organization with an Admin, from whom everybody else here comes."""

    id: str
    admin: Caller

    def person(self, role: Role) -> User:
        user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
        member_store.put_user(user)
        principal = Principal("user", user.id, user.email)
        member_store.add_user(Member(self.id, principal, role, "active", clock.now()))
        return user

    def session(self, role: Role, named: str | None = "") -> dict[str, str]:
        return self.of(self.person(role), self.id if named == "" else named)

    def of(self, user: User, named: str | None) -> dict[str, str]:
        _, value = sessions.begin(user, "browser", clock.now())
        headers = {"Authorization": f"Bearer {value}"}
        return headers if named is None else headers | {"X-Service-Org": named}

    def command_line(self, approved: str | None, named: str | None) -> dict[str, str]:
        """Of an Admin of both organizations."""
        user = self.person("admin")
        if approved not in (self.id, None):
            by = Principal("user", user.id, user.email)
            member_store.add_user(Member(approved, by, "admin", "active", clock.now()))
        _, value = sessions.begin(user, "cli", clock.now(), approved)
        headers = {"Authorization": f"Bearer {value}"}
        return headers if named is None else headers | {"X-Service-Org": named}

    def token(self, access: Access, *, lives: bool = True) -> tuple[str, str, dict[str, str]]:
        """The ids of a new service account and of its token, and the header."""
        account = identity.create_service_account(self.id, "ci").id
        expires_at = None if lives else clock.now() - timedelta(seconds=1)
        token, value = identity.create_token(self.id, account, name="t", access=access, expires_at=expires_at)
        return account, token.id, {"Authorization": f"Bearer {value}"}


@pytest.fixture
def organization(organization_id: str) -> Organization:
    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    principal = Principal("user", user.id, user.email)
    member_store.add_user(Member(organization_id, principal, "admin", "active", clock.now()))
    session, _ = sessions.begin(user, "cli", clock.now(), organization_id)
    return Organization(organization_id, sessions.caller(session, organization_id))


def credential(kind: str, organization: Organization) -> dict[str, str]:
    """The headers of a new credential of that kind."""
    match kind:
        case "none":
            return {}
        case "malformed":
            return {"Authorization": "Bearer sv_short"}
        case "unknown token":
            return {"Authorization": f"Bearer sv_{'a' * 43}"}
        case "deleted token":
            account, token, headers = organization.token("read_write")
            identity.delete_token(organization.admin, account, token)
            return headers
        case "expired token":
            return organization.token("read_write", lives=False)[2]
        case "token of a deleted service account":
            account, _, headers = organization.token("read_write")
            identity.delete_service_account(organization.admin, account)
            return headers
        case "token of a removed member":
            account, _, headers = organization.token("read_write")
            members.remove(organization.admin, account)
            return headers
        case "read token":
            return organization.token("read")[2]
        case "read-write token":
            return organization.token("read_write")[2]
        case "contributor":
            return organization.session("contributor")
        case "admin":
            return organization.session("admin")
        case "session without an organization":
            return organization.session("admin", None)
        case "session with a malformed organization":
            return organization.session("admin", "Acme")
        case "session in another organization":
            return organization.session("admin", identity.create_organization("Other").id)
        case "session of a removed member":
            user = organization.person("contributor")
            members.remove(organization.admin, user.id)
            return organization.of(user, organization.id)
        case "ended session":
            session, value = sessions.begin(organization.person("admin"), "cli", clock.now(), organization.id)
            sessions.end(session)
            return {"Authorization": f"Bearer {value}", "X-Service-Org": organization.id}
        case "command line":
            return organization.command_line(organization.id, organization.id)
        case "command line without an organization":
            return organization.command_line(organization.id, None)
        case "command line in another organization of the person":
            return organization.command_line(identity.create_organization("Approved").id, organization.id)
        case "command line of before sessions kept their organization":
            return organization.command_line(None, organization.id)
    raise AssertionError(kind)


def request_path(path: str) -> str:
    """The path with ids that name nothing."""
    return path.format(
        configuration_id=new_id("cfg"),
        n=1,
        pipeline="logs",
        run_id=new_id("run"),
        fleet_id=new_id("flt"),
        deployment_id=new_id("dep"),
        slug="no-such-flow",
        member_id=new_id("usr"),
        organization_id=new_id("org"),
        service_account_id=new_id("sva"),
        token_id=new_id("tok"),
        platform="linux",
        name="chart",
    )


def test_every_endpoint_is_in_the_table() -> None:
    assert set(operations()) == set(ENDPOINTS)


@pytest.mark.parametrize("kind", REFUSALS)
@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_each_credential_gets_exactly_what_it_may(endpoint: str, kind: str, organization: Organization) -> None:
    takes, let_in = ENDPOINTS[endpoint]
    method, _, path = endpoint.partition(" ")
    http = TestClient(operations()[endpoint], raise_server_exceptions=False)
    body = {} if method in ("GET", "DELETE") else {"json": {}}

    response = http.request(method, request_path(path), headers=credential(kind, organization), **body)

    refusal = REFUSALS[kind].get(takes)
    if refusal is None:
        assert response.status_code == let_in, response.text
    else:
        assert (response.status_code, response.json()["detail"]) == refusal
        assert response.headers["cache-control"] == "no-store"
