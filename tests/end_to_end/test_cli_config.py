"""`headgate config`: what is saved, what is not, and what one is told about it."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.cli_support import BROKEN, EDGE, Cli, Done, pushed, until_end
from tests.support.local_service import LocalService

pytestmark = pytest.mark.end_to_end


def test_a_file_becomes_a_draft_and_then_only_what_differs_is_saved(cli: Cli) -> None:
    made = pushed(cli)
    again = cli.run("config", "push", "edge.yaml")
    cli.write("edge.yaml", EDGE.replace("5s", "6s"))
    changed = cli.ok("config", "push", "edge.yaml", "--publish", "-m", "Wait longer")

    assert (again.code, again.out) == (0, "edge.yaml: edge v1, unchanged\n")
    assert changed == "edge.yaml: edge v2, published\n"
    assert cli.versions(made) == [EDGE, EDGE.replace("5s", "6s")]
    with cli.api() as api:
        version = api.get(f"/configurations/{made}/versions/2").json()
    assert (version["status"], version["description"]) == ("published", "Wait longer")


def test_another_of_the_same_name_is_refused(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)
    first = cli.run("config", "create", "edge.yaml", "--name", "gateway")
    second = cli.run("config", "create", "edge.yaml", "--name", " gateway ")

    assert (first.code, first.err) == (0, "gateway v1 is a draft\n")
    assert (second.code, second.out) == (1, "")
    assert f"a configuration 'gateway' exists already ({first.out.strip()})" in second.err
    assert f"`headgate config push FILE --to {first.out.strip()}`" in second.err
    assert len(cli.run("config", "list", "--json").json) == 1


@pytest.mark.parametrize("text", [EDGE.replace("\n", "\r\n"), "﻿" + EDGE, EDGE.rstrip("\n"), EDGE + "# 配置\n"])
def test_texts_go_and_come_byte_for_byte(cli: Cli, text: str) -> None:
    pushed(cli, text)
    cli.ok("config", "pull", "edge", "--to", "there")

    assert (cli.folder / "there" / "edge.yaml").read_bytes() == text.encode()
    assert cli.ok("config", "push", "edge.yaml", "there") == (
        "edge.yaml: edge v1, unchanged\nthere/edge.yaml: edge v1, unchanged\n"
    )


def test_a_file_that_the_collector_refuses_is_shown_and_not_saved(cli: Cli) -> None:
    cli.write("edge.yaml", BROKEN)
    done = cli.run("config", "push", "edge.yaml")

    assert (done.code, done.out) == (1, "")
    assert "edge.yaml:6:14: error:" in done.err
    assert "Nothing was saved" in done.err
    assert cli.run("config", "list", "--json").json == []
    assert not (cli.folder / "headgate.json").exists()
    assert cli.ok("config", "push", "edge.yaml", "--no-validate") == "edge.yaml: edge v1\n"


def test_nothing_of_a_folder_is_saved_when_one_file_is_wrong(cli: Cli) -> None:
    cli.write("all/a.yaml", EDGE)
    cli.write("all/b.yaml", BROKEN)

    assert cli.run("config", "push", "all").code == 1
    assert cli.run("config", "list", "--json").json == []


def test_a_text_whose_collector_is_not_installed_is_not_saved_and_those_that_are_installed_are_named(cli: Cli) -> None:
    made = pushed(cli)
    with cli.api() as api:
        api.patch(f"/configurations/{made}/versions/1", json={"collector_version": "0.1.0"}).raise_for_status()
    cli.write("edge.yaml", EDGE.replace("5s", "6s"))
    done = cli.run("config", "push", "edge.yaml", "--publish")

    assert done.code == 1
    assert "could not validate edge.yaml: Collector version 0.1.0 is not installed; installed: " in done.err
    assert cli.versions(made) == [EDGE]


def test_a_server_that_is_not_there_saves_nothing_either(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)
    done = cli.run("config", "push", "edge.yaml", HEADGATE_URL="http://127.0.0.1:1")

    assert (done.code, done.out) == (1, "")
    assert "cannot reach http://127.0.0.1:1" in done.err


def test_a_dry_run_shows_the_difference_and_saves_nothing(cli: Cli) -> None:
    made = pushed(cli)
    cli.write("edge.yaml", EDGE.replace("5s", "6s"))
    done = cli.run("config", "push", "edge.yaml", "--dry-run", "--publish")

    assert done.code == 0
    assert "-    timeout: 5s\n+    timeout: 6s\n" in done.out
    assert "would become edge v2, published" in done.err
    assert cli.versions(made) == [EDGE]


def test_what_somebody_else_pushed_is_not_pushed_over(cli: Cli) -> None:
    made = pushed(cli)
    cli.ok("config", "pull", made, "--to", "other")
    cli.write("other/edge.yaml", EDGE.replace("5s", "7s"))
    cli.ok("config", "push", "other")

    unchanged = cli.run("config", "push", "edge.yaml")
    cli.write("edge.yaml", EDGE.replace("5s", "8s"))
    changed = cli.run("config", "push", "edge.yaml")
    pulled = cli.run("config", "pull")

    assert [one.code for one in (unchanged, changed, pulled)] == [1, 1, 1]
    assert "the file is unchanged: get it with `headgate config pull`" in unchanged.err
    assert f"headgate config diff {made} --file edge.yaml" in changed.err
    assert "was changed here" in pulled.err
    assert (cli.folder / "edge.yaml").read_text() == EDGE.replace("5s", "8s")
    assert len(cli.versions(made)) == 2

    cli.ok("config", "push", "edge.yaml", "--force")
    assert cli.versions(made)[2] == EDGE.replace("5s", "8s")


def test_a_draft_that_was_changed_in_place_is_not_pushed_over(cli: Cli) -> None:
    made = pushed(cli)
    with cli.api() as api:
        api.patch(f"/configurations/{made}/versions/1", json={"yaml": EDGE.replace("5s", "7s")}).raise_for_status()
    cli.write("edge.yaml", EDGE.replace("5s", "8s"))

    assert cli.run("config", "push", "edge.yaml").code == 1
    assert cli.versions(made) == [EDGE.replace("5s", "7s")]


def test_pushes_at_the_same_time_lose_nothing(cli: Cli) -> None:
    made = pushed(cli)
    folders = [f"clone{number}" for number in range(4)]
    for number, folder in enumerate(folders):
        cli.ok("config", "pull", made, "--to", folder)
        cli.write(f"{folder}/edge.yaml", EDGE.replace("5s", f"{number + 10}s"))
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda folder: cli.run("config", "push", folder), folders))

    there = cli.versions(made)
    for number, one in enumerate(done):
        text = EDGE.replace("5s", f"{number + 10}s")
        # Saved and said so, or refused and said so.
        assert (text in there) == (one.code == 0), one
    assert len(there) == 1 + sum(one.code == 0 for one in done)


def test_without_its_manifest_a_file_does_not_become_a_second_configuration(cli: Cli) -> None:
    made = pushed(cli)
    (cli.folder / "headgate.json").unlink()
    cli.write("edge.yaml", EDGE.replace("5s", "6s"))
    refused = cli.run("config", "push", "edge.yaml")

    assert (refused.code, f"--to {made}" in refused.err) == (1, True)
    assert cli.ok("config", "push", "edge.yaml", "--to", made) == "edge.yaml: edge v2\n"


def test_a_folder_is_pulled_and_pushed_as_a_whole(cli: Cli) -> None:
    cli.ok("config", "create", "-", "--name", "Edge: EU/west", "--publish", given=EDGE.encode())
    cli.ok("config", "create", "-", "--name", "Gateway", given=EDGE.encode())
    cli.ok("config", "pull", "--all", "--to", "all")
    folder = cli.folder / "all"

    assert sorted(one.name for one in folder.iterdir()) == ["edge-eu-west.yaml", "gateway.yaml", "headgate.json"]

    cli.write("all/gateway.yaml", EDGE.replace("5s", "6s"))
    cli.write("all/new.yaml", EDGE)
    assert cli.ok("config", "push", "all").splitlines() == [
        "all/edge-eu-west.yaml: Edge: EU/west v1, unchanged",
        "all/gateway.yaml: Gateway v2",
        "all/new.yaml: new v1",
    ]
    before = {one.name: one.read_bytes() for one in folder.iterdir()}
    cli.ok("config", "pull", "--to", "all")
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == before


def listed(cli: Cli, folder: str = ".") -> dict[str, int]:
    """The files and versions of the folder's headgate.json."""
    entries = json.loads((cli.folder / folder / "headgate.json").read_text())["configurations"]
    return {file: entry["version"] for file, entry in entries.items()}


