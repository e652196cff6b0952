"""Renaming, describing, archiving, restoring and deleting configurations, and the list of runs, by command."""

import json
from pathlib import Path

import pytest

from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

ID = "0123456789abcdefghjkmnpq0r"
CONFIGURATION = f"cfg_{ID}"
PATH = f"/api/v1/public/configurations/{CONFIGURATION}"
ENTRY = {
    "id": CONFIGURATION,
    "name": "edge",
    "latest_version": 2,
    "published_version": None,
    "updated_at": "",
    "archived_at": None,
}
RUN = {
    "id": f"run_{ID}",
    "status": "Fail",
    "reason": "some: 0 of 2 matched",
    "rules": {"total": 3, "passed": 2},
    "configuration_id": CONFIGURATION,
    "version_number": 2,
    "target_pipeline": "logs",
    "created_at": "2026-11-22T18:00:00.000Z",
}
OF_A_FILE = RUN | {"configuration_id": None, "version_number": None, "rules": None, "status": "Queued", "reason": None}


def page(*entries: object) -> Answer:
    return 200, {}, {"items": [*entries], "next_cursor": None}


def asked(server: Server) -> list[tuple[str, object]]:
    return [(path, json.loads(body) if body else None) for path, _, body in server.requests]


@pytest.mark.parametrize(
    ("line", "sent", "printed"),
    [
        ("rename {id} east", ("PATCH {path}", {"name": "east"}), "{id} is called edge\n"),
        ("describe {id} shops", ("PATCH {path}", {"description": "shops"}), "edge is described\n"),
        ("archive {id}", ("POST {path}/archive", None), "edge is archived\n"),
        ("restore {id}", ("POST {path}/restore", None), "edge is not archived any longer\n"),
    ],
)
def test_a_change_is_one_request_and_one_line(
    server: Server, run: Run, line: str, sent: tuple[str, object], printed: str
) -> None:
    server.answers = [(200, {}, ENTRY), (200, {}, ENTRY)]

    assert run(f"config {line.format(id=CONFIGURATION)}")[:2] == (0, printed.format(id=CONFIGURATION))
    assert asked(server) == [(sent[0].format(path=PATH), sent[1])]
    code, out, _ = run(f"config {line.format(id=CONFIGURATION)} --json")
    assert (code, json.loads(out)) == (0, ENTRY)


def test_a_name_is_asked_for_and_archived_ones_are_found_if_no_other_has_it(server: Server, run: Run) -> None:
    archived = ENTRY | {"archived_at": "2026-11-22T18:00:00.000Z"}
    server.answers = [page(), page(archived), (200, {}, archived)]

    assert run("config archive edge")[0] == 0
    first, second, acted = (path for path, _ in asked(server))
    assert (first, second) == (
        "GET /api/v1/public/configurations?name=edge&limit=100",
        "GET /api/v1/public/configurations?name=edge&archived=true&limit=100",
    )
    assert acted == f"POST {PATH}/archive"


def test_a_restore_looks_among_archived_ones_first(server: Server, run: Run) -> None:
    archived = ENTRY | {"archived_at": "2026-11-22T18:00:00.000Z"}
    server.answers = [page(archived), (200, {}, ENTRY)]

    assert run("config restore edge")[0] == 0
    assert "archived=true" in asked(server)[0][0]


def test_a_deletion_without_a_terminal_needs_yes(server: Server, run: Run) -> None:
    code, _, err = run(f"config delete {CONFIGURATION}")
    assert (code, server.requests) == (2, [])
    assert "--yes" in err

    server.answers = [(204, {}, None)]
    assert run(f"config delete {CONFIGURATION} --yes")[:2] == (0, f"{CONFIGURATION} is deleted\n")
    assert asked(server) == [(f"DELETE {PATH}", None)]


