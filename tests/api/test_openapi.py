"""The published description is that of the routes."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from headgate.foundation.settings import settings
from identity.app import app, router
from scripts.openapi import DOCUMENT, document, require_operation_ids
from scripts.openapi_fields import Undescribed, describe
from scripts.openapi_sides import describe_sides, referred
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith


def test_the_document_is_what_the_routes_say() -> None:
    assert json.loads(DOCUMENT.read_text()) == document(), "run `make openapi`"


def test_it_is_served_without_a_credential(join: JoinWith) -> None:
    http = join([router]).http
    http.headers.pop("authorization")
    response = http.get(f"{API}/openapi.json")

    assert response.status_code == 200
    assert response.json()["paths"][f"{API}/identity"]


def test_a_document_that_the_client_has_is_not_sent_again(join: JoinWith) -> None:
    http = join([router]).http
    plain = http.get(f"{API}/openapi.json", headers={"accept-encoding": "identity"})
    compressed = http.get(f"{API}/openapi.json", headers={"accept-encoding": "gzip"})
    again = http.get(
        f"{API}/openapi.json", headers={"accept-encoding": "gzip", "if-none-match": compressed.headers["etag"]}
    )

    assert (compressed.headers["content-encoding"], compressed.json()) == ("gzip", plain.json())
    assert plain.headers["etag"] != compressed.headers["etag"]
    assert (again.status_code, again.content, again.headers["cache-control"]) == (304, b"", "public, max-age=300")


def test_the_requests_of_an_address_are_counted(aws_here: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_RATE_LIMIT_PER_MINUTE", "2")
    settings.cache_clear()
    http = TestClient(app, client=("192.0.2.37", 50_000))
    # More than two in each of the two minutes that this may take.
    statuses = [http.get(f"{API}/openapi.json").status_code for _ in range(6)]

    assert (statuses[:2], 429 in statuses) == ([200, 200], True)


def test_every_operation_with_a_credential_names_the_header_of_sessions() -> None:
    for path, item in json.loads(DOCUMENT.read_text())["paths"].items():
        for method, operation in item.items():
            takes_sessions = any("session" in one for one in operation["security"])
            assert ({"$ref": "#/components/parameters/Organization"} in operation["parameters"]) == takes_sessions, (
                method,
                path,
            )


_SAME_WHEN_REPEATED = {
    "archiveConfiguration": "it is archived",
    "restoreConfiguration": "it is not archived",
    "publishVersion": "it is published",
    "endCapture": "it has ended",
    "cutOffInstance": "it is cut off",
    "letInInstance": "it is let in",
    "replaceInstance": "the replaced instance is gone, which the second answer says",
    "allowInstanceMove": "the time for it begins anew",
    "composeInstall": "each command is another one, and a code that is not used expires",
}
_READS = {
    *("validateText", "validateTexts", "lintOttl", "checkTextUpgrade", "checkVersionUpgrade"),
    *("checkDeploymentUpgrade", "checkAssignment", "checkFleetMode", "composeObserving"),
}


def test_each_post_is_carried_out_once_under_a_key_or_is_the_same_when_repeated() -> None:
    """One that is new has to decide: mark its route with ONCE, or say here what a repetition comes to."""
    undecided, decided = set(), _SAME_WHEN_REPEATED.keys() | _READS
    for path, item in json.loads(DOCUMENT.read_text())["paths"].items():
        operation = item.get("post", {})
        if path.startswith(API) and "200" in operation.get("responses", {}):
            takes_key = {"$ref": "#/components/parameters/IdempotencyKey"} in operation["parameters"]
            if takes_key == (operation["operationId"] in decided):
                undecided.add(operation["operationId"])

    assert not undecided


@pytest.mark.parametrize(
    ("operation_id", "security"),
    [
        ("getComponentsSchema", []),
        ("getConfiguration", [{"token": ["read"]}, {"session": []}]),
        ("publishVersion", [{"token": ["write"]}, {"session": []}]),
        ("approveRollout", [{"session": []}]),
        ("createWebhook", [{"session": ["admin"]}]),
    ],
)
def test_an_operation_says_which_credentials_it_takes(operation_id: str, security: list[object]) -> None:
    items = json.loads(DOCUMENT.read_text())["paths"].values()
    found = {operation["operationId"]: operation["security"] for item in items for operation in item.values()}

    assert found[operation_id] == security


def test_what_is_beyond_the_specification_is_marked() -> None:
    marked = {
        f"{method} {path.removeprefix(API)}"
        for path, item in json.loads(DOCUMENT.read_text())["paths"].items()
        for method, operation in item.items()
        if operation.get("x-extension")
    }

    assert marked >= {
        "get /collector-versions",
        "get /components",
        "get /components/schema.json",
        "get /components/{kind}/{type}",
        "get /ottl/reference",
        "get /testing/runs",
        "post /validate/batch",
        "post /validate/upgrade-check",
    }
    assert not marked & {
        "get /configurations",
        "post /validate",
        "post /ottl/lint",
        "get /flows",
        "get /fleets",
        "post /testing/runs",
        "get /identity",
    }


@pytest.mark.parametrize("status", ["401", "429", "503"])
def test_every_operation_says_what_can_go_wrong(status: str) -> None:
    operations = [
        (path, method, operation)
        for path, item in json.loads(DOCUMENT.read_text())["paths"].items()
        for method, operation in item.items()
    ]

    assert [(path, method) for path, method, operation in operations if status not in operation["responses"]] == []


def test_requests_leave_out_what_has_a_default_and_answers_promise_it() -> None:
    described = json.loads(DOCUMENT.read_text())
    schemas, items = described["components"]["schemas"], described["paths"].values()
    bodies = [operation.get("requestBody", {}) for item in items for operation in item.values()]
    sent = set(referred(bodies, schemas))

    assert [
        name
        for name, schema in schemas.items()
        if any("default" in field for field in schema.get("properties", {}).values())
    ] == []
    assert len(sent) > 40
    assert schemas["CreateConfiguration"]["required"] == ["name", "yaml"]
    assert (
        '"otelcol-contrib" by default'
        in schemas["CreateConfiguration"]["properties"]["collector_distribution"]["description"]
    )
    assert {"restarts", "notice"} <= set(schemas["CaptureOut"]["required"])
    assert "feature_gates" not in schemas["VersionDetail"]["required"], "it is left out if there are none"


def test_a_shape_of_requests_and_answers_alike_is_refused() -> None:
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/It"}}}}
    operation = {"operationId": "changeIt", "requestBody": body, "responses": {"200": body}}
    shared: dict[str, Any] = {
        "paths": {f"{API}/it": {"put": operation}},
        "components": {"schemas": {"It": {"properties": {"colour": {"type": "string"}}}}, "responses": {}},
    }

    with pytest.raises(SystemExit, match="shapes of their own: It"):
        describe_sides(shared, frozenset())


@pytest.mark.parametrize("name", ["get_it_api_v1_public_it_get", "getIt", "get1", "g" * 40, ""])
def test_a_route_without_a_short_name_of_its_own_for_generators_is_refused(name: str) -> None:
    paths = {f"{API}/it": {"get": {"operationId": name}}, f"{API}/other": {"get": {"operationId": "getIt"}}}

    with pytest.raises(SystemExit, match=f"GET {API}/it: {name}"):
        require_operation_ids(paths)


def _examples(described: Any) -> Iterator[tuple[str, object, object]]:
    """The place, the schema and the value of each example."""
    for shape, schema in described["components"]["schemas"].items():
        for name, field in schema.get("properties", {}).items():
            for number, example in enumerate(field.get("examples", [])):
                yield f"{shape}.{name} {number}", field, example
    for item in described["paths"].values():
        for operation in item.values():
            for parameter in operation["parameters"]:
                if "example" in parameter:
                    yield f"{operation['operationId']}.{parameter['name']}", parameter["schema"], parameter["example"]


def test_every_example_is_what_its_schema_allows() -> None:
    described = json.loads(DOCUMENT.read_text().replace("#/components/schemas/", "#/$defs/"))
    examples = list(_examples(described))
    # As one object of one schema, which is compiled once.
    schema = {"$defs": described["components"]["schemas"], "properties": {where: one for where, one, _ in examples}}
    found = jsonschema_rs.validator_for(schema).iter_errors({where: example for where, _, example in examples})

    assert len(schema["properties"]) == len(examples) > 500
    assert {str(error.instance_path[0]) for error in found} == set()


def test_every_time_says_that_it_is_one() -> None:
    times = [
        (shape, name, field)
        for shape, schema in json.loads(DOCUMENT.read_text())["components"]["schemas"].items()
        for name, field in schema.get("properties", {}).items()
        if name.endswith("_at")
    ]

    assert times
    assert [(shape, name) for shape, name, field in times if "date-time" not in str(field.get("anyOf", field))] == []


def test_a_field_and_a_parameter_without_a_meaning_are_refused() -> None:
    undescribed = {"type": "string"}
    parameter = {"name": "colour", "in": "query", "schema": dict(undescribed)}
    new = {
        "paths": {f"{API}/it": {"get": {"operationId": "getIt", "parameters": [parameter]}}},
        "components": {"schemas": {"It": {"properties": {"colour": dict(undescribed)}}}},
    }

    with pytest.raises(Undescribed) as refused:
        describe(new)

    for lacking in ("It.colour: its meaning", "It.colour: an example", "getIt.colour: its meaning"):
        assert f"without: {lacking}\n" in str(refused.value)


def test_a_meaning_that_no_field_has_is_refused() -> None:
    with pytest.raises(Undescribed, match="used by nothing: yaml"):
        describe({"paths": {}, "components": {"schemas": {}}})


def test_the_file_stays_small_enough_for_an_answer_and_for_editors() -> None:
    assert DOCUMENT.stat().st_size < 1_000_000
