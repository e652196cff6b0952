"""Two organizations: what one of them holds does not exist for the other, by whatever way it is asked for.

Both hold one of everything. Every endpoint and every page that takes an id is asked with every mixture of own and
foreign ids, and has to answer 404 or 403; one that is not in the tables here fails the first test. What the owner sees
afterwards is what it saw before.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from httpx2 import Response

from headgate.foundation import clock
from headgate.identity import logins, sessions, signing
from headgate.installs.links import Link
from headgate_local import template
from tests.support.endpoint import Endpoint
from tests.support.endpoints import CONFIGURATION, ENDPOINTS, RUN
from tests.support.fleet_endpoints import FLEET
from tests.support.in_process import TestClient
from tests.support.routes import pages
from tests.support.world import (
    A_TEST,
    APP,
    PUBLIC,
    YAML,
    Headers,
    World,
    agent,
    bearer,
    founded,
    joined,
    report,
    service,
    session_of,
)

pytestmark = pytest.mark.collector

_STARTED: Final = clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
# What takes ids in its path.
WITH_IDS: Final = [endpoint for endpoint in ENDPOINTS if endpoint.has_ids]
# What takes no id, and shows or makes what is the caller's own.
OWN: Final = [endpoint for endpoint in ENDPOINTS if not (endpoint.has_ids or endpoint.isolated or endpoint.ids_in_body)]
# Pages of no organization: signing in and out, and approving the login of a command line, which is looked at below.
PAGES_ELSEWHERE: Final = {
    *(
        "/",
        "/style.css",
        "/assets/{name}",
        "/style",
        "/account",
        "/account/look",
        "/docs",
        "/docs/{name}",
        "/sign-in",
        "/sign-in/new-password",
        "/sign-out",
        "/forgot-password",
        "/reset-password",
    ),
    *("/device", "/login", f"{PUBLIC}/openapi.json"),
    *("/invitations", "/invitations/{organization_id}/accept", "/invitations/{organization_id}/decline"),
}
LISTS: Final = [
    f"{PUBLIC}/configurations",
    f"{CONFIGURATION}/versions",
    f"{PUBLIC}/fleets",
    f"{FLEET}/instances",
    f"{FLEET}/deployments",
    f"{PUBLIC}/testing/runs",
    f"{APP}/members",
    f"{APP}/service-accounts",
    f"{APP}/changes",
]
CREDENTIALS: Final[dict[str, Callable[[World], Headers]]] = {
    "admin": lambda world: world.admin,
    "contributor": lambda world: world.person("contributor"),
    "token": lambda world: world.token("read_write"),
}


@pytest.fixture(scope="module")
def http(aws_here: template.Template) -> Iterator[TestClient]:
    with service(aws_here) as http:
        yield http


@pytest.fixture(scope="module")
def owner(http: TestClient) -> World:
    """The organization whose everything is tried to get at."""
    world = founded(http, "Owner")
    # A second one of each kind, for a list of one page has no cursor.
    world.call(world.admin, "POST", f"{APP}/service-accounts", 201, {"name": "second"})
    world.call(world.admin, "POST", f"{PUBLIC}/testing/runs", 202, {**RUN, "yaml": YAML})
    agent(http, world.ids["fleet_id"], world.ids["deployment_id"]).start()
    return world


@pytest.fixture(scope="module")
def stranger(http: TestClient) -> World:
    """The organization that tries."""
    return founded(http, "Stranger")


@pytest.fixture(scope="class")
def untouched(owner: World, stranger: World) -> Iterator[None]:
    """What the owner sees is the same before and after all tests of a class: reading it takes as long as a test."""
    before = seen(owner)
    yield
    assert seen(owner) == before


def seen(world: World) -> dict[str, Any]:
    """Everything that can be read of what an organization holds, the record of changes included."""
    reads = [one for one in (*WITH_IDS, *OWN) if one.method == "GET" and not one.label.endswith("/flows")]
    paths = [path_of(one.label, world.ids | _right_ids(one, world)) for one in reads]
    # Numbers over time are of the same time, costs say up to when they are, and states of a day at which times.
    paths = [f"{path}?to={_STARTED}" if path.endswith("/series") else path for path in paths]
    texts = {path: world.http.get(path, headers=dict(world.admin)).text for path in paths}
    moving = {path: r'"at":"[^"]*"' if path.endswith("/states") else r'"end":"[^"]*"' for path in paths}
    return {path: re.sub(moving[path], "", text) for path, text in texts.items()}


def _right_ids(one: Endpoint, world: World) -> dict[str, str]:
    """The ids with which a read finds something, if they are not the world's own of the same names."""
    return {name: world.ids[of] for name, of in one.requests[0].ids.items() if of in world.ids}


