"""The record of changes says which version a group was assigned, and which it had before."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from application.app import app
from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.audit import store
from headgate.audit.model import AuditRecord
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.identity import member_store, sessions
from headgate.identity.model import Member as Membership
from headgate.identity.model import User
from headgate.storage import table
from tests.support import configurations as cfg
from tests.support.deployments import add, server
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith, Member
from web import visitor

pytestmark = pytest.mark.usefixtures("fleets_without_collector")


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([*fleets_routers, configurations_router])


def configuration(ann: Member, name: str, versions: int) -> str:
    made = cfg.create(ann, name)
    for n in range(2, versions + 1):
        assert cfg.append(ann, made, f"# {n}").status_code == 201
    for n in range(1, versions + 1):
        assert cfg.publish(ann, made, n).status_code == 200
    return made


def told(ann: Member) -> list[dict[str, str]]:
    """What the records of deployments tell, oldest first."""
    found = store.records(ann.organization_id, 100, None).entries
    return [dict(one.details) for one in reversed(found) if "deployment" in one.action]


def changes_page(ann: Member) -> str:
    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    principal = Principal("user", user.id, user.email)
    member_store.add_user(Membership(ann.organization_id, principal, "admin", "active", clock.now()))
    _, value = sessions.begin(user, "browser", clock.now())
    with TestClient(app, base_url="https://headgate.example", cookies={visitor.SESSION_COOKIE: value}) as http:
        response = http.get(f"/organizations/{ann.organization_id}/changes")
    assert response.status_code == 200, response.text
    return response.text


def test_each_change_of_an_assignment_tells_both_versions_by_name(ann: Member) -> None:
    edge, gateway = configuration(ann, "Edge", 2), configuration(ann, "Gateway & co", 1)
    at = server(ann)
    group = f"{at}/{add(ann, at, edge).json()['id']}"
    for body in (
        {"version_number": 2},
        {"configuration_id": gateway},
        {"name": "renamed"},
        {"configuration_id": None},
        {"configuration_id": edge, "version_number": 2},
    ):
        assert ann.http.patch(group, json=body).status_code == 200

    def now(one: str, name: str, n: int) -> dict[str, str]:
        return {"configuration_id": one, "configuration_name": name, "version_number": str(n)}

    def before(one: str, name: str, n: int) -> dict[str, str]:
        return {f"before_{field}": value for field, value in now(one, name, n).items()}

    assert told(ann) == [
        now(edge, "Edge", 1),
        before(edge, "Edge", 1) | now(edge, "Edge", 2),
        before(edge, "Edge", 2) | now(gateway, "Gateway & co", 1),
        {},
        before(gateway, "Gateway & co", 1),
        now(edge, "Edge", 2),
    ]
    page = " ".join(changes_page(ann).split())
    link = f'<a href="/organizations/{ann.organization_id}/configurations/{edge}/versions'
    assert f'assigned {link}/2">Edge version 2</a>; before: {link}/1">Edge version 1</a>' in page
    assert "assigned nothing; before: <a" in page
    assert "Gateway &amp; co version 1</a>" in page
    assert f'assigned {link}/2">Edge version 2</a>; before: nothing' in page


def test_racing_assignments_tell_what_each_really_replaced(ann: Member) -> None:
    """Whatever the order was, what was replaced is what another one of them assigned, or what was there."""
    edge = configuration(ann, "Edge", 13)
    at = server(ann)
    group = f"{at}/{add(ann, at, edge, n=13).json()['id']}"

    def assign(n: int) -> int:
        return int(ann.http.patch(group, json={"version_number": n}).status_code)

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(assign, range(1, 13)))
    recorded = told(ann)[1:]
    last = ann.http.get(group).json()["version_number"]

    assert len(recorded) == answers.count(200) > 1
    replaced = sorted(int(one["before_version_number"]) for one in recorded)
    assert sorted([*replaced, last]) == sorted([13, *(int(one["version_number"]) for one in recorded)])


def test_what_is_refused_tells_nothing(ann: Member) -> None:
    edge = configuration(ann, "Edge", 1)
    at = server(ann)
    group = f"{at}/{add(ann, at, edge).json()['id']}"

    assert ann.http.patch(group, json={"version_number": 9}).status_code == 404
    assert len(told(ann)) == 1


@pytest.mark.collector
def test_records_of_before_stay_readable(ann: Member) -> None:
    at, account = clock.now(), Principal("service_account", new_id("sva"), "ci")
    target = f"fleets/{new_id('flt')}/deployments/{new_id('dep')}"
    record = AuditRecord(
        new_id("aud"), ann.organization_id, at, account, "tok_1", "deploy key", "patch_deployment", target, {}
    )
    table.write(store.put(record))

    assert told(ann) == [{}]
    page = changes_page(ann)
    assert "patch_deployment" in page
    assert 'title="tok_1">deploy key<' in page
    assert target in page
    assert "assigned" not in page


def test_the_api_tells_it_too(ann: Member) -> None:
    edge = configuration(ann, "Edge", 1)
    add(ann, server(ann), edge)
    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    membership = Membership(ann.organization_id, Principal("user", user.id, user.email), "admin", "active", clock.now())
    member_store.add_user(membership)
    _, value = sessions.begin(user, "browser", clock.now())
    headers = {"Authorization": f"Bearer {value}", "X-Service-Org": ann.organization_id}
    with TestClient(app, headers=headers) as http:
        newest = http.get(f"{API.removesuffix('/public')}/app/changes").json()["items"][0]

    assert newest["details"] == {"configuration_id": edge, "configuration_name": "Edge", "version_number": "1"}
