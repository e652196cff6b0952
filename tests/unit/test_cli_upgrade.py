"""`headgate upgrade` against a server that answers what a test wants: what is asked, printed, written and saved."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate_cli import main
from tests.support.answering import Answer, Server, serving

ID = "0123456789abcdefghjkmnpq0r"
CONFIGURATION, FLEET, GROUP = f"cfg_{ID}", f"flt_{ID}", f"dep_{ID}"
TO = "--to 0.158.0"
TEXT = "# tail\nreceivers:\n  tail: {}\r\n  tail/b: {file: tail.log}\nservice: [tail, tail/b]"
FIXED = "# tail\nreceivers:\n  tail_file: {}\r\n  tail_file/b: {file: tail.log}\nservice: [tail_file, tail_file/b]"
PLACE = {"component_path": "receivers::tail", "line": 3, "column": 3}
FINDING = {"message": "no such file", "code": "invalid_value", "component_path": "receivers::tail::file"} | {
    "line": 4,
    "column": 12,
}
REFERENCE = {"from": "tail", "to": "tail_file", "component_path": "service::pipelines::logs"}
RENAMES = [
    PLACE | {"from": "tail", "to": "tail_file"},
    REFERENCE | {"line": 4, "column": 3, "component_path": "receivers::tail/b"},
    REFERENCE | {"line": 5, "column": 11},
    REFERENCE | {"line": 5, "column": 17},
]
CLEAN: dict[str, Any] = {
    "from": "0.139.0",
    "to": "0.158.0",
    "verdict": {side: {"valid": True, "errors": [], "warnings": []} for side in ("from", "to")},
    "new_errors": [],
    "new_warnings": [],
    "renames": [],
    "not_renamed": [],
    "deprecations": [],
    "feature_gates": [],
    "defaults": [],
    "not_checked": [],
    "incomplete": False,
    "outputs": None,
    "proposed_yaml": None,
}
RENAMED = CLEAN | {"renames": RENAMES, "proposed_yaml": FIXED}
DETAIL = {
    "id": CONFIGURATION,
    "name": "shop",
    "yaml": TEXT,
    "collector_version": "0.120.0",
    "latest_version": 3,
    "published_version": 2,
}
VERSION = {"n": 3, "yaml": TEXT, "collector_version": "0.139.0", "status": "draft"}


def verdict(valid: bool | None, *errors: Any) -> dict[str, Any]:
    return {"verdict": {"from": {}, "to": {"valid": valid, "errors": list(errors), "warnings": []}}}


BREAKS = CLEAN | verdict(False, FINDING) | {"new_errors": [FINDING]}
REFUSED_BEFORE = CLEAN | {
    "verdict": {"from": {"valid": False, "errors": [FINDING]}, "to": {"valid": True, "errors": [], "warnings": []}}
}
INVALID = CLEAN | verdict(False, FINDING)
LACKING = PLACE | {"kind": "receiver", "type": "tail", "version": "0.158.0"}
NOT_CHECKED = CLEAN | verdict(None) | {"not_checked": [LACKING]}
NOT_COMPARED = CLEAN | {"not_checked": [LACKING | {"version": "0.139.0"}]}
NOT_INSTALLED: Answer = (422, {}, {"detail": "0.158.0 is not installed", "code": "collector_version_not_installed"})
OUTAGE: Answer = (503, {}, {"detail": "Collector 0.158.0 could not be asked", "code": "not_checked"})

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_bytes(TEXT.encode())
    return tmp_path


@pytest.fixture
def run(server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("HEADGATE_URL", server.url)
    monkeypatch.setenv("SERVICE_API_TOKEN", "sv_x")
    monkeypatch.setenv("HOME", str(folder))

    def in_process(line: str, report: Any = None, **others: Any) -> tuple[int, str, str]:
        if report is not None:
            server.answering = answering(report, **others)
        monkeypatch.setattr("sys.argv", ["headgate", *line.split()])
        with pytest.raises(SystemExit) as ended:
            main.main()
        printed = capsys.readouterr()
        return int(str(ended.value.code)), printed.out, printed.err

    return in_process


def answering(report: Any, **others: Any) -> Callable[[str], Answer]:
    """The report to every check; to a path that ends with the name of another answer, that one."""

    def answer(asked: str) -> Answer:
        path = asked.partition("?")[0]
        if path.endswith("/upgrade-check"):
            return report if isinstance(report, tuple) else (200, {}, report)
        for name, other in others.items():
            if path.endswith(f"/{name}"):
                return 200, {}, other
        if path.startswith("GET") and path.endswith("/configurations"):
            return 200, {}, {"items": [DETAIL], "next_cursor": None}
        if "/versions" in path:
            return 200, {}, VERSION | ({"n": 4} if path.startswith(("POST", "PATCH")) else {})
        return 200, {}, DETAIL

    return answer


def asked(server: Server, path: str) -> list[Any]:
    return [json.loads(body) for line, _, body in server.requests if line.endswith(path)]


def changing(server: Server) -> list[tuple[str, Any]]:
    return [
        (line.rpartition("/public")[2], json.loads(body))
        for line, _, body in server.requests
        if not line.startswith("GET") and not line.endswith("/upgrade-check")
    ]


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
        (NOT_CHECKED, 1, 1, "is not fully checked: this build of 0.158.0 lacks the receiver tail"),
        (NOT_COMPARED, 0, 1, "but: this build of 0.139.0 lacks the receiver tail, which is not compared"),
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
        "not checked",
        "not compared",
        "refused before",
        "incomplete",
        "incomplete and renamed",
        "incomplete and breaks",
    ],
)
def test_the_first_line_is_the_result_and_the_status_follows_it(
    run: Run, report: Any, code: int, strict: int, said: str
) -> None:
    ended, out, _ = run(f"upgrade check a.yaml {TO}", report)

    assert out.splitlines()[0].startswith("a.yaml: ")
    assert said in out.splitlines()[0]
    assert ended == code
    assert run(f"upgrade check a.yaml {TO} --strict", report)[0] == strict


def test_findings_stand_at_their_lines(run: Run) -> None:
    _, out, _ = run(f"upgrade check a.yaml {TO}", BREAKS)

    assert out.splitlines()[1:] == [
        "a.yaml:4:12: error: no such file [invalid_value]",
        "    4 |   tail/b: {file: tail.log}",
        "      |            ^",
    ]


def test_what_only_the_source_refuses_is_a_note(run: Run) -> None:
    _, out, _ = run(f"upgrade check a.yaml {TO}", REFUSED_BEFORE)

    assert out.splitlines()[1] == "a.yaml:4:12: note: only on 0.139.0: no such file [invalid_value]"


def test_a_rename_is_shown_once_for_each_component(run: Run) -> None:
    _, out, _ = run(f"upgrade check a.yaml {TO}", RENAMED)

    assert out.count("tail is called tail_file on 0.158.0") == 2


def test_a_reference_inside_a_component_is_not_a_rename_of_its_own(run: Run) -> None:
    inside = REFERENCE | {"component_path": "receivers::otlp::protocols::http::auth::authenticator"}
    _, out, _ = run(f"upgrade check a.yaml {TO}", CLEAN | {"renames": [RENAMES[0], inside]})

    assert out.splitlines()[0] == "a.yaml: works on 0.158.0, but: 1 rename"


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("Alpha", "Beta", True),
        (None, "Stable", True),
        ("Beta", "Alpha", True),
        ("Beta", "Stable", False),
        ("Stable", None, False),
        ("Alpha", None, False),
    ],
)
def test_gates_that_are_switched_are_named_and_others_counted(
    run: Run, before: str | None, after: str | None, shown: bool
) -> None:
    gate = {"stage_before": before, "stage_after": after, "description": "Reads from the end"}
    gates = [gate | {"id": "tail.x", "components": ["receivers::tail"]}, gate | {"id": "service.x", "components": []}]
    _, out, err = run(f"upgrade check a.yaml {TO}", CLEAN | {"feature_gates": gates})

    stages = f"was {before or 'absent'} on 0.139.0, is {after or 'absent'} on 0.158.0"
    finding = f"a.yaml: note: receivers::tail: the feature gate tail.x {stages}: Reads from the end [feature_gate]"
    assert (finding in out.splitlines()) == shown
    assert out.splitlines()[0].endswith("but: 1 feature gate" if shown else "as on 0.139.0")
    counted = "1 other feature gate" if shown else "2 other feature gates"
    assert err == f"  {counted} changed stage: see --json\n"


def test_json_is_the_servers_report_beside_what_it_is_about(run: Run) -> None:
    _, out, _ = run(f"upgrade check a.yaml {TO} --json", RENAMED)
    assert json.loads(out) == [{"file": "a.yaml", **RENAMED}]

    _, out, _ = run(f"upgrade check shop@2 {TO} --json", CLEAN)
    named = {"configuration_id": CONFIGURATION, "configuration_name": "shop", "version_number": 2}
    assert json.loads(out) == [named | CLEAN]


def test_annotations_and_sarif_have_the_findings(run: Run) -> None:
    _, out, err = run(f"upgrade check a.yaml {TO} --format github", BREAKS)
    assert out == "::error file=a.yaml,title=invalid_value,line=4,col=12::no such file\n"
    assert "breaks on 0.158.0" in err

    _, out, _ = run(f"upgrade check a.yaml {TO} --format sarif", RENAMED)
    results = json.loads(out)["runs"][0]["results"]
    assert [(result["ruleId"], result["level"]) for result in results] == [("renamed_component", "warning")] * 2


def test_a_file_is_compared_with_the_version_of_its_configuration(server: Server, run: Run, folder: Path) -> None:
    run(f"upgrade check a.yaml {TO}", CLEAN)
    entry = {"id": CONFIGURATION, "name": "shop", "version": 3, "sha256": "0"}
    (folder / "headgate.json").write_text(json.dumps({"configurations": {"a.yaml": entry}}))
    run(f"upgrade check a.yaml {TO}", CLEAN)
    run(f"upgrade check a.yaml {TO} --from 0.130.0", CLEAN)

    assert asked(server, "/validate/upgrade-check") == [
        {"yaml": TEXT, "to": "0.158.0"},
        {"yaml": TEXT, "from": "0.120.0", "to": "0.158.0"},
        {"yaml": TEXT, "from": "0.130.0", "to": "0.158.0"},
    ]


@pytest.mark.parametrize(("argument", "n"), [("shop", 3), ("shop@2", 2), ("shop@v2", 2), (f"{CONFIGURATION}@1", 1)])
def test_a_stored_version_is_named_with_its_number(server: Server, run: Run, argument: str, n: int) -> None:
    code, out, _ = run(f"upgrade check {argument} {TO}", CLEAN)

    assert (code, out.partition(":")[0]) == (0, f"shop@{n}")
    assert asked(server, f"/configurations/{CONFIGURATION}/versions/{n}/upgrade-check") == [{"to": "0.158.0"}]


def test_a_deployment_group_is_named_with_its_fleet(server: Server, run: Run) -> None:
    code, _, _ = run(f"upgrade check --group {FLEET} {GROUP} {TO}", CLEAN)

    assert code == 0
    assert asked(server, f"/fleets/{FLEET}/deployments/{GROUP}/upgrade-check") == [{"to": "0.158.0"}]


@pytest.mark.parametrize(("option", "n"), [("", 3), (" --published", 2)])
def test_all_checks_each_configuration(server: Server, run: Run, option: str, n: int) -> None:
    code, out, _ = run(f"upgrade check --all{option} {TO}", CLEAN)

    assert (code, out) == (0, f"shop@{n}: works on 0.158.0 as on 0.139.0\n")


def test_a_text_that_could_not_be_checked_does_not_keep_the_others_from_it(
    server: Server, run: Run, folder: Path
) -> None:
    (folder / "b.yaml").write_text(TEXT)
    server.answers = [OUTAGE, (200, {}, CLEAN)]
    code, out, err = run(f"upgrade check a.yaml b.yaml {TO}")

    assert code == 1
    assert out.startswith("b.yaml: works on")
    assert err.startswith("headgate: could not check a.yaml: Collector 0.158.0 could not be asked")


def test_a_version_that_is_not_installed_is_said_once(server: Server, run: Run, folder: Path) -> None:
    (folder / "b.yaml").write_text(TEXT)
    code, _, err = run(f"upgrade check a.yaml b.yaml {TO}", NOT_INSTALLED)

    assert (code, len(server.requests)) == (1, 1)
    assert err.startswith("headgate: 0.158.0 is not installed: whoever runs the server adds one with `make collector")


def test_over_the_limit_the_command_waits_and_goes_on(
    server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    server.answers = [(429, {"Retry-After": "7"}, {"detail": "no", "code": "rate_limited"}), (200, {}, CLEAN)]
    code, _, err = run(f"upgrade check a.yaml {TO}")

    assert (code, waited) == (0, [7.0])
    assert "continues in 7 s" in err


@pytest.mark.parametrize(
    "line",
    [
        f"upgrade check {TO}",
        f"upgrade check a.yaml --all {TO}",
        f"upgrade check a.yaml --published {TO}",
        "upgrade check a.yaml",
        "upgrade check a.yaml --to newest",
        f"upgrade fix a.yaml --save {TO}",
        f"upgrade fix shop a.yaml {TO}",
        f"upgrade fix shop --save --dry-run {TO}",
        f"upgrade fix a.yaml b.yaml --output c.yaml {TO}",
        f"upgrade fix - {TO}",
        f"upgrade fix . --save {TO}",
        f"upgrade check a.yaml --env A {TO}",
        f"upgrade fix a.yaml --json --output - {TO}",
    ],
)
def test_wrong_usage_asks_nothing(server: Server, run: Run, line: str) -> None:
    code, _, err = run(line, CLEAN)

    assert (code, server.requests) == (2, [])
    assert "Error: " in err


def test_fix_writes_the_names_and_nothing_else(server: Server, run: Run, folder: Path) -> None:
    (folder / "a.yaml").chmod(0o640)
    code, _, err = run(f"upgrade fix a.yaml {TO}", RENAMED)

    assert (folder / "a.yaml").read_bytes() == FIXED.encode()
    assert (folder / "a.yaml").stat().st_mode & 0o777 == 0o640
    assert (code, err.splitlines()) == (
        0,
        ["a.yaml: tail → tail_file (4 places)", "Next: headgate config push a.yaml --collector-version 0.158.0"],
    )
    # Only the target is asked: what another version says does not matter here.
    assert asked(server, "/validate/upgrade-check") == [{"yaml": TEXT, "from": "0.158.0", "to": "0.158.0"}]
    assert [path.name for path in folder.iterdir()] == ["a.yaml"]


@pytest.mark.parametrize(
    "what", ["check a.yaml", "check shop@3", f"check --group {FLEET} {GROUP}", "fix a.yaml", "fix shop"]
)
def test_values_of_variables_go_with_every_check(server: Server, run: Run, what: str) -> None:
    code, _, _ = run(f"upgrade {what} --env PASSWORD=a=b --env HOST=h {TO}", CLEAN)

    (body,) = asked(server, "/upgrade-check")
    assert (code, body["env"]) == (0, {"PASSWORD": "a=b", "HOST": "h"})


def test_a_folder_stands_for_its_yaml_files(server: Server, run: Run, folder: Path) -> None:
    (folder / "there").mkdir()
    (folder / "there" / "b.yml").write_bytes(TEXT.encode())
    (folder / "there" / "notes.txt").write_text("none")
    _, out, _ = run(f"upgrade check . there shop@3 {TO}", CLEAN)
    assert [line.partition(":")[0] for line in out.splitlines()] == ["a.yaml", "there/b.yml", "shop@3"]

    _, _, err = run(f"upgrade fix there {TO}", RENAMED)
    assert (folder / "there" / "b.yml").read_bytes() == FIXED.encode()
    assert err.endswith("Next: headgate config push there --collector-version 0.158.0\n")


def test_a_folder_without_yaml_files_is_said(server: Server, run: Run, folder: Path) -> None:
    (folder / "shop").mkdir()
    code, _, err = run(f"upgrade check shop {TO}", CLEAN)

    assert (code, server.requests) == (1, [])
    assert "shop is a folder, without a file whose name ends with .yaml or .yml" in err
    assert "NAME@N" in err


@pytest.mark.parametrize("options", ["--dry-run", "--output b.yaml", "--json"])
def test_what_is_not_written_in_place_is_not_pushed_next(run: Run, options: str) -> None:
    assert "Next:" not in run(f"upgrade fix a.yaml {options} {TO}", RENAMED)[2]


def test_what_the_collector_still_refuses_is_not_pushed_next(run: Run) -> None:
    assert "Next:" not in run(f"upgrade fix a.yaml {TO}", RENAMED | verdict(False, FINDING))[2]


def test_a_dry_run_shows_the_difference_and_writes_nothing(run: Run, folder: Path) -> None:
    code, out, _ = run(f"upgrade fix a.yaml --dry-run {TO}", RENAMED)

    assert (code, (folder / "a.yaml").read_bytes()) == (0, TEXT.encode())
    assert "+  tail_file/b: {file: tail.log}" in out


def test_the_fixed_text_goes_to_another_file_or_to_standard_output(run: Run, folder: Path) -> None:
    run(f"upgrade fix a.yaml --output b.yaml {TO}", RENAMED)
    _, out, _ = run(f"upgrade fix a.yaml --output - {TO}", RENAMED)

    assert (folder / "b.yaml").read_bytes() == FIXED.encode()
    assert out.encode() == FIXED.encode()
    assert (folder / "a.yaml").read_bytes() == TEXT.encode()


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
def test_a_proposal_that_changes_more_than_names_is_not_written(run: Run, folder: Path, proposed: str) -> None:
    code, _, err = run(f"upgrade fix a.yaml {TO}", RENAMED | {"proposed_yaml": proposed})

    assert (code, (folder / "a.yaml").read_bytes()) == (1, TEXT.encode())
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
def test_a_rename_at_another_place_is_not_written(run: Run, folder: Path, place: dict[str, int]) -> None:
    report = RENAMED | {"renames": [RENAMES[0] | place, *RENAMES[1:]]}

    assert run(f"upgrade fix a.yaml {TO}", report)[0] == 1
    assert (folder / "a.yaml").read_bytes() == TEXT.encode()


def test_a_name_that_has_to_stay_is_a_finding_and_fix_says_so(run: Run) -> None:
    stays = REFERENCE | {"line": 4, "column": 3, "component_path": "receivers::tail/b", "reason": "it is taken"}
    report = CLEAN | {"not_renamed": [stays]}
    _, out, _ = run(f"upgrade check a.yaml {TO}", report)
    _, _, err = run(f"upgrade fix a.yaml {TO}", report)

    assert "tail is called tail_file on 0.158.0, but cannot be renamed here: it is taken [renamed_component]" in out
    assert err.startswith("a.yaml: 1 deprecated name stays: `headgate upgrade check` says why\n")


@pytest.mark.parametrize(("old", "new"), [("tail", "tail: {}\nexporters"), ("tail: {}", "tail_file"), ("tail", "")])
def test_what_is_not_a_component_type_is_not_a_name(run: Run, folder: Path, old: str, new: str) -> None:
    report = CLEAN | {"renames": [PLACE | {"from": old, "to": new}], "proposed_yaml": TEXT.replace(old, new)}

    assert run(f"upgrade fix a.yaml {TO}", report)[0] == 1
    assert (folder / "a.yaml").read_bytes() == TEXT.encode()


def test_a_file_that_was_changed_meanwhile_is_not_overwritten(server: Server, run: Run, folder: Path) -> None:
    def answer(_: str) -> Answer:
        (folder / "a.yaml").write_text("a: b\n")
        return 200, {}, RENAMED

    server.answering = answer
    code, _, err = run(f"upgrade fix a.yaml {TO}")

    assert (code, (folder / "a.yaml").read_text()) == (1, "a: b\n")
    assert "was changed meanwhile" in err


def test_a_fixed_text_that_the_version_refuses_still_ends_with_1(run: Run, folder: Path) -> None:
    code, _, err = run(f"upgrade fix a.yaml {TO}", RENAMED | verdict(False, FINDING))

    assert (code, (folder / "a.yaml").read_bytes()) == (1, FIXED.encode())
    assert "still refuses" in err


@pytest.mark.parametrize("option", ["", " --dry-run"])
def test_fix_says_what_the_build_could_not_check(run: Run, option: str) -> None:
    code, _, err = run(f"upgrade fix a.yaml {TO}{option}", NOT_CHECKED)

    assert code == 1
    assert err.endswith("nothing to rename; not fully checked, as this build of 0.158.0 lacks the receiver tail\n")


@pytest.mark.parametrize("cut", [{"proposed_yaml": None}, {"renames": RENAMES[:2]}], ids=["text", "renames"])
def test_a_proposal_that_was_cut_is_not_written_and_the_reason_is_said(
    run: Run, folder: Path, cut: dict[str, Any]
) -> None:
    code, _, err = run(f"upgrade fix a.yaml {TO}", RENAMED | {"incomplete": True} | cut)

    assert (code, (folder / "a.yaml").read_bytes()) == (1, TEXT.encode())
    assert err == "headgate: the renames of a.yaml are too many for one answer: nothing was written\n"


def test_fix_of_a_stored_version_saves_nothing_by_itself(server: Server, run: Run) -> None:
    code, out, err = run(f"upgrade fix shop@3 {TO}", RENAMED)

    assert (code, changing(server)) == (0, [])
    assert "+  tail_file/b: {file: tail.log}" in out
    assert "nothing was saved, --save saves a draft" in err


def test_save_makes_a_draft_for_the_collector_version(server: Server, run: Run) -> None:
    code, out, _ = run(f"upgrade fix shop@3 {TO} --save", RENAMED)

    assert code == 0
    assert out == "shop v4 is saved as a draft for collector 0.158.0\n"
    versions = f"/configurations/{CONFIGURATION}/versions"
    assert changing(server) == [
        (versions, {"yaml": FIXED, "description": "From version 3, for collector 0.158.0"}),
        (f"{versions}/4", {"collector_version": "0.158.0"}),
    ]


def test_without_a_rename_the_same_text_is_saved_for_the_collector_version(server: Server, run: Run) -> None:
    code, _, err = run(f"upgrade fix shop@3 {TO} --save", CLEAN)

    assert (code, [body.get("yaml") for _, body in changing(server)]) == (0, [TEXT, None])
    assert "nothing to rename" in err


def test_what_is_for_the_collector_version_already_is_not_saved_again(server: Server, run: Run) -> None:
    stored = VERSION | {"collector_version": "0.158.0"}
    code, _, err = run(f"upgrade fix shop@3 {TO} --save", CLEAN, **{"3": stored})

    assert (code, changing(server)) == (0, [])
    assert "its collector version is 0.158.0 already" in err


INSTALLED = ["0.158.0", "0.150.0", "0.145.0", "0.140.0", "0.139.0"]


def bisecting(server: Server, refuse: list[str], lack: list[str], installed: list[str] = INSTALLED) -> list[str]:
    """Versions that refuse the text or lack a component. Returns the list of the versions that are asked."""
    tried: list[str] = []

    def answer(path: str) -> Answer:
        if path.startswith("GET"):
            return 200, {}, {"items": [{"version": one} for one in installed], "next_cursor": None}
        version = json.loads(server.requests[-1][2])["version"]
        tried.append(version)
        if version in lack:
            return 503, {}, {"detail": f"{version} lacks the receiver tail", "code": "component_not_in_build"}
        errors = [FINDING] if version in refuse else []
        return 200, {}, {"valid": not errors, "errors": errors, "warnings": []}

    server.answering = answer
    return tried


@pytest.mark.parametrize("first", range(1, 5))
def test_bisect_names_the_first_version_that_breaks_it(server: Server, run: Run, first: int) -> None:
    oldest_first = INSTALLED[::-1]
    tried = bisecting(server, refuse=oldest_first[first:], lack=[])
    code, out, _ = run("upgrade bisect a.yaml")

    assert code == 1
    assert out.splitlines()[0] == f"a.yaml: {oldest_first[first]} is the first installed version that breaks it"
    assert "error: no such file [invalid_value]" in out
    assert len(tried) == len(set(tried)) <= 4


def test_bisect_of_a_file_that_no_version_breaks(server: Server, run: Run) -> None:
    bisecting(server, refuse=[], lack=[])
    code, out, _ = run("upgrade bisect a.yaml")

    assert (code, out) == (0, "a.yaml: no installed version up to 0.158.0 breaks it\n")


def test_versions_that_could_not_check_it_are_said_to_be_skipped(server: Server, run: Run) -> None:
    bisecting(server, refuse=["0.158.0"], lack=["0.139.0", "0.150.0"])
    code, out, err = run("upgrade bisect a.yaml")

    assert code == 1
    assert "0.158.0 breaks it; it may be one of the skipped versions before it: 0.150.0" in out
    assert "0.139.0: skipped: 0.139.0 lacks the receiver tail" in err


@pytest.mark.parametrize(("lack", "last"), [(["0.158.0", "0.150.0"], "0.145.0"), (INSTALLED[:-1], "0.139.0")])
def test_bisect_does_not_pass_if_the_newest_could_not_check_it(
    server: Server, run: Run, lack: list[str], last: str
) -> None:
    bisecting(server, refuse=[], lack=lack)
    code, out, _ = run("upgrade bisect a.yaml")

    skipped = ", ".join(lack[::-1])
    assert code == 1
    assert out == (
        f"a.yaml: no installed version up to {last} breaks it; the newer ones could not check it: {skipped}\n"
    )


def test_bisect_passes_if_only_older_versions_could_not_check_it(server: Server, run: Run) -> None:
    bisecting(server, refuse=[], lack=["0.139.0", "0.150.0"])

    assert run("upgrade bisect a.yaml")[0] == 0


def test_if_no_version_can_check_it_there_is_no_answer(server: Server, run: Run) -> None:
    bisecting(server, refuse=[], lack=INSTALLED)
    code, out, err = run("upgrade bisect a.yaml")

    assert (code, out) == (1, "")
    assert "no installed version could check a.yaml" in err


def test_a_file_that_the_oldest_refuses_is_not_searched(server: Server, run: Run) -> None:
    tried = bisecting(server, refuse=INSTALLED, lack=[])
    code, _, err = run("upgrade bisect a.yaml --good 0.140.0")

    assert (code, tried) == (1, ["0.140.0"])
    assert "a.yaml is invalid on 0.140.0 already" in err


def test_bisect_as_json(server: Server, run: Run) -> None:
    bisecting(server, refuse=["0.150.0", "0.158.0"], lack=["0.145.0"])
    code, out, _ = run("upgrade bisect a.yaml --json --good 0.140.0")

    assert code == 1
    assert json.loads(out) == {
        "file": "a.yaml",
        "first_invalid": "0.150.0",
        "skipped": [{"version": "0.145.0", "reason": "0.145.0 lacks the receiver tail"}],
        "errors": [FINDING],
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--good 0.100.0", "collector 0.100.0 is not installed on the server; installed: 0.139.0, 0.140.0"),
        ("--good 0.158.0", "there are not two installed versions to search"),
    ],
)
def test_bisect_needs_two_installed_versions(server: Server, run: Run, line: str, said: str) -> None:
    tried = bisecting(server, refuse=[], lack=[])
    code, _, err = run(f"upgrade bisect a.yaml {line}")

    assert (code, tried) == (1, [])
    assert said in err


def test_bisect_validates_with_the_values_of_variables(server: Server, run: Run) -> None:
    bisecting(server, refuse=["0.140.0"], lack=[])
    run("upgrade bisect a.yaml --env PASSWORD=x")

    bodies = asked(server, "/validate")
    assert bodies
    assert all(body["env"] == {"PASSWORD": "x"} for body in bodies)
