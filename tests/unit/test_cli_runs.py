"""`headgate test run` against a server that answers what a test wants: the version that is asked for."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headgate_cli import main
from tests.support.answering import Answer, Server, serving

CONFIGURATION = "cfg_0123456789abcdefghjkmnpq0r"
YAML = "service: {pipelines: {logs: {}}}"
DETAIL = {"id": CONFIGURATION, "name": "shop", "yaml": YAML, "collector_version": "0.139.0"} | {
    "latest_version": 3,
    "published_version": 2,
}

Run = Callable[[str], tuple[int, str]]


def answer(asked: str) -> Answer:
    if asked.startswith("POST"):
        return 200, {}, {"id": "run_x", "status": "Queued"}
    if "/versions/" in asked:
        return 200, {}, {"n": 2, "yaml": YAML, "collector_version": "0.139.0"}
    return 200, {}, DETAIL | {"items": [DETAIL], "next_cursor": None}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as started:
        started.answering = answer
        yield started


@pytest.fixture
def run(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADGATE_URL", server.url)
    monkeypatch.setenv("SERVICE_API_TOKEN", "sv_x")
    (tmp_path / "sample.log").write_text("one")

    def in_process(line: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["headgate", *line.split()])
        with pytest.raises(SystemExit) as ended:
            main.main()
        return int(str(ended.value.code)), capsys.readouterr().err

    return in_process


@pytest.mark.parametrize(
    ("argument", "n"),
    [("shop", 3), ("shop@2", 2), ("shop@v2", 2), (f"{CONFIGURATION}@2", 2), ("shop@2 --version 2", 2)],
)
def test_a_version_is_named_with_its_configuration(server: Server, run: Run, argument: str, n: int) -> None:
    code, _ = run(f"test run {argument} --sample sample.log --no-wait")

    (body,) = [json.loads(body) for line, _, body in server.requests if line.startswith("POST")]
    assert (code, body["configuration_id"], body["version_number"]) == (0, CONFIGURATION, n)


def test_two_versions_of_a_configuration_are_refused(server: Server, run: Run) -> None:
    code, err = run("test run shop@2 --version 3 --sample sample.log")

    assert (code, server.requests) == (2, [])
    assert "@2 and --version 3 name two versions: leave one out" in err
