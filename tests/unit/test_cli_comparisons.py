"""`headgate test diff`: what is sent, what is printed, how it ends, and what it takes from a git checkout."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate_cli.comparisons import run as comparing
from headgate_cli.comparisons.markdown import code, fenced
from tests.support.answering import Answer, Server, serving
from tests.support.cli_in_process import Run, runner
from tests.support.markdown import without_code

YAML = "service: {pipelines: {logs: {}}}\n"
TEST = "sample: a line\nrules: [{name: r, condition: log.body != nil}]\nduration_seconds: 2\n"
JOB = "job_0123456789abcdefghjkmnpq0r"
COUNTS = {"left": 2, "right": 2, "same": 1, "changed": 1, "added": 0, "missing": 0}
EQUAL_COUNTS = {**COUNTS, "same": 2, "changed": 0}
FIELD = {"path": "body", "change": "changed", "left": {"stringValue": "a"}, "right": {"stringValue": "b"}}
RECORD = {"signal": "logs", "change": "changed", "left": 0, "right": 0, "name": "a", "fields": [FIELD]}
SIDE = {"collector_version": "0.139.0", "configuration_id": None, "version_number": None}
RAN = {"status": "ran", "reason": "", "line": None, "records_in": 2, "stderr": "", "seconds": 0.1}


def compared(status: str = "equal", **changes: object) -> dict[str, Any]:
    """What the server says of one test."""
    found = {"equal": True, "signals": {"logs": EQUAL_COUNTS}, "differences": [], "left_out": 0}
    if status == "differs":
        found = {"equal": False, "signals": {"logs": COUNTS}, "differences": [RECORD], "left_out": 0}
    test = {"name": "one", "target_pipeline": "logs", "signal_type": "logs", "status": status, "reason": ""}
    return {**test, "left": RAN, "right": RAN, "differences": found, **changes}


def result(*tests: dict[str, Any], **changes: object) -> dict[str, Any]:
    return {"left": SIDE, "right": SIDE, "tests": list(tests), "starts": None, **changes}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server whose comparisons end at once, as `answers` says."""
    monkeypatch.setattr(comparing, "_SECONDS_AT_FIRST", 0.0)
    monkeypatch.setattr(comparing, "_SECONDS_A_JOB", 0.0)
    with serving() as made:
        yield made


