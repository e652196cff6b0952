"""`headgate collector list`, and the collector version that `lint` and `validate` name."""

import json
from pathlib import Path

import pytest

from tests.support.answering import Server
from tests.support.cli_in_process import Run

EVERYTHING = {"lines": True, "lint": True, "runs": True, "steps": False, "upgrade_check": True}
RUNS_ONLY = {"lines": False, "lint": False, "runs": True, "steps": False, "upgrade_check": False}
NOTHING = dict.fromkeys(EVERYTHING, False)


def version(number: str, source: str | None, capabilities: dict[str, bool], **more: object) -> dict[str, object]:
    usual: dict[str, object] = {"distribution": "otelcol-contrib", "default": False, "reduced": False, "lacks": []}
    return {"version": number, "source": source, "can": capabilities, "unusable": None, **usual, **more}


LISTED = [
    version("0.158.0", "built", EVERYTHING, reduced=True, lacks=[{"kind": "receiver", "type": "hostmetrics"}]),
    version("0.150.0", "official_release", RUNS_ONLY),
    version("0.149.0", None, NOTHING, unusable="It exited\n::error::with status 2"),
    version("0.139.0", "built", EVERYTHING, default=True),
]


@pytest.fixture
def server(server: Server) -> Server:
    server.answers = [(200, {}, {"items": LISTED, "next_cursor": None})]
    return server


def test_the_versions_are_listed_with_what_each_can_do(run: Run) -> None:
    code, out, err = run("collector list")

    assert code == 0
    assert [line.split("  ", 1)[0] for line in out.splitlines()] == [
        "VERSION",
        "0.158.0",
        "0.150.0",
        "0.149.0",
        "0.139.0 (default)",
    ]
    _, reduced, release, unusable, default = (" ".join(line.split()) for line in out.splitlines())
    assert reduced == "0.158.0 built lines, lint, test runs, upgrade check 1 component"
    assert release == "0.150.0 official release test runs -"
    assert unusable == "0.149.0 unusable - -"
    assert default == "0.139.0 (default) built lines, lint, test runs, upgrade check -"
    assert err == "0.149.0 cannot be used: It exited�::error::with status 2\n"


def test_for_programs_the_answer_is_printed_as_it_is(run: Run) -> None:
    code, out, err = run("collector list --json")

    assert (code, json.loads(out), err) == (0, LISTED, "")


VALID = {"valid": True, "distribution": "otelcol-contrib", "version": "0.158.0"}


@pytest.mark.parametrize("command", ["lint", "validate"])
@pytest.mark.parametrize("option", ["--version", "--collector-version"])
def test_a_check_names_the_version_that_was_given(
    command: str, option: str, run: Run, server: Server, tmp_path: Path
) -> None:
    (tmp_path / "edge.yaml").write_text("a: b")
    server.answers = [(200, {}, {**VALID, "lint": {"valid": True, "checked": 0}})]

    assert run(f"{command} {option} v0.158.0 edge.yaml")[0] == 0
    assert run(f"{command} edge.yaml")[0] == 0

    assert [json.loads(body) for _, _, body in server.requests] == [
        {"yaml": "a: b", "version": "0.158.0"},
        {"yaml": "a: b"},
    ]


def test_a_version_without_a_linter_names_the_command_that_lists_those_with_one(
    run: Run, server: Server, tmp_path: Path
) -> None:
    (tmp_path / "edge.yaml").write_text("a: b")
    server.answers = [(422, {}, {"detail": "Collector 0.150.0 has no linter", "code": "lint_not_possible"})]

    code, _, err = run("lint --version 0.150.0 edge.yaml")

    assert code == 1
    assert "could not lint edge.yaml: Collector 0.150.0 has no linter: see `headgate collector list`" in err
