"""`headgate test suite` against a server that answers what a test wants: requests, results, reports."""

import hashlib
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headgate_cli.suites.fields import digest
from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run
from tests.support.suites_served import (
    CONFIGURATION,
    DIFFERENT,
    ERRORED,
    FAILED,
    MESSAGE,
    PASSED,
    TEST,
    YAML,
    sent,
    serve,
)

pytestmark = pytest.mark.usefixtures("suites_at_once")


REASON = "rule 'loud': no such path"
NEVER = ERRORED | {"reason": REASON, "stderr": f"The test was never executed: {REASON}\nheadgate: note: a wait\nmore"}


def test_a_folder_is_one_suite_for_each_configuration_and_passes(server: Server, run: Run, folder: Path) -> None:
    serve(server, {"one": PASSED})
    code, out, err = run("test suite")

    assert (code, err) == (0, "2 tests passed\n")
    assert out == (
        "edge.yaml: 1 test on collector 0.139.0\n  pass   one  (2 logs in, 1 logs out, 1.2 s)\n"
        "shop.yaml: 1 test on collector 0.139.0\n  pass   one  (2 logs in, 1 logs out, 1.2 s)\n"
    )
    rules = [{"name": "loud", "condition": "log.body != nil"}]
    test = {"name": "one", "target_pipeline": "logs", "signal_type": "logs", "sample": "one", "rules": rules}
    assert sent(server) == [{"yaml": YAML, "tests": [test]}] * 2


def test_a_rule_that_fails_is_told_with_its_line(server: Server, run: Run, folder: Path) -> None:
    serve(server, {"one": FAILED}, {"one": ERRORED}, status="Fail")
    code, out, err = run("test suite edge.yaml shop.tests")

    assert (code, err) == (1, "0 tests passed, 1 failed, 1 could not be run\n")
    assert out.splitlines() == [
        "edge.yaml: 1 test on collector 0.139.0",
        "  FAIL   one  (2 logs in, 1 logs out, 1.2 s)",
        f"         edge.tests/one.yaml:3: loud (any): {MESSAGE}",
        "           log.body != nil",
        "shop.yaml: 1 test on collector 0.139.0",
        "  ERROR  one  (2 logs in, 1 logs out, 1.2 s)",
        "         shop.tests/one.yaml:1: the collector exited",
        "           more",
    ]


def test_a_rule_that_stops_a_run_is_told_at_its_line(server: Server, run: Run, folder: Path) -> None:
    serve(server, {"one": NEVER}, status="Error")
    _, out, _ = run("test suite edge.yaml")

    assert out.splitlines()[2:] == [f"         edge.tests/one.yaml:3: {REASON}", "           note: a wait"]


def test_an_output_that_is_not_the_expected_one_is_told_field_by_field(server: Server, run: Run, folder: Path) -> None:
    (folder / "edge.tests" / "one.yaml").write_text(f"{TEST}expected: '{{}}'\n")
    serve(server, {"one": PASSED | {"status": "Fail", "differences": DIFFERENT}})
    code, out, _ = run("test suite edge.yaml")

    assert code == 1
    assert out.splitlines()[2:] == [
        "         edge.tests/one.yaml:5: the output is not the expected one: logs: 1 changed, 1 missing, 1 the same",
        '           ~ changed logs "GET /cart"',
        '               attributes["a"]: "x" → "y"',
        "               severity_number: missing, was 9",
        '           - missing logs "GET /healthz"',
        "           and 4 more records",
    ]


def test_annotations_are_at_the_rule_and_the_text_on_standard_error(server: Server, run: Run, folder: Path) -> None:
    serve(server, {"one": FAILED})
    code, out, err = run("test suite edge.yaml --format github")

    assert code == 1
    assert out == (
        f"::error file=edge.tests/one.yaml,title=test_failed,line=3::one: loud (any): {MESSAGE}%0Alog.body != nil\n"
    )
    assert "FAIL   one" in err


def test_junit_has_a_case_for_each_test(server: Server, run: Run, folder: Path) -> None:
    (folder / "edge.tests" / "two.yaml").write_text(TEST)
    (folder / "shop.tests" / "one.yaml").write_text("sample: 5\n")
    serve(server, {"two": ERRORED, "one": FAILED | {"stderr": "bad \x1b[0m \ud7ff \x00 text"}})
    code, _, _ = run("test suite --junit report.xml")
    root = ElementTree.fromstring((folder / "report.xml").read_bytes())

    assert (code, root.attrib | {"name": ""}) == (
        1,
        {"name": "", "tests": "3", "failures": "1", "errors": "2", "time": "2.500"},
    )
    assert [suite.get("name") for suite in root] == ["edge.yaml", "shop.yaml"]
    one, two, wrong = root.iter("testcase")
    assert (one.get("name"), one.get("file"), one.get("classname")) == ("one", "edge.tests/one.yaml", "edge.yaml")
    failure, error, problem = one.find("failure"), two.find("error"), wrong.find("error")
    assert failure is not None
    assert failure.get("message") == f"loud (any): {MESSAGE}"
    assert failure.text == f"edge.tests/one.yaml:3: loud (any): {MESSAGE}\nlog.body != nil"
    assert error is not None
    assert error.get("message") == "the collector exited"
    assert problem is not None
    assert str(problem.get("message")).startswith("sample: must be text")