@pytest.fixture
def run(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line in a folder with two configurations; the first one has a test."""
    (tmp_path / "a.yaml").write_text(YAML)
    (tmp_path / "b.yaml").write_text(YAML + "# other\n")
    (tmp_path / "a.tests").mkdir()
    (tmp_path / "a.tests" / "one.yaml").write_text(TEST)
    return runner(server, tmp_path, monkeypatch, capsys)


def answers(server: Server, found: dict[str, Any] | None, reason: str = "") -> None:
    status = "Done" if found else "Error"

    def answer(asked: str) -> Answer:
        if asked.startswith("POST"):
            return 201, {}, {"id": JOB, "status": "Queued"}
        return 200, {}, {"id": JOB, "status": status, "reason": reason, "result": found}

    server.answering = answer


def sent(server: Server) -> list[dict[str, Any]]:
    return [json.loads(body) for asked, _, body in server.requests if asked.startswith("POST")]


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
            "a.tests/one.yaml:3: too long",
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


def git(*arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *identity, *arguments], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(run: Run) -> Run:
    """A checkout with two configurations that have tests, on a branch, which has two commits since main."""
    Path("b.tests").mkdir()
    Path("b.tests", "one.yaml").write_text(TEST)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "first")
    git("switch", "-qc", "change")
    Path("a.yaml").write_text(YAML + "# changed\n")
    git("commit", "-qam", "second")
    return run


def test_the_files_that_changed_are_compared_with_the_common_commit(server: Server, checkout: Run) -> None:
    answers(server, result(compared()))
    git("switch", "-q", "main")
    Path("b.yaml").write_text("on: main\n")
    git("commit", "-qam", "main goes on")
    git("switch", "-q", "change")
    Path("new.tests").mkdir()
    Path("new.tests", "one.yaml").write_text(TEST)
    Path("new.yaml").write_text(YAML)

    code_, out, _ = checkout("test diff --base main")

    assert code_ == 0
    assert "new.yaml: new since then; not compared" in out
    [request] = sent(server)
    assert (request["left"]["yaml"], request["right"]["yaml"]) == (YAML, YAML + "# changed\n")
    assert [test["name"] for test in request["tests"]] == ["one"]


def test_a_file_alone_and_a_folder_below(server: Server, checkout: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(server, result(compared()))
    inner = Path("deep")
    inner.mkdir()
    monkeypatch.chdir(inner)

    assert checkout("test diff --base main ../a.yaml")[0] == 0
    assert "../a.yaml" in checkout("test diff --base main ..")[1]
    assert "no configuration with tests has changed" in checkout("test diff --base main ../b.yaml")[2]
    assert "no configuration with tests has changed" in checkout("test diff --base main")[2]
    assert len(sent(server)) == 2


def test_a_path_that_is_nowhere_is_a_mistake(server: Server, checkout: Run) -> None:
    code_, _, err = checkout("test diff --base main typo.yaml")

    assert code_ == 2
    assert "there is no typo.yaml, neither here nor in main" in err
    assert not server.requests


def test_what_is_deleted_or_not_a_file_there_is_told(server: Server, checkout: Run) -> None:
    Path("a.yaml").unlink()
    Path("a.yaml").symlink_to("/etc/passwd")
    git("commit", "-qam", "a link")
    Path("a.yaml").unlink()
    Path("a.yaml").write_text(YAML)
    Path("b.yaml").unlink()

    code_, out, _ = checkout("test diff --base HEAD")

    assert code_ == 2
    assert "b.yaml: deleted since then; not compared" in out
    assert "a.yaml is not a regular file there" in out
    assert "root:" not in out
    assert not server.requests


@pytest.mark.parametrize(
    "ref", ["--output=x", "-x", "nope", "HEAD:a.yaml", "HEAD;touch${IFS}owned", "a\x07b", "$(touch owned)"]
)
def test_a_name_of_a_commit_is_never_an_option_or_a_command(
    server: Server, checkout: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ref: str
) -> None:
    from headgate_cli import main

    monkeypatch.setattr("sys.argv", ["headgate", "test", "diff", f"--base={ref}"])
    with pytest.raises(SystemExit) as ended:
        main.main()

    assert ended.value.code == 2
    assert "--base: " in capsys.readouterr().err
    assert not Path("owned").exists()
    assert not Path("x").exists()
    assert not server.requests


def test_settings_of_a_checkout_start_no_program(server: Server, checkout: Run) -> None:
    answers(server, result(compared("differs")))
    script = Path("program")
    script.write_text("#!/bin/sh\ntouch owned\n")
    script.chmod(0o755)
    program = str(script.resolve())
    for setting in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "core.sshCommand",
        "filter.x.smudge",
        "diff.x.textconv",
    ):
        git("config", setting, program)
    git("config", "core.hooksPath", str(Path.cwd()))
    Path(".gitattributes").write_text("*.yaml filter=x diff=x\n")

    assert checkout("test diff --base main")[0] == 1
    assert not Path("owned").exists()


def test_files_that_a_partial_clone_lacks_are_not_fetched_and_not_taken_for_new(server: Server, checkout: Run) -> None:
    there = Path(".git", "objects", (lacked := git("rev-parse", "main:a.yaml"))[:2], lacked[2:])
    there.unlink()
    for setting, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": "ext::touch owned",
        "protocol.ext.allow": "always",
    }.items():
        git("config", setting, value)

    code_, out, err = checkout("test diff --base main")

    assert (code_, out) == (2, "")
    assert "lacks files of the commit" in err
    assert not Path("owned").exists()
    assert not server.requests


def test_a_remote_branch_stands_in_for_a_local_one(server: Server, checkout: Run) -> None:
    answers(server, result(compared()))
    git("update-ref", "refs/remotes/origin/trunk", git("rev-parse", "main"))

    assert checkout("test diff --base trunk")[0] == 0
    assert len(sent(server)) == 1


def test_histories_without_a_common_commit(server: Server, checkout: Run) -> None:
    git("switch", "-q", "--orphan", "other")
    git("commit", "-q", "--allow-empty", "-m", "other")

    code_, _, err = checkout("test diff --base main")

    assert code_ == 2
    assert "fetch-depth: 0" in err


HOSTILE = (
    "`` ` </summary><img src=x onerror=alert(1)> @everyone |\\| [x](http://evil) \n```\n# fake ::error::x ##[group]"
)


def test_markdown_holds_whatever_a_name_contains(server: Server, run: Run) -> None:
    record = {**RECORD, "name": HOSTILE, "fields": [{**FIELD, "path": HOSTILE, "left": HOSTILE}]}
    found = {"equal": False, "signals": {"logs": COUNTS}, "differences": [record], "left_out": 0}
    answers(server, result(compared("differs", name=HOSTILE, reason=HOSTILE, differences=found)))

    code_, out, _ = run("test diff b.yaml a.yaml --markdown")

    assert code_ == 1
    assert out.startswith("### Behaviour: 1 test differs\n")
    outside = without_code(out)
    for mark in ("<img", "@everyone", "](http", "# fake"):
        assert mark in out
        assert mark not in outside
    assert outside.count("<details><summary>") == outside.count("</details>") == outside.count("</summary>") == 1
    assert "\n::" not in out
    assert "##[" not in out
    [row] = [line for line in out.splitlines() if "differs**" in line]
    assert row.replace("\\|", "").count("|") == 5


def test_code_and_fences_are_longer_than_what_they_hold() -> None:
    assert code("a") == "`a`"
    assert code("`a``") == "``` `a`` ```"
    assert code("a|b\\|c", cell=True) == "`a\\|b\\ \\|c`"
    assert fenced(["a ````", "b"], "diff") == "`````diff\na ````\nb\n`````"


def test_a_long_comment_is_cut_at_githubs_limit(server: Server, run: Run) -> None:
    tests = [compared("differs", name=f"test-{n}", reason="r" * 400) for n in range(400)]
    answers(server, result(*tests))

    _, out, _ = run("test diff b.yaml a.yaml --markdown")

    assert len(out) < 65_000
    assert "left out here" in out


def test_json_has_what_the_server_says(server: Server, run: Run) -> None:
    found = result(compared("differs"))
    answers(server, found)

    code_, out, _ = run("test diff b.yaml a.yaml --json")

    assert code_ == 1
    [printed] = json.loads(out)
    assert printed["results"] == [found]
    assert (printed["equal"], printed["compared"], printed["jobs"]) == (False, True, [JOB])


def test_many_comparisons_wait_for_each_other(server: Server, checkout: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(server, result(compared()))
    monkeypatch.setattr(comparing, "_AT_ONCE", 2)
    for n in range(5):
        Path(f"c{n}.yaml").write_text(YAML)
        Path(f"c{n}.tests").mkdir()
        Path(f"c{n}.tests", "one.yaml").write_text(TEST)
    git("add", "-A")
    git("commit", "-qm", "many")
    for n in range(5):
        Path(f"c{n}.yaml").write_text(YAML + "# changed\n")

    code_, _, err = checkout("test diff --base HEAD")

    assert code_ == 0
    assert err == "5 are the same\n"
    asked = [asked.split()[0] for asked, _, _ in server.requests]
    assert asked == ["POST", "POST", "GET", "GET"] * 2 + ["POST", "GET"]


def test_large_tests_are_sent_in_parts(server: Server, run: Run) -> None:
    answers(server, result(compared()))
    for name in ("two", "three"):
        Path("a.tests", f"{name}.yaml").write_text(TEST.replace("a line", "x" * 600_000))

    code_, _, err = run("test diff b.yaml a.yaml")

    assert code_ == 0
    assert len(sent(server)) == 2
    assert err == "2 are the same\n"
