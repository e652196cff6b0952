"""`headgate config push` with a collector version and variables: what is asked, saved and said."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

CONFIGURATION = "cfg_0123456789abcdefghjkmnpq0r"
VALID = {"valid": True, "version": "0.158.0"}
REFUSED = {
    "valid": False,
    "version": "0.139.0",
    "errors": [{"message": "unknown type", "code": "other", "component_path": ""}],
}


@pytest.fixture
def server(server: Server, tmp_path: Path) -> Server:
    (tmp_path / "a.yaml").write_text("a: 1")
    server.answering = answering()
    return server


def answering(
    *, verdict: Any = VALID, text: str = "", published: int = 0, set_to: Answer | None = None
) -> Callable[[str], Answer]:
    """A server with version 2 of configuration `a`, if it has a `text`."""
    detail = {"id": CONFIGURATION, "name": "a", "yaml": text, "latest_version": 2, "published_version": published}
    detail |= {"collector_version": "0.139.0"}

    def answer(asked: str) -> Answer:
        if "/validate" in asked:
            return 200, {}, verdict
        if asked.startswith("PATCH") and set_to:
            return set_to
        if asked.startswith("GET") and "?" in asked:
            return 200, {}, {"items": [detail] if text else [], "next_cursor": None}
        return 200, {}, detail | {"n": 3}

    return answer


def listed(folder: Path) -> None:
    entry = {"id": CONFIGURATION, "name": "a", "version": 2, "sha256": "0"}
    (folder / "headgate.json").write_text(json.dumps({"configurations": {"a.yaml": entry}}))


def saved(server: Server) -> list[tuple[str, Any]]:
    return [
        (line.replace("/api/v1/public", ""), json.loads(body or b"{}"))
        for line, _, body in server.requests
        if not line.startswith("GET") and "/validate" not in line
    ]


def asked(server: Server) -> list[Any]:
    return [json.loads(body) for line, _, body in server.requests if "/validate" in line]


PUSH = "config push a.yaml --force --collector-version 0.158.0"
VERSIONS = f"/configurations/{CONFIGURATION}/versions"
TO_NEWER = {"collector_version": "0.158.0"}


def test_a_new_configuration_gets_the_collector_version(server: Server, run: Run) -> None:
    code, out, _ = run(f"{PUSH} --publish")

    assert (code, out) == (0, "a.yaml: a v1, for collector 0.158.0, published\n")
    assert asked(server) == [{"yaml": "a: 1", "version": "0.158.0"}]
    assert saved(server) == [
        ("POST /configurations", {"name": "a", "yaml": "a: 1"}),
        (f"PATCH {VERSIONS}/1", TO_NEWER),
        (f"POST {VERSIONS}/1/publish", {}),
    ]


@pytest.mark.parametrize(
    ("text", "published", "requests", "n"),
    [
        ("a: 0", 2, ["POST", "PATCH /3"], 3),
        ("a: 0", 0, ["POST", "PATCH /3"], 3),
        # Only the version differs: a draft is changed in place, what is published never changes.
        ("a: 1", 2, ["POST", "PATCH /3"], 3),
        ("a: 1", 0, ["PATCH /2"], 2),
    ],
)
def test_a_listed_file_moves_to_the_collector_version(
    server: Server, run: Run, tmp_path: Path, text: str, published: int, requests: list[str], n: int
) -> None:
    listed(tmp_path)
    server.answering = answering(text=text, published=published)
    code, out, _ = run(PUSH)

    assert (code, out) == (0, f"a.yaml: a v{n}, for collector 0.158.0\n")
    assert [version["version"] for version in asked(server)] == ["0.158.0"]
    assert [line.replace(f" {VERSIONS}/", " /").replace(f" {VERSIONS}", "") for line, _ in saved(server)] == requests
    assert saved(server)[-1][1] == TO_NEWER
    assert json.loads((tmp_path / "headgate.json").read_text())["configurations"]["a.yaml"]["version"] == n


def test_the_same_text_and_version_is_unchanged(server: Server, run: Run, tmp_path: Path) -> None:
    listed(tmp_path)
    server.answering = answering(text="a: 1")

    assert run("config push a.yaml --force --collector-version 0.139.0")[1] == "a.yaml: a v2, unchanged\n"
    assert saved(server) == []


def test_a_dry_run_names_the_version_and_saves_nothing(server: Server, run: Run, tmp_path: Path) -> None:
    assert "would become a new configuration a, for collector 0.158.0" in run(f"{PUSH} --dry-run")[2]
    listed(tmp_path)
    server.answering = answering(text="a: 1")
    assert "would stay a v2, for collector 0.158.0" in run(f"{PUSH} --dry-run")[2]
    assert saved(server) == []


@pytest.mark.parametrize("line", ["config push a.yaml --force", "config create a.yaml"])
def test_a_refusal_names_the_collector_and_the_option(server: Server, run: Run, line: str) -> None:
    server.answering = answering(verdict=REFUSED)
    code, _, err = run(line)

    assert (code, saved(server)) == (1, [])
    assert err.splitlines()[-2:] == [
        "a.yaml: collector 0.139.0 refuses it; for another version, use --collector-version X.Y.Z",
        "Nothing was saved; --no-validate saves it anyway",
    ]


def test_a_refusal_is_an_error_for_programs_too(server: Server, run: Run) -> None:
    server.answering = answering(verdict=REFUSED)
    code, out, err = run("config create a.yaml --json")

    error = json.loads(err.splitlines()[-1])["error"]
    assert (code, out, error["message"]) == (1, "", "Nothing was saved; --no-validate saves it anyway")


@pytest.mark.parametrize("command", ["validate", "lint"])
def test_a_file_without_an_answer_is_an_error_for_programs_too(server: Server, run: Run, command: str) -> None:
    server.answering = answering()
    code, out, err = run(f"{command} --json gone.yaml")

    assert (code, json.loads(out)) == (1, [])
    error = json.loads(err.splitlines()[-1])["error"]
    assert (error["code"], error["message"]) == ("failed", "cannot read gone.yaml: No such file or directory")


@pytest.mark.parametrize("line", ["config create a.yaml", "validate a.yaml"])
def test_variables_that_an_error_comes_from_are_named_with_the_option(server: Server, run: Run, line: str) -> None:
    error = {**REFUSED["errors"][0], "cause": {"kind": "variable", "names": ["BACKEND", "KEY"], "instead": ""}}
    refused = {**REFUSED, "errors": [error], "distribution": "otelcol-contrib", "valid_on_host": None}
    server.answering = answering(verdict=refused)
    code, _, err = run(line)

    assert code == 1
    assert "give BACKEND, KEY with --env NAME=VALUE or --env-file FILE" in err
    assert "--file NAME=PATH" not in err


def test_what_only_the_checking_machine_lacks_is_said_and_saved(server: Server, run: Run) -> None:
    server.answering = answering(verdict=REFUSED | {"valid_on_host": True})
    code, _, err = run("config create a.yaml")

    assert (code, saved(server)) == (0, [("POST /configurations", {"name": "a", "yaml": "a: 1"})])
    assert "a.yaml: valid on a host that has what is named above, which is not here\n" in err


def test_a_version_that_could_not_be_set_is_said_and_set_by_the_next_push(
    server: Server, run: Run, tmp_path: Path
) -> None:
    server.answering = answering(set_to=(503, {}, {"detail": "no table", "code": "unavailable"}))
    code, _, err = run(f"{PUSH} --publish")

    assert (code, [line for line, _ in saved(server)]) == (1, ["POST /configurations", f"PATCH {VERSIONS}/1"])
    assert f"version 1 of {CONFIGURATION} is saved as a draft, but its collector version could not be set" in err
    assert f"`headgate config push FILE --to {CONFIGURATION} --collector-version 0.158.0`" in err

    server.answering = answering(text="a: 1")
    server.requests.clear()
    assert run(PUSH)[0] == 0
    assert [line for line, _ in saved(server)] == [f"PATCH {VERSIONS}/2"]


def test_create_takes_a_collector_version(server: Server, run: Run) -> None:
    code, _, _ = run("config create a.yaml --collector-version 0.158.0")

    assert (code, asked(server)) == (0, [{"yaml": "a: 1", "version": "0.158.0"}])
    assert saved(server)[-1] == (f"PATCH {VERSIONS}/1", TO_NEWER)


@pytest.mark.parametrize("line", ["config push a.yaml", "config create a.yaml"])
def test_values_of_variables_are_for_the_check_and_not_saved(server: Server, run: Run, line: str) -> None:
    code, _, _ = run(f"{line} --env PASSWORD=hunter2")

    assert (code, asked(server)) == (0, [{"yaml": "a: 1", "env": {"PASSWORD": "hunter2"}}])
    assert "hunter2" not in str(saved(server))


@pytest.mark.parametrize(
    ("codes", "way_out"),
    [
        (["tests_not_run"], f"`headgate test suite {CONFIGURATION}@1` runs the tests as they are stored"),
        (["tests_changed", "insecure_tls"], "`headgate validate --policies FILE` shows them with the way out"),
    ],
)
def test_what_publishing_requires_comes_with_the_command(
    server: Server, run: Run, codes: list[str], way_out: str
) -> None:
    problem = {"detail": "no", "code": "publish_requirements", "errors": [{"message": "m", "code": c} for c in codes]}
    usual = answering()
    server.answering = lambda asked: (409, {}, problem) if asked.endswith("/publish") else usual(asked)
    code, _, err = run("config push a.yaml --publish")

    assert (code, err.rstrip().endswith(f": {way_out}")) == (1, True)


GATES = ["service.profilesSupport", "-a.b"]


def test_feature_gates_check_the_text_and_are_saved_with_it(server: Server, run: Run) -> None:
    code, out, _ = run("config push a.yaml --feature-gate service.profilesSupport --feature-gate -a.b")

    assert (code, out) == (0, "a.yaml: a v1, with the feature gates service.profilesSupport, -a.b\n")
    assert asked(server) == [{"yaml": "a: 1", "feature_gates": GATES}]
    assert saved(server)[1] == (f"PATCH {VERSIONS}/1", {"feature_gates": GATES})


@pytest.mark.parametrize("command", ["config push a.yaml --force", "config publish a"])
def test_the_gates_of_a_configuration_check_it_again(command: str, server: Server, run: Run, tmp_path: Path) -> None:
    listed(tmp_path)
    answer = answering(text="a: 0")

    def with_gates(line: str) -> Answer:
        status, headers, body = answer(line)
        listing = line.startswith("GET") and "?" in line
        return status, headers, body if listing or "/validate" in line else body | {"feature_gates": GATES}

    server.answering = with_gates
    run(command)

    assert [one["feature_gates"] for one in asked(server)] == [GATES]
    # They are the configuration's already: the new version inherits them.
    assert [line for line, _ in saved(server) if line.startswith("PATCH")] == []


@pytest.mark.parametrize(
    "line", ["config publish a", "config publish a --version 1", "config push a.yaml --to a --publish"]
)
def test_a_version_is_published_as_it_was_validated(server: Server, run: Run, line: str) -> None:
    known = answering(text="a: 1")

    def answer(asked: str) -> Answer:
        status, _, body = known(asked)
        return status, {"ETag": '"1-7"' if asked.endswith("/versions/1") else '"2-4"'}, body

    server.answering = answer
    code, _, err = run(line)

    (conditions,) = [headers.get("If-Match") for line, headers, _ in server.requests if line.endswith("/publish")]
    assert (code, conditions) == (0, '"1-7"' if "--version" in line else '"2-4"'), err
