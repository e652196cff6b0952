"""`headgate config edit`: what is saved of an edit, and where the rest is kept."""

import re
from pathlib import Path

import pytest

from tests.support.cli_support import BROKEN, EDGE, Cli, pushed, until_end

pytestmark = pytest.mark.end_to_end


def editor(cli: Cli, *scripts: str) -> dict[str, str]:
    """An editor that runs one `sed` script each time it is opened, the last one again and again."""
    for number, script in enumerate(scripts):
        cli.write(f"../script{number}", script)
    program = cli.write(
        "../editor",
        f"""#!/bin/sh
cd {cli.folder.parent}
n=$(cat opened 2>/dev/null || echo 0)
[ -e "script$n" ] || n=$((n - 1))
sed -i -f "script$n" "$1"
echo $((n + 1)) > opened
""",
    )
    program.chmod(0o755)
    return {"EDITOR": str(program), "VISUAL": ""}


def kept_text(said: str) -> str:
    found = re.search(r"what you wrote is in (\S+)", said)
    assert found is not None, said
    return Path(found[1]).read_text()


def test_a_draft_is_edited_in_place_and_a_published_version_is_followed_by_a_draft(cli: Cli) -> None:
    made = pushed(cli)
    code, said = until_end(cli.terminal("config", "edit", "edge", **editor(cli, "s/5s/6s/", "s/6s/7s/")))
    assert (code, "edge v1 is saved as a draft" in said) == (0, True)

    cli.ok("config", "publish", "edge")
    code, said = until_end(cli.terminal("config", "edit", "edge", **editor(cli, "s/5s/6s/", "s/6s/7s/")))
    assert (code, "edge v2 is saved as a draft" in said) == (0, True)
    assert cli.versions(made) == [EDGE.replace("5s", "6s"), EDGE.replace("5s", "7s")]


def test_an_edit_without_a_change_saves_nothing(cli: Cli) -> None:
    made = pushed(cli)
    cli.ok("config", "publish", "edge")
    code, said = until_end(cli.terminal("config", "edit", "edge", **editor(cli, "s/x/x/")))

    assert (code, "No change" in said, len(cli.versions(made))) == (0, True, 1)


def test_an_edit_that_the_collector_refuses_comes_back_to_the_editor(cli: Cli) -> None:
    made = pushed(cli)
    scripts = editor(cli, "s/5s/5 parsecs/", "s/5 parsecs/6s/")
    child = cli.terminal("config", "edit", "edge", NO_COLOR="1", **scripts)
    child.expect(":6:14: error")
    child.expect("Edit again")
    child.sendline("edit")

    assert until_end(child)[0] == 0
    assert cli.versions(made) == [EDGE.replace("5s", "6s")]


@pytest.mark.parametrize(("answer", "expected"), [("leave\n", 1), ("\x03", 130)])
def test_an_edit_that_is_given_up_is_kept_in_a_file(cli: Cli, answer: str, expected: int) -> None:
    made = pushed(cli)
    child = cli.terminal("config", "edit", "edge", **editor(cli, "s/5s/5 parsecs/"))
    child.expect("Edit again")
    child.send(answer)
    code, said = until_end(child)

    assert code == expected
    assert kept_text(said) == BROKEN
    assert cli.versions(made) == [EDGE]


@pytest.mark.parametrize("published", [False, True])
def test_an_edit_of_what_changed_meanwhile_is_kept_and_not_saved(cli: Cli, published: bool) -> None:
    made, after = pushed(cli), EDGE.replace("5s", "9s")
    if published:
        cli.ok("config", "publish", "edge")
    child = cli.terminal("config", "edit", "edge", **editor(cli, "s/5s/5 parsecs/", "s/5 parsecs/6s/"))
    child.expect("Edit again")
    with cli.api() as api:
        verb, path = ("POST", "/versions") if published else ("PATCH", "/versions/1")
        api.request(verb, f"/configurations/{made}{path}", json={"yaml": after}).raise_for_status()
    child.sendline("edit")
    code, said = until_end(child)

    assert (code, "somebody else changed it meanwhile" in said) == (1, True)
    assert kept_text(said) == EDGE.replace("5s", "6s")
    assert cli.versions(made) == ([EDGE, after] if published else [after])


def test_an_editor_that_is_not_there_is_said(cli: Cli) -> None:
    pushed(cli)
    code, said = until_end(cli.terminal("config", "edit", "edge", EDITOR="/nonexistent/editor", VISUAL=""))

    assert (code, "EDITOR" in said) == (1, True)
    assert "what you wrote" not in said


def test_one_value_is_set_in_many_configurations_and_published_if_their_tests_pass(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)
    cli.write("gateway.yaml", EDGE.replace("5s", "7s # slow"))
    cli.write("other.yaml", EDGE.replace("batch", "memory_limiter").replace("timeout: 5s", "check_interval: 5s"))
    cli.write("edge.tests/sample.log", "one\n")
    cli.write(
        "edge.tests/passes.yaml",
        "target_pipeline: logs\nsample_file: sample.log\nrules: [{name: some, condition: 'true'}]\n"
        "duration_seconds: 1\n",
    )
    cli.ok("config", "push", ".", "--no-validate", "--publish")

    shown = cli.run("config", "edit", "--all", "--set", "processors.batch.timeout=9s", "--dry-run")
    assert (shown.code, shown.out.count("+    timeout: 9s")) == (0, 2), shown
    assert "other v1 has no processors::batch: it stays as it is\n" in shown.err

    wrong = cli.run("config", "edit", "--all", "--set", "processors.batch.timeout=9 parsecs")
    assert (wrong.code, "Nothing was saved; --no-validate goes on anyway" in wrong.err) == (1, True)

    publishing = ("config", "edit", "--all", "--set", "processors.batch.timeout=9s", "--publish")
    refused = cli.run(*publishing)
    assert (refused.code, "confirm with --yes" in refused.err) == (2, True), refused
    assert [row["latest_version"] for row in cli.run("config", "list", "--json").json] == [1, 1, 1]
    done = cli.run(*publishing, "--yes")
    assert done.code == 0, done
    assert "edge v2 is published\n" in done.out
    assert "timeout: 9s # slow" in cli.ok("config", "show", "gateway@2", "--yaml")
    assert [one["published_version"] for one in cli.run("config", "list", "--json").json] == [2, 2, 1]

    files = cli.run("config", "edit", "edge.yaml", "gateway.yaml", "--set", "processors.batch.timeout=9s")
    assert (files.code, "timeout: 9s # slow" in (cli.folder / "gateway.yaml").read_text()) == (0, True), files
