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


def test_what_is_said_of_a_sample_and_feature_gates_are_sent_only_if_given(server: Server, run: Run) -> None:
    said = "--sample-format raw --sample-name /var/log/app.log --feature-gate +a.b --feature-gate -c"
    said += " --output-pipeline logs/a --output-pipeline logs/b"
    first, _, _ = run(f"test run shop --sample sample.log --no-wait {said}")
    second, _, _ = run("test run shop --sample sample.log --no-wait")

    with_all, without = [json.loads(body) for line, _, body in server.requests if line.startswith("POST")]
    assert (first, second) == (0, 0)
    assert (with_all["sample_format"], with_all["sample_name"]) == ("raw", "/var/log/app.log")
    assert with_all["feature_gates"] == ["+a.b", "-c"]
    assert with_all["output_pipelines"] == ["logs/a", "logs/b"]
    assert not {"sample_format", "sample_name", "feature_gates", "output_pipelines"} & set(without)


def test_a_format_that_there_is_not_is_a_usage_error(server: Server, run: Run) -> None:
    code, _, err = run("test run shop --sample sample.log --sample-format xml")

    assert (code, server.requests) == (2, [])
    assert "'raw', 'otlp'" in err


def test_the_standard_error_is_printed_as_it_was_written(server: Server, run: Run) -> None:
    run_id = "run_0123456789abcdefghjkmnpq0r"
    server.answering = lambda asked: (200, {}, b"panic: x\n\tgoroutine 1\n")

    code, out, _ = run(f"test stderr {run_id}")

    assert (code, out) == (0, "panic: x\n\tgoroutine 1\n")
    assert server.requests[0][0].endswith(f"/testing/runs/{run_id}/stderr")


def test_the_documents_of_an_output_are_a_list_whatever_its_texts_contain(server: Server, run: Run) -> None:
    documents = [{"body": "one\u2028two\x85three"}, {"body": "four"}]
    lines = "".join(f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents)
    server.answering = lambda _asked: (200, {}, lines.encode())
    code, out, _ = run("test output run_0123456789abcdefghjkmnpq0r --json")

    assert (code, json.loads(out)) == (0, documents)


def test_an_output_that_is_not_json_is_an_error_in_words(server: Server, run: Run) -> None:
    server.answering = lambda _asked: (200, {}, b"<html>\n")
    code, out, err = run("test output run_0123456789abcdefghjkmnpq0r --json")

    assert (code, out) == (1, "")
    assert "sent a line that is not JSON: is it a Headgate server?" in err
