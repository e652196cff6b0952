"""`headgate test diff --base`: what it takes from a git checkout."""

from dataclasses import replace
from pathlib import Path

import pytest

from headgate_cli.comparisons import run as comparing
from tests.support.answering import Server
from tests.support.cli_in_process import Run
from tests.support.comparisons_served import TEST, YAML, answers, compared, git, result, sent

pytestmark = pytest.mark.usefixtures("comparisons_at_once", "two_configurations")


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


def test_many_comparisons_wait_for_each_other(server: Server, checkout: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(server, result(compared()))
    monkeypatch.setattr(comparing, "_KIND", replace(comparing._KIND, at_once=2))
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
