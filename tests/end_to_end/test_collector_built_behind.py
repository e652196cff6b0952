"""A service without a collector: it builds one behind, says so wherever one is needed, and is whole afterwards.

Everything is as `make dev` runs it but Go itself, which takes a quarter of an hour: a program in its place says what Go
says, and then gives the collector that was built before.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from headgate.settings import settings
from tests.support.cli_support import EDGE, Cli
from tests.support.processes import wait_until_ended
from tests.support.programs import cached_programs
from tests.support.service import ROOT, Service, running_service

pytestmark = pytest.mark.end_to_end

# `list` names the packages, `run` extracts descriptions, and `build` says each package, then waits to be told to end.
GO = """#!/bin/sh
case "$1" in
  env) echo go9.0.0 ;;
  list) for n in 1 2 3 4; do echo "package$n"; done ;;
  build)
    for output; do case "$last" in -o) break ;; esac; last="$output"; done
    case "$output" in
      *otelcol-contrib)
        echo package1 >&2; echo package2 >&2; echo $$ >{folder}/building
        until [ -e {folder}/finish ]; do sleep 0.1; done
        if [ -s {folder}/finish ]; then cat {folder}/finish >&2; exit 1; fi ;;
    esac
    ln "{programs}/${{output##*/}}" "$output" 2>/dev/null || cp "{programs}/${{output##*/}}" "$output" ;;
esac
"""
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


def without_collector(folder: Path) -> dict[str, str]:
    """The variables of a service with an empty cache, whose build ends once there is the file `finish`."""
    programs, cache = folder / "programs", folder / "cache"
    programs.mkdir()
    for name, program in cached_programs().items():
        (programs / name).symlink_to(program.resolve())
    (folder / "go").write_text(GO.format(folder=folder, programs=programs))
    (folder / "go").chmod(0o755)
    return {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "HEADGATE_CACHE": str(cache),
        "HEADGATE_COLLECTORS_DIR": str(cache / "collectors"),
        "HEADGATE_BUILD": str(ROOT / "layers"),
    }


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
    assert 2 <= int(answer.headers["Retry-After"]) <= 60


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


def test_once_it_is_built_the_same_service_is_whole(client: httpx.Client, folder: Path) -> None:
    """The last test of this module: it lets the build end."""
    (folder / "finish").touch()
    while (answer := client.post("/validate", json={"yaml": EDGE})).status_code == 503:
        assert answer.json()["code"] == "collector_being_built", answer.text
        time.sleep(0.2)
    run = client.post("/testing/runs", json=RUN)

    assert answer.json()["valid"] is True
    assert run.json()["status"] == "Queued", run.text


def test_a_build_that_fails_is_told_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "finish").write_text("no space left on device\n")
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
