"""The command line in a folder that a stranger filled: nothing outside of it is read, sent, printed or written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headgate_cli import safe_files
from headgate_cli.errors import Failed
from tests.support import cli_forked, sizes
from tests.support.answering import Server
from tests.support.service import ROOT

TOKEN = "sv_a_token_that_nobody_may_see"
ID = "0123456789abcdefghjkmnpq0r"
CONFIGURATION = f"cfg_{ID}"
VALID = {
    "valid": True,
    "distribution": "otelcol-contrib",
    "version": "0.139.0",
    "errors": [],
    "warnings": [],
    "checked": 0,
    "id": CONFIGURATION,
    "name": "edge",
    "yaml": "a: 1\n",
    "collector_version": "0.139.0",
    "latest_version": 1,
    "published_version": None,
    "n": 1,
    "status": "draft",
    "items": [],
    "next_cursor": None,
}
LEADS_OUT = "is a link that leads out of its folder"
# Every command that reads a file, with `c.yaml` in the file's place.
READERS = (
    "validate c.yaml",
    "lint c.yaml",
    "upgrade check c.yaml --to 0.158.0",
    "upgrade fix c.yaml --to 0.158.0",
    "upgrade bisect c.yaml",
    "validate a.yaml c.yaml",
    "config create c.yaml",
    "config push c.yaml",
    "config push .",
    f"config diff {CONFIGURATION} --file c.yaml",
    f"config pull {CONFIGURATION} --to .",
    f"config pull {CONFIGURATION} --to . --force",
    "test run c.yaml --sample a.yaml --pipeline logs",
    "test run a.yaml --sample c.yaml --pipeline logs",
    "test run a.yaml --sample a.yaml --pipeline logs --rules c.yaml",
    "test diff c.yaml a.yaml --sample a.yaml --pipeline logs",
    "test diff a.yaml a.yaml --sample c.yaml --pipeline logs",
    f"rules set {CONFIGURATION} c.yaml",
    "test suite c.yaml",
)

ELSEWHERE = ("/etc/passwd", "../secret.yaml", "/dev/stdin", "/proc/self/fd/0")


@pytest.fixture
def server(server: Server) -> Server:
    server.answers = [(200, {}, VALID)]
    return server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "repository"
    made.mkdir()
    (made / "a.yaml").write_text("receivers: {}\n")
    keep(made, "c.yaml")
    return made


def keep(folder: Path, file: str) -> None:
    """The folder's manifest says that the file is the configuration."""
    entry = {"id": CONFIGURATION, "name": "edge", "version": 1, "sha256": ""}
    (folder / "headgate.json").write_text(json.dumps({"configurations": {file: entry}}))


Done = subprocess.CompletedProcess[bytes]


def run(server: Server, folder: Path, *arguments: str, given: bytes = b"", **more: str) -> Done:
    return cli_forked.run(arguments, folder, variables(server, folder) | more, given)


def shell(server: Server, folder: Path, line: str) -> Done:
    """A line of bash, in which $CLI is the command."""
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=variables(server, folder) | {"CLI": f"{sys.executable} -m headgate_cli.main"},
        capture_output=True,
        check=False,
        timeout=60,
    )


def variables(server: Server, folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT / 'cli'}:{ROOT / 'engine'}",
        "HOME": str(folder.parent / "home"),
        "HEADGATE_URL": server.url,
        "SERVICE_API_TOKEN": TOKEN,
        "LANG": "C.UTF-8",
    }


def sent(server: Server) -> bytes:
    return b"\n".join(body for _, _, body in server.requests)


def assert_refused(done: Done, server: Server, why: str) -> None:
    # 1 of `test diff` says that something differs.
    assert done.returncode == (2 if "test diff" in " ".join(done.args) else 1), done
    assert why.encode() in done.stderr, done
    assert b"Traceback" not in done.stderr
    for secret in (TOKEN.encode(), b"root:"):
        assert secret not in sent(server) + done.stdout + done.stderr


@pytest.mark.parametrize(
    ("line", "target"),
    [
        *((line, "/proc/self/environ") for line in sizes.either(READERS[::2], READERS)),
        *((READERS[0], target) for target in ELSEWHERE),
    ],
)
@pytest.mark.sized
def test_no_command_reads_through_a_link_that_leads_out(server: Server, folder: Path, line: str, target: str) -> None:
    (folder.parent / "secret.yaml").write_text(f"root: {TOKEN}\n")
    (folder / "c.yaml").symlink_to(target)
    done = run(server, folder, *line.split())

    assert_refused(done, server, f"c.yaml {LEADS_OUT}, to ")
    assert (folder / "c.yaml").is_symlink()


def test_the_way_out_of_a_refused_link_is_to_name_what_it_leads_to(server: Server, folder: Path) -> None:
    target = folder.parent / "shared.yaml"
    target.write_text("receivers: {}\n")
    (folder / "c.yaml").symlink_to(target)

    refused = run(server, folder, "validate", "c.yaml").stderr.decode()
    assert refused == f"headgate: c.yaml: c.yaml {LEADS_OUT}, to {target}; name that file instead\n"
    assert run(server, folder, "validate", str(target)).returncode == 0
    assert run(server, folder, "validate", "../shared.yaml").returncode == 0


