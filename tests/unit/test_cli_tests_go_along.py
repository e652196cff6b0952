"""`headgate config push`, `pull` and `diff` carry the tests of a configuration along."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from headgate_cli.suites import fields
from headgate_engine.testing.named_test import to_text
from headgate_engine.wire.tests import NamedTestIn
from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

CONFIGURATION = "cfg_0123456789abcdefghjkmnpq0r"
YAML = "service: {pipelines: {logs: {}}}"
RULE = {"name": "r", "condition": "log.body != nil"}
TEST = "sample: one\nrules: [{name: r, condition: log.body != nil}]\n"


def sha(said: Mapping[str, Any]) -> str:
    """What the server says that a test says."""
    return hashlib.sha256(to_text(NamedTestIn.model_validate(said).as_test()).encode()).hexdigest()


@dataclass
class Stored:
    """A server with one configuration: its versions' texts and tests, which of them is published, and refusals."""

    versions: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    published: int = 0
    refuses: str = ""
    server: Server = field(default_factory=Server)

    @property
    def tests(self) -> dict[str, Any]:
        return self.versions[-1][1]

    def answer(self, asked: str) -> Answer:
        method, path = asked.replace("/api/v1/public", "").split(" ", 1)
        body = json.loads(self.server.requests[-1][2] or b"{}")
        if self.refuses and self.refuses in asked:
            return 422, {}, {"detail": "no", "code": "x", "errors": []}
        match path.strip("/").split("/"):
            case ["validate?start=true"]:
                return 200, {}, {"valid": True}
            case [listing] if listing.startswith("configurations?"):
                return 200, {}, {"items": [self.detail] if self.versions else [], "next_cursor": None}
            case ["configurations"]:
                self.versions.append((body["yaml"], {}))
                return 201, {}, self.detail
            case ["configurations", _]:
                return 200, {}, self.detail
            case ["configurations", _, "versions"]:
                self.versions.append((body["yaml"], dict(self.tests)))
                return 201, {}, {"n": len(self.versions)}
            case ["configurations", _, "versions", n]:
                return 200, {}, {"n": int(n), "yaml": self.versions[int(n) - 1][0], "collector_version": "0.139.0"}
            case ["configurations", _, "versions", n, "publish"]:
                self.published = int(n)
                return 200, {}, {"n": int(n)}
            case ["configurations", _, "versions", n, "tests", *rest]:
                return self.of_tests(method, self.versions[int(n) - 1][1], rest, body)
        raise AssertionError(asked)

    def of_tests(self, method: str, tests: dict[str, Any], rest: list[str], body: Any) -> Answer:
        if not rest:
            return 200, {}, {"items": [{"name": name, "sha256": sha(said)} for name, said in tests.items()]}
        (name,) = rest
        known = self.server.requests[-1][1].get("If-Match")
        if known and known != (f'"{sha(tests[name])}"' if name in tests else ""):
            return 412, {}, {"detail": "The test has changed since", "code": "test_changed"}
        if method == "GET":
            return 200, {}, {"name": name, "sha256": "x", "feature_gates": [], "expected": None, **tests[name]}
        if method == "PUT":
            tests[name] = body
            return 200, {}, {"name": name, "sha256": sha(body)}
        del tests[name]
        return 204, {}, b""

    @property
    def detail(self) -> dict[str, Any]:
        detail = {"id": CONFIGURATION, "name": "edge", "yaml": self.versions[-1][0] if self.versions else ""}
        detail |= {"latest_version": len(self.versions), "published_version": self.published or None}
        return detail | {"collector_version": "0.139.0"}

    def changes(self) -> list[str]:
        """What was changed since the last look."""
        asked = [
            line.replace(f" /api/v1/public/configurations/{CONFIGURATION}", " ") for line, *_ in self.server.requests
        ]
        self.server.requests.clear()
        return [line for line in asked if not line.startswith("GET") and "/validate" not in line]


