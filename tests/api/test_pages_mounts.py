"""A group's volume mounts by the application's API and page."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple

import pytest
from httpx2 import Response

from fleets.app import app
from fleets.app import routers as fleets_routers
from headgate.audit import service as audit
from headgate.configurations import service as configurations
from headgate.deployments import mounts
from headgate.deployments.model import VolumeMount
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Actor, Principal
from headgate.foundation.settings import settings
from headgate.identity import member_store, sessions
from headgate.identity.model import Member, User
from tests.support.fleets import create
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith
from tests.support.page_visitor import member_at, send_form

ONE = {"host_path": "/var/log", "mount_path": "/logs"}


@pytest.fixture(autouse=True)
def _endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
    settings.cache_clear()


@pytest.fixture
def session(organization_id: str) -> tuple[Caller, dict[str, str]]:
    """An Admin signed in: as a caller, and the headers of their session."""
    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    principal = Principal("user", user.id, user.email)
    member_store.add_user(Member(organization_id, principal, "admin", "active", clock.now()))
    begun, value = sessions.begin(user, "cli", clock.now(), organization_id)
    headers = {"Authorization": f"Bearer {value}", "X-Service-Org": organization_id}
    return sessions.caller(begun, organization_id), headers


@pytest.fixture
def caller(session: tuple[Caller, dict[str, str]]) -> Caller:
    return session[0]


@pytest.fixture
def http(session: tuple[Caller, dict[str, str]]) -> TestClient:
    return TestClient(app, raise_server_exceptions=False, headers=session[1])


@pytest.fixture
def fleet_id(join: JoinWith) -> str:
    """A server fleet."""
    return str(create(join([*fleets_routers])).json()["id"])


@pytest.fixture
def group_id(http: TestClient, fleet_id: str) -> str:
    """Its Default group."""
    return str(http.get(f"{API}/fleets/{fleet_id}/deployments").json()["items"][0]["id"])


def put(http: TestClient, fleet_id: str, group_id: str, body: object) -> Response:
    return http.put(f"/api/v1/app/fleets/{fleet_id}/deployments/{group_id}/volume-mounts", json=body)


def test_mounts_replace_those_before_and_show_in_the_public_api(http: TestClient, fleet_id: str, group_id: str) -> None:
    put(http, fleet_id, group_id, {"volume_mounts": [{"host_path": "/a", "mount_path": "/b"}]})
    answer = put(http, fleet_id, group_id, {"volume_mounts": [ONE]})
    shown = http.get(f"{API}/fleets/{fleet_id}/deployments/{group_id}").json()

    assert (answer.status_code, answer.json()) == (200, shown)
    assert shown["volume_mounts"] == [ONE]
    assert put(http, fleet_id, group_id, {"volume_mounts": []}).json()["volume_mounts"] == []


def test_what_is_not_safe_in_a_command_is_kept_and_left_out_of_it(
    http: TestClient, fleet_id: str, group_id: str
) -> None:
    unsafe = [{"host_path": "../up", "mount_path": "/x"}, {"host_path": "/a b", "mount_path": "/y"}]
    answer = put(http, fleet_id, group_id, {"volume_mounts": [*unsafe, ONE]})
    installed = http.post(f"{API}/fleets/{fleet_id}/install", json={"platform": "docker"}).json()
    command, notes = installed["command"], installed["notes"]

    assert [note.split(". ")[0] for note in notes if "mount" in note] == [
        "Volume mounts are left out of the command: ../up, /a b"
    ]
    assert answer.json()["volume_mounts"] == [*unsafe, ONE]
    assert "--volume /var/log:/logs" in command
    assert command.count("--volume") == 1


@pytest.mark.parametrize(
    ("body", "loc", "message"),
    [
        ({}, ["body", "volume_mounts"], "This field is required"),
        ({"volume_mounts": None}, ["body", "volume_mounts"], "list"),
        ({"volume_mounts": [ONE], "more": 1}, ["body", "more"], "Unknown field"),
        ({"volume_mounts": [{"host_path": "/a"}]}, ["body", "volume_mounts", 0, "mount_path"], "required"),
        ({"volume_mounts": [ONE | {"mode": "ro"}]}, ["body", "volume_mounts", 0, "mode"], "Unknown field"),
        ({"volume_mounts": [ONE | {"host_path": 5}]}, ["body", "volume_mounts", 0, "host_path"], "This must be text"),
        ({"volume_mounts": [ONE | {"host_path": " "}]}, ["body", "volume_mounts", 0, "host_path"], "needed"),
        ({"volume_mounts": [ONE | {"mount_path": "/a\n"}]}, ["body", "volume_mounts", 0, "mount_path"], "line breaks"),
        ({"volume_mounts": [ONE | {"host_path": "/" * 1_001}]}, ["body", "volume_mounts", 0, "host_path"], "1000"),
        ({"volume_mounts": [ONE, ONE]}, ["body", "volume_mounts", 1, "mount_path"], "already"),
        (
            {"volume_mounts": [{"host_path": "/a", "mount_path": f"/{n}"} for n in range(21)]},
            ["body", "volume_mounts"],
            "at most 20",
        ),
    ],
)
def test_what_is_not_a_mount_is_refused_by_its_field_and_nothing_is_saved(
    http: TestClient, fleet_id: str, group_id: str, body: object, loc: list[str | int], message: str
) -> None:
    put(http, fleet_id, group_id, {"volume_mounts": [{"host_path": "/a", "mount_path": "/b"}]})
    answer = put(http, fleet_id, group_id, body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == loc
    assert message in answer.json()["errors"][0]["message"]
    shown = http.get(f"{API}/fleets/{fleet_id}/deployments/{group_id}").json()
    assert shown["volume_mounts"] == [{"host_path": "/a", "mount_path": "/b"}]


def test_the_largest_mounts_fit_into_their_item(http: TestClient, fleet_id: str, group_id: str) -> None:
    longest = [{"host_path": "/" + "\U0001f4be" * 999, "mount_path": f"/{n:03}" + "é" * 996} for n in range(20)]

    assert put(http, fleet_id, group_id, {"volume_mounts": longest}).status_code == 200


def test_groups_of_a_kubernetes_fleet_have_none(join: JoinWith, http: TestClient, caller: Caller) -> None:
    made, _ = configurations.create(caller, "c", "a: 1", "otelcol-contrib", None)
    configurations.publish(caller, made.id, 1)
    fleet_id = create(join([*fleets_routers]), type="kubernetes-supervisor").json()["id"]
    body = {"name": "n", "configuration_id": made.id, "version_number": 1, "role": "node"}
    group_id = http.post(f"{API}/fleets/{fleet_id}/deployments", json=body).json()["id"]
    answer = put(http, fleet_id, group_id, {"volume_mounts": [ONE]})

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body", "volume_mounts"])
    assert put(http, fleet_id, group_id, {"volume_mounts": []}).status_code == 200


def test_a_group_of_others_is_not_found(http: TestClient, fleet_id: str, group_id: str) -> None:
    assert put(http, fleet_id, new_id("dep"), {"volume_mounts": [ONE]}).status_code == 404
    assert put(http, new_id("flt"), group_id, {"volume_mounts": [ONE]}).status_code == 404


def test_whoever_adds_one_at_the_same_time_loses_none(caller: Caller, fleet_id: str, group_id: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: mounts.add(caller, fleet_id, group_id, VolumeMount("/h", f"/{n}")), range(8)))
    kept = mounts.remove(caller, fleet_id, group_id, VolumeMount("/h", "/0")).volume_mounts

    assert {mount.mount_path for mount in kept} == {f"/{n}" for n in range(1, 8)}


def test_a_mount_is_removed_by_its_button_as_it_is_stored(
    caller: Caller, http: TestClient, fleet_id: str, group_id: str
) -> None:
    stored = {"host_path": " /a ", "mount_path": "/b "}
    put(http, fleet_id, group_id, {"volume_mounts": [stored, ONE]})
    page = f"/organizations/{caller.organization_id}/fleets/{fleet_id}/deployments/{group_id}"
    send_form(member_at(app, caller.organization_id), page, "/volume-mounts/remove", **stored)

    assert http.get(f"{API}/fleets/{fleet_id}/deployments/{group_id}").json()["volume_mounts"] == [ONE]


def test_each_change_is_recorded_with_it(caller: Caller, http: TestClient, fleet_id: str, group_id: str) -> None:
    put(http, fleet_id, group_id, {"volume_mounts": [ONE]})
    put(http, fleet_id, group_id, {"volume_mounts": [ONE, ONE]})
    recorded = [
        one for one in audit.records(caller, 10, None).entries if one.action == "deployment.volume_mounts_changed"
    ]

    assert [(one.actor, one.target, one.credential_id) for one in recorded] == [
        (Actor(*astuple(caller.principal)), f"fleets/{fleet_id}/deployments/{group_id}", caller.credential_id)
    ]
