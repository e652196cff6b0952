"""PATCH with validate=true: saved is what the real collector accepts, and nothing else."""

from collections.abc import Iterator

import httpx
import pytest

from headgate.foundation.settings import settings
from tests.support.local_service import LocalService

GOOD = "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}\n"
BAD = GOOD.replace("receivers: {nop: }", "receivers: {nop: , otlp: {protocols: {grpc: {endpont: x}}}}")


@pytest.fixture
def client(service: LocalService) -> Iterator[httpx.Client]:
    with service.client() as client:
        yield client


@pytest.fixture
def draft(client: httpx.Client) -> str:
    """The path of a new draft."""
    created = client.post("/configurations", json={"name": "Edge", "yaml": GOOD}).json()
    return f"/configurations/{created['id']}/versions/1"


def test_what_the_collector_accepts_is_saved(client: httpx.Client, draft: str) -> None:
    response = client.patch(draft, params={"validate": "true"}, json={"yaml": GOOD + "# mended\n"})

    assert response.status_code == 200
    assert client.get(draft).json()["yaml"] == GOOD + "# mended\n"


def test_what_it_refuses_is_422_with_the_place_and_nothing_is_saved(client: httpx.Client, draft: str) -> None:
    before = client.get(draft)
    response = client.patch(
        draft, params={"validate": "true"}, json={"yaml": BAD, "collector_version": settings().collector_version}
    )
    after = client.get(draft)

    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["loc"] == ["body", "yaml"]
    assert error["component_path"].startswith("receivers::otlp::protocols::grpc")
    assert (error["line"], error["column"]) == (1, BAD.index("endpont") + 1)
    assert (after.json(), after.headers["etag"]) == (before.json(), before.headers["etag"])


def test_a_collector_that_is_not_installed_is_422_and_nothing_is_saved(client: httpx.Client, draft: str) -> None:
    before = client.get(draft).json()
    response = client.patch(
        draft, params={"validate": "true"}, json={"yaml": GOOD + "#\n", "collector_version": "0.1.2"}
    )

    problem = response.json()
    assert (response.status_code, problem["code"]) == (422, "collector_version_not_installed")
    assert settings().collector_version in problem["detail"]
    assert problem["errors"][0]["loc"] == ["body", "collector_version"]
    assert client.get(draft).json() == before


def test_the_stored_text_is_checked_when_only_the_collector_version_changes(client: httpx.Client, draft: str) -> None:
    client.patch(draft, json={"yaml": BAD})
    response = client.patch(
        draft, params={"validate": "true"}, json={"collector_version": settings().collector_version}
    )

    assert response.status_code == 422


def test_without_the_parameter_anything_is_saved(client: httpx.Client, draft: str) -> None:
    response = client.patch(draft, json={"yaml": BAD, "collector_version": "0.1.2"})

    assert (response.status_code, response.json()["yaml"]) == (200, BAD)


def test_a_published_version_is_409_whatever_is_sent(client: httpx.Client, draft: str) -> None:
    client.post(f"{draft}/publish")
    response = client.patch(draft, params={"validate": "true"}, json={"yaml": BAD})

    assert response.status_code == 409