def test_json_has_the_servers_answers_with_the_files(server: Server, run: Run, folder: Path) -> None:
    serve(server, {"one": FAILED})
    code, out, _ = run("test suite edge.yaml --json")
    (told,) = json.loads(out)

    assert (code, told["file"], told["passed"], told["jobs"]) == (1, "edge.yaml", False, ["job_0"])
    assert told["tests"] == [{"name": "one", "file": "edge.tests/one.yaml", **FAILED}]


def test_tests_that_cannot_be_read_stop_only_their_configuration(server: Server, run: Run, folder: Path) -> None:
    (folder / "edge.tests" / "one.yaml").write_text("sample: 5\n")
    serve(server, {"one": PASSED})
    code, out, err = run("test suite --format github")

    assert (code, len(sent(server))) == (1, 1)
    assert "edge.yaml: could not be tested\n  edge.tests/one.yaml:1: sample: must be text" in err
    assert err.endswith("1 test passed, 1 configuration could not be tested\n")
    assert out.startswith("::error file=edge.tests/one.yaml,title=test_errored,line=1::sample: must be text")


def test_a_refusal_is_told_at_the_files_line_and_the_others_run(server: Server, run: Run, folder: Path) -> None:
    serve(server, {"one": PASSED})
    answering = server.answering
    location = ["body", "tests", 0, "rules", 0, "condition"]
    problem = {"detail": "no", "code": "x", "errors": [{"loc": location, "message": "unknown path"}]}

    def refusing(asked: str) -> Answer:
        first = asked.startswith("POST") and len(sent(server)) == 1
        return (422, {}, problem) if first or answering is None else answering(asked)

    server.answering = refusing
    code, out, err = run("test suite")

    assert code == 1
    assert "edge.yaml: could not be tested\n  edge.tests/one.yaml:4: rules.1.condition: unknown path\n" in out
    assert err == "1 test passed, 1 could not be run\n"


def test_a_test_over_a_requests_size_is_named(server: Server, run: Run, folder: Path) -> None:
    server.answering = lambda asked: (413, {}, {"detail": "over 1 MB", "code": "too_large"})
    code, out, _ = run("test suite edge.yaml")

    assert code == 1
    assert "  edge.tests/one.yaml:1: the configuration and this test are over 1 MB together as JSON" in out


def test_a_stored_version_has_its_tests_on_the_server(server: Server, run: Run, folder: Path) -> None:
    serve(server, {"a": PASSED, "b": FAILED})
    code, out, _ = run("test suite edge@2 --test a --test b --collector-version 0.158.0")

    assert code == 1
    assert sent(server) == [
        {
            "configuration_id": CONFIGURATION,
            "version_number": 2,
            "tests": ["a", "b"],
            "collector_version": "0.158.0",
        }
    ]
    assert out.splitlines()[:2] == [
        "edge@2: 2 tests on collector 0.139.0",
        "  pass   a  (2 logs in, 1 logs out, 1.2 s)",
    ]
    assert f"         loud (any): {MESSAGE}" in out


def test_a_pushed_file_is_its_version_and_told_by_its_lines(server: Server, run: Run, folder: Path) -> None:
    said = {"target_pipeline": "logs", "sample": "one", "rules": [{"name": "loud", "condition": "log.body != nil"}]}
    entry = {"id": CONFIGURATION, "name": "edge", "version": 3, "sha256": hashlib.sha256(YAML.encode()).hexdigest()}
    entry |= {"tests": {"one": digest(said)}}
    (folder / "headgate.json").write_text(json.dumps({"configurations": {"edge.yaml": entry}}))
    serve(server, {"one": FAILED})
    code, out, _ = run("test suite edge.yaml --pushed")

    assert (code, sent(server)) == (1, [{"configuration_id": CONFIGURATION, "version_number": 3}])
    assert f"edge.tests/one.yaml:3: loud (any): {MESSAGE}" in out
    (folder / "edge.tests" / "one.yaml").write_text(f"{TEST}duration_seconds: 9\n")
    code, _, err = run("test suite edge.yaml --pushed")
    assert (code, "edge.yaml or its tests were changed since version 3: push it first" in err) == (1, True)


