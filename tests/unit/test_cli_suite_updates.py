"""`headgate test suite --update`: which expected outputs it writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.answering import Server
from tests.support.cli_in_process import Run
from tests.support.suites_served import (
    DIFFERENT,
    FAILED,
    OUTPUT,
    PASSED,
    TEST,
    sent,
    serve,
)

pytestmark = pytest.mark.usefixtures("suites_at_once")


READABLE = '{\n "resourceLogs": [\n  {\n   "a": 1\n  }\n ]\n}\n{\n "resourceMetrics": []\n}\n'


def test_update_writes_outputs_that_differ_and_those_that_are_not_there_yet(
    server: Server, run: Run, folder: Path
) -> None:
    (folder / "edge.tests" / "one.yaml").write_text("# mine\nsample: one\nexpected: |\n  {}\n# and this\nignore: []\n")
    (folder / "edge.tests" / "two.yaml").write_text("sample: one\nexpected_file: two.json\n")
    (folder / "edge.tests" / "three.yaml").write_text("sample: one\nexpected_file: three.json\n")
    (folder / "edge.tests" / "three.json").write_text("{ }\n")
    different = PASSED | {"status": "Fail", "differences": DIFFERENT, "output": OUTPUT}
    serve(server, {"one": different, "two": different, "three": PASSED | {"differences": {"equal": True}}})
    code, out, err = run("test suite edge.yaml --update --yes")

    assert (code, out.splitlines()[-2:]) == (0, ["edge.tests/one.yaml: written", "edge.tests/two.json: written"])
    assert "edge.tests/two.json: would be written" in err
    assert (folder / "edge.tests" / "two.json").read_text() == READABLE
    assert (folder / "edge.tests" / "three.json").read_text() == "{ }\n"
    indented = "".join(f"  {line}\n" for line in READABLE.splitlines())
    written = (folder / "edge.tests" / "one.yaml").read_text()
    assert written == f"# mine\nsample: one\nexpected: |\n{indented}# and this\nignore: []\n"
    assert sent(server)[0]["output"] is True
    assert sent(server)[0]["tests"][2]["expected"] == ""


@pytest.mark.parametrize(("more", "kept"), [("", False), ("ignore: []\n", True)])
def test_times_of_observation_are_written_only_if_they_are_compared(
    server: Server, run: Run, folder: Path, more: str, kept: bool
) -> None:
    (folder / "edge.tests" / "one.yaml").write_text(f"sample: one\nexpected_file: one.json\n{more}")
    records = [{"observedTimeUnixNano": "17", "timeUnixNano": "18"}]
    output = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]})
    serve(server, {"one": PASSED | {"status": "Fail", "differences": DIFFERENT, "output": output}})
    run("test suite edge.yaml --update --yes")

    written = (folder / "edge.tests" / "one.json").read_text()
    assert ("observedTimeUnixNano" in written, '"timeUnixNano": "18"' in written) == (kept, True)


def test_an_output_whose_texts_contain_line_separators_is_written_readable(
    server: Server, run: Run, folder: Path
) -> None:
    (folder / "edge.tests" / "one.yaml").write_text("sample: one\nexpected_file: one.json\n")
    output = json.dumps({"resourceLogs": "one\u2028two"}, ensure_ascii=False)
    serve(server, {"one": PASSED | {"status": "Fail", "differences": DIFFERENT, "output": output}})
    run("test suite edge.yaml --update --yes")

    assert (folder / "edge.tests" / "one.json").read_text() == '{\n "resourceLogs": "one\u2028two"\n}\n'


def test_update_writes_an_output_that_is_empty(server: Server, run: Run, folder: Path) -> None:
    (folder / "edge.tests" / "one.yaml").write_text("sample: one\nexpected_file: one.json\n")
    serve(server, {"one": PASSED | {"differences": {"equal": True}, "output": ""}})

    assert run("test suite edge.yaml --update --yes")[:2] == (
        0,
        "edge.yaml: 1 test on collector 0.139.0\n  pass   one  (2 logs in, 1 logs out, 1.2 s)\n"
        "edge.tests/one.json: written\n",
    )
    assert (folder / "edge.tests" / "one.json").read_text() == ""


def test_update_leaves_other_failures_failed(server: Server, run: Run, folder: Path) -> None:
    (folder / "edge.tests" / "one.yaml").write_text(f"{TEST}expected: ''\n")
    serve(server, {"one": FAILED | {"differences": DIFFERENT, "output": OUTPUT}})
    code, out, _ = run("test suite edge.yaml --update --yes")

    assert (code, "edge.tests/one.yaml: written" in out) == (1, True)


@pytest.mark.parametrize("lost", [{"status": "Error"}, {"output": None}])
def test_update_takes_no_output_of_a_run_that_broke_or_was_cut(
    server: Server, run: Run, folder: Path, lost: dict[str, Any]
) -> None:
    (folder / "edge.tests" / "one.yaml").write_text(f"{TEST}expected: ''\n")
    serve(server, {"one": PASSED | {"status": "Fail", "differences": DIFFERENT, "output": OUTPUT} | lost})
    code, _, err = run("test suite edge.yaml --update --yes")

    assert (code, "No expected output to renew" in err) == (1, True)
    assert (folder / "edge.tests" / "one.yaml").read_text() == f"{TEST}expected: ''\n"
