"""`headgate test coverage` against a server that answers what a test wants: requests, reports, exit statuses."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

CONFIGURATION = "cfg_0123456789abcdefghjkmnpq0r"
YAML = "service:\n  pipelines: {logs: {processors: [filter]}}\n"
DETAIL = {"id": CONFIGURATION, "name": "edge", "yaml": YAML, "collector_version": "0.139.0", "latest_version": 3}
DETAIL |= {"published_version": 2, "items": [{"id": CONFIGURATION, "name": "edge"}], "next_cursor": None}
TEST = "sample: one\nrules:\n  - name: loud\n    condition: log.body != nil\n"
PLACE = {"id": "m1", "kind": "processor", "component": "service::pipelines::logs", "line": 2, "column": 34}
MUTANT: dict[str, Any] = {**PLACE, "description": "the processor filter is left out of the pipeline logs"}
MUTANT |= {"noticed_by": [], "would_notice": "a rule such as true", "suggested_rule": None}
USED = {"name": "one", "usable": True, "reason": "", "steady": True, "killed": 3}
RESULT: dict[str, Any] = {"score": 75.0, "reason": "", "killed": 3, "survived": 1, "unreached": 1, "places": 7}
RESULT |= {"not_loaded": 1, "left_out": 1, "untested_pipelines": ["traces"], "tests": [USED]}
RESULT |= {"mutants": [MUTANT | {"outcome": "survived"}, MUTANT | {"outcome": "unreached", "line": 1, "column": 1}]}


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate_cli.jobs.time.sleep", lambda _: None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A configuration with a test."""
    (tmp_path / "edge.tests").mkdir()
    (tmp_path / "edge.tests" / "one.yaml").write_text(TEST)
    (tmp_path / "edge.yaml").write_text(YAML)
    return tmp_path / "edge.yaml"


def serve(server: Server, result: Mapping[str, Any] | None, status: str = "Done", reason: str = "") -> None:
    """Jobs end at the second look at them, with this result."""
    looks: dict[str, int] = {}

    def answer(asked: str) -> Answer:
        if asked.startswith("POST"):
            looks[f"job_{len(looks)}"] = 0
            return 201, {}, {"id": f"job_{len(looks) - 1}", "status": "Queued"}
        if "/coverage/" not in asked:
            return 200, {}, DETAIL
        job = asked.rpartition("/")[2]
        looks[job] += 1
        if looks[job] == 1:
            return 200, {}, {"id": job, "status": "Running", "result": None}
        return 200, {}, {"id": job, "status": status, "reason": reason, "result": result}

    server.answering = answer


def test_the_score_and_what_no_test_notices_are_printed(server: Server, run: Run, file: Path) -> None:
    serve(server, RESULT)

    code, out, err = run("test coverage edge.yaml")

    assert (code, err) == (0, "")
    assert out == (
        "edge.yaml: 75.0 %: tests notice 3 of 4 changes that change an output\n"
        "  1 change changes no output: no sample reaches it (--unreached lists them)\n"
        "  1 change was left out (--max tries up to 100)\n"
        "  no test runs traces\n"
        "edge.yaml:2:34: warning: no test notices if the processor filter is left out of the pipeline logs "
        "[not_noticed]\n"
        "    2 |   pipelines: {logs: {processors: [filter]}}\n"
        "      |                                  ^\n"
        "      = would notice: a rule such as true\n"
    )
    line, _, body = next(entry for entry in server.requests if entry[0].startswith("POST"))
    assert "/testing/coverage" in line
    assert json.loads(body)["tests"][0]["name"] == "one"