def path_of(label: str, ids: dict[str, str]) -> str:
    constants = {"n": "2", "pipeline": "logs", "platform": "linux", "name": "install.sh", "test_name": A_TEST}
    return label.partition(" ")[2].format(**{**constants, **ids})


def mixtures(label: str, owner: World, stranger: World) -> Iterator[dict[str, str]]:
    """The ids of a path, each the owner's or the stranger's, and one at least the owner's."""
    names = [name for name in re.findall(r"{(\w+)}", label) if name in owner.ids]
    for worlds in itertools.product((owner, stranger), repeat=len(names)):
        if owner in worlds:
            yield {name: world.ids[name] for name, world in zip(names, worlds, strict=True)}


def ask(world: World, headers: Headers, label: str, ids: dict[str, str], body: object) -> Response:
    return world.http.request(label.partition(" ")[0], path_of(label, ids), headers=dict(headers), json=body)


def nothing_of(owner: World, response: Response, given: Sequence[str] = ()) -> None:
    """The answer names nothing of the owner's but what the request named."""
    secrets = {owner.organization_id, "Owner", "secret of the owner", *owner.ids.values()} - set(given)
    assert not [one for one in secrets if one in response.text], response.text


def test_every_page_is_of_an_organization_or_known_to_be_of_none() -> None:
    paths = {path for _, path in pages({"GET", "POST"})}

    assert len([path for path in paths if path.startswith("/organizations/{organization_id}")]) > 15
    assert {path for path in paths if not path.startswith("/organizations/{organization_id}")} == PAGES_ELSEWHERE


