"""Deployment groups: what may be assigned, changed and cleared."""

import pytest
from httpx2 import Response

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.foundation.ids import new_id
from headgate_engine.validation import service as validation
from headgate_engine.validation import starting
from headgate_engine.validation.model import (
    CollectorVersionNotInstalled,
    Finding,
    NotChecked,
    StartResult,
    ValidationResult,
)
from tests.support import configurations as cfg
from tests.support.deployments import add, kubernetes, server
from tests.support.members import API, JoinWith, Member

ROUTERS = [*fleets_routers, configurations_router]


pytestmark = pytest.mark.usefixtures("fleets_without_collector")


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join(ROUTERS, "ann")


@pytest.fixture
def configuration_id(ann: Member) -> str:
    """With version 1 published."""
    made = cfg.create(ann)
    assert cfg.publish(ann, made).status_code == 200
    return made


def test_a_group_runs_a_published_version_and_says_it_was_not_checked(ann: Member, configuration_id: str) -> None:
    at = server(ann)
    response = add(ann, at, configuration_id)
    made = response.json()

    assert response.status_code == 201
    assert response.headers["location"] == f"{at}/{made['id']}"
    assert (made["configuration_id"], made["version_number"]) == (configuration_id, 1)
    assert [one["code"] for one in made.pop("warnings")] == ["not_checked"]
    assert ann.http.get(f"{at}/{made['id']}").json() == made


def test_a_group_tells_the_present_name_of_its_configuration(ann: Member, configuration_id: str) -> None:
    at = server(ann)
    one = f"{at}/{add(ann, at, configuration_id).json()['id']}"
    ann.http.patch(f"{API}/configurations/{configuration_id}", json={"name": "renamed"})
    answers = [ann.http.get(one).json(), ann.http.patch(one, json={"name": "g2"}).json()]
    answers += [group for group in ann.http.get(at).json()["items"] if group["name"] == "g2"]
    cleared = ann.http.patch(one, json={"configuration_id": None}).json()
    assigned = ann.http.patch(one, json={"configuration_id": configuration_id}).json()

    assert [answer["configuration_name"] for answer in answers] == ["renamed"] * 3
    assert (cleared["configuration_name"], assigned["configuration_name"]) == (None, "renamed")


