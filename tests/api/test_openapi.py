"""The published description is that of the routes."""

import json

import pytest

from identity.app import router
from scripts.openapi import DOCUMENT, document
from tests.support.members import API, JoinWith


def test_the_document_is_what_the_routes_say() -> None:
    assert json.loads(DOCUMENT.read_text()) == document(), "run `make openapi`"


def test_it_is_served_without_a_credential(join: JoinWith) -> None:
    http = join([router]).http
    http.headers.pop("authorization")
    response = http.get(f"{API}/openapi.json")

    assert response.status_code == 200
    assert response.json()["paths"][f"{API}/identity"]


def test_every_operation_with_a_credential_names_the_header_of_sessions() -> None:
    for path, item in json.loads(DOCUMENT.read_text())["paths"].items():
        for method, operation in item.items():
            named = [one["name"] for one in operation.get("parameters", []) if one["in"] == "header"]
            assert ("X-Service-Org" in named) == ("security" in operation), (method, path)


def test_what_is_beyond_the_specification_is_marked() -> None:
    marked = {
        path.removeprefix(API)
        for path, item in json.loads(DOCUMENT.read_text())["paths"].items()
        for operation in item.values()
        if operation.get("x-extension")
    }

    assert marked >= {
        "/collector-versions",
        "/components",
        "/components/schema.json",
        "/components/{kind}/{type}",
        "/ottl/reference",
        "/validate/upgrade-check",
    }
    assert not marked & {
        "/configurations",
        "/validate",
        "/ottl/lint",
        "/flows",
        "/fleets",
        "/testing/runs",
        "/identity",
    }


@pytest.mark.parametrize("status", ["401", "429", "503"])
def test_every_operation_says_what_can_go_wrong(status: str) -> None:
    operations = [
        (path, method, operation)
        for path, item in json.loads(DOCUMENT.read_text())["paths"].items()
        for method, operation in item.items()
    ]

    assert [(path, method) for path, method, operation in operations if status not in operation["responses"]] == []