@pytest.fixture
def there(server: Server, tmp_path: Path) -> Stored:
    """A server without a configuration, and a folder with one that has two tests."""
    made = Stored(server=server)
    server.answering = made.answer
    (tmp_path / "edge.yaml").write_text(YAML)
    (tmp_path / "edge.tests").mkdir()
    (tmp_path / "edge.tests" / "a.yaml").write_text(TEST)
    (tmp_path / "edge.tests" / "b.yaml").write_text("sample_file: b.log\nexpected_file: b.json\n")
    (tmp_path / "edge.tests" / "b.log").write_text("two\n")
    (tmp_path / "edge.tests" / "b.json").write_text("")
    return made


@pytest.mark.parametrize(
    "said",
    [
        {"target_pipeline": "logs", "sample": "one", "rules": [RULE]},
        {"target_pipeline": "logs", "sample": "ä\r\n", "sample_format": "raw", "sample_name": "/a", "rules": [RULE]},
        {"target_pipeline": "traces/x", "sample": "x", "rules": [RULE, {**RULE, "name": " s ", "expect": "none"}]},
        {"target_pipeline": "metrics", "sample": "x", "rules": [{**RULE, "expect": "count", "min": 0, "max": 2}]},
        {"target_pipeline": "logs", "sample": "x", "rules": [{**RULE, "context": "metric"}], "duration_seconds": 9},
        {"target_pipeline": "logs", "sample": "x", "expected": "", "ignore": [], "feature_gates": ["+a"]},
        {"target_pipeline": "logs", "sample": "x", "expected": "{}", "ignore": ["body"], "signal_type": "logs"},
    ],
)
def test_the_digest_of_a_test_is_that_of_the_server(said: dict[str, Any]) -> None:
    assert fields.digest(said) == sha(said)


def test_a_push_saves_the_tests_and_a_second_push_changes_nothing(there: Stored, run: Run, tmp_path: Path) -> None:
    first = run("config push edge.yaml")
    saved = there.changes()
    second = run("config push edge.yaml")

    assert first[:2] == (0, "edge.yaml: edge v1, 2 tests saved\n")
    assert saved == ["POST /api/v1/public/configurations", "PUT /versions/1/tests/a", "PUT /versions/1/tests/b"]
    assert there.tests == {
        "a": {"target_pipeline": "logs", "signal_type": "logs", "sample": "one", "rules": [RULE]},
        "b": {"target_pipeline": "logs", "signal_type": "logs", "sample": "two\n", "expected": ""},
    }
    assert (second[1], there.changes()) == ("edge.yaml: edge v1, unchanged\n", [])
    listed = json.loads((tmp_path / "headgate.json").read_text())["configurations"]["edge.yaml"]
    assert listed["tests"] == {name: sha(said) for name, said in there.tests.items()}


def test_a_created_configuration_has_the_files_tests(there: Stored, run: Run, tmp_path: Path) -> None:
    code, _, err = run("config create edge.yaml --publish")

    assert (code, err) == (0, "edge v1 is published, 2 tests saved\n")
    assert (list(there.tests), there.changes()[-1]) == (["a", "b"], "POST /versions/1/publish")
    there.versions.clear()
    (tmp_path / "edge.tests" / "a.yaml").write_text("sample: 5\n")
    assert (run("config create edge.yaml")[0], there.changes()) == (1, [])


def test_only_what_differs_is_saved_and_what_is_gone_is_deleted(there: Stored, run: Run, tmp_path: Path) -> None:
    run("config push edge.yaml")
    there.changes()
    (tmp_path / "edge.tests" / "a.yaml").unlink()
    (tmp_path / "edge.tests" / "b.log").write_text("three\n")
    _, shown, told = run("config push . --dry-run")

    assert shown == ""
    assert "edge.tests/b.yaml: would be saved\nedge.tests: the test a would be deleted on the server" in told
    assert there.changes() == []
    assert run("config push .")[1] == "edge.yaml: edge v1, 1 test saved, 1 deleted\n"
    assert there.changes() == ["PUT /versions/1/tests/b", "DELETE /versions/1/tests/a"]
    assert list(there.tests) == ["b"]


def test_other_tests_of_a_published_version_become_a_new_version(there: Stored, run: Run, tmp_path: Path) -> None:
    run("config push edge.yaml --publish")
    (tmp_path / "edge.tests" / "a.yaml").write_text(f"{TEST}duration_seconds: 2\n")
    there.changes()

    assert run("config push edge.yaml --publish")[1] == "edge.yaml: edge v2, 1 test saved, published\n"
    assert there.changes() == ["POST /versions", "PUT /versions/2/tests/a", "POST /versions/2/publish"]
    assert "duration_seconds" not in there.versions[0][1]["a"]