def test_what_no_sample_reaches_is_listed_on_request(server: Server, run: Run, file: Path) -> None:
    serve(server, RESULT)

    _, out, _ = run("test coverage edge.yaml --unreached --max 7 --collector-version 0.158.0")

    assert "edge.yaml:1:1: note: no output changes if the processor filter is left out" in out
    body = json.loads(next(body for line, _, body in server.requests if line.startswith("POST")))
    assert (body["max_mutants"], body["collector_version"]) == (7, "0.158.0")


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        ("75", 0, ""),
        ("75.1", 1, "edge.yaml: 75.0 % is below 75.1 %\n"),
        ("100", 1, "edge.yaml: 75.0 % is below 100 %\n"),
    ],
)
def test_a_score_below_a_limit_fails(server: Server, run: Run, file: Path, asked: str, code: int, said: str) -> None:
    serve(server, RESULT)

    assert run(f"test coverage edge.yaml --fail-under {asked}")[::2] == (code, said)


def test_a_test_that_does_not_pass_without_a_change_fails(server: Server, run: Run, file: Path) -> None:
    unused = USED | {"usable": False, "reason": "it does not pass without a change: loud"}
    serve(
        server, RESULT | {"score": None, "reason": "no test passes without a change", "tests": [unused], "mutants": []}
    )

    code, out, _ = run("test coverage edge.yaml")

    assert code == 1
    assert "edge.yaml: no score: no test passes without a change\n" in out
    assert "  not used: the test one: it does not pass without a change: loud\n" in out


def test_a_job_without_a_result_fails_with_its_reason(server: Server, run: Run, file: Path) -> None:
    serve(server, None, "Error", "the collector refuses the configuration")

    code, out, _ = run("test coverage edge.yaml")

    assert (code, out) == (1, "edge.yaml: could not be measured\n  the collector refuses the configuration\n")


def test_annotations_stand_at_the_lines_of_a_change(server: Server, run: Run, file: Path) -> None:
    serve(server, RESULT)

    code, out, _ = run("test coverage edge.yaml --format github")

    assert code == 0
    assert out == (
        "::warning file=edge.yaml,title=not_noticed,line=2,col=34::no test notices if the processor filter is left out "
        "of the pipeline logs. would notice: a rule such as true\n"
    )


def test_json_has_the_results_of_each_configuration(server: Server, run: Run, file: Path) -> None:
    serve(server, RESULT)
    (file.parent / "shop.yaml").write_text(YAML)
    (file.parent / "shop.tests").mkdir()
    (file.parent / "shop.tests" / "one.yaml").write_text(TEST)

    code, out, _ = run("test coverage --json")

    assert code == 0
    assert [(one["file"], one["job"], one["result"]["score"]) for one in json.loads(out)] == [
        ("edge.yaml", "job_0", 75.0),
        ("shop.yaml", "job_1", 75.0),
    ]


def test_several_configurations_end_with_a_table_of_the_scores(server: Server, run: Run, file: Path) -> None:
    serve(server, RESULT)
    (file.parent / "shop.yaml").write_text(YAML)
    (file.parent / "shop.tests").mkdir()
    (file.parent / "shop.tests" / "one.yaml").write_text(TEST)

    _, out, _ = run("test coverage")

    assert out.splitlines()[-3:] == [
        "CONFIGURATION  SCORE   NOTICED  NOT NOTICED  NOT REACHED  LEFT OUT",
        "edge.yaml      75.0 %  3        1            1            1",
        "shop.yaml      75.0 %  3        1            1            1",
    ]


def test_the_tests_of_a_version_are_measured_by_name(server: Server, run: Run) -> None:
    serve(server, RESULT)

    code, out, _ = run("test coverage edge@3 --test one")

    assert code == 0
    assert out.startswith("edge@3: 75.0 %")
    body = json.loads(next(body for line, _, body in server.requests if line.startswith("POST")))
    assert body == {"configuration_id": CONFIGURATION, "version_number": 3, "tests": ["one"]}


def test_wrong_usage_is_2(server: Server, run: Run, file: Path) -> None:
    for wrong in ("--fail-under 101", "--max 0", "--max 101", "--format xml"):
        assert run(f"test coverage edge.yaml {wrong}")[0] == 2
