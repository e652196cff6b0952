"""`headgate upgrade check` against a server that answers what a test wants: what is asked and printed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.answering import Answer, Server
from tests.support.upgrade_reports import (
    BREAKS,
    CLEAN,
    CONFIGURATION,
    FINDING,
    FIXED,
    FLEET,
    GROUP,
    INVALID,
    NOT_CHECKED,
    NOT_COMPARED,
    PLACE,
    REFERENCE,
    REFUSED_BEFORE,
    RENAMED,
    RENAMES,
    TEXT,
    TO,
    Upgrade,
    asked,
    verdict,
)

NOT_INSTALLED: Answer = (422, {}, {"detail": "0.158.0 is not installed", "code": "collector_version_not_installed"})
OUTAGE: Answer = (503, {}, {"detail": "Collector 0.158.0 could not be asked", "code": "not_checked"})
OPEN = CLEAN | verdict(False) | {"new_warnings": [FINDING | {"code": "depends_on_host"}]}


@pytest.mark.parametrize(
    ("report", "code", "strict", "said"),
    [
        (CLEAN, 0, 0, "works on 0.158.0 as on 0.139.0"),
        (RENAMED, 0, 1, "works on 0.158.0, but: 2 renames"),
        (CLEAN | {"defaults": [PLACE | {"key": "a", "before": 1, "after": 2}]}, 0, 1, "but: 1 changed default"),
        (CLEAN | {"deprecations": [PLACE | {"message": "old", "new": False}]}, 0, 0, "works on 0.158.0 as on 0.139.0"),
        (CLEAN | {"new_warnings": [FINDING, FINDING]}, 0, 1, "but: 2 new warnings"),
        (BREAKS, 1, 1, "breaks on 0.158.0: 1 new error"),
        (INVALID, 1, 1, "is invalid on 0.158.0, and on 0.139.0 already: 1 error"),
        (
            BREAKS | {"verdict": BREAKS["verdict"] | {"from": REFUSED_BEFORE["verdict"]["from"]}},
            1,
            1,
            "is invalid on 0.158.0, and on 0.139.0 already: 1 error, of which 1 is new",
        ),
        (NOT_CHECKED, 1, 1, "is not fully checked: this build of 0.158.0 lacks the receiver tail"),
        (NOT_COMPARED, 0, 1, "but: this build of 0.139.0 lacks the receiver tail, which is not compared"),
        (OPEN, 1, 1, "is not known on 0.158.0: give what stands in ${file:NAME} with --file NAME=PATH; 1 new warning"),
        (REFUSED_BEFORE, 0, 1, "works on 0.158.0, but: 0.139.0 refuses it: 1 error"),
        (CLEAN | {"incomplete": True}, 0, 1, "works on 0.158.0, but: not everything was compared"),
        (RENAMED | {"incomplete": True}, 0, 1, "but: not everything was compared; 2 renames"),
        (BREAKS | {"incomplete": True}, 1, 1, "breaks on 0.158.0: 1 new error; not everything was compared"),
    ],
    ids=[
        "clean",
        "renamed",
        "default",
        "known deprecation",
        "warnings",
        "breaks",
        "invalid",
        "invalid in another way",
        "not checked",
        "not compared",
        "open",
        "refused before",
        "incomplete",
        "incomplete and renamed",
        "incomplete and breaks",
    ],
)
def test_the_first_line_is_the_result_and_the_status_follows_it(
    upgrade: Upgrade, report: Any, code: int, strict: int, said: str
) -> None:
    ended, out, _ = upgrade(f"check a.yaml {TO}", report)

    assert out.splitlines()[0].startswith("a.yaml: ")
    assert said in out.splitlines()[0]
    assert ended == code
    assert upgrade(f"check a.yaml {TO} --strict", report)[0] == strict


NOT_COMPARED = (
    "  what the pipelines put out was not compared: `headgate test diff a.yaml --sample SAMPLE --pipeline PIPELINE "
    "--collector-version 0.139.0 --collector-version 0.158.0` does"
)


ON_HOST = FINDING | {"code": "depends_on_host", "message": "no such file; this depends on the host"}
HOSTS_DECIDE = CLEAN | {
    "verdict": {
        side: {"valid": False, "valid_on_host": True, "errors": [], "warnings": [ON_HOST]} for side in ("from", "to")
    }
}


@pytest.mark.parametrize(
    ("options", "code", "way_out"),
    [("", 1, True), ("--on-host", 0, False), ("--on-host --strict", 0, False), ("--format github", 1, False)],
)
def test_what_the_host_decides_is_a_warning_and_the_status_is_that_of_validate(
    upgrade: Upgrade, options: str, code: int, way_out: bool
) -> None:
    ended, out, err = upgrade(f"check a.yaml {TO} {options}", HOSTS_DECIDE)

    assert ended == code
    assert "works on 0.158.0 on a host that has what is named below as on 0.139.0" in out + err
    assert "error" not in out
    assert "no such file; this depends on the host" in out
    assert ("--on-host accepts that" in err) == way_out


def test_a_fix_takes_what_hosts_accept_as_accepted(upgrade: Upgrade) -> None:
    ended, _, err = upgrade(f"fix a.yaml {TO}", HOSTS_DECIDE)

    assert (ended, "still refuses" in err) == (0, False)
    assert "Next: headgate config push a.yaml --collector-version 0.158.0" in err


def test_a_configuration_inside_of_another_text_is_named_and_pushed_without_what_is_around(upgrade: Upgrade) -> None:
    report = RENAMED | {"inside": "data.relay"}

    _, out, err = upgrade(f"check a.yaml {TO}", report)
    assert out.startswith("a.yaml: works on 0.158.0 (the configuration under data.relay), but: 2 renames\n")
    assert "take the configuration out with `headgate config import`" in err
    assert "--collector-version 0.158.0 --unwrap" in upgrade(f"fix a.yaml {TO}", report)[2]


def test_findings_stand_at_their_lines(upgrade: Upgrade) -> None:
    _, out, _ = upgrade(f"check a.yaml {TO}", BREAKS)

    assert out.splitlines()[1:] == [
        "a.yaml:4:12: error: no such file [invalid_value]",
        "    4 |   tail/b: {file: tail.log}",
        "      |            ^",
    ]


def test_what_only_the_source_refuses_is_a_note(upgrade: Upgrade) -> None:
    _, out, _ = upgrade(f"check a.yaml {TO}", REFUSED_BEFORE)

    assert out.splitlines()[1] == "a.yaml:4:12: note: only on 0.139.0: no such file [invalid_value]"


def test_a_rename_is_shown_once_for_each_component(upgrade: Upgrade) -> None:
    _, out, _ = upgrade(f"check a.yaml {TO}", RENAMED)

    assert out.count("tail is called tail_file on 0.158.0") == 2


def test_a_reference_inside_a_component_is_not_a_rename_of_its_own(upgrade: Upgrade) -> None:
    inside = REFERENCE | {"component_path": "receivers::otlp::protocols::http::auth::authenticator"}
    _, out, _ = upgrade(f"check a.yaml {TO}", CLEAN | {"renames": [RENAMES[0], inside]})

    assert out.splitlines()[0] == "a.yaml: works on 0.158.0, but: 1 rename"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("Alpha", "Beta", "note"),
        (None, "Stable", "note"),
        ("Beta", "Alpha", "note"),
        ("Beta", "Stable", "note"),
        ("Stable", None, "warning"),
        ("Alpha", None, "warning"),
    ],
)
def test_every_gate_of_the_texts_components_is_told_and_others_counted(
    upgrade: Upgrade, before: str | None, after: str | None, told: str
) -> None:
    gate = {"stage_before": before, "stage_after": after, "description": "Reads from the end"}
    gates = [gate | {"id": "tail.x", "components": ["receivers::tail"]}, gate | {"id": "service.x", "components": []}]
    _, out, err = upgrade(f"check a.yaml {TO}", CLEAN | {"feature_gates": gates})

    stages = f"was {before or 'absent'} on 0.139.0, is {after or 'gone'} on 0.158.0"
    finding = f"a.yaml: {told}: receivers::tail: the feature gate tail.x {stages}: Reads from the end [feature_gate]"
    assert finding in out.splitlines()
    assert out.splitlines()[0].endswith("but: 1 feature gate")
    assert err.splitlines() == ["  1 other feature gate changed stage: see --json", NOT_COMPARED]


def test_gates_that_are_gone_come_first(upgrade: Upgrade) -> None:
    gate = {"stage_before": "Beta", "description": "", "components": ["receivers::tail"]}
    gates = [gate | {"id": "a", "stage_after": "Stable"}, gate | {"id": "b", "stage_after": None}]
    _, out, _ = upgrade(f"check a.yaml {TO}", CLEAN | {"feature_gates": gates})

    assert [line.split("feature gate ")[1][0] for line in out.splitlines()[1:]] == ["b", "a"]


def test_what_a_component_does_otherwise_is_a_warning_with_its_source(upgrade: Upgrade) -> None:
    changed = {"component_path": "receivers::tail", "line": 2, "column": 3, "since": "0.144.0"}
    changed |= {"message": "it reads from the end", "source": "https://example.com/1"}
    _, out, err = upgrade(f"check a.yaml {TO}", CLEAN | {"behaviours": [changed]})

    assert out.splitlines()[0].endswith("works on 0.158.0, but: 1 changed behaviour")
    told = "warning: from 0.144.0 on, it reads from the end (https://example.com/1) [changed_behaviour]"
    assert out.splitlines()[1] == f"a.yaml:2:3: {told}"
    assert err.splitlines() == [NOT_COMPARED]


def test_json_is_the_servers_report_beside_what_it_is_about(upgrade: Upgrade) -> None:
    _, out, _ = upgrade(f"check a.yaml {TO} --json", RENAMED)
    assert json.loads(out) == [{"file": "a.yaml", **RENAMED}]

    _, out, _ = upgrade(f"check shop@2 {TO} --json", CLEAN)
    named = {"configuration_id": CONFIGURATION, "configuration_name": "shop", "version_number": 2}
    assert json.loads(out) == [named | CLEAN]


def test_annotations_and_sarif_have_the_findings(upgrade: Upgrade) -> None:
    _, out, err = upgrade(f"check a.yaml {TO} --format github", BREAKS)
    assert out == "::error file=a.yaml,title=invalid_value,line=4,col=12::no such file\n"
    assert "breaks on 0.158.0" in err

    _, out, _ = upgrade(f"check a.yaml {TO} --format sarif", RENAMED)
    results = json.loads(out)["runs"][0]["results"]
    assert [(result["ruleId"], result["level"]) for result in results] == [("renamed_component", "warning")] * 2


def test_a_file_is_compared_with_the_version_of_its_configuration(
    server: Server, upgrade: Upgrade, tmp_path: Path
) -> None:
    upgrade(f"check a.yaml {TO}", CLEAN)
    entry = {"id": CONFIGURATION, "name": "shop", "version": 3, "sha256": "0"}
    (tmp_path / "headgate.json").write_text(json.dumps({"configurations": {"a.yaml": entry}}))
    upgrade(f"check a.yaml {TO}", CLEAN)
    upgrade(f"check a.yaml {TO} --from 0.130.0", CLEAN)

    assert asked(server, "/validate/upgrade-check") == [
        {"yaml": TEXT, "to": "0.158.0"},
        {"yaml": TEXT, "from": "0.120.0", "to": "0.158.0"},
        {"yaml": TEXT, "from": "0.130.0", "to": "0.158.0"},
    ]


@pytest.mark.parametrize(("argument", "n"), [("shop", 3), ("shop@2", 2), ("shop@v2", 2), (f"{CONFIGURATION}@1", 1)])
def test_a_stored_version_is_named_with_its_number(server: Server, upgrade: Upgrade, argument: str, n: int) -> None:
    code, out, _ = upgrade(f"check {argument} {TO}", CLEAN)

    assert (code, out.partition(":")[0]) == (0, f"shop@{n}")
    assert asked(server, f"/configurations/{CONFIGURATION}/versions/{n}/upgrade-check") == [{"to": "0.158.0"}]


def test_a_group_is_compared_by_the_options_that_name_it(upgrade: Upgrade) -> None:
    _, _, said = upgrade(f"check --group {FLEET} {GROUP} {TO}", CLEAN)

    assert f"`headgate upgrade check --group {FLEET} {GROUP} --to 0.158.0 --tests` does, if it has tests" in said


def test_a_deployment_group_is_named_with_its_fleet(server: Server, upgrade: Upgrade) -> None:
    code, _, _ = upgrade(f"check --group {FLEET} {GROUP} {TO}", CLEAN)

    assert code == 0
    assert asked(server, f"/fleets/{FLEET}/deployments/{GROUP}/upgrade-check") == [{"to": "0.158.0"}]


@pytest.mark.parametrize(("option", "n"), [("", 3), (" --published", 2)])
def test_all_checks_each_configuration(server: Server, upgrade: Upgrade, option: str, n: int) -> None:
    code, out, _ = upgrade(f"check --all{option} {TO}", CLEAN)

    assert (code, out) == (0, f"shop@{n}: works on 0.158.0 as on 0.139.0\n")


def test_a_text_that_could_not_be_checked_does_not_keep_the_others_from_it(
    server: Server, upgrade: Upgrade, tmp_path: Path
) -> None:
    (tmp_path / "b.yaml").write_text(TEXT)
    server.answers = [OUTAGE, (200, {}, CLEAN)]
    code, out, err = upgrade(f"check a.yaml b.yaml {TO}")

    assert code == 1
    assert out.startswith("b.yaml: works on")
    assert err.startswith("headgate: could not check a.yaml: Collector 0.158.0 could not be asked")


def test_a_version_that_is_not_installed_is_said_once(server: Server, upgrade: Upgrade, tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(TEXT)
    code, _, err = upgrade(f"check a.yaml b.yaml {TO}", NOT_INSTALLED)

    assert (code, len(server.requests)) == (1, 1)
    assert err.startswith("headgate: 0.158.0 is not installed: whoever runs the server adds one with `make collector")


def test_over_the_limit_the_command_waits_and_goes_on(
    server: Server, upgrade: Upgrade, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    server.answers = [(429, {"Retry-After": "7"}, {"detail": "no", "code": "rate_limited"}), (200, {}, CLEAN)]
    code, _, err = upgrade(f"check a.yaml {TO}")

    assert (code, waited) == (0, [7.0])
    assert "continues in 7 s" in err


@pytest.mark.parametrize(
    "line",
    [
        f"check {TO}",
        f"check a.yaml --all {TO}",
        f"check a.yaml --published {TO}",
        "check a.yaml",
        "check a.yaml --to newest",
        f"fix a.yaml --save {TO}",
        f"fix shop a.yaml {TO}",
        f"fix shop --save --dry-run {TO}",
        f"fix a.yaml b.yaml --output c.yaml {TO}",
        f"fix - {TO}",
        f"fix . --save {TO}",
        f"check a.yaml --env A {TO}",
        f"fix a.yaml --json --output - {TO}",
    ],
)
def test_wrong_usage_asks_nothing(server: Server, upgrade: Upgrade, line: str) -> None:
    code, _, err = upgrade(line, CLEAN)

    assert (code, server.requests) == (2, [])
    assert "Error: " in err or json.loads(err)["error"]["code"] == "usage"


@pytest.mark.parametrize(
    "what", ["check a.yaml", "check shop@3", f"check --group {FLEET} {GROUP}", "fix a.yaml", "fix shop"]
)
def test_values_of_variables_go_with_every_check(server: Server, upgrade: Upgrade, what: str) -> None:
    code, _, _ = upgrade(f"{what} --env PASSWORD=a=b --env HOST=h {TO}", CLEAN)

    (body,) = asked(server, "/upgrade-check")
    assert (code, body["env"]) == (0, {"PASSWORD": "a=b", "HOST": "h"})


def test_a_folder_without_yaml_files_is_said(server: Server, upgrade: Upgrade, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    code, _, err = upgrade(f"check shop {TO}", CLEAN)

    assert (code, server.requests) == (1, [])
    assert "shop is a folder, without a file whose name ends with .yaml or .yml" in err
    assert "NAME@N" in err


def test_a_folder_stands_for_its_yaml_files(server: Server, upgrade: Upgrade, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "b.yml").write_bytes(TEXT.encode())
    (tmp_path / "there" / "notes.txt").write_text("none")
    _, out, _ = upgrade(f"check . there shop@3 {TO}", CLEAN)
    assert [line.partition(":")[0] for line in out.splitlines()] == ["a.yaml", "there/b.yml", "shop@3"]

    _, _, err = upgrade(f"fix there {TO}", RENAMED)
    assert (tmp_path / "there" / "b.yml").read_bytes() == FIXED.encode()
    assert err.endswith("Next: headgate config push there --collector-version 0.158.0\n")
