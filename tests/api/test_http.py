"""What holds of every endpoint, shown on identity and configurations."""

import json
import random
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from botocore.exceptions import EndpointConnectionError

from application.app import app as application
from configurations.app import router as configurations
from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.http import credentials
from headgate.identity import service as identity
from headgate.identity import service_account_store
from headgate.storage import aws, items
from identity.app import router as identities
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith, Member

CONFIGURATION = {"name": "Edge", "yaml": "receivers: {}\n"}


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([identities, configurations])


@pytest.fixture
def reader(join: JoinWith) -> Member:
    return join([identities, configurations], "rita", access="read")


def test_identity_tells_whom_the_credential_acts_as(ann: Member) -> None:
    assert ann.http.get(f"{API}/identity").json() == {
        "organization_id": ann.organization_id,
        "organization_name": "Acme",
        "kind": "service_account",
        "id": ann.service_account_id,
        "name": "ann's token",
        "role": "contributor",
        "access": "read_write",
    }


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", "Basic YTpi", "Bearer sv_", "Bearer sv_" + "a" * 43, "Bearer ss_" + "a" * 43, "x"],
)
def test_without_a_usable_credential_it_is_401(ann: Member, header: str | None) -> None:
    ann.http.headers.pop("authorization")
    response = ann.http.get(f"{API}/identity", headers={} if header is None else {"Authorization": header})

    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.headers["content-type"] == "application/problem+json"


