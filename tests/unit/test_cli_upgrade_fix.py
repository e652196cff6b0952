"""`headgate upgrade fix` against a server that answers what a test wants: what is asked, printed, written and saved."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.answering import Answer, Server
from tests.support.upgrade_reports import (
    CLEAN,
    CONFIGURATION,
    FINDING,
    FIXED,
    NOT_CHECKED,
    PLACE,
    REFERENCE,
    RENAMED,
    RENAMES,
    TEXT,
    TO,
    VERSION,
    Upgrade,
    answering,
    asked,
    verdict,
)


def changing(server: Server) -> list[tuple[str, Any]]:
    return [
        (line.rpartition("/public")[2], json.loads(body))
        for line, _, body in server.requests
        if not line.startswith("GET") and not line.endswith("/upgrade-check")
    ]


def test_fix_writes_the_names_and_nothing_else(server: Server, upgrade: Upgrade, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").chmod(0o640)
    code, _, err = upgrade(f"fix a.yaml {TO}", RENAMED)

    assert (tmp_path / "a.yaml").read_bytes() == FIXED.encode()
    assert (tmp_path / "a.yaml").stat().st_mode & 0o777 == 0o640
    assert (code, err.splitlines()) == (
        0,
        ["a.yaml: tail → tail_file (4 places)", "Next: headgate config push a.yaml --collector-version 0.158.0"],
    )
    # Only the target is asked: what another version says does not matter here.
    assert asked(server, "/validate/upgrade-check") == [{"yaml": TEXT, "from": "0.158.0", "to": "0.158.0"}]
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


@pytest.mark.parametrize("options", ["--dry-run", "--output b.yaml", "--json"])
def test_what_is_not_written_in_place_is_not_pushed_next(upgrade: Upgrade, options: str) -> None:
    assert "Next:" not in upgrade(f"fix a.yaml {options} {TO}", RENAMED)[2]


def test_what_the_collector_still_refuses_is_not_pushed_next(upgrade: Upgrade) -> None:
    assert "Next:" not in upgrade(f"fix a.yaml {TO}", RENAMED | verdict(False, FINDING))[2]


def test_a_dry_run_shows_the_difference_and_writes_nothing(upgrade: Upgrade, tmp_path: Path) -> None:
    code, out, _ = upgrade(f"fix a.yaml --dry-run {TO}", RENAMED)

    assert (code, (tmp_path / "a.yaml").read_bytes()) == (0, TEXT.encode())
    assert "+  tail_file/b: {file: tail.log}" in out


def test_the_fixed_text_goes_to_another_file_or_to_standard_output(upgrade: Upgrade, tmp_path: Path) -> None:
    upgrade(f"fix a.yaml --output b.yaml {TO}", RENAMED)
    _, out, _ = upgrade(f"fix a.yaml --output - {TO}", RENAMED)

    assert (tmp_path / "b.yaml").read_bytes() == FIXED.encode()
    assert out.encode() == FIXED.encode()
    assert (tmp_path / "a.yaml").read_bytes() == TEXT.encode()


@pytest.mark.parametrize(
    "proposed",
    [
        FIXED + " ",
        FIXED.replace("tail.log", "tail_file.txt"),
        FIXED.replace("service", "extra: 1\nservice"),
        "a: b",
        FIXED[:-1],
    ],
)
def test_a_proposal_that_changes_more_than_names_is_not_written(
    upgrade: Upgrade, tmp_path: Path, proposed: str
) -> None:
    code, _, err = upgrade(f"fix a.yaml {TO}", RENAMED | {"proposed_yaml": proposed})

    assert (code, (tmp_path / "a.yaml").read_bytes()) == (1, TEXT.encode())
    assert err == "headgate: the server's proposal for a.yaml changes more than names: nothing was written\n"


@pytest.mark.parametrize(
    "place",
    [
        {"line": 3, "column": 4},
        {"line": 9, "column": 3},
        {"line": 0, "column": 3},
        {"line": 3, "column": -3},
        {"line": 4, "column": 3},
    ],
)
def test_a_rename_at_another_place_is_not_written(upgrade: Upgrade, tmp_path: Path, place: dict[str, int]) -> None:
    report = RENAMED | {"renames": [RENAMES[0] | place, *RENAMES[1:]]}

    assert upgrade(f"fix a.yaml {TO}", report)[0] == 1
    assert (tmp_path / "a.yaml").read_bytes() == TEXT.encode()


def test_a_name_that_has_to_stay_is_a_finding_and_fix_says_so(upgrade: Upgrade) -> None:
    stays = REFERENCE | {"line": 4, "column": 3, "component_path": "receivers::tail/b", "reason": "it is taken"}
    report = CLEAN | {"not_renamed": [stays]}
    _, out, _ = upgrade(f"check a.yaml {TO}", report)
    _, _, err = upgrade(f"fix a.yaml {TO}", report)

    assert "tail is called tail_file on 0.158.0, but cannot be renamed here: it is taken [renamed_component]" in out
    assert err.startswith("a.yaml: 1 deprecated name stays: `headgate upgrade check` says why\n")


@pytest.mark.parametrize(("old", "new"), [("tail", "tail: {}\nexporters"), ("tail: {}", "tail_file"), ("tail", "")])
def test_what_is_not_a_component_type_is_not_a_name(upgrade: Upgrade, tmp_path: Path, old: str, new: str) -> None:
    report = CLEAN | {"renames": [PLACE | {"from": old, "to": new}], "proposed_yaml": TEXT.replace(old, new)}

    assert upgrade(f"fix a.yaml {TO}", report)[0] == 1
    assert (tmp_path / "a.yaml").read_bytes() == TEXT.encode()


def test_a_file_that_was_changed_meanwhile_is_not_overwritten(server: Server, upgrade: Upgrade, tmp_path: Path) -> None:
    def answer(_: str) -> Answer:
        (tmp_path / "a.yaml").write_text("a: b\n")
        return 200, {}, RENAMED

    server.answering = answer
    code, _, err = upgrade(f"fix a.yaml {TO}")

    assert (code, (tmp_path / "a.yaml").read_text()) == (1, "a: b\n")
    assert "was changed meanwhile" in err


def test_a_fixed_text_that_the_version_refuses_still_ends_with_1(upgrade: Upgrade, tmp_path: Path) -> None:
    code, _, err = upgrade(f"fix a.yaml {TO}", RENAMED | verdict(False, FINDING))

    assert (code, (tmp_path / "a.yaml").read_bytes()) == (1, FIXED.encode())
    assert "still refuses" in err


@pytest.mark.parametrize("option", ["", " --dry-run"])
def test_fix_says_what_the_build_could_not_check(upgrade: Upgrade, option: str) -> None:
    code, _, err = upgrade(f"fix a.yaml {TO}{option}", NOT_CHECKED)

    assert code == 1
    assert err.endswith("nothing to rename; not fully checked, as this build of 0.158.0 lacks the receiver tail\n")


@pytest.mark.parametrize("cut", [{"proposed_yaml": None}, {"renames": RENAMES[:2]}], ids=["text", "renames"])
def test_a_proposal_that_was_cut_is_not_written_and_the_reason_is_said(
    upgrade: Upgrade, tmp_path: Path, cut: dict[str, Any]
) -> None:
    code, _, err = upgrade(f"fix a.yaml {TO}", RENAMED | {"incomplete": True} | cut)

    assert (code, (tmp_path / "a.yaml").read_bytes()) == (1, TEXT.encode())
    assert err == "headgate: the renames of a.yaml are too many for one answer: nothing was written\n"


def test_fix_of_a_stored_version_saves_nothing_by_itself(server: Server, upgrade: Upgrade) -> None:
    code, out, err = upgrade(f"fix shop@3 {TO}", RENAMED)

    assert (code, changing(server)) == (0, [])
    assert "+  tail_file/b: {file: tail.log}" in out
    assert "nothing was saved, --save saves a draft" in err


def test_save_makes_a_draft_for_the_collector_version(server: Server, upgrade: Upgrade) -> None:
    code, out, _ = upgrade(f"fix shop@3 {TO} --save", RENAMED)

    assert code == 0
    assert out == "shop v4 is saved as a draft for collector 0.158.0\n"
    versions = f"/configurations/{CONFIGURATION}/versions"
    assert changing(server) == [
        (versions, {"yaml": FIXED, "description": "From version 3, for collector 0.158.0"}),
        (f"{versions}/4", {"collector_version": "0.158.0"}),
    ]


def test_a_draft_without_its_collector_version_says_how_to_set_it(server: Server, upgrade: Upgrade) -> None:
    answer = answering(RENAMED)
    outage: Answer = (503, {}, {"detail": "no table", "code": "unavailable"})
    server.answering = lambda asked: outage if asked.startswith("PATCH") else answer(asked)
    code, _, err = upgrade(f"fix shop@3 {TO} --save")

    assert code == 1
    assert f"version 4 of {CONFIGURATION} is saved as a draft, but its collector version could not be set" in err
    assert f"`headgate config push FILE --to {CONFIGURATION} --collector-version 0.158.0`" in err


def test_without_a_rename_the_same_text_is_saved_for_the_collector_version(server: Server, upgrade: Upgrade) -> None:
    code, _, err = upgrade(f"fix shop@3 {TO} --save", CLEAN)

    assert (code, [body.get("yaml") for _, body in changing(server)]) == (0, [TEXT, None])
    assert "nothing to rename" in err


def test_what_is_for_the_collector_version_already_is_not_saved_again(server: Server, upgrade: Upgrade) -> None:
    stored = VERSION | {"collector_version": "0.158.0"}
    code, _, err = upgrade(f"fix shop@3 {TO} --save", CLEAN, **{"3": stored})

    assert (code, changing(server)) == (0, [])
    assert "its collector version is 0.158.0 already" in err
