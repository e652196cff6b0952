"""`headgate test diff`: what is sent, what is printed, and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run
from tests.support.comparisons_served import COUNTS, JOB, RECORD, SIDE, TEST, YAML, answers, compared, git, result, sent

pytestmark = pytest.mark.usefixtures("comparisons_at_once", "two_configurations")


def test_equal_outputs_end_with_0(server: Server, run: Run) -> None:
    answers(server, result(compared()))

    code_, out, err = run("test diff b.yaml a.yaml")

    assert code_ == 0
    assert "same     one  (logs)  logs: 2 the same" in out
    assert err == "1 is the same\n"
    test = {"name": "one", "target_pipeline": "logs", "signal_type": "logs", "sample": "a line", "duration_seconds": 2}
    assert sent(server) == [{"left": {"yaml": YAML + "# other\n"}, "right": {"yaml": YAML}, "tests": [test]}]


def test_a_difference_ends_with_1_and_is_told_field_by_field(server: Server, run: Run) -> None:
    answers(server, result(compared("differs"), compared(name="two")))

    code_, out, err = run("test diff b.yaml a.yaml")

    assert code_ == 1
    assert "DIFFERS  one  (logs)  logs: 1 changed, 1 the same" in out
    assert 'body: "a" → "b"' in out
    assert err == "1 test differs, 1 is the same\n"


def test_of_many_changes_the_most_frequent_are_told_first(server: Server, run: Run) -> None:
    fields = [
        {"path": 'attributes["id"]', "changed": 40, "missing": 2, "added": 0},
        {"path": "body", "changed": 1, "missing": 0, "added": 0},
    ]
    found = {"equal": False, "signals": {"logs": {**COUNTS, "fields": fields}}, "differences": [RECORD], "left_out": 41}
    found["profiles"] = 0
    answers(server, result(compared("differs", differences=found)))

    out = run("test diff b.yaml a.yaml")[1]

    assert out.index('logs: attributes["id"] changed in 40, missing in 2 records\n') < out.index("~ changed logs")
    assert "body changed in" not in out


@pytest.mark.parametrize(
    "found", [result(compared("not_compared", reason="right: it crashed", differences=None), compared("differs")), None]
)
def test_what_could_not_be_compared_ends_with_2(server: Server, run: Run, found: dict[str, Any] | None) -> None:
    answers(server, found, reason="it took too long")

    code_, out, err = run("test diff b.yaml a.yaml")

    assert code_ == 2
    assert ("right: it crashed" if found else "it took too long") in out
    assert "1 could not be compared" in err


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((503, {}, {"code": "testing_unavailable", "detail": "try again shortly"}), "try again shortly"),
        (
            (
                422,
                {},
                {
                    "code": "invalid",
                    "detail": "no",
                    "errors": [{"loc": ["body", "tests", 0, "duration_seconds"], "message": "too long"}],
                },
            ),
            "a.tests/one.yaml:3: duration_seconds: too long",
        ),
    ],
)
def test_a_refusal_ends_with_2_and_names_the_file(server: Server, run: Run, answer: Answer, says: str) -> None:
    server.answers = [answer]

    code_, out, err = run("test diff b.yaml a.yaml")

    assert code_ == 2
    assert says in out + err


def test_a_credential_that_is_refused_ends_with_3(server: Server, run: Run) -> None:
    server.answers = [(401, {}, {"code": "unauthenticated", "detail": "No such token"})]

    assert run("test diff b.yaml a.yaml")[0] == 3


def test_two_collector_versions_of_one_file(server: Server, run: Run) -> None:
    message = {"level": "warn", "component": "processors::x", "message": "it is deprecated"}
    right = {**SIDE, "collector_version": "0.158.0"}
    starts = {"left": [], "right": [message], "same": 1, "left_out": 0}
    answers(server, result(compared(), right=right, starts=starts))

    code_, out, _ = run("test diff a.yaml --collector-version 0.139.0 --collector-version 0.158.0 --ignore resource")

    assert code_ == 0
    assert "only collector 0.158.0 logs, warn: processors::x: it is deprecated" in out
    [request] = sent(server)
    assert (request["left"]["collector_version"], request["right"]["collector_version"]) == ("0.139.0", "0.158.0")
    assert request["ignore"] == ["resource"]


def test_a_sample_instead_of_tests(server: Server, run: Run) -> None:
    answers(server, result(compared()))
    Path("x y.log").write_text("line\n")
    Path("sample.log").write_text("line\n")

    assert run("test diff a.yaml b.yaml --sample sample.log --pipeline logs/x")[0] == 0

    [request] = sent(server)
    assert request["tests"] == [
        {"name": "sample", "target_pipeline": "logs/x", "signal_type": "logs", "sample": "line\n"}
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "name one or two things"),
        ("a.yaml", "name two things to compare; or one"),
        ("a.yaml b.yaml c.yaml", "name one or two things"),
        ("a.yaml b.yaml --json --markdown", "exclude each other"),
        ("a.yaml b.yaml --sample a.yaml", "go together"),
        ("a.yaml b.yaml --signal logs", "go together"),
        ("--base main --sample a.yaml --pipeline logs", "excludes --base"),
        ("b.yaml b.yaml", "b.yaml has no tests: write them into b.tests"),
        ("b.yaml a.yaml --test three", "there is no test three; the tests are one"),
        ("b.yaml missing.yaml", "missing.yaml"),
        ("--base main", "--base needs a git checkout"),
        ("--base=-x", "is not the name of a commit"),
    ],
)
def test_a_wrong_line_says_what_is_right(server: Server, run: Run, line: str, says: str) -> None:
    if line == "--base=-x":
        git("init", "-q")
    code_, _, err = run(f"test diff {line}")

    assert code_ == 2
    assert says in err
    assert not server.requests


def test_json_has_what_the_server_says(server: Server, run: Run) -> None:
    found = result(compared("differs"))
    answers(server, found)

    code_, out, _ = run("test diff b.yaml a.yaml --json")

    assert code_ == 1
    [printed] = json.loads(out)
    assert printed["results"] == [found]
    assert (printed["equal"], printed["compared"], printed["jobs"]) == (False, True, [JOB])


def test_large_tests_are_sent_in_parts(server: Server, run: Run) -> None:
    answers(server, result(compared()))
    for name in ("two", "three"):
        Path("a.tests", f"{name}.yaml").write_text(TEST.replace("a line", "x" * 600_000))

    code_, _, err = run("test diff b.yaml a.yaml")

    assert code_ == 0
    assert len(sent(server)) == 2
    assert err == "2 are the same\n"