def test_a_deleted_folder_deletes_the_tests_that_were_pushed_from_it(there: Stored, run: Run, tmp_path: Path) -> None:
    run("config push edge.yaml")
    for file in (tmp_path / "edge.tests").iterdir():
        file.unlink()
    (tmp_path / "edge.tests").rmdir()

    assert run("config push edge.yaml")[1] == "edge.yaml: edge v1, 2 tests deleted\n"
    assert there.tests == {}
    there.tests["other"] = {"target_pipeline": "logs", "sample": "x", "rules": [RULE]}
    assert run("config push edge.yaml")[1] == "edge.yaml: edge v1, unchanged\n"
    assert list(there.tests) == ["other"]


def test_a_wrong_test_saves_nothing(there: Stored, run: Run, tmp_path: Path) -> None:
    (tmp_path / "edge.tests" / "a.yaml").write_text("sample: 5\n")
    code, _, err = run("config push edge.yaml")

    assert (code, there.changes()) == (1, [])
    assert "edge.tests/a.yaml:1: sample: must be text" in err
    assert err.endswith("\nNothing was saved\n")


def test_what_somebody_else_changed_is_not_pushed_over(there: Stored, run: Run, tmp_path: Path) -> None:
    run("config push edge.yaml")
    there.tests["a"] = {**there.tests["a"], "duration_seconds": 9}
    there.tests["c"] = there.tests["a"]
    there.changes()
    code, _, err = run("config push edge.yaml")

    assert (code, there.changes()) == (1, [])
    assert err.splitlines() == [
        "edge.tests: the test a was changed on the server since the last pull or push here",
        "edge.tests: the test c is on the server, and not in edge.tests",
        "Get what is on the server with `headgate config pull`, or replace it by what is here with --force",
        "Nothing was saved",
    ]
    assert run("config push edge.yaml --force")[1] == "edge.yaml: edge v1, 1 test saved, 1 deleted\n"
    assert ("duration_seconds" in there.tests["a"], "c" in there.tests) == (False, False)


def test_a_test_that_is_refused_is_named_and_the_next_push_completes(there: Stored, run: Run) -> None:
    there.refuses = "PUT /api/v1/public/configurations/" + f"{CONFIGURATION}/versions/1/tests/b"
    code, _, err = run("config push edge.yaml --publish")

    assert (code, there.published, list(there.tests)) == (1, 0, ["a"])
    assert f"version 1 of {CONFIGURATION} is saved as a draft, but not its test edge.tests/b.yaml: no." in err
    there.refuses = ""
    assert run("config push edge.yaml --publish")[1] == "edge.yaml: edge v1, 1 test saved, published\n"


def test_a_pull_writes_the_tests_as_a_push_reads_them(there: Stored, run: Run, tmp_path: Path) -> None:
    run("config push edge.yaml")
    there.tests["c"] = {"target_pipeline": "logs", "sample": '{"resourceLogs": []}\n' * 40, "rules": [RULE]}
    there.tests["c"] |= {"sample_format": "otlp", "expected": "{}\n", "ignore": ["body"], "duration_seconds": 9}
    there.changes()
    pulled = run(f"config pull {CONFIGURATION} --to there")
    tests = tmp_path / "there" / "edge.tests"

    assert pulled[:2] == (0, "there/edge.yaml: edge v1, 3 tests\n")
    assert sorted(file.name for file in tests.iterdir()) == [
        *("a.yaml", "b.yaml", "c.expected.json", "c.sample.json", "c.yaml")
    ]
    assert (tests / "c.sample.json").read_text() == '{"resourceLogs": []}\n' * 40
    assert (tests / "a.yaml").read_text() == (
        "target_pipeline: logs\nsample: one\nrules:\n- name: r\n  condition: log.body != nil\n"
    )
    assert (tests / "b.yaml").read_text() == "target_pipeline: logs\nsample: |\n  two\nexpected: ''\n"
    assert run("config push there")[1] == "there/edge.yaml: edge v1, unchanged\n"
    before = {file.name: file.read_bytes() for file in tests.iterdir()}
    run("config pull --to there")
    assert ({file.name: file.read_bytes() for file in tests.iterdir()}, there.changes()) == (before, [])