def test_an_expired_token_is_401(ann: Member) -> None:
    _, token = identity.create_token(
        ann.organization_id,
        ann.service_account_id,
        name="old",
        access="read",
        expires_at=clock.now() - timedelta(seconds=1),
    )

    assert ann.http.get(f"{API}/identity", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_a_read_only_token_at_a_write_endpoint_is_403_with_the_specified_message(reader: Member) -> None:
    response = reader.http.post(f"{API}/configurations", json=CONFIGURATION)

    assert response.status_code == 403
    assert response.json()["detail"] == "This endpoint requires the 'write' claim"


def test_the_credential_is_looked_at_before_the_body(ann: Member) -> None:
    ann.http.headers.pop("authorization")

    assert (
        ann.http.post(f"{API}/configurations", content="{", headers={"Content-Type": "application/json"}).status_code
        == 401
    )


def test_the_value_of_a_token_stands_in_no_table(ann: Member) -> None:
    rows = aws.dynamodb().scan(TableName=settings().identity_table)["Items"]

    assert items
    assert ann.token not in json.dumps(rows, default=str)
    assert ann.token.removeprefix("sv_") not in json.dumps(rows, default=str)


def test_over_the_limit_it_is_429_until_the_minute_ends(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_RATE_LIMIT_PER_MINUTE", "3")
    settings.cache_clear()
    at = clock.now().replace(second=40, microsecond=0)
    monkeypatch.setattr(credentials.clock, "now", lambda: at)
    responses = [ann.http.get(f"{API}/identity") for _ in range(4)]

    assert [response.status_code for response in responses] == [200, 200, 200, 429]
    assert [response.headers["ratelimit-remaining"] for response in responses] == ["2", "1", "0", "0"]
    assert responses[3].headers["retry-after"] == responses[3].headers["ratelimit-reset"] == "20"
    at += timedelta(seconds=20)
    assert ann.http.get(f"{API}/identity").headers["ratelimit-remaining"] == "2"


def test_every_request_at_once_counts_once(ann: Member) -> None:
    with ThreadPoolExecutor(16) as pool:
        responses = list(pool.map(lambda _: ann.http.get(f"{API}/identity"), range(100)))

    used = sorted(100_000 - int(response.headers["ratelimit-remaining"]) for response in responses)
    # The minute may change in between, and the count then starts again.
    assert used == list(range(1, 101)) or used.count(1) == 2


def test_of_requests_at_once_no_more_than_the_limit_get_through(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_RATE_LIMIT_PER_MINUTE", "20")
    settings.cache_clear()
    at = clock.now()
    monkeypatch.setattr(credentials.clock, "now", lambda: at)
    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(lambda _: ann.http.get(f"{API}/identity").status_code, range(60)))

    assert (statuses.count(200), statuses.count(429)) == (20, 40)


def identity_items() -> list[items.Item]:
    return [items.unmarshal(item) for item in aws.dynamodb().scan(TableName=settings().identity_table)["Items"]]


def test_a_use_of_a_credential_does_not_change_the_credential(ann: Member) -> None:
    before = [item for item in identity_items() if not str(item["pk"]).startswith("rate#")]

    assert ann.http.get(f"{API}/identity").status_code == 200

    after = identity_items()
    assert [item for item in after if not str(item["pk"]).startswith("rate#")] == before
    token = service_account_store.tokens(ann.organization_id, ann.service_account_id)[0]
    (window,) = [item for item in after if item["pk"] == f"rate#{token.id}"]
    # DynamoDB removes it by this attribute.
    assert (window["used"], window["expires"]) == (1, (int(str(window["sk"])) + 1) * 60)


@pytest.mark.parametrize("what", ["unknown", "expired", "deleted", "a session's", "malformed"])
def test_what_is_not_a_credential_leaves_nothing_in_the_table(ann: Member, what: str) -> None:
    made, value = identity.create_token(
        ann.organization_id,
        ann.service_account_id,
        name="old",
        access="read",
        expires_at=clock.now() - timedelta(seconds=1) if what == "expired" else None,
    )
    if what == "deleted":
        service_account_store.delete_token(ann.organization_id, ann.service_account_id, made.id)
    presented = {"unknown": f"sv_{'a' * 43}", "a session's": f"ss_{value[3:]}", "malformed": "sv_#"}.get(what, value)
    before = identity_items()

    answers = [
        ann.http.get(f"{API}/identity", headers={"Authorization": f"Bearer {presented}"}).status_code for _ in range(3)
    ]

    assert answers == [401, 401, 401]
    assert identity_items() == before


def test_another_organizations_token_sees_nothing(ann: Member, join: JoinWith) -> None:
    created = ann.http.post(f"{API}/configurations", json=CONFIGURATION).json()
    stranger = join([configurations], "eve", organization_id=identity.create_organization("Other").id)

    assert stranger.http.get(f"{API}/configurations/{created['id']}").status_code == 404


def test_a_clients_request_id_is_kept_and_any_other_replaced(ann: Member) -> None:
    kept = ann.http.get(f"{API}/nothing", headers={"X-Request-Id": "my-id_1"})
    replaced = ann.http.get(f"{API}/nothing", headers={"X-Request-Id": "a b"})

    assert kept.headers["x-request-id"] == kept.json()["request_id"] == "my-id_1"
    assert re.fullmatch("[0-9a-f]{32}", replaced.headers["x-request-id"])


def test_an_unknown_path_is_a_404_problem(ann: Member) -> None:
    response = ann.http.get(f"{API}/configurations/")

    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


def test_a_path_with_the_prefix_twice_is_told_the_likely_one(ann: Member) -> None:
    detail = ann.http.get(f"{API}{API}/configurations").json()["detail"]

    assert detail.startswith(f"There is nothing at this path; did you mean {API}/configurations?")


def test_another_method_is_405_with_all_that_are_allowed(ann: Member) -> None:
    response = ann.http.delete(f"{API}/configurations")

    assert response.status_code == 405
    assert response.headers["allow"] == "GET, HEAD, POST"
    assert response.json()["code"] == "method_not_allowed"


def test_what_the_description_leaves_out_tells_its_methods_as_well(ann: Member) -> None:
    response = ann.http.delete(f"{API}/openapi.json")

    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/sign-in", "GET, HEAD, POST"),
        ("PUT", "/organizations/o/members", "GET, HEAD, POST"),
        ("GET", "/sign-in/new-password", "POST"),
    ],
)
def test_a_page_tells_all_its_methods_as_well(method: str, path: str, allowed: str) -> None:
    response = TestClient(application).request(method, path)

    assert (response.status_code, response.headers["allow"]) == (405, allowed)


