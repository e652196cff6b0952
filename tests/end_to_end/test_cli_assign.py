"""What does not run is neither published nor assigned by the command line; names are said, not ids."""

import pytest

from tests.support.cli_support import BROKEN, EDGE, Cli

pytestmark = pytest.mark.end_to_end

WITHOUT_PIPELINES = EDGE.partition("service:")[0] + "service: {}\n"


def published(cli: Cli, configuration_id: str) -> object:
    with cli.api() as api:
        return api.get(f"/configurations/{configuration_id}").json()["published_version"]


def assigned(cli: Cli, fleet: str) -> list[tuple[object, object]]:
    found = cli.run("deployment", "list", fleet, "--json").json
    return [(one["configuration_name"], one["version_number"]) for one in found]


@pytest.mark.parametrize("text", [BROKEN, WITHOUT_PIPELINES], ids=["broken", "without pipelines"])
def test_a_version_with_errors_is_published_by_force_alone(cli: Cli, text: str) -> None:
    cli.write("edge.yaml", text)
    made = cli.ok("config", "create", "edge.yaml", "--no-validate").strip()

    refused = cli.run("config", "publish", made)
    assert (refused.code, refused.out, published(cli, made)) == (1, "", None)
    assert "edge v1" in refused.err
    assert refused.err.endswith("Nothing was published; --force goes on anyway\n")
    assert cli.run("config", "push", "edge.yaml", "--to", made, "--publish").code == 1
    assert published(cli, made) is None

    forced = cli.run("config", "publish", made, "--force")
    assert (forced.code, forced.out, published(cli, made)) == (0, "edge v1 is published\n", 1)
    assert ": error: " in forced.err
    # What is published is: nothing is left to check.
    assert cli.run("config", "publish", made).code == 0


def test_a_draft_that_was_pushed_before_is_checked_when_it_is_published(cli: Cli) -> None:
    cli.write("edge.yaml", WITHOUT_PIPELINES)
    cli.ok("config", "push", "edge.yaml", "--no-validate")

    refused = cli.run("config", "push", "edge.yaml", "--publish")
    assert (refused.code, refused.err.splitlines()[-1]) == (1, "Nothing was saved; --no-validate saves it anyway")
    assert cli.ok("config", "push", "edge.yaml", "--publish", "--no-validate") == (
        "edge.yaml: edge v1, unchanged, published\n"
    )


def test_a_version_with_errors_is_assigned_by_force_alone(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)
    cli.ok("config", "push", "edge.yaml", "--publish")
    cli.write("edge.yaml", WITHOUT_PIPELINES)
    cli.ok("config", "push", "edge.yaml", "--publish", "--no-validate")
    cli.ok("fleet", "create", "edges")

    right = cli.run("deployment", "assign", "edges", "Default", "edge", "--version", "1")
    assert (right.code, "is assigned edge v1\n" in right.out) == (0, True)
    for line in (["assign", "edges", "Default", "edge"], ["create", "edges", "canary", "edge"]):
        refused = cli.run("deployment", *line)
        assert (refused.code, refused.out) == (1, "")
        assert "edge v2" in refused.err
        assert "; --force goes on anyway\n" in refused.err
    assert assigned(cli, "edges") == [("edge", 1)]

    forced = cli.run("deployment", "assign", "edges", "Default", "edge", "--force")
    assert (forced.code, "is assigned edge v2\n" in forced.out, ": error: " in forced.err) == (0, True, True)
    assert cli.run("deployment", "create", "edges", "canary", "edge", "--force").code == 0
    assert assigned(cli, "edges") == [("edge", 2), ("edge", 2)]


def test_a_collector_that_the_server_does_not_have_stops_nothing_and_is_said(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)
    made = cli.ok("config", "create", "edge.yaml").strip()
    with cli.api() as api:
        changed = api.patch(f"/configurations/{made}/versions/1", json={"collector_version": "0.1.0"})
        assert changed.status_code == 200, changed.text
    cli.ok("fleet", "create", "edges")

    for line in (["config", "publish", made], ["deployment", "assign", "edges", "Default", made]):
        done = cli.run(*line)
        assert (done.code, done.err.startswith("warning: edge v1 was not validated: ")) == (0, True), done
        assert "0.1.0" in done.err
    assert assigned(cli, "edges") == [("edge", 1)]


def test_groups_show_the_names_of_what_they_are_assigned(cli: Cli) -> None:
    for name in ("edge", "gateway"):
        cli.write(f"{name}.yaml", EDGE)
        cli.ok("config", "push", f"{name}.yaml", "--publish")
    cli.ok("fleet", "create", "edges")
    cli.ok("deployment", "assign", "edges", "Default", "edge")
    cli.ok("deployment", "create", "edges", "gateways", "gateway")
    listed = cli.ok("deployment", "list", "edges")

    assert [line.split()[-3:] for line in listed.splitlines()[1:]] == [
        ["edge", "v1", "none"],
        ["gateway", "v1", "none"],
    ]
    assert "cfg_" not in listed
    cleared = cli.ok("deployment", "clear", "edges", "Default", "--yes")
    assert cleared.endswith(" has nothing assigned\n")
    assert assigned(cli, "edges") == [(None, None), ("gateway", 1)]


def test_a_rule_of_the_command_line_is_for_any_item_unless_it_says_otherwise(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)
    cli.write("sample.log", "one\ntwo\n")

    def run(rule: str) -> tuple[int, str]:
        done = cli.run("test", "run", "edge.yaml", "--sample", "sample.log", "--duration", "1", "--rule", rule)
        return done.code, done.out

    code, said = run('is one=log.body == "one"')
    assert (code, "pass  is one  (any: 1 of 2 log)" in said) == (0, True), said
    code, said = run('is one:all=log.body == "one"')
    assert (code, "FAIL  is one  (all: 1 of 2 log)" in said) == (1, True), said
    for slip in ("is one:al", "is one:count", "is one:some"):
        refused = cli.run("test", "run", "edge.yaml", "--sample", "sample.log", "--rule", f"{slip}=true")
        assert (refused.code, "is not known: write any, all or none" in refused.err) == (2, True), refused.err
    code, said = run('a:b:none=log.body == "three"')
    assert (code, "pass  a:b  (none: 0 of 2 log)" in said) == (0, True), said
    cli.write("rules.yaml", '[{name: is one, condition: log.body == "one"}]')
    same = cli.run("test", "run", "edge.yaml", "--sample", "sample.log", "--duration", "1", "--rules", "rules.yaml")
    assert (same.code, "pass  is one  (any: 1 of 2 log)" in same.out) == (0, True)