def test_files_that_are_named_together_are_all_listed(cli: Cli) -> None:
    for file in ("a1.yaml", "a2.yaml", "a3.yaml", "there/b1.yaml"):
        cli.write(file, EDGE)
    cli.ok("config", "push", "a1.yaml", "./a2.yaml", "there/b1.yaml", "there/../a3.yaml", "a1.yaml")

    assert (listed(cli), listed(cli, "there")) == ({"a1.yaml": 1, "a2.yaml": 1, "a3.yaml": 1}, {"b1.yaml": 1})
    assert len(cli.run("config", "list", "--json").json) == 4

    cli.write("a0.yaml", EDGE)
    cli.write("a2.yaml", EDGE.replace("5s", "6s"))
    cli.write("a3.yaml", EDGE.replace("5s", "7s"))
    cli.ok("config", "push", "a0.yaml", "a2.yaml", "a3.yaml")

    assert listed(cli) == {"a0.yaml": 1, "a1.yaml": 1, "a2.yaml": 2, "a3.yaml": 2}
    assert cli.ok("config", "push", ".", "there").count("unchanged") == 5


def test_a_file_that_is_refused_does_not_unlist_those_before_it(cli: Cli) -> None:
    refused = "m" * 240 + ".yaml"
    pushed(cli, name="a.yaml")
    for file in ("b.yaml", refused, "z.yaml"):
        cli.write(file, EDGE)
    cli.write("a.yaml", EDGE.replace("5s", "6s"))
    stopped = cli.run("config", "push", "a.yaml", "b.yaml", refused, "z.yaml")

    assert (stopped.code, stopped.out) == (1, "a.yaml: a v2\nb.yaml: b v1\n")
    assert listed(cli) == {"a.yaml": 2, "b.yaml": 1}
    (cli.folder / refused).unlink()
    assert cli.ok("config", "push", ".") == "a.yaml: a v2, unchanged\nb.yaml: b v1, unchanged\nz.yaml: z v1\n"