def test_a_pull_changes_only_what_differs_and_keeps_the_files_names(there: Stored, run: Run, tmp_path: Path) -> None:
    (tmp_path / "edge.tests" / "a.yaml").write_text(f"# mine\n{TEST}")
    run("config push edge.yaml")
    there.tests["b"] = {**there.tests["b"], "sample": "three\n", "expected": "{}\n"}
    del there.tests["a"]
    there.tests["d"] = {"target_pipeline": "logs", "sample": "x", "rules": [RULE]}

    assert run("config pull")[:2] == (0, "edge.yaml: edge v1, 2 tests\n")
    tests = tmp_path / "edge.tests"
    assert sorted(file.name for file in tests.iterdir()) == ["b.json", "b.log", "b.yaml", "d.yaml"]
    assert ((tests / "b.log").read_text(), (tests / "b.json").read_text()) == ("three\n", "{}\n")
    assert run("config push edge.yaml")[1] == "edge.yaml: edge v1, unchanged\n"


@pytest.mark.parametrize("content", [f"{TEST}duration_seconds: 2\n", "not: [yaml"])
def test_a_pull_does_not_overwrite_a_test_that_was_changed_here(
    there: Stored, run: Run, tmp_path: Path, content: str
) -> None:
    run("config push edge.yaml")
    changed = tmp_path / "edge.tests" / "a.yaml"
    changed.write_text(content)
    there.tests["a"] = {**there.tests["a"], "duration_seconds": 9}
    there.versions[-1] = (f"{YAML} # later", there.tests)
    code, _, err = run("config pull")

    assert (code, changed.read_text(), (tmp_path / "edge.yaml").read_text()) == (1, content, YAML)
    assert "edge.tests/a.yaml was changed here: push it, or discard the change with --force" in err
    assert run("config pull --force")[0] == 0
    assert "duration_seconds: 9" in changed.read_text()


def test_a_diff_shows_tests_too(there: Stored, run: Run, tmp_path: Path) -> None:
    run("config push edge.yaml --publish")
    (tmp_path / "edge.tests" / "a.yaml").write_text(f"{TEST}duration_seconds: 2\n")
    code, out, _ = run("config diff edge --file edge.yaml --exit-code")

    assert (code, out.splitlines()[:2]) == (1, ["--- edge v1, a", "+++ edge.yaml, a"])
    assert "+duration_seconds: 2" in out.splitlines()
    (tmp_path / "edge.tests" / "b.yaml").unlink()
    run("config push edge.yaml")
    code, out, _ = run("config diff edge --from 1 --to 2")
    assert [line for line in out.splitlines() if line.startswith("---")] == ["--- edge v1, a", "--- edge v1, b"]
    assert "-expected: ''" in out.splitlines()
    run("config push edge.yaml")
    assert run("config diff edge --file edge.yaml")[2] == "No difference between edge v2 and edge.yaml\n"


def test_a_server_names_no_file_elsewhere(there: Stored, run: Run, tmp_path: Path) -> None:
    there.versions.append((YAML, {"../../evil": {"target_pipeline": "logs", "sample": "x", "rules": [RULE]}}))
    code, _, err = run(f"config pull {CONFIGURATION} --to there")

    assert (code, list((tmp_path / "there").iterdir())) == (1, [])
    assert "the server has a test '../../evil', which cannot be the name of a file" in err


def test_a_pull_follows_no_link_out_of_the_folder(there: Stored, run: Run, tmp_path: Path) -> None:
    run("config push edge.yaml")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "b.log").write_text("mine")
    (tmp_path / "edge.tests" / "b.log").unlink()
    (tmp_path / "edge.tests" / "b.log").symlink_to(outside / "b.log")
    there.tests["b"] = {**there.tests["b"], "sample": "three\n"}

    assert run("config pull --force")[0] == 0
    assert (outside / "b.log").read_text() == "mine"
