"""`headgate test steps` and `test run --trace` against a server that has traced a run."""

import json
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from headgate_cli.runs import step_views
from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run
from tests.support.traces import field, of_three_records, record, step

RUN = "run_0123456789abcdefghjkmnpq0r"
ENDED = {
    "id": RUN,
    "status": "Success",
    "target_pipeline": "logs",
    "duration_seconds": 5,
    "collector_version": "0.139.0",
    "configuration_id": None,
    "validation_results": [],
}
HOSTILE = "\x1b[31m::error::x\n##[set-env]"


class Traced:
    """Answers for a run with these steps; `paths` are what was asked."""

    def __init__(self, *steps: Any, **changes: Any) -> None:
        self.steps = steps
        self.trace = {
            "available": True,
            "reason": None,
            "complete": True,
            "left_out": {"records": 0, "bytes": 0},
            "items": [{name: value for name, value in one.items() if name != "records"} for one in steps],
            **changes,
        }

    def __call__(self, asked: str) -> Answer:
        _, _, path = asked.partition("/testing/runs")
        if asked.startswith("POST"):
            return 202, {}, ENDED
        if path.endswith("/steps"):
            return 200, {}, self.trace
        n, _, query = path.rpartition("/")[2].partition("?")
        wanted = next((one.removeprefix("record=") for one in query.split("&") if one.startswith("record=")), "")
        found = self.steps[int(n) - 1]
        records = [one for one in found["records"] if wanted in ("", str(one["record"]))]
        at = 1 if "cursor=next" in query else 0
        further = len(records) > 1 and not at
        return (
            200,
            {},
            {**found, "records": records[at : at + 1 if further else None], "next_cursor": "next" if further else None},
        )


@pytest.fixture
def server(server: Server) -> Server:
    server.answering = Traced(*of_three_records()["steps"])
    return server


def lines(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()]


def test_the_steps_are_a_table_of_counts_with_the_statements_below(server: Server, run: Run) -> None:
    code, out, err = run(f"test steps {RUN}")

    assert (code, err) == (0, "")
    assert lines(out) == [
        ["Step", "Component", "Kind", "Pipeline", "In", "Out", "Changed", "Dropped", "Created"],
        ["1", "filelog", "receiver", "logs", "0", "3", "0", "0", "3"],
        ["2", "transform/clean", "processor", "logs", "3", "3", "1", "0", "0"],
        ["3", "filter", "processor", "logs", "3", "2", "0", "1", "0"],
        [],
        ["Step", "Line", "Matched", "Changed", "Dropped", "Errors", "Statement"],
        ["2", "9", "2", "1", "0", "0", 'set(attributes["level"],', '"error")'],
    ]


def test_on_a_narrow_terminal_no_name_is_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    routing = step(
        3, "routing", record(1, "unchanged"), kind="connector", exact=False, feeds=["logs/payments", "logs/others"]
    )
    trace = Traced(*of_three_records()["steps"][:2], routing).trace
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    step_views.show_steps(trace)

    assert click.unstyle(capsys.readouterr().out).splitlines()[:7] == [
        "  1  filelog  (receiver in logs)",
        "     in 0, out 3, created 3",
        "  2  transform/clean  (processor in logs)",
        "     in 3, out 3, changed 1",
        "  3  routing *  (connector in logs → logs/payments, logs/others)",
        "     in 1, out 1",
        f"* {step_views.SETS}",
    ]


def test_a_record_is_followed_through_all_steps(server: Server, run: Run) -> None:
    code, out, _ = run(f"test steps {RUN} --record 1")

    assert code == 0
    assert out.splitlines() == [
        "Record 1  line 1",
        "  1  filelog          created",
        '  2  transform/clean  changed by set(attributes["level"], "error") (line 9)',
        '       + attributes["level"]: "error"',
        "  3  filter           unchanged",
    ]


def test_what_dropped_a_record_is_named_with_its_line(server: Server, run: Run) -> None:
    _, out, _ = run(f"test steps {RUN} --record 2")

    assert out.splitlines()[-1] == '  3  filter           dropped by IsMatch(body, "health") (line 14)'


def test_several_reasons_are_told_by_their_lines(server: Server, run: Run) -> None:
    by = [{"statement": f"set(cache, {line})", "path": "p", "line": line, "column": 3} for line in (7, 7, 9)]
    component = {"component": "transform", "path": "", "line": None, "column": None}
    changed = record(1, "changed", field("a", "added", None, 1, by=by[2]), by=[*by, component])
    server.answering = Traced(step(1, "transform", changed))

    _, out, _ = run(f"test steps {RUN} --record 1")

    assert out.splitlines()[1:] == ["  1  transform  changed by lines 7, 9, transform", "       + a: 1  (line 9)"]