def test_head_works_where_get_does(ann: Member) -> None:
    response = ann.http.head(f"{API}/identity")

    assert (response.status_code, response.content) == (200, b"")
    assert int(response.headers["content-length"]) > 0


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"yaml": "a: 1"}, ["body", "name"]),
        ({**CONFIGURATION, "nam": "x"}, ["body", "nam"]),
        ({**CONFIGURATION, "name": 5}, ["body", "name"]),
        ({**CONFIGURATION, "name": "  "}, ["body", "name"]),
        ({**CONFIGURATION, "name": "x" * 201}, ["body", "name"]),
        ({**CONFIGURATION, "yaml": ""}, ["body", "yaml"]),
        ({**CONFIGURATION, "yaml": None}, ["body", "yaml"]),
        ({**CONFIGURATION, "yaml": ["a"]}, ["body", "yaml"]),
        ({**CONFIGURATION, "description": "x" * 2001}, ["body", "description"]),
        ({**CONFIGURATION, "collector_distribution": 1}, ["body", "collector_distribution"]),
        ([], ["body"]),
        (None, ["body"]),
    ],
)
def test_a_body_that_does_not_fit_is_422_naming_the_field(ann: Member, body: object, loc: list[str]) -> None:
    response = ann.http.post(f"{API}/configurations", json=body)

    assert response.status_code == 422
    assert [error["loc"] for error in response.json()["errors"]] == [loc]
    assert ann.http.get(f"{API}/configurations").json()["items"] == []


@pytest.mark.parametrize(
    "content",
    [b"{", b"", b"\xff\xfe", b'{"name": "a", "yaml": "\\ud800"}', b"[" * 100_000, b"NaN", b"name=a"],
)
def test_a_body_that_is_not_json_is_422(ann: Member, content: bytes) -> None:
    response = ann.http.post(f"{API}/configurations", content=content, headers={"Content-Type": "application/json"})

    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"][0] == "body"


def test_very_many_unknown_fields_are_counted_and_the_first_is_told(ann: Member) -> None:
    response = ann.http.post(f"{API}/configurations", json={**CONFIGURATION, **dict.fromkeys(map(str, range(50_000)))})

    assert response.status_code == 422
    assert response.json()["detail"] == "body: There are 50,000 unknown fields, the first is `0`"


def test_a_place_in_a_refusal_does_not_repeat_a_long_key(ann: Member) -> None:
    response = ann.http.post(f"{API}/configurations", json={**CONFIGURATION, "k" * 500_000: 1})

    assert (response.status_code, response.json()["errors"][0]["loc"]) == (422, ["body", "k" * 200 + "…"])


def test_a_body_sent_as_a_form_is_told_how_to_send_it(ann: Member) -> None:
    response = ann.http.post(
        f"{API}/configurations",
        content=json.dumps(CONFIGURATION),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )

    assert response.status_code == 422
    assert "Content-Type: application/json" in response.json()["errors"][0]["message"]


def test_a_body_over_one_megabyte_is_413(ann: Member) -> None:
    body = json.dumps({**CONFIGURATION, "yaml": "x" * 1_048_576})

    response = ann.http.post(f"{API}/configurations", content=body, headers={"Content-Type": "application/json"})

    assert response.status_code == 413
    assert response.json()["code"] == "too_large"


def test_a_body_of_unknown_length_is_refused_once_it_is_over_the_limit(ann: Member) -> None:
    sent = 0

    def endless() -> object:
        nonlocal sent
        for _ in range(100):
            sent += 1
            yield b"x" * 65_536

    response = ann.http.post(f"{API}/configurations", content=endless(), headers={"Content-Type": "application/json"})

    assert response.status_code == 413


@pytest.mark.parametrize(
    "query", ["validated=true", "validate=1", "validate=yes", "validate=True", "validate=true&validate=false"]
)
def test_a_query_that_is_not_understood_is_422(ann: Member, query: str) -> None:
    created = ann.http.post(f"{API}/configurations", json=CONFIGURATION).json()
    response = ann.http.patch(f"{API}/configurations/{created['id']}/versions/1?{query}", json={"yaml": "b"})

    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"][0] == "query"


def test_the_same_idempotency_key_gives_the_first_answer_again(ann: Member) -> None:
    headers = {"Idempotency-Key": "k1"}
    first = ann.http.post(f"{API}/configurations", json=CONFIGURATION, headers=headers)
    again = ann.http.post(f"{API}/configurations", json=CONFIGURATION, headers=headers)

    assert first.status_code == again.status_code == 201
    assert again.json() == first.json()
    assert again.headers["location"] == first.headers["location"]
    assert len(ann.http.get(f"{API}/configurations").json()["items"]) == 1