@pytest.mark.usefixtures("untouched")
class TestNothingOfTheOwnersChanges:
    @pytest.mark.parametrize("kind", CREDENTIALS)
    def test_ids_of_another_organization_name_nothing(
        self, kind: str, owner: World, stranger: World, subtests: pytest.Subtests
    ) -> None:
        headers = CREDENTIALS[kind](stranger)
        for endpoint in WITH_IDS:
            for ids in mixtures(endpoint.label, owner, stranger):
                with subtests.test(endpoint.label, ids=ids):
                    response = ask(stranger, headers, endpoint.label, ids, endpoint.right_body(stranger))

                    assert response.status_code in (403, 404), response.text
                    nothing_of(owner, response, list(ids.values()))

    @pytest.mark.parametrize("kind", CREDENTIALS)
    def test_ids_of_another_organization_name_nothing_in_bodies(
        self, kind: str, owner: World, stranger: World, subtests: pytest.Subtests
    ) -> None:
        headers = CREDENTIALS[kind](stranger)
        for endpoint in ENDPOINTS:
            if not endpoint.ids_in_body:
                continue
            with subtests.test(endpoint.label):
                ids = {name: owner.ids[name] for name in endpoint.ids_in_body}
                response = ask(stranger, headers, endpoint.label, stranger.ids, {**endpoint.beside_ids, **ids})

                assert response.status_code in (403, 404), response.text
                nothing_of(owner, response, list(ids.values()))

    def test_what_takes_no_id_shows_and_makes_what_is_ones_own(
        self, owner: World, stranger: World, subtests: pytest.Subtests
    ) -> None:
        for endpoint in OWN:
            with subtests.test(endpoint.label):
                response = ask(stranger, stranger.admin, endpoint.label, {}, endpoint.right_body(stranger))

                assert response.status_code == endpoint.requests[0].status, response.text
                nothing_of(owner, response)

    def test_a_session_cannot_name_an_organization_of_others(
        self, owner: World, stranger: World, subtests: pytest.Subtests
    ) -> None:
        for endpoint in (*WITH_IDS, *OWN):
            # A person's session is theirs, whatever organization is named.
            if endpoint.takes == "person":
                continue
            with subtests.test(endpoint.label):
                headers = {**stranger.admin, "X-Service-Org": owner.organization_id}
                response = ask(stranger, headers, endpoint.label, owner.ids, endpoint.right_body(owner))

                assert (response.status_code, response.json()["code"]) == (403, "not_an_active_member")

    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_pages_of_another_organization_are_not_there(self, method: str, owner: World, stranger: World) -> None:
        session, value = sessions.begin(joined(stranger.organization_id, "admin"), "browser", clock.now())
        headers = {"Cookie": f"__Host-headgate-session={value}", "Content-Type": "application/x-www-form-urlencoded"}
        form = {
            "csrf": signing.sign("csrf", session.id.encode()).hex(),
            **{"name": "mine", "role": "admin", "email": "mine@example.com", "access": "read", "signal_type": "logs"},
            **{"pipeline": "logs", "host_path": "/a", "mount_path": "/a", "condition": "true", "answer": "approve"},
        }
        everything = {"owner": owner, "stranger": stranger}
        tried = 0
        for _, path in pages({method}):
            if not path.startswith("/organizations/"):
                continue
            names = [name for name in re.findall(r"{(\w+)}", path) if name != "n"]
            for worlds in itertools.product(everything, repeat=len(names)):
                if "owner" not in worlds:
                    continue
                ids = {
                    name: everything[whose].ids.get(name, everything[whose].organization_id)
                    for name, whose in zip(names, worlds, strict=True)
                }
                url = path_of(f"{method} {path}", ids)
                content = urlencode(form) if method == "POST" else None
                response = stranger.http.request(method, url, headers=headers, content=content, follow_redirects=False)
                assert response.status_code in (403, 404), (url, response.status_code, response.text[:500])
                nothing_of(owner, response, list(ids.values()))
                tried += 1
        assert tried > 10

    def test_a_fleets_token_reaches_its_own_groups_only(self, owner: World, stranger: World) -> None:
        said = agent(stranger.http, stranger.ids["fleet_id"], stranger.ids["deployment_id"]).full().SerializeToString()

        foreign = report(stranger.http, stranger.ids["fleet_id"], owner.ids["deployment_id"], said)
        other_fleet = report(stranger.http, stranger.ids["kubernetes_id"], stranger.ids["deployment_id"], said)
        unknown = report(stranger.http, stranger.ids["fleet_id"], "dep_" + "0" * 26, said)

        assert (foreign.status_code, foreign.json()["detail"]) == (unknown.status_code, unknown.json()["detail"])
        assert foreign.status_code == other_fleet.status_code == 403
        nothing_of(owner, foreign)


@pytest.mark.parametrize("path", LISTS)
def test_a_cursor_is_its_owners(path: str, owner: World, stranger: World) -> None:
    page = owner.call(owner.admin, "GET", f"{path_of(f'GET {path}', owner.ids)}?limit=1", 200)
    cursor = page["next_cursor"]
    assert cursor is not None
    colleague = session_of(joined(owner.organization_id, "admin"), owner.organization_id)

    for ids, headers in ((owner.ids, stranger.admin), (stranger.ids, stranger.admin), (owner.ids, colleague)):
        response = owner.http.get(path_of(f"GET {path}", ids), params={"cursor": cursor}, headers=dict(headers))
        assert response.status_code in (403, 404, 422), response.text
        nothing_of(owner, response, list(ids.values()))


@pytest.mark.parametrize("kind", ["admin", "token"])
def test_an_idempotency_key_is_its_callers(kind: str, owner: World, stranger: World) -> None:
    body = {"name": "The same", "yaml": YAML}
    key = {"Idempotency-Key": f"the-same-{kind}"}
    answers = [
        world.call({**CREDENTIALS[kind](world), **key}, "POST", f"{PUBLIC}/configurations", 201, body)
        for world in (owner, stranger)
    ]

    assert answers[0]["id"] != answers[1]["id"]
    assert answers[0]["owner"] != answers[1]["owner"]