def test_what_the_collector_finds_is_told_and_blocks_nothing(
    ann: Member, configuration_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ValidationResult(False, "0.139.0", "otelcol-contrib", [Finding("broken", "receivers", "other")], [], [])
    started = StartResult(findings=[Finding("ends", "", "start_failed"), Finding("asks", "", "depends_on_host")])
    monkeypatch.setattr(validation, "validate", lambda *_, **__: found)
    monkeypatch.setattr(starting, "start", lambda *_, **__: started)
    response = add(ann, server(ann), configuration_id)

    assert response.status_code == 201
    assert [(one["severity"], one["message"]) for one in response.json()["warnings"]] == [
        ("error", "broken"),
        ("error", "ends"),
        ("warning", "asks"),
    ]


def test_components_that_could_not_be_started_stop_nothing(
    ann: Member, configuration_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ValidationResult(True, "0.139.0", "otelcol-contrib", [], [], [])

    def fail(*_: object, **__: object) -> StartResult:
        raise NotChecked("busy; nothing was started")

    monkeypatch.setattr(validation, "validate", lambda *_, **__: found)
    monkeypatch.setattr(starting, "start", fail)
    (warning,) = add(ann, server(ann), configuration_id).json()["warnings"]

    assert (warning["code"], warning["message"]) == ("not_checked", "Not started: busy; nothing was started")


def test_drafts_are_not_assigned(ann: Member, join: JoinWith, configuration_id: str) -> None:
    at, bob = server(ann), join(ROUTERS, "bob")
    cfg.append(ann, configuration_id, "later")
    response = add(ann, at, configuration_id, n=2)

    assert response.status_code == 422
    assert "not published" in response.json()["detail"]
    assert add(bob, at, configuration_id, n=2).status_code == 404
    assert add(bob, at, configuration_id, n=1).status_code == 201
    assert add(ann, at, new_id("cfg"), name="h").status_code == 404


def test_what_is_not_there_is_told_by_the_field_that_named_it(ann: Member, configuration_id: str) -> None:
    at, nowhere = server(ann), new_id("cfg")
    one = f"{at}/{add(ann, at, configuration_id).json()['id']}"
    answers = [
        add(ann, at, nowhere, "h"),
        add(ann, at, configuration_id, "h", n=9),
        ann.http.patch(one, json={"configuration_id": nowhere}),
        ann.http.patch(one, json={"version_number": 9}),
        # Named by the path.
        ann.http.patch(f"{at}/{new_id('dep')}", json={"version_number": 1}),
    ]

    assert [(answer.status_code, answer.json()["detail"]) for answer in answers] == [
        (404, "configuration_id: No such configuration"),
        (404, "version_number: No such version; list the configuration's versions for their numbers"),
        (404, "configuration_id: No such configuration"),
        (404, "version_number: No such version; list the configuration's versions for their numbers"),
        (404, "No such deployment"),
    ]


@pytest.mark.parametrize("no_id", ["", "x", "cfg_x", "dep_01h455vb4pex5vsknk084sn02q"])
def test_a_malformed_configuration_id_is_422_naming_the_field(ann: Member, configuration_id: str, no_id: str) -> None:
    at = server(ann)
    made = add(ann, at, configuration_id).json()["id"]

    for refused in (
        add(ann, at, no_id, "h"),
        ann.http.patch(f"{at}/{made}", json={"configuration_id": no_id}),
    ):
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["loc"] == ["body", "configuration_id"]


def test_names_are_unique_in_a_fleet_and_free_again_after_a_rename(ann: Member, configuration_id: str) -> None:
    at = server(ann)
    made = add(ann, at, configuration_id, "a").json()["id"]

    assert add(ann, at, configuration_id, "a").status_code == 409
    assert ann.http.patch(f"{at}/{made}", json={"name": "Default"}).status_code == 409
    assert ann.http.patch(f"{at}/{made}", json={"name": "b"}).json()["name"] == "b"
    assert add(ann, at, configuration_id, "a").status_code == 201


def test_groups_are_listed_by_name(ann: Member, configuration_id: str) -> None:
    at = server(ann)
    for name in "cab":
        add(ann, at, configuration_id, name)
    first = ann.http.get(f"{at}?limit=3").json()
    second = ann.http.get(f"{at}?limit=3&cursor={first['next_cursor']}").json()

    assert [entry["name"] for entry in first["items"] + second["items"]] == ["Default", "a", "b", "c"]
    assert second["next_cursor"] is None


@pytest.mark.parametrize("fields", [{"role": "node"}, {"replicas": 2}, {"namespace": "n"}])
def test_a_server_fleets_group_has_nothing_of_kubernetes(
    ann: Member, configuration_id: str, fields: dict[str, object]
) -> None:
    at = server(ann)
    made = add(ann, at, configuration_id).json()["id"]

    assert add(ann, at, configuration_id, "h", **fields).status_code == 422
    assert ann.http.patch(f"{at}/{made}", json=fields).status_code == 422


def test_a_kubernetes_group_needs_a_role_for_good(ann: Member, configuration_id: str) -> None:
    at = kubernetes(ann)
    assert add(ann, at, configuration_id).status_code == 422
    made = add(ann, at, configuration_id, role="gateway", replicas=3, namespace="otel").json()
    one = f"{at}/{made['id']}"

    assert (made["role"], made["replicas"], made["namespace"]) == ("gateway", 3, "otel")
    refused = ann.http.patch(one, json={"role": "gateway"})
    assert (refused.status_code, refused.json()["errors"]) == (
        422,
        [{"loc": ["body", "role"], "message": "The role is set when a group is created, and cannot be changed"}],
    )
    cleared = ann.http.patch(one, json={"replicas": None, "namespace": None}).json()
    assert (cleared["role"], cleared["replicas"], cleared["namespace"]) == ("gateway", None, None)
    assert (cleared["version_number"], cleared["warnings"]) == (1, [])


def test_assignments_change_by_either_field_and_clear_with_null(ann: Member, configuration_id: str) -> None:
    at = server(ann)
    one = f"{at}/{add(ann, at, configuration_id).json()['id']}"
    cfg.append(ann, configuration_id, "second")
    cfg.publish(ann, configuration_id, 2)

    def patch(**fields: object) -> Response:
        return ann.http.patch(one, json=fields)

    assert patch(configuration_id=configuration_id).json()["version_number"] == 2
    assert patch(version_number=1).json()["version_number"] == 1
    assert patch(configuration_id=None, version_number=1).status_code == 422
    cleared = patch(configuration_id=None).json()
    assert (cleared["configuration_id"], cleared["version_number"], cleared["warnings"]) == (None, None, [])
    assert patch(version_number=1).status_code == 422
    assert patch(configuration_id=cfg.create(ann)).status_code == 422
    assert patch().status_code == 422
    assert patch(version_number=None).status_code == 422
    assert patch(name=None).status_code == 422
    assert patch(configuration_id=configuration_id, version_number=1).json()["version_number"] == 1


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (NotChecked("busy"), "Not checked: busy"),
        (
            CollectorVersionNotInstalled("0.1.0 is not installed; installed: 0.139.0", at=("body", "version")),
            "Not checked: 0.1.0 is not installed; installed: 0.139.0",
        ),
    ],
)
def test_not_checked_is_said_whatever_stopped_the_check(
    ann: Member, configuration_id: str, cause: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> ValidationResult:
        raise cause

    monkeypatch.setattr(validation, "validate", refuse)
    (warning,) = add(ann, server(ann), configuration_id).json()["warnings"]

    assert (warning["code"], warning["message"]) == ("not_checked", said)