def test_an_idempotency_key_with_another_body_is_422(ann: Member) -> None:
    headers = {"Idempotency-Key": "k1"}
    ann.http.post(f"{API}/configurations", json=CONFIGURATION, headers=headers)
    response = ann.http.post(f"{API}/configurations", json={**CONFIGURATION, "name": "Other"}, headers=headers)

    assert response.status_code == 422
    assert response.json()["code"] == "idempotency_key_reused"


def test_an_idempotency_key_is_one_credentials_own(ann: Member, join: JoinWith) -> None:
    bob = join([configurations], "bob")
    headers = {"Idempotency-Key": "k1"}
    ann.http.post(f"{API}/configurations", json=CONFIGURATION, headers=headers)

    assert bob.http.post(f"{API}/configurations", json=CONFIGURATION, headers=headers).json()["owner"]["name"] == "bob"


def test_a_refused_request_leaves_its_idempotency_key_free(ann: Member) -> None:
    headers = {"Idempotency-Key": "k1"}
    ann.http.post(f"{API}/configurations", json={**CONFIGURATION, "name": ""}, headers=headers)

    assert ann.http.post(f"{API}/configurations", json=CONFIGURATION, headers=headers).status_code == 201


@pytest.mark.parametrize("key", ["", "a b", "ä".encode().decode("latin-1"), "x" * 256])
def test_a_malformed_idempotency_key_is_422(ann: Member, key: str) -> None:
    headers = {"Idempotency-Key": key.encode("latin-1")}

    assert ann.http.post(f"{API}/configurations", json=CONFIGURATION, headers=headers).status_code == 422


def test_the_same_key_many_times_at_once_creates_once(ann: Member) -> None:
    with ThreadPoolExecutor(16) as pool:
        responses = list(
            pool.map(
                lambda _: ann.http.post(f"{API}/configurations", json=CONFIGURATION, headers={"Idempotency-Key": "k"}),
                range(32),
            )
        )

    assert {response.status_code for response in responses} <= {201, 409}
    assert len({response.json()["id"] for response in responses if response.status_code == 201}) == 1
    assert len(ann.http.get(f"{API}/configurations").json()["items"]) == 1


def test_an_idempotent_answer_too_large_for_a_table_is_kept_all_the_same(ann: Member) -> None:

    body = {
        **CONFIGURATION,
        "yaml": "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=900_000)),
    }
    headers = {"Idempotency-Key": "large"}
    first = ann.http.post(f"{API}/configurations", json=body, headers=headers)

    assert first.status_code == 201
    assert ann.http.post(f"{API}/configurations", json=body, headers=headers).json() == first.json()


def test_a_fault_of_a_table_is_503_and_tells_nothing_of_the_inside(
    ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(**_: object) -> None:
        raise EndpointConnectionError(endpoint_url="https://dynamodb.internal")

    monkeypatch.setattr(aws.dynamodb(), "update_item", unreachable)
    response = ann.http.get(f"{API}/identity")

    assert response.status_code == 503
    assert "internal" not in response.text
    assert response.headers["retry-after"] == "2"


@pytest.mark.parametrize("cursor", ["", "x", "AAAA", "é", "a" * 2001])
def test_a_cursor_that_was_not_issued_is_422(ann: Member, cursor: str) -> None:
    assert ann.http.get(f"{API}/configurations", params={"cursor": cursor}).status_code == 422


def test_a_cursor_is_good_for_its_own_list_and_caller_only(ann: Member, join: JoinWith) -> None:
    for _ in range(3):
        created = ann.http.post(f"{API}/configurations", json=CONFIGURATION).json()
    cursor = ann.http.get(f"{API}/configurations?limit=1").json()["next_cursor"]
    bob = join([configurations], "bob")

    assert ann.http.get(f"{API}/configurations", params={"cursor": cursor}).status_code == 200
    assert bob.http.get(f"{API}/configurations", params={"cursor": cursor}).status_code == 422
    versions = f"{API}/configurations/{created['id']}/versions"
    assert ann.http.get(versions, params={"cursor": cursor}).status_code == 422


@pytest.mark.parametrize("limit", ["0", "101", "-1", "1.0", "x", "+5", "05", "1_0", ""])
def test_a_limit_out_of_range_is_422(ann: Member, limit: str) -> None:
    assert ann.http.get(f"{API}/configurations", params={"limit": limit}).status_code == 422
