"""`headgate config import` against a server without time for all texts, or that cannot check one of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

LATE = {"problem": {"code": "not_checked", "detail": "The texts before it took too long"}}
LACKS = {"problem": {"code": "component_not_in_build", "detail": "This build lacks the receiver nop"}}
WRONG = {"valid": False, "version": "0.139.0", "findings": [{"severity": "error"}]}
GROUP = {
    "kind": "newer_release",
    "severity": "error",
    "message": "written for a newer collector: x is y here",
    "way_out": "",
    "count": 1,
    "fixable": 0,
    "names": ["x"],
    "texts": [0],
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name in ("a", "b", "c"):
        (tmp_path / "theirs").mkdir(exist_ok=True)
        (tmp_path / "theirs" / f"{name}.yaml").write_text(f"name: {name}\n")
    return tmp_path


def batches(server: Server) -> list[list[dict[str, Any]]]:
    return [json.loads(body)["items"] for line, _, body in server.requests if "/validate/batch" in line]


def test_texts_for_which_no_time_was_left_are_sent_again_and_counted(server: Server, run: Run, files: Path) -> None:
    def answer(asked: str) -> Answer:
        if "/validate/batch" not in asked:
            return 200, {}, {"items": [], "next_cursor": None}
        items = batches(server)[-1]
        # One text at a time.
        return 200, {}, {"items": [WRONG, *[LATE] * (len(items) - 1)], "groups": [GROUP]}

    server.answering = answer
    code, out, err = run("config import theirs --dry-run")

    assert [len(batch) for batch in batches(server)] == [3, 2, 1]
    assert out.splitlines()[:1] == ["error     3  written for a newer collector: x is y here  in 3 files"]
    assert (code, out.count("1 error"), "too long" in out + err) == (1, 3, False)


def test_a_version_that_cannot_check_all_texts_is_not_said_to_leave_fewer_errors(
    server: Server, run: Run, files: Path
) -> None:
    def answer(asked: str) -> Answer:
        if "/collector-versions" in asked:
            return 200, {}, {"items": [{"version": "0.158.0"}], "next_cursor": None}
        if "/validate/batch" not in asked:
            return 200, {}, {"items": [], "next_cursor": None}
        items = batches(server)[-1]
        if any(item.get("version") for item in items):
            return 200, {}, {"items": [LACKS] * len(items), "groups": []}
        return 200, {}, {"items": [WRONG] * len(items), "groups": [{**GROUP, "count": 3, "texts": [0, 1, 2]}]}

    server.answering = answer
    code, out, err = run("config import theirs --dry-run --match-version")

    assert "leaves" not in err
    assert (code, out.count("1 error")) == (1, 3)


def test_a_draft_with_the_text_of_its_file_is_imported_again_and_another_one_is_left_alone(
    server: Server, run: Run, files: Path
) -> None:
    drafts = {name: f"cfg_{number}{'0' * 25}" for number, name in enumerate("abc")}
    stored = {drafts["a"]: "name: a\n", drafts["b"]: "name: b\n# by hand\n", drafts["c"]: "name: c\n"}

    def answer(asked: str) -> Answer:
        if "/validate/batch" in asked:
            return 200, {}, {"items": [WRONG] * len(batches(server)[-1]), "groups": []}
        if asked.startswith("PATCH"):
            return 200, {"ETag": '"2"'}, {}
        if "?" in asked:
            latest = {"latest_version": 1, "published_version": None, "archived_at": None}
            items = [{"id": key, "name": name, **latest} for name, key in drafts.items()]
            return 200, {}, {"items": items, "next_cursor": None}
        key = asked.rpartition("/")[2]
        version = {"latest_version": 1, "yaml": stored[key], "collector_version": "0.139.0"}
        return 200, {"ETag": '"1"'}, {"id": key, "name": key, "published_version": None, **version}

    server.answering = answer
    code, out, err = run("config import theirs --feature-gate +g")

    assert (code, "2 drafts of 3 files" in err) == (1, True)
    assert "`headgate config push theirs/b.yaml --to b` adds a version" in out
    changes = [(line, headers["If-Match"], body) for line, headers, body in server.requests if line.startswith("PATCH")]
    path = "/api/v1/public/configurations"
    gates = b'{"feature_gates":["+g"]}'
    assert changes == [(f"PATCH {path}/{drafts[name]}/versions/1", '"1"', gates) for name in "ac"]
    assert not [line for line, _, _ in server.requests if line == f"POST {path}"]


EDIT = {"line": 1, "column": 7, "end_line": 1, "end_column": 8, "text": "fixed"}
FIXABLE = WRONG | {"findings": [{"severity": "error", "code": "unknown_key", "message": "x is y", "fix": [EDIT]}]}
RIGHT = {"valid": True, "version": "0.139.0", "findings": []}


@pytest.mark.parametrize(
    ("draft", "options", "code", "patched", "told"),
    [
        ("name: fixed\n", "--fix", 0, [], "1 draft of 1 file, 1 valid"),
        ("name: fixed\n", "--fix --collector-version 0.139.0", 0, [], "1 draft of 1 file, 1 valid"),
        ("name: fixed\n", "", 0, [], "1 draft of 1 file, 1 valid"),
        ("name: a\n", "--fix", 0, [b'{"yaml":"name: fixed\\n"}'], "1 draft of 1 file, 1 valid"),
        (
            "name: by hand\n",
            "--fix",
            1,
            [],
            "`headgate validate --fix theirs/a.yaml` writes the known fixes into the file, and then "
            "`headgate config push theirs/a.yaml --to a` adds a version",
        ),
    ],
)
def test_an_import_with_fixes_again_leaves_its_draft_as_it_is(
    server: Server, run: Run, files: Path, draft: str, options: str, code: int, patched: list[bytes], told: str
) -> None:
    key = f"cfg_{'0' * 26}"
    latest = {"latest_version": 1, "published_version": None, "archived_at": None}
    stored = {"id": key, "name": "a", "yaml": draft, "collector_version": "0.139.0", **latest}

    def answer(asked: str) -> Answer:
        if "/validate/batch" in asked:
            items = [RIGHT if "fixed" in item["yaml"] else FIXABLE for item in batches(server)[-1]]
            groups = [GROUP | {"kind": "removed", "fixable": 1}] if FIXABLE in items else []
            return 200, {}, {"items": items, "groups": groups}
        if "?" in asked and not asked.startswith("PATCH"):
            return 200, {}, {"items": [stored], "next_cursor": None}
        return 200, {"ETag": '"1"'}, stored

    server.answering = answer
    ended, out, err = run(f"config import theirs/a.yaml {options}")

    assert (ended, [body for line, _, body in server.requests if line.startswith("PATCH")]) == (code, patched), (
        out + err
    )
    assert told in out + err


def test_names_that_are_taken_are_found_by_one_request(server: Server, run: Run, files: Path) -> None:
    def answer(asked: str) -> Answer:
        taken = {"id": f"cfg_{'0' * 26}", "name": "b", "archived_at": None, "latest_version": 2, "published_version": 1}
        if "/validate/batch" not in asked:
            return 200, {}, {"items": [taken], "next_cursor": None}
        return 200, {}, {"items": [WRONG] * len(batches(server)[-1]), "groups": []}

    server.answering = answer
    _, out, _ = run("config import theirs --dry-run")

    assert [len(batch) for batch in batches(server)] == [2]
    assert "a configuration 'b' exists already" in out
    assert len([line for line, _, _ in server.requests if line.startswith("GET")]) == 1


def test_a_second_configuration_in_a_file_is_said_not_to_be_imported(server: Server, run: Run, files: Path) -> None:
    another = {"code": "wrapped_configuration", "message": "another configuration is under data.b"}
    around = WRONG | {"wrapped": {"path": "data.a", "line": 3, "yaml": "receivers: {}\n"}, "warnings": [another]}

    def answer(asked: str) -> Answer:
        if "/validate/batch" not in asked:
            return 200, {}, {"items": [], "next_cursor": None}
        return 200, {}, {"items": [around if "name" in batches(server)[-1][0]["yaml"] else RIGHT], "groups": []}

    server.answering = answer
    _, _, err = run("config import theirs/a.yaml --dry-run")

    assert "theirs/a.yaml: taking the configuration under data.a, from line 3 on\n" in err
    assert "theirs/a.yaml: another configuration is under data.b\n" in err


def test_a_folder_without_configurations_is_an_error(server: Server, run: Run, tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()

    code, _, err = run("config import reports")

    assert (code, server.requests) == (1, [])
    assert "reports contains no file whose name ends with .yaml or .yml" in err
