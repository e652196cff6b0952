"""`headgate test run` against a server that answers what a test wants: the version that is asked for."""

import json
from pathlib import Path

import pytest

from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

CONFIGURATION = "cfg_0123456789abcdefghjkmnpq0r"
YAML = "service: {pipelines: {logs: {}}}"
DETAIL = {"id": CONFIGURATION, "name": "shop", "yaml": YAML, "collector_version": "0.139.0"} | {
    "latest_version": 3,
    "published_version": 2,
}


def answer(asked: str) -> Answer:
    if asked.startswith("POST"):
        return 200, {}, {"id": "run_x", "status": "Queued"}
    if "/versions/" in asked:
        return 200, {}, {"n": 2, "yaml": YAML, "collector_version": "0.139.0"}
    return 200, {}, DETAIL | {"items": [DETAIL], "next_cursor": None}


@pytest.fixture
def server(server: Server, tmp_path: Path) -> Server:
    (tmp_path / "sample.log").write_text("one")
    server.answering = answer
    return server


@pytest.mark.parametrize(
    ("argument", "n"),
    [("shop", 3), ("shop@2", 2), ("shop@v2", 2), (f"{CONFIGURATION}@2", 2), ("shop@2 --version 2", 2)],
)
def test_a_version_is_named_with_its_configuration(server: Server, run: Run, argument: str, n: int) -> None:
    code, _, _ = run(f"test run {argument} --sample sample.log --no-wait")

    (body,) = [json.loads(body) for line, _, body in server.requests if line.startswith("POST")]
    assert (code, body["configuration_id"], body["version_number"]) == (0, CONFIGURATION, n)


def test_two_versions_of_a_configuration_are_refused(server: Server, run: Run) -> None:
    code, _, err = run("test run shop@2 --version 3 --sample sample.log")

    assert (code, server.requests) == (2, [])
    assert "@2 and --version 3 name two versions: leave one out" in err
