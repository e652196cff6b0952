"""What stops collectors asks, ids stay whole, and a version is named beside its configuration."""

import json
import sys
from os import terminal_size
from pathlib import Path

import pytest

from headgate_cli import output, watching
from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

ID = "0123456789abcdefghjkmnpq0r"
CONFIGURATION, FLEET, GROUP, RUN = f"cfg_{ID}", f"flt_{ID}", f"dep_{ID}", f"run_{ID}"
STATES = (
    *("pending_pickup", "applying", "applied", "apply_failed", "idle", "running", "unhealthy"),
    *("stopped", "silent", "stale", "unknown"),
)
NONE = dict.fromkeys(("total", *STATES), 0)
DETAIL = {
    "id": CONFIGURATION,
    "name": "edge",
    "yaml": "a: 1\n",
    "collector_version": "0.139.0",
    "latest_version": 2,
    "published_version": 2,
}
VERSION = {"n": 1, "status": "published", "yaml": "a: 0\n", "collector_version": "0.139.0"}


def asked(server: Server) -> list[str]:
    return [line.replace("/api/v1/public", "") for line, _, _ in server.requests]


@pytest.fixture
def counts() -> dict[str, int]:
    """The group's collectors by state."""
    return NONE | {"applied": 2}


@pytest.fixture
def edge(server: Server, counts: dict[str, int]) -> Server:
    """Has one configuration, with two published versions, and a group whose collectors the test counts."""

    def answer(line: str) -> Answer:
        if "/validate" in line:
            return 200, {}, {"valid": False, "version": "0.139.0"}
        if "/versions/" in line or (line.startswith("POST") and line.endswith("/versions")):
            return 200, {}, VERSION
        if "/deployments/" in line:
            return 200, {}, {"id": GROUP, "name": "web", "instances": counts}
        if line.startswith("POST") and line.endswith("/configurations"):
            return 201, {}, DETAIL | {"latest_version": 1, "published_version": None}
        return 200, {}, DETAIL

    server.answering = answer
    return server


def test_clearing_a_group_whose_collectors_run_needs_a_yes_without_a_terminal(
    edge: Server, counts: dict[str, int], run: Run
) -> None:
    code, _, err = run(f"deployment clear {FLEET} {GROUP}")
    assert (code, "this stops 2 collectors of web" in err, "--yes" in err) == (2, True, True)
    assert not [line for line in asked(edge) if line.startswith("PATCH")]

    assert run(f"deployment clear {FLEET} {GROUP} --yes")[0] == 0
    counts["applied"] = 0
    assert run(f"deployment clear {FLEET} {GROUP}")[0] == 0


@pytest.mark.parametrize(
    ("line", "request_line"),
    [
        (f"config show {CONFIGURATION}@1", f"GET /configurations/{CONFIGURATION}/versions/1"),
        (f"config publish {CONFIGURATION}@1 --force", f"POST /configurations/{CONFIGURATION}/versions/1/publish"),
        (f"rules get {CONFIGURATION}@1 --json", f"GET /configurations/{CONFIGURATION}/versions/1/validation-pipelines"),
        (f"config diff {CONFIGURATION}@1", f"GET /configurations/{CONFIGURATION}/versions/1"),
    ],
)
def test_a_version_is_named_beside_its_configuration(edge: Server, run: Run, line: str, request_line: str) -> None:
    edge.answering, answering = lambda given: (200, {}, {**answering(given)[2], "items": []}), edge.answering
    assert run(line)[0] == 0
    assert request_line in asked(edge)

    code, _, err = run(f"{line.partition(' --')[0]} {'--from' if ' diff ' in line else '--version'} 2")
    assert (code, "two versions: leave one out" in err) == (2, True)


def test_a_description_of_a_push_is_the_versions(edge: Server, run: Run, tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("a: 2\n")
    edge.answering, answering = (
        lambda line: (200, {}, {"items": [], "next_cursor": None}) if "?" in line else answering(line),
        edge.answering,
    )
    assert run("config push other.yaml --no-validate -m why")[0] == 0

    sent = {line.split(" ")[0]: json.loads(body) for line, _, body in edge.requests if body}
    assert sent == {"POST": {"name": "other", "yaml": "a: 2\n"}, "PATCH": {"description": "why"}}


def test_a_diff_with_nothing_is_one_with_dev_null(edge: Server, run: Run) -> None:
    code, out, _ = run(f"config diff {CONFIGURATION} --file /dev/null --exit-code")
    assert (code, out.splitlines()[:2]) == (1, ["--- edge v2", "+++ /dev/null"])

    code, out, _ = run(f"config diff {CONFIGURATION} --file /dev/null --json")
    told = json.loads(out)
    assert (code, told["equal"], told["differences"][0]["to"]) == (0, False, "/dev/null")


def test_an_id_is_never_cut_where_the_row_has_no_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(output.shutil, "get_terminal_size", lambda *_: terminal_size((40, 24)))
    output.table(("ID", "REASON"), [(CONFIGURATION, "a reason that is longer than the row")], nothing="none")

    printed = capsys.readouterr().out
    assert CONFIGURATION in printed
    assert "…" in printed


def test_watched_fleets_print_each_change(server: Server, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = {"id": FLEET, "label": "edges", "type": "server-supervisor", "hosts_without_key": 0}
    seen = iter([0, 0, 1])
    server.answering = lambda _: (
        200,
        {},
        {"items": [fleet | {"instances": NONE | {"applied": (n := next(seen)), "total": n}}], "next_cursor": None},
    )
    pauses = iter([None, None])

    def pause(_: float) -> None:
        if next(pauses, "end") == "end":
            raise KeyboardInterrupt

    monkeypatch.setattr(watching.time, "sleep", pause)
    code, out, _ = run("fleet list --watch")

    assert code == 130
    assert [line for line in out.splitlines() if line.startswith("edges")] == ["edges  1 applied"]
    assert run("fleet list --watch --json")[0] == 2