@pytest.mark.parametrize(
    "line", ["validate inner/passwd", "config push inner", "config pull --to inner", "lint inner/x/y"]
)
def test_no_folder_on_the_way_is_a_link_that_leads_out(server: Server, folder: Path, line: str) -> None:
    (folder / "inner").symlink_to("/etc")

    assert_refused(run(server, folder, *line.split()), server, f"inner {LEADS_OUT}, to /etc")


def test_a_folder_with_a_link_in_it_may_not_lead_beside_itself(server: Server, folder: Path) -> None:
    """As in a home, where the stranger's repository is one folder of many."""
    (folder / "cloned").mkdir()
    (folder / "cloned" / "inner").symlink_to("..")
    (folder / "cloned" / "c.yaml").symlink_to("../a.yaml")

    assert_refused(run(server, folder, "validate", "cloned/c.yaml"), server, LEADS_OUT)
    assert_refused(run(server, folder, "validate", "cloned/inner/a.yaml"), server, LEADS_OUT)


def test_an_absolute_path_into_the_working_folder_is_taken_as_one_from_there(server: Server, folder: Path) -> None:
    (folder / "inner").symlink_to("/etc")

    assert_refused(run(server, folder, "validate", str(folder / "inner" / "passwd")), server, LEADS_OUT)


def test_a_manifest_is_not_a_link_that_leads_out(server: Server, folder: Path) -> None:
    (folder / "headgate.json").unlink()
    (folder / "headgate.json").symlink_to("/etc/passwd")

    for line in ("config push a.yaml", "config pull", "config show ./a.yaml"):
        assert_refused(run(server, folder, *line.split()), server, f"headgate.json {LEADS_OUT}")


def test_links_inside_the_folder_are_fine_and_stay_links(server: Server, folder: Path) -> None:
    (folder / "c.yaml").symlink_to("parts/edge.yaml")
    (folder / "parts").mkdir()
    (folder / "parts" / "edge.yaml").write_text("receivers: {}\n")

    assert run(server, folder, "validate", "c.yaml").returncode == 0
    pulled = run(server, folder, "config", "pull", "--force")
    assert pulled.returncode == 0, pulled
    assert (folder / "c.yaml").is_symlink()
    assert (folder / "parts" / "edge.yaml").read_text() == "a: 1\n"


def test_a_pull_never_writes_through_a_link_that_leads_out(server: Server, folder: Path) -> None:
    aside = folder.parent / "aside"
    aside.mkdir()
    (aside / "bashrc").write_text("mine\n")
    (folder / "c.yaml").symlink_to(aside / "missing.yaml")
    (folder / "inner").symlink_to(aside)

    assert_refused(run(server, folder, "config", "pull", "--force"), server, LEADS_OUT)
    done = run(server, folder, "config", "pull", CONFIGURATION, "--to", "inner/new")
    assert_refused(done, server, f"inner {LEADS_OUT}")
    assert [one.name for one in aside.iterdir()] == ["bashrc"]