def test_one_line_among_several_reasons_is_one_line(server: Server, run: Run) -> None:
    by = [{"statement": text, "path": "p", "line": line, "column": 3} for text, line in (("a", 7), ("b", None))]
    server.answering = Traced(step(1, "transform", record(1, "changed", field("a", "added", None, 1), by=by)))

    _, out, _ = run(f"test steps {RUN} --record 1")

    assert out.splitlines()[1] == "  1  transform  changed by line 7, b"


def test_a_record_that_there_is_not_fails(server: Server, run: Run) -> None:
    code, out, err = run(f"test steps {RUN} --record 9")
    of_step, out_of_step, err_of_step = run(f"test steps {RUN} --step 2 --record 9")

    assert (code, out) == (1, "")
    assert "no step has a record 9: records count from 1" in err
    assert (of_step, out_of_step) == (1, "")
    assert f"no record 9 in step 2: `headgate test steps {RUN} --record 9` shows its way" in err_of_step


def test_a_record_that_is_routed_is_followed_into_its_pipelines(server: Server, run: Run) -> None:
    server.answering = Traced(
        step(1, "routing", record(1, "unchanged"), kind="connector", feeds=["logs/a", "logs/b"]),
        step(2, "debug", record(1, "unchanged"), pipeline="logs/a", kind="exporter"),
        step(3, "debug", record(2, "unchanged"), pipeline="logs/b", kind="exporter"),
    )

    _, out, _ = run(f"test steps {RUN} --record 1")

    assert out.splitlines()[1:] == [
        "  1  routing in logs  unchanged",
        "  2  debug in logs/a  unchanged",
    ]


def test_a_step_is_shown_with_all_its_records_of_all_pages(server: Server, run: Run) -> None:
    code, out, _ = run(f"test steps {RUN} --step 3")

    assert code == 0
    assert [line for line in out.splitlines() if "record" in line] == [f"   record {n}  line {n}" for n in (1, 2, 3)]


def test_each_change_has_a_sign_and_values_show_their_types(server: Server, run: Run) -> None:
    changes = (
        field("body", "changed", "5", 5),
        field("a", "removed", {"k": [1]}, None),
        field("b", "changed", "x" * 80, "one\ntwo"),
    )
    server.answering = Traced(step(1, "x", record(1, "changed", *changes, fields_left_out=4)))

    _, out, _ = run(f"test steps {RUN} --record 1")

    assert out.splitlines()[2:] == [
        '       ~ body: "5" → 5',
        '       - a: {"k": [1]}',
        f'       ~ b: "{"x" * 80}" → "one\\ntwo"',
        "       … and 4 more fields",
    ]


def test_long_values_stand_below_each_other(server: Server, run: Run) -> None:
    server.answering = Traced(step(1, "x", record(1, "changed", field("b", "changed", "x" * 80, "y" * 80))))

    _, out, _ = run(f"test steps {RUN} --record 1")

    assert out.splitlines()[2:] == ["       ~ b", f'         - "{"x" * 80}"', f'         + "{"y" * 80}"']