def test_what_uses_a_configuration_is_told_line_by_line(server: Server, run: Run) -> None:
    uses = [
        {"loc": ["path", "configuration_id"], "message": f"the group {name} is assigned version 1"} for name in "ab"
    ]
    problem = {"detail": "This configuration is in use", "code": "configuration_in_use", "errors": uses}
    server.answers = [(409, {}, problem)]
    code, out, err = run(f"config archive {CONFIGURATION}")

    assert (code, out) == (1, "")
    assert "the group a is assigned version 1" in err
    assert "the group b is assigned version 1" in err


def test_a_list_can_be_searched(server: Server, run: Run) -> None:
    server.answers = [page()]
    code, _, err = run("config list --component batch --text shop --archived")

    assert (code, err) == (0, "No such configurations that you can see\n")
    assert asked(server)[0][0] == (
        "GET /api/v1/public/configurations?text=shop&component=batch&archived=true&limit=100"
    )


def test_runs_are_a_table_with_names_and_reasons(server: Server, run: Run) -> None:
    server.answers = [page(RUN, OF_A_FILE), (200, {}, ENTRY)]
    code, out, _ = run(f"test runs {CONFIGURATION} --pipeline logs --status fail --limit 2")

    assert code == 0
    heading, first, second = out.splitlines()
    assert heading.split() == ["ID", "STATUS", "CONFIGURATION", "PIPELINE", "RULES", "STARTED", "(UTC)", "REASON"]
    assert first.split("  ")[0] == RUN["id"]
    for part in ("Fail", "edge v2", "2 of 3 passed", "2026-11-22 18:00", "some: 0 of 2 matched"):
        assert part in first
    assert "a file" in second
    assert asked(server)[0][0] == (
        f"GET /api/v1/public/testing/runs?pipeline=logs&status=Fail&configuration_id={CONFIGURATION}&limit=100"
    )


def test_runs_as_json_have_the_configurations_name_and_end_at_the_limit(server: Server, run: Run) -> None:
    server.answers = [page(RUN, OF_A_FILE), (200, {}, ENTRY)]
    code, out, _ = run("test runs --limit 1 --json")

    assert (code, json.loads(out)) == (0, [RUN | {"configuration_name": "edge"}])


@pytest.mark.parametrize(
    ("text", "wrapped", "told"),
    [
        (
            "data:\n  relay: |\n    receivers: {}\n",
            {"path": "data.relay"},
            "cm.yaml has its configuration under data.relay, and stays as it is: take that out with "
            "`headgate config import`\n",
        ),
        ("kind: Deployment\n", None, "cm.yaml has no processors::batch: it stays as it is\n"),
        ("receivers: {}\n", None, "cm.yaml has no processors::batch: it stays as it is\n"),
    ],
)
def test_a_value_is_not_set_inside_of_another_text_and_that_is_said(
    server: Server, run: Run, tmp_path: Path, text: str, wrapped: object, told: str
) -> None:
    (tmp_path / "cm.yaml").write_text(text)
    server.answering = lambda _: (200, {}, {"valid": False, **({"wrapped": wrapped} if wrapped else {})})

    code, _, err = run("config edit cm.yaml --set processors.batch.timeout=1s")

    assert (code, err) == (0, f"{told}No configuration changes\n")
    assert len(asked(server)) == (0 if text.startswith("receivers") else 1)


def test_a_text_that_the_server_does_not_check_stays_as_it_is_and_keeps_no_other_file_back(
    server: Server, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text("services: {db: {image: postgres}}\n")
    (tmp_path / "b.yaml").write_text("receivers: {otlp: {}}\nprocessors: {batch: {timeout: 2s}}\n")
    refusal = {"code": "yaml_too_costly", "detail": "The YAML takes too long", "status": 422}
    server.answering = lambda _: (422, {"Content-Type": "application/problem+json"}, refusal)

    code, _, err = run("config edit a.yaml b.yaml --set processors.batch.timeout=1s --no-validate --yes")

    assert (code, "a.yaml has no processors::batch: it stays as it is" in err) == (0, True), err
    assert "timeout: 1s" in (tmp_path / "b.yaml").read_text()
