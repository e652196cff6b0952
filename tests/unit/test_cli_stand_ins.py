"""`--skip`, `--attribute`, `--env` and `--env-file`, and the request that they become."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.answering import Server
from tests.support.cli_in_process import Run

START = "test run c.yaml --sample s.log --no-wait"


@pytest.fixture
def server(server: Server, tmp_path: Path) -> Server:
    (tmp_path / "s.log").write_text("one")
    (tmp_path / "c.yaml").write_text("service: {pipelines: {logs: {}}}")
    answer = {"id": "run_x", "status": "Queued", "valid": True, "errors": [], "warnings": [], "items": []}
    server.answers = [(200, {}, {**answer, "next_cursor": None, "name": "x"})]
    return server


def sent(server: Server) -> Any:
    return json.loads(server.requests[-1][2])


def test_nothing_is_sent_of_what_was_not_given(server: Server, run: Run) -> None:
    assert run(START)[0] == 0
    assert {"skip", "attributes", "env"}.isdisjoint(sent(server))


def test_processors_are_left_out_and_replaced(server: Server, run: Run) -> None:
    given = 'k8s/a:k8s.pod.name=web=1 k8s/a:n:=5 k8s/a:on:=true k8s/a:d:=1.0 k8s/a:text:="5" otlp/x:4317:k=007 b:empty='
    options = " ".join(f"--attribute {one}" for one in given.split())

    assert run(f"{START} --skip batch --skip geoip/b {options}")[0] == 0
    assert sent(server)["skip"] == ["batch", "geoip/b"]
    assert json.dumps(sent(server)["attributes"]) == json.dumps(
        {
            "k8s/a": {"k8s.pod.name": "web=1", "n": 5, "on": True, "d": 1.0, "text": "5"},
            "otlp/x:4317": {"k": "007"},
            "b": {"empty": ""},
        }
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("a", "'a' does not have the form ID:KEY=VALUE: for example k8sattributes:k8s.pod.name=web-1"),
        ("a=b", "'a=b' does not have the form"),
        (":k=b", "':k=b' does not have the form"),
        ("a:=5", "'a:=5' does not have the form"),
        ("a:k:=five", "'five' is not a JSON text, number or boolean: use = instead of := for a text"),
        ("a:k:=null", "'null' is not a JSON text"),
        ("a:k:=[1]", "'[1]' is not a JSON text"),
    ],
)
def test_a_malformed_attribute_is_refused(given: str, told: str, server: Server, run: Run) -> None:
    code, _, err = run(f"{START} --attribute {given}")

    assert (code, server.requests) == (2, [])
    assert told in " ".join(err.split())


@pytest.mark.parametrize("command", [START, "validate c.yaml", "config create c.yaml --name x"])
def test_variables_come_from_options_and_files(command: str, server: Server, run: Run, tmp_path: Path) -> None:
    (tmp_path / "first.env").write_text(
        '\ufeff# of the test\n\nA=1\r\nB="two = 2"  \n   # more\nC=\n', encoding="utf-8"
    )
    (tmp_path / "second.env").write_text("A=one\nE=$E ${env:X}")
    run(f"{command} --env B=b --env-file first.env --env D=x=y --env-file second.env")

    bodies = [json.loads(body) for line, _, body in server.requests if line.startswith("POST")]
    assert bodies[0]["env"] == {"A": "one", "B": "b", "C": "", "D": "x=y", "E": "$E ${env:X}"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("A=1\ns3cret", "x.env:2 has no =: write NAME=VALUE"),
        ("A=1\n\n A s3cret=1", "x.env:3 does not begin with a variable name and ="),
        ("export A=s3cret", "x.env:1 does not begin with a variable name"),
        ("1A=s3cret", "x.env:1 does not begin with a variable name"),
    ],
)
def test_a_malformed_file_is_told_by_its_line_without_its_content(
    content: str, told: str, server: Server, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "x.env").write_text(content)
    code, out, err = run(f"{START} --env-file x.env")

    assert (code, server.requests) == (1, [])
    assert told in err
    assert "s3cret" not in out + err


def test_a_file_that_is_not_there_is_told(server: Server, run: Run) -> None:
    code, _, err = run(f"{START} --env-file missing.env")

    assert (code, err) == (1, "headgate: cannot read missing.env: No such file or directory\n")
