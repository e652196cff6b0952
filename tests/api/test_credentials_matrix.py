"""Every endpoint with every kind of credential: the exact status, and the exact message where one is refused.

Ids in paths name nothing and bodies are `{}`, so that the status of who is let in tells that they were, and nothing is
changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import pytest

from headgate.foundation import clock
from headgate.foundation.caller import Access, Caller, Role
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.identity import member_store, members, sessions
from headgate.identity import service as identity
from headgate.identity.model import Member, User
from headgate_local import template
from tests.support.endpoint import Endpoint, Takes
from tests.support.endpoints import ENDPOINTS
from tests.support.in_process import TestClient
from tests.support.routes import operations

Headers = dict[str, str]
SIGN_OUT = "DELETE /api/v1/app/session"

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
        """The headers of a command line session of an Admin of both organizations."""
        user = self.person("admin")
        if approved not in (self.id, None):
            by = Principal("user", user.id, user.email)
            member_store.add_user(Member(approved, by, "admin", "active", clock.now()))
        _, value = sessions.begin(user, "cli", clock.now(), approved)
        headers = {"Authorization": f"Bearer {value}"}
        return headers if named is None else headers | {"X-Service-Org": named}

    def token(self, access: Access, *, lives: bool = True) -> tuple[str, str, Headers]:
        """The ids of a new service account and of its token, and the header."""
        account = identity.create_service_account(self.id, "ci").id
        expires_at = None if lives else clock.now() - timedelta(seconds=1)
        token, value = identity.create_token(self.id, account, name="t", access=access, expires_at=expires_at)
        return account, token.id, {"Authorization": f"Bearer {value}"}


@pytest.fixture(scope="module")
def organization(aws_here: template.Template) -> Organization:
    organization_id = identity.create_organization("Acme").id
    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    principal = Principal("user", user.id, user.email)
    member_store.add_user(Member(organization_id, principal, "admin", "active", clock.now()))
    session, _ = sessions.begin(user, "cli", clock.now(), organization_id)
    return Organization(organization_id, sessions.caller(session, organization_id))


@pytest.fixture(scope="module")
def credentials(organization: Organization) -> Mapping[str, Headers]:
    """One of each kind. No request here changes one, but for signing out."""
    return {kind: credential(kind, organization) for kind in REFUSALS}


def credential(kind: str, organization: Organization) -> Headers:
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
        suite_id=new_id("job"),
        comparison_id=new_id("job"),
        coverage_id=new_id("job"),
        fleet_id=new_id("flt"),
        deployment_id=new_id("dep"),
        instance_id=new_id("ins"),
        rollout_id=new_id("rol"),
        order_id=new_id("ord"),
        capture_id=new_id("cap"),
        webhook_id=new_id("whk"),
        delivery_id=new_id("dlv"),
        slug="no-such-flow",
        kind="receiver",
        type="no_such_receiver",
        member_id=new_id("usr"),
        organization_id=new_id("org"),
        service_account_id=new_id("sva"),
        token_id=new_id("tok"),
        platform="linux",
        name="chart",
        test_name="none",
    )


# Reference and versions ask the collector.
@pytest.mark.collector
@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.label)
def test_each_credential_gets_exactly_what_it_may(
    endpoint: Endpoint, organization: Organization, credentials: Mapping[str, Headers]
) -> None:
    path = request_path(endpoint.label.partition(" ")[2])
    http = TestClient(operations()[endpoint.label], raise_server_exceptions=False)
    body = {} if endpoint.method in ("GET", "DELETE") else {"json": {}}
    expected, found = {}, {}
    for kind, refusals in REFUSALS.items():
        headers = credential(kind, organization) if endpoint.label == SIGN_OUT else credentials[kind]
        response = http.request(endpoint.method, path, headers=headers, **body)
        refusal = refusals.get(endpoint.takes)
        expected[kind] = (*refusal, "no-store") if refusal else (endpoint.unfilled,)
        found[kind] = (response.status_code,)
        if refusal:
            found[kind] += (response.json().get("detail"), response.headers.get("cache-control"))

    assert found == expected