def test_changes_are_coloured_on_a_terminal_only(server: Server, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _, piped, _ = run(f"test steps {RUN} --record 1")
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    _, coloured, _ = run(f"test steps {RUN} --record 1")

    assert "\x1b[" not in piped
    assert '\x1b[32m+ attributes["level"]: "error"\x1b[0m' in coloured


def test_records_that_are_matched_as_sets_are_said_so(server: Server, run: Run) -> None:
    server.answering = Traced(step(1, "batch", record(1, "unchanged"), exact=False))

    _, table, _ = run(f"test steps {RUN}")
    _, way, _ = run(f"test steps {RUN} --record 1")
    server.answering = Traced(step(1, "x", record(1, "unchanged")), step(2, "batch", exact=False))
    _, lost, _ = run(f"test steps {RUN} --record 1")

    assert lines(table)[1][:2] == ["1", "batch"]
    assert lines(table)[1][2] == "*"
    assert "* matches records by what they contain" in table
    assert "unchanged" in way
    assert "not found: this step matches records by what they contain" in lost


def test_errors_of_statements_are_below_the_tables(server: Server, run: Run) -> None:
    traced = of_three_records()["steps"]
    traced[1]["statements"][0] = {**traced[1]["statements"][0], "errors": [{"message": "no map", "count": 2}]}
    server.answering = Traced(*traced)

    _, out, _ = run(f"test steps {RUN}")

    assert out.splitlines()[-1] == "error in step 2, line 9, 2 times: no map"


def test_what_was_left_out_is_said(server: Server, run: Run) -> None:
    server.answering = Traced(step(1, "x", left_out=7), complete=False, left_out={"records": 12, "bytes": 5})

    _, _, whole = run(f"test steps {RUN}")
    _, _, one = run(f"test steps {RUN} --step 1")

    assert whole == "The trace is over its limits: it lacks the 12 oldest records, which the counts do not include\n"
    assert one == "7 more records, or details of records, are over the limits of a trace\n"


def test_why_there_are_no_steps_is_said(server: Server, run: Run) -> None:
    server.answering = Traced(available=False, reason="collector 0.1.0 is an official release")

    _, out, said = run(f"test steps {RUN}")
    code, _, failed = run(f"test steps {RUN} --step 1")

    assert (out, said) == ("", "This run has no steps: collector 0.1.0 is an official release\n")
    assert code == 1
    assert "this run has no steps: collector 0.1.0 is an official release" in failed


def test_a_step_that_there_is_not_fails(server: Server, run: Run) -> None:
    code, _, err = run(f"test steps {RUN} --step 4")

    assert code == 1
    assert f"no step 4: this run has 3, see `headgate test steps {RUN}`" in err


def test_hostile_text_of_a_trace_is_harmless(server: Server, run: Run) -> None:
    by = {"statement": HOSTILE, "path": HOSTILE, "line": 1, "column": 1}
    hostile = record(1, "changed", field(HOSTILE, "changed", HOSTILE, HOSTILE), name=HOSTILE, by=[by])
    statement = {**of_three_records()["steps"][1]["statements"][0], "text": HOSTILE}
    statement["errors"] = [{"message": HOSTILE, "count": 1}]
    server.answering = Traced(step(1, HOSTILE, hostile, statements=[statement], pipeline=HOSTILE))

    for line in (f"test steps {RUN}", f"test steps {RUN} --record 1", f"test steps {RUN} --step 1"):
        _, out, err = run(line)
        assert "\x1b" not in out + err
        assert "##[" not in out + err
        assert not any(printed.lstrip().startswith("::") for printed in (out + err).splitlines())


def test_an_answer_behind_a_link_is_followed(server: Server, run: Run) -> None:
    usual = Traced(*of_three_records()["steps"])
    whole = {**usual.trace, "items": of_three_records()["steps"]}

    def answering(asked: str) -> Answer:
        if "/steps/" in asked:
            return 307, {"Location": f"{server.url}/linked"}, b""
        return (200, {}, whole) if "/linked" in asked else usual(asked)

    server.answering = answering
    code, out, _ = run(f"test steps {RUN} --step 2 --record 1")

    assert code == 0
    assert [line for line in out.splitlines() if "record" in line] == ["   record 1  line 1"]


def test_as_json_the_answers_are_printed(server: Server, run: Run) -> None:
    _, whole, _ = run(f"test steps {RUN} --json")
    _, one, _ = run(f"test steps {RUN} --step 2 --json")
    _, way, _ = run(f"test steps {RUN} --record 2 --json")

    assert [item["n"] for item in json.loads(whole)["items"]] == [1, 2, 3]
    assert [entry["record"] for entry in json.loads(one)["records"]] == [1, 2, 3]
    assert [len(item["records"]) for item in json.loads(way)["items"]] == [1, 1, 1]


@pytest.fixture
def files(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("service: {pipelines: {logs: {}}}")
    (tmp_path / "sample.log").write_text("one")


@pytest.mark.usefixtures("files")
def test_a_run_with_trace_prints_the_steps_before_its_result(server: Server, run: Run) -> None:
    code, out, _ = run("test run c.yaml --sample sample.log --trace --record 1")

    (body,) = [json.loads(body) for line, _, body in server.requests if line.startswith("POST")]
    assert (code, body["trace"]) == (0, True)
    assert out.startswith("Step  Component")
    assert "\nRecord 1  line 1\n" in out
    assert out.splitlines()[-1].startswith(f"{RUN}  Success  logs")


@pytest.mark.usefixtures("files")
def test_a_run_without_trace_does_not_ask_for_it(server: Server, run: Run) -> None:
    code, out, _ = run("test run c.yaml --sample sample.log --json")
    _, traced, _ = run("test run c.yaml --sample sample.log --trace --json")

    first, second = [json.loads(body) for line, _, body in server.requests if line.startswith("POST")]
    assert code == 0
    assert ("trace" in first, second["trace"]) == (False, True)
    assert ("steps" in json.loads(out), len(json.loads(traced)["steps"]["items"])) == (False, 3)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("options", ["--record 1", "--trace --record 1 --no-wait", "--trace --record 0"])
def test_a_record_needs_a_trace_that_is_waited_for(options: str, server: Server, run: Run) -> None:
    code, _, _ = run(f"test run c.yaml --sample sample.log {options}")

    assert (code, server.requests) == (2, [])
