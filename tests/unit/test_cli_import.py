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


def test_names_that_are_taken_are_found_by_one_request(server: Server, run: Run, files: Path) -> None:
    def answer(asked: str) -> Answer:
        taken = {"id": f"cfg_{'0' * 26}", "name": "b", "archived_at": None}
        if "/validate/batch" not in asked:
            return 200, {}, {"items": [taken], "next_cursor": None}
        return 200, {}, {"items": [WRONG] * len(batches(server)[-1]), "groups": []}

    server.answering = answer
    _, out, _ = run("config import theirs --dry-run")

    assert [len(batch) for batch in batches(server)] == [2]
    assert "a configuration 'b' exists already" in out
    assert len([line for line, _, _ in server.requests if line.startswith("GET")]) == 1