def test_a_pull_of_what_is_published_leaves_drafts_alone(cli: Cli) -> None:
    made = pushed(cli)
    cli.ok("config", "publish", made)
    cli.write("edge.yaml", EDGE.replace("5s", "6s"))
    cli.ok("config", "push", "edge.yaml")
    cli.ok("config", "create", "-", "--name", "draft", given=EDGE.encode())
    done = cli.run("config", "pull", "--all", "--published", "--to", "production")

    assert done.out == "production/edge.yaml: edge v1\n"
    assert "draft: no version is published" in done.err
    assert (cli.folder / "production" / "edge.yaml").read_text() == EDGE


@pytest.mark.parametrize(
    "entries",
    [
        {"../victim": {"id": "cfg_01m7xvpv04fderdbp0w7k6v2ep", "name": "x", "version": 1, "sha256": ""}},
        {"/tmp/victim": {"id": "cfg_01m7xvpv04fderdbp0w7k6v2ep", "name": "x", "version": 1, "sha256": ""}},
        {"edge.yaml": {"id": "../identity", "name": "x", "version": 1, "sha256": ""}},
        {"edge.yaml": {"id": "cfg_01m7xvpv04fderdbp0w7k6v2ep"}},
        [],
    ],
)
def test_a_strange_manifest_is_refused_before_anything_is_written(cli: Cli, entries: object) -> None:
    cli.write("headgate.json", json.dumps({"configurations": entries}))
    done = cli.run("config", "pull")

    assert done.code == 1
    assert "headgate.json is not a manifest" in done.err
    assert not (cli.folder.parent / "victim").exists()


def test_a_configuration_goes_by_id_name_or_file(cli: Cli) -> None:
    made = pushed(cli)

    shown = [cli.ok("config", "show", wanted, "--yaml") for wanted in (made, "edge", "edge.yaml", "./edge.yaml")]
    assert shown == [EDGE] * 4

    with cli.api() as api:
        assert api.post("/configurations", json={"name": "edge", "yaml": EDGE}).status_code == 201
    several, none = cli.run("config", "show", "edge"), cli.run("config", "show", "nothing")
    assert (several.code, "2 configurations are called 'edge'" in several.err, made in several.err) == (1, True, True)
    assert (none.code, "no configuration 'nothing'" in none.err) == (1, True)