def test_a_person_in_both_keeps_their_keys_apart(owner: World, stranger: World) -> None:
    person = joined(owner.organization_id, "admin")
    sessions_of_one = session_of(person, owner.organization_id)
    member = {**sessions_of_one, "Idempotency-Key": "in-both"}
    body = {"name": "The same", "yaml": YAML}
    made = owner.call(member, "POST", f"{PUBLIC}/configurations", 201, body)
    again = owner.http.post(
        f"{PUBLIC}/configurations", headers={**member, "X-Service-Org": stranger.organization_id}, json=body
    )

    assert again.status_code == 403
    assert made["id"] not in again.text


@pytest.mark.parametrize("way", ["device", "code"])
def test_nobody_lets_a_command_line_into_an_organization_of_others(way: str, owner: World, stranger: World) -> None:
    session, value = sessions.begin(joined(stranger.organization_id, "admin"), "browser", clock.now())
    device = logins.begin_device("192.0.2.1", clock.now())
    form = {
        "csrf": signing.sign("csrf", session.id.encode()).hex(),
        "user_code": device.user_code,
        "code_challenge": logins.challenge_of("v" * 43),
        "organization_id": owner.organization_id,
        "answer": "approve",
    }
    page = "/device" if way == "device" else "/login"
    response = owner.http.post(
        page,
        headers={"Cookie": f"__Host-headgate-session={value}", "Content-Type": "application/x-www-form-urlencoded"},
        content=urlencode(form),
    )
    grant = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": device.device_code}
    redeemed = owner.http.post(f"{APP}/token", data=grant)

    assert response.status_code == 404
    nothing_of(owner, response)
    assert (redeemed.status_code, redeemed.json()["error"]) == (400, "authorization_pending")


def test_a_collectors_uid_is_of_its_fleet(owner: World, stranger: World) -> None:
    theirs = agent(owner.http, owner.ids["fleet_id"], owner.ids["deployment_id"])
    theirs.start()
    before = seen(owner)
    impostor = agent(stranger.http, stranger.ids["fleet_id"], stranger.ids["deployment_id"])
    impostor.uid = theirs.uid
    impostor.host_name = "impostor"
    impostor.start()

    assert seen(owner) == before
    assert (
        "impostor"
        in stranger.http.get(path_of(f"GET {FLEET}/instances", stranger.ids), headers=dict(stranger.admin)).text
    )


@pytest.mark.parametrize("changed", ["organization", "fleet", "deployment", "platform", "expires", "signature"])
def test_an_install_link_is_good_for_one_group_only(changed: str, owner: World, stranger: World) -> None:
    answer = stranger.call(
        stranger.admin, "POST", path_of(f"POST {FLEET}/install", stranger.ids), 200, {"platform": "linux"}
    )
    link = urlsplit(answer["install_url"])
    query = {name: values[0] for name, values in parse_qs(link.query).items()}
    mine = query["organization"]
    parts = link.path.split("/")
    match changed:
        case "organization":
            query["organization"] = owner.organization_id
        case "fleet":
            query["fleet"] = owner.ids["fleet_id"]
        case "deployment":
            parts[-1] = owner.ids["deployment_id"]
        case "platform":
            parts[-2] = "docker"
        case "expires":
            query["expires"] = str(int(query["expires"]) + 1)
        case "signature":
            query["signature"] = Link("linux", mine, query["fleet"], parts[-1], 1, 1).signature()
    response = owner.http.get(f"{'/'.join(parts)}?{urlencode(query)}")

    assert response.status_code in (403, 404, 410), response.text
    nothing_of(owner, response)


def test_a_runs_output_is_its_creators_and_the_admins(owner: World, stranger: World) -> None:
    path = path_of(f"GET {PUBLIC}/testing/runs/{{run_id}}/output", owner.ids)

    assert "secret of the owner" in owner.http.get(path, headers=dict(owner.admin)).text
    assert owner.http.get(path, headers=dict(owner.person("contributor"))).status_code == 404
    assert owner.http.get(path, headers=dict(owner.token("read"))).status_code == 404
    assert owner.http.get(path, headers=dict(bearer("sv_" + "a" * 43))).status_code == 401
    assert stranger.http.get(path, headers=dict(stranger.admin)).status_code == 404