def test_tests_over_a_bodys_size_become_several_jobs(server: Server, run: Run, folder: Path) -> None:
    for number in range(5):
        (folder / "edge.tests" / f"t{number}.yaml").write_text(f"{TEST.replace('one', '😀' * 100_000)}")
    serve(server, {"one": PASSED, "t0": PASSED, "t1": PASSED}, {"t3": PASSED, "t2": PASSED}, {"t4": PASSED})
    code, out, _ = run("test suite edge.yaml")

    assert [[test["name"] for test in body["tests"]] for body in sent(server)] == [
        ["one", "t0", "t1"],
        ["t2", "t3"],
        ["t4"],
    ]
    assert (code, [line.split()[1] for line in out.splitlines()[1:]]) == (0, ["one", "t0", "t1", "t2", "t3", "t4"])


def test_many_configurations_are_ten_jobs_at_once(server: Server, run: Run, folder: Path) -> None:
    for number in range(30):
        (folder / f"n{number}.yaml").write_text(YAML)
        (folder / f"n{number}.tests").mkdir()
        (folder / f"n{number}.tests" / "one.yaml").write_text(TEST)
    serve(server, {"one": PASSED})
    answering = server.answering
    most = under_way = 0

    def counting(asked: str) -> Answer:
        nonlocal most, under_way
        assert answering is not None
        answer = answering(asked)
        body = answer[2]
        under_way += asked.startswith("POST") - (isinstance(body, dict) and body.get("status") == "Success")
        most = max(most, under_way)
        return answer

    server.answering = counting
    code, out, err = run("test suite")

    assert (code, err, most, under_way) == (0, "32 tests passed\n", 10, 0)
    told = [line.partition(":")[0] for line in out.splitlines() if not line.startswith(" ")]
    assert told == sorted(file.name for file in folder.glob("*.yaml"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("edge.yaml --update", "--update asks before it writes; outside of a terminal, use --yes"),
        ("edge.yaml --update --pushed", "--update excludes --pushed: it renews files, and asks"),
        ("edge.yaml --yes", "--yes is for --update"),
        ("edge@2 --update --yes", "--update renews files: edge@2 is a stored version"),
    ],
)
def test_options_that_exclude_each_other_are_usage_errors(
    server: Server, run: Run, folder: Path, line: str, said: str
) -> None:
    serve(server, {})
    code, _, err = run(f"test suite {line}")

    assert (code, sent(server)) == (2, [])
    assert said in err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("bare.yaml", "bare.yaml has no tests: write one into bare.tests/NAME.yaml, in the format of"),
        (".", ". contains no configuration with tests: name the folder, as inner"),
        ("bare", "bare contains no configuration with tests: write one into CONFIGURATION.tests/NAME.yaml"),
        ("edge.yaml --test on", "there is no test on in edge.yaml"),
        ("missing.yaml", "cannot read missing.yaml: No such file or directory"),
        ("edge.yaml --pushed", "edge.yaml is not in headgate.json: push it first, with `headgate config push edge"),
    ],
)
def test_nothing_to_run_is_an_error(server: Server, run: Run, folder: Path, line: str, said: str) -> None:
    (folder / "bare.yaml").write_text(YAML)
    (folder / "bare").mkdir()
    if line == ".":
        (folder / "inner").mkdir()
        for name in ("edge.tests", "shop.tests"):
            (folder / name).rename(folder / "inner" / name)
    code, _, err = run(f"test suite {line}")

    assert (code, sent(server)) == (1, [])
    assert said in err


def test_a_folder_without_tests_passes_if_that_is_allowed(server: Server, run: Run, folder: Path) -> None:
    (folder / "bare").mkdir()
    code, out, err = run("test suite bare --allow-no-tests --json")

    assert (code, out, sent(server)) == (0, "[]\n", [])
    assert "bare contains no configuration with tests" in err


@pytest.mark.parametrize("line", [".", "missing.yaml", "edge.yaml --test on"])
def test_tests_that_are_elsewhere_or_unnamed_do_not_pass_as_none(
    server: Server, run: Run, folder: Path, line: str
) -> None:
    if line == ".":
        (folder / "inner").mkdir()
        for name in ("edge.tests", "shop.tests"):
            (folder / name).rename(folder / "inner" / name)
    code, _, _ = run(f"test suite {line} --allow-no-tests")

    assert (code, sent(server)) == (1, [])


def test_an_interrupt_names_the_jobs_that_continue(
    server: Server, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("headgate_cli.jobs.time.sleep", interrupt)
    serve(server, {"one": PASSED})
    code, _, err = run("test suite")

    assert (code, err.replace("\n\n", "\n").splitlines()) == (
        130,
        ["The tests continue on the server (job_0, job_1); their results are not shown here", "Interrupted"],
    )
