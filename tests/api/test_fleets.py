"""Fleets: making, limits, labels, tokens, and who sees them."""

from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from fleets.app import routers as fleets_routers
from headgate.fleets import keys, tokens
from headgate.foundation.hashing import hash_of
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.instances.state.model import INSTANCE_STATES
from headgate.storage import aws, items
from headgate.storage.table import fleets as fleets_table
from tests.support.fleets import create
from tests.support.members import API, JoinWith, Member

ORIGIN = "https://fleet.example"


@pytest.fixture(autouse=True)
def _endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", ORIGIN)
    settings.cache_clear()


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([*fleets_routers], "ann")


def test_a_new_server_fleet_has_an_unassigned_default_group_and_no_token_in_the_answer(ann: Member) -> None:
    response = create(ann, " Edge ", expires_in="180d")
    fleet = response.json()

    assert response.status_code == 201
    assert response.headers["location"] == f"{API}/fleets/{fleet['id']}"
    assert fleet == {
        "id": fleet["id"],
        "label": "Edge",
        "type": "server-supervisor",
        "expires_in": "180d",
        "token_expires_at": fleet["token_expires_at"],
        "hosts_without_key": 0,
        "token_id": fleet["token_id"],
        "instances": dict.fromkeys(["total", *INSTANCE_STATES], 0),
        "created_by": {"kind": "service_account", "id": ann.service_account_id, "name": "ann"},
        "created_at": fleet["created_at"],
        "managed_by": None,
        "mode": "managed",
    }
    assert fleet["token_expires_at"] > fleet["created_at"]
    assert ann.http.get(f"{API}/fleets/{fleet['id']}").json() == fleet
    (default,) = ann.http.get(f"{API}/fleets/{fleet['id']}/deployments").json()["items"]
    assert (default["name"], default["is_default"], default["configuration_id"]) == ("Default", True, None)
    assert tokens.value_of(fleet["id"], 1) not in response.text


def test_a_kubernetes_fleets_token_never_expires_and_it_has_no_group(ann: Member) -> None:
    fleet = create(ann, type="kubernetes-supervisor", expires_in="1y").json()

    assert (fleet["expires_in"], fleet["token_expires_at"]) == ("never", None)
    assert ann.http.get(f"{API}/fleets/{fleet['id']}/deployments").json()["items"] == []


def test_the_token_is_kept_as_a_hash_only(ann: Member) -> None:
    fleet_id = create(ann).json()["id"]
    value = tokens.value_of(fleet_id, 1)

    kept = fleets_table.get(keys.token(hash_of(value)))
    assert kept is not None
    assert kept["fleet_id"] == fleet_id
    everything = aws.dynamodb().scan(TableName=settings().fleets_table)["Items"]
    assert value not in str([items.unmarshal(item) for item in everything])
    assert value.startswith("ft_")
    assert len(value) == 46
    assert value != tokens.value_of(fleet_id, 2) != tokens.value_of(new_id("flt"), 1)


def test_a_label_is_unique_in_its_organization_only(ann: Member, join: JoinWith) -> None:
    other = join([*fleets_routers], "cid", organization_id=identity.create_organization("Other").id)

    assert create(ann).status_code == 201
    assert create(ann).status_code == 409
    assert create(other).status_code == 201


def test_the_limit_has_the_specified_message(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_LIMIT", "2")
    settings.cache_clear()
    assert [create(ann, label).status_code for label in "abc"] == [201, 201, 403]
    assert create(ann, "d").json()["detail"] == "The organization's fleet limit of 2 is reached"


def test_a_fleet_service_that_does_not_answer_is_502(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its state is in the table of fleets, which breaks here; the caller was found in another."""
    client, name = aws.dynamodb(), settings().fleets_table

    def broken(params: dict[str, Any], **_: object) -> None:
        if name in str(params):
            raise EndpointConnectionError(endpoint_url="https://dynamodb")

    client.meta.events.register("provide-client-params.dynamodb", broken)
    try:
        answers = [ann.http.get(f"{API}/fleets"), create(ann)]
    finally:
        client.meta.events.unregister("provide-client-params.dynamodb", broken)

    assert [answer.status_code for answer in answers] == [502, 502]
    assert all("The API service is unavailable" in answer.json()["detail"] for answer in answers)
    assert all(answer.headers["Retry-After"] for answer in answers)
    assert ann.http.get(f"{API}/fleets").json()["items"] == []


def test_without_an_endpoint_nothing_is_made(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "")
    settings.cache_clear()
    assert create(ann).status_code == 503
    assert ann.http.get(f"{API}/fleets").json()["items"] == []


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "kubernetes-bridge"},
        {"expires_in": "3y"},
        {"expires_in": None},
        {"label": " "},
        {"label": "x" * 201},
        {"label": 5},
        {"more": 1},
    ],
)
def test_what_does_not_fit_is_422(ann: Member, fields: dict[str, object]) -> None:
    body = {"label": "Edge", "type": "server-supervisor", **fields}

    assert ann.http.post(f"{API}/fleets", json=body).status_code == 422


def test_fleets_are_listed_newest_first_page_by_page(ann: Member) -> None:
    made = []
    for label in "abcde":
        made.append(create(ann, label).json()["id"])
    first = ann.http.get(f"{API}/fleets?limit=2").json()
    second = ann.http.get(f"{API}/fleets?limit=2&cursor={first['next_cursor']}").json()
    third = ann.http.get(f"{API}/fleets?limit=2&cursor={second['next_cursor']}").json()

    listed = [entry["id"] for page in (first, second, third) for entry in page["items"]]
    assert listed == sorted(made, reverse=True)
    assert third["next_cursor"] is None


def test_another_organizations_fleet_is_404_everywhere(ann: Member, join: JoinWith) -> None:
    other = join([*fleets_routers], "cid", organization_id=identity.create_organization("Other").id)
    at = f"{API}/fleets/{create(ann).json()['id']}"

    assert other.http.get(at).status_code == 404
    assert other.http.get(f"{at}/deployments").status_code == 404
    assert other.http.post(f"{at}/install", json={"platform": "linux"}).status_code == 404


def test_a_read_only_token_may_look(ann: Member, join: JoinWith) -> None:
    reader = join([*fleets_routers], "eve", access="read")

    assert reader.http.get(f"{API}/fleets").status_code == 200
    assert create(reader).status_code == 403