def test_what_writes_a_file_follows_no_link_that_leads_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull reads a file before it writes it; this holds what only writes one."""
    outside = folder.parent / "bashrc"
    outside.write_text("mine\n")
    (folder / "c.yaml").symlink_to(outside)
    monkeypatch.chdir(folder)

    with pytest.raises(Failed, match=LEADS_OUT):
        safe_files.replace(Path("c.yaml"), b"a: 1\n")
    assert outside.read_text() == "mine\n"


@pytest.mark.sized
@pytest.mark.parametrize("line", sizes.either(READERS[1::2], READERS))
def test_no_command_waits_for_a_pipe_that_nobody_writes_to(server: Server, folder: Path, line: str) -> None:
    os.mkfifo(folder / "c.yaml")

    assert_refused(run(server, folder, *line.split()), server, "c.yaml: it is not a regular file")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/tty"])
def test_only_regular_files_are_read(server: Server, folder: Path, device: str) -> None:
    assert_refused(run(server, folder, "validate", device), server, f"cannot read {device}: ")


@pytest.mark.parametrize("line", READERS[::3])
def test_no_command_reads_past_1_mb(server: Server, folder: Path, line: str) -> None:
    """The file has 3 GB, and the process no room for them."""
    with (folder / "c.yaml").open("wb") as large:
        large.truncate(3 << 30)
    keep(folder, "c.yaml")
    done = shell(server, folder, f"ulimit -v 1500000; exec $CLI {line}")

    assert_refused(done, server, "c.yaml is over 1 MB, the server's limit")


@pytest.mark.parametrize("line", ["validate -", "validate /dev/stdin", "validate <(cat /dev/zero)"])
def test_what_comes_by_a_pipe_has_an_end_too(server: Server, folder: Path, line: str) -> None:
    done = shell(server, folder, f"ulimit -v 1500000; exec $CLI {line} < /dev/zero")

    assert_refused(done, server, "is over 1 MB")


@pytest.mark.parametrize(
    "line",
    [
        "$CLI validate <(cat a.yaml)",
        "cat a.yaml | $CLI validate /dev/stdin",
        "$CLI validate - < a.yaml",
        "$CLI test run <(cat a.yaml) --pipeline logs --sample <(echo one) --no-wait",
        "$CLI test run a.yaml --pipeline logs --sample - --no-wait < a.yaml",
    ],
)
def test_pipes_of_the_shell_are_read(server: Server, folder: Path, line: str) -> None:
    done = shell(server, folder, line)

    assert done.returncode == 0, done
    assert b"receivers: {}\\n" in sent(server)


def test_a_folder_of_more_files_than_anyone_has_is_not_pushed(server: Server, folder: Path) -> None:
    for number in range(1_001):
        (folder / f"{number}.yaml").touch()

    refusal = "contains over 1,000 YAML files: name the files to push"
    assert_refused(run(server, folder, "config", "push", "."), server, refusal)
    assert not server.requests


def test_the_lock_of_an_editor_is_not_a_configuration(server: Server, folder: Path) -> None:
    (folder / ".#a.yaml").symlink_to("ada@host.12:34")

    assert b"ada@host" not in run(server, folder, "config", "push", ".", "--dry-run").stderr


@pytest.mark.parametrize(
    "content",
    [
        "[" * 200_000,
        "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 8)}]}}\n" for n in range(1, 40)),
        "a: &a\n  b: *a\n",
    ],
    ids=["deep", "merges", "cycle"],
)
def test_a_file_of_rules_costs_no_more_than_a_file(server: Server, folder: Path, content: str) -> None:
    (folder / "c.yaml").write_text(content)
    done = run(server, folder, "rules", "set", CONFIGURATION, "c.yaml")

    assert_refused(done, server, "c.yaml")


def test_file_names_and_texts_are_not_commands_of_a_workflow(server: Server, folder: Path) -> None:
    names = ["::error::FORGED.yaml", "a\n::add-mask::FORGED.yaml", "##[error]FORGED.yaml", " ::warning::FORGED.yaml"]
    for name in names:
        (folder / name).write_text("::warning::FORGED\n##[error]FORGED\n")
    finding = {"code": "other", "component_path": "", "line": 1, "column": 1, "message": "no"}
    server.answers = [(200, {}, VALID | {"valid": False, "errors": [finding, finding | {"line": 2}]})]

    (folder / "two.yaml").write_text('service: {pipelines: {"logs/a\\n::error::FORGED": {}, "logs/##[error]": {}}}')
    choice = ["test", "run", "two.yaml", "--sample", names[0]]
    unknown = ["config", "show", names[1], "--version", names[1]]
    everywhere = [["validate", *names], ["lint", *names], ["config", "push", "."], ["validate", "--json", *names]]
    for line in [*everywhere, choice, unknown, ["validate", "missing\n::error::FORGED"], names]:
        done = run(server, folder, *line, GITHUB_ACTIONS="true")
        printed = (done.stdout + b"\n" + done.stderr).decode()
        assert "Traceback" not in printed
        begins = [one for one in printed.splitlines() if one.lstrip().startswith(("::", "FORGED")) or "##[" in one]
        assert begins == [], line


def test_a_stored_credential_is_a_file(server: Server, folder: Path) -> None:
    home = folder.parent / "home" / ".config" / "headgate"
    home.mkdir(parents=True)
    os.mkfifo(home / "credentials.json")
    done = run(server, folder, "whoami", SERVICE_API_TOKEN="")

    assert (done.returncode, b"not signed in" in done.stderr) == (3, True)


def test_no_folder_names_where_credentials_are(server: Server, folder: Path) -> None:
    stored = folder / "here" / "headgate" / "credentials.json"
    stored.parent.mkdir(parents=True)
    stored.write_text(json.dumps({"url": server.url, "value": "sv_strangers"}))
    done = run(server, folder, "whoami", SERVICE_API_TOKEN="", XDG_CONFIG_HOME="here")

    assert (done.returncode, server.requests) == (3, [])


def test_a_pipeline_of_a_file_is_one_segment_of_the_path(server: Server, folder: Path) -> None:
    rules = [{"name": "none", "condition": "false"}]
    (folder / "c.yaml").write_text(json.dumps({"logs/../../a?b%2F": {"rules": rules}}))

    run(server, folder, "rules", "set", CONFIGURATION, "c.yaml")

    assert server.requests[-1][0].rpartition("/")[2] == "logs%2F..%2F..%2Fa%3Fb%252F"


@pytest.mark.parametrize("value", [".inf", "&a [*a]", "2026-11-20"])
def test_a_value_that_json_does_not_have_is_refused_in_words(server: Server, folder: Path, value: str) -> None:
    (folder / "c.yaml").write_text(f"logs: [{{name: a, condition: b, min: {value}}}]\n")

    done = run(server, folder, "rules", "set", CONFIGURATION, "c.yaml")

    assert (done.returncode, b"Traceback" in done.stderr, b"cannot be sent as JSON" in done.stderr) == (1, False, True)