def test_versions_are_listed_and_compared(cli: Cli) -> None:
    made = pushed(cli)
    cli.ok("config", "publish", "edge")
    cli.write("edge.yaml", EDGE.replace("5s", "6s"))
    cli.ok("config", "push", "edge.yaml", "-m", "Wait longer")

    listed = cli.ok("config", "versions", "edge")
    assert re.search(r"^2 +draft .*Wait longer$", listed, re.MULTILINE)
    assert re.search(r"^1 +published ", listed, re.MULTILINE)
    assert [one["n"] for one in cli.run("config", "versions", made, "--json").json] == [2, 1]
    assert "-    timeout: 5s\n+    timeout: 6s\n" in cli.ok("config", "diff", "edge")
    assert "+    timeout: 5s\n" in cli.ok("config", "diff", "edge", "--from", "2", "--to", "v1")
    cli.write("edge.yaml", EDGE.replace("5s", "9s"))
    assert "+    timeout: 9s\n" in cli.ok("config", "diff", "edge", "--file", "edge.yaml")
    assert cli.run("config", "diff", "edge", "--file", "edge.yaml", "--exit-code").code == 1


# In an editor.


# Exit codes and tables.


def outcome(done: Done) -> tuple[int, bool]:
    """The exit code, and whether standard output stayed clean."""
    return done.code, done.out == ""


def test_a_token_that_may_only_read_saves_nothing(cli: Cli, service: LocalService) -> None:
    cli.write("edge.yaml", EDGE)
    done = cli.run("config", "push", "edge.yaml", "--no-validate", SERVICE_API_TOKEN=service.read_only_token)

    assert (done.code, done.out) == (3, "")
    assert "This endpoint requires the 'write' claim: use a token with write access" in done.err
    assert not (cli.folder / "headgate.json").exists()


def test_what_is_wrong_decides_the_exit_code(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)

    assert outcome(cli.run("config", "list", SERVICE_API_TOKEN="sv_unknown")) == (3, True)
    assert outcome(cli.run("config", "list", SERVICE_API_TOKEN="")) == (3, True)
    assert outcome(cli.run("config", "list", HEADGATE_URL="")) == (2, True)
    assert outcome(cli.run("config", "list", "--nonsense")) == (2, True)
    assert outcome(cli.run("config", "pull")) == (2, True)
    assert outcome(cli.run("config", "push", "-", given=b"a")) == (2, True)
    assert outcome(cli.run("config", "push", "..")) == (1, True)
    assert outcome(cli.run("configs")) == (2, True)
    assert "Did you mean 'config'?" in cli.run("configs").err
    assert outcome(cli.run("config", "show", "cfg_01m7xvpv04fderdbp0w7k6v2ep")) == (1, True)
    assert outcome(cli.run("config", "push", "nowhere.yaml")) == (1, True)
    assert outcome(cli.run("config", "create", "edge.yaml", "--name", "x" * 201)) == (1, True)
    assert "name: " in cli.run("config", "create", "edge.yaml", "--name", "x" * 201).err


def test_a_table_fits_its_terminal_and_is_whole_in_a_pipe(cli: Cli) -> None:
    long = "A name that no narrow terminal shows: " + "配置" * 60
    cli.ok("config", "create", "-", "--name", long, given=EDGE.encode())

    assert long in cli.ok("config", "list")
    code, shown = until_end(cli.terminal("config", "list", columns=80))
    assert code == 0
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "…" in plain
    assert all(len(line) + sum(one in "配置" for one in line) <= 80 for line in plain.splitlines())


def test_colour_is_for_terminals_that_want_it(cli: Cli) -> None:
    pushed(cli)

    assert "\x1b[" in until_end(cli.terminal("config", "list"))[1]
    assert "\x1b[" not in until_end(cli.terminal("config", "list", NO_COLOR="1"))[1]
    assert "\x1b[" not in cli.ok("config", "list")


def test_what_others_wrote_cannot_drive_the_terminal(cli: Cli) -> None:
    name = "\x1b]0;owned\x07"
    made = cli.ok("config", "create", "-", "--name", name, "--no-validate", given=b"a: b # \x1b[2J\n").strip()

    cli.write("mine.yaml", EDGE)
    push = ["push", "mine.yaml", "--to", made, "--dry-run"]
    for command in (["list"], ["show", made], ["publish", made], push, ["pull", made]):
        # In colour, for without it click takes escapes out by itself.
        shown = until_end(cli.terminal("config", *command))[1]
        assert not re.search(r"\x1b\]|\x1b\[2J|\x07", shown), command
    assert cli.ok("config", "show", made, "--version", "1", "--yaml") == "a: b # \x1b[2J\n"
