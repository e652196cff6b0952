"""A service without a collector: it builds one behind, says so wherever one is needed, and is whole afterwards.

Everything is as `make dev` runs it but Go itself, which takes a quarter of an hour: a program in its place says what Go
says, and then gives the collectors that were built before: first the small one, then the whole one.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from headgate.foundation.settings import settings
from tests.support import run_support
from tests.support.cli_support import EDGE, Cli
from tests.support.first_program import KAFKA, needs_first_program, without_collector
from tests.support.processes import wait_until_ended
from tests.support.service import Service, running_service

pytestmark = [pytest.mark.end_to_end, needs_first_program]

RUN = {"yaml": EDGE, "signal_type": "logs", "target_pipeline": "logs", "sample": "a line", "duration_seconds": 1}
# What needs the collector: method, path, body.
NEEDING = [
    ("POST", "/validate", {"yaml": EDGE}),
    ("POST", "/validate?lint=true", {"yaml": EDGE}),
    ("GET", "/collector-versions", None),
    ("GET", "/components", None),
    ("GET", "/ottl/reference", None),
    ("POST", "/testing/runs", RUN),
    ("POST", "/ottl/lint", {"context": "log", "conditions": ["true"]}),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("go")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    """A service that began without any collector."""
    with running_service(folder / "data", **without_collector(folder)) as started:
        yield started


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[httpx.Client]:
    with service.client() as client:
        yield client


@pytest.mark.parametrize(("method", "path", "body"), NEEDING, ids=[path for _, path, _ in NEEDING])
def test_what_needs_the_collector_says_how_far_its_build_is(
    client: httpx.Client, method: str, path: str, body: dict[str, object] | None
) -> None:
    answer = client.request(method, path, json=body)

    assert answer.status_code == 503, answer.text
    assert answer.json()["code"] == "collector_being_built"
    assert f"The collector {settings().collector_version} is being built on this machine: " in answer.json()["detail"]
    assert " % done, about " in answer.json()["detail"]
    assert " left until the first verdicts, about " in answer.json()["detail"]
    assert 2 <= int(answer.headers["Retry-After"]) <= 15


def test_each_text_of_a_batch_says_so(client: httpx.Client) -> None:
    answer = client.post("/validate/batch", json={"items": [{"yaml": EDGE}]})

    assert answer.json()["items"][0]["problem"]["code"] == "collector_being_built"


def test_the_command_line_says_so(service: Service, tmp_path: Path) -> None:
    cli = Cli(tmp_path, service.base_url, service.read_write_token)
    (tmp_path / "edge.yaml").write_text(EDGE)
    done = cli.run("validate", "edge.yaml")

    assert done.code == 1
    assert "is being built on this machine" in done.err + done.out


def test_everything_else_works_meanwhile(client: httpx.Client, service: Service) -> None:
    created = client.post("/configurations", json={"name": "meanwhile", "yaml": EDGE})
    published = client.post(f"/configurations/{created.json()['id']}/versions/1/publish")

    assert (created.status_code, published.status_code) == (201, 200)
    assert client.get("/flows").json()["items"]
    assert httpx.get(service.base_url, follow_redirects=True).status_code == 200


def until_answered(client: httpx.Client, yaml: str) -> httpx.Response:
    """The verdict on the text, once there is one."""
    while (answer := client.post("/validate", json={"yaml": yaml})).status_code == 503:
        assert answer.json()["code"] == "collector_being_built", answer.text
        time.sleep(0.2)
    return answer


def test_once_the_first_one_is_built_it_answers_for_the_whole_one(client: httpx.Client, folder: Path) -> None:
    (folder / "first").touch()
    assert until_answered(client, EDGE).json()["valid"] is True

    [listed] = client.get("/collector-versions").json()["items"]
    assert (listed["reduced"], listed["default"], {"kind": "exporter", "type": "kafka"} in listed["lacks"]) == (
        True,
    ) * 3
    assert listed["whole_in_seconds"] > 60
    assert run_support.run(client, RUN)["status"] == "Success"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/validate", {"yaml": KAFKA}),
        ("POST", "/ottl/lint", {"yaml": KAFKA}),
        ("POST", "/testing/runs", {**RUN, "yaml": KAFKA}),
        ("GET", "/components/exporter/kafka", None),
        ("GET", "/ottl/reference?component=honeycombmarker&context=log", None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_first_one_lacks_is_not_checked_yet(
    client: httpx.Client, method: str, path: str, body: dict[str, object] | None
) -> None:
    answer = client.request(method, path, json=body)

    assert (answer.status_code, answer.json()["code"]) == (503, "collector_being_built"), answer.text
    assert "not checked yet: the whole collector is ready in about " in answer.json()["detail"]
    assert 2 <= int(answer.headers["Retry-After"]) <= 15


def test_nobody_may_keep_the_schema_of_the_first_one(client: httpx.Client) -> None:
    answer = client.get("/components/schema.json", params={"version": settings().collector_version})

    assert answer.headers["Cache-Control"] == "public, no-cache"


def test_once_it_is_built_the_same_service_is_whole(client: httpx.Client, folder: Path) -> None:
    """The last test of this module: it lets the build end."""
    few = len(client.get("/components", params={"limit": 100, "kind": "exporter"}).json()["items"])
    (folder / "whole").touch()
    assert until_answered(client, KAFKA).json()["valid"] is True

    [listed] = client.get("/collector-versions").json()["items"]
    assert (listed["reduced"], listed["whole_in_seconds"]) == (False, None)
    assert len(client.get("/components", params={"limit": 100, "kind": "exporter"}).json()["items"]) > few
    assert client.post("/testing/runs", json={**RUN, "yaml": KAFKA}).json()["status"] == "Queued"


def test_a_build_that_fails_is_told_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "first").write_text("no space left on device\n")
    with running_service(tmp_path / "data", **without_collector(tmp_path)) as started, started.client() as client:
        while (answer := client.post("/validate", json={"yaml": EDGE})).json()["code"] == "collector_being_built":
            time.sleep(0.2)

    assert (answer.status_code, answer.json()["code"]) == (503, "collector_build_failed")
    assert "no space left on device" in answer.json()["detail"]
    assert "Retry-After" not in answer.headers


def test_a_service_that_stops_ends_its_build(tmp_path: Path) -> None:
    building = tmp_path / "building"
    with running_service(tmp_path / "data", **without_collector(tmp_path)):
        while not building.exists() or not building.read_text():
            time.sleep(0.1)

    wait_until_ended(int(building.read_text()))
    assert not list((tmp_path / "cache" / "collectors").glob("*.building"))
