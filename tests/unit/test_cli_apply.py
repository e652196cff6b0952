"""What `headgate apply` asks of a server, and what it makes of its refusals."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import cli_forked
from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

ID = "0123456789abcdefghjkmnpq0r"
CFG, FLT, DEP, ORG = (f"{kind}_{ID}" for kind in ("cfg", "flt", "dep", "org"))
PUBLIC = "/api/v1/public"
WHO = {
    "organization_id": ORG,
    "organization_name": "Shops",
    "kind": "service_account",
    "id": "sva_1",
    "role": "contributor",
}
SHOP: dict[str, Any] = {
    **{"id": CFG, "name": "shop", "description": None, "latest_version": 1, "published_version": 1},
    **{"created_at": "2026-11-22T10:00:00.000Z", "updated_at": "2026-11-22T10:00:00.000Z", "archived_at": None},
    **{"yaml": "a: 1\n", "collector_version": "0.139.0", "n": 2, "status": "draft"},
}
GROUP: dict[str, Any] = {
    **{"id": DEP, "name": "web", "is_default": False, "configuration_id": CFG, "version_number": 1, "selector": {}},
    **{"updated_at": "2026-11-22T10:00:00.000Z", "role": None, "replicas": None, "namespace": None},
}
EDGE = {"id": FLT, "label": "edge", "type": "server-supervisor", "expires_in": "never"}
Says = Callable[..., None]


@pytest.fixture
def says(server: Server, tmp_path: Path) -> Says:
    """Makes the server one with a published configuration and a fleet; `refusals` are answers by what is asked."""
    configuration = tmp_path / "all" / "configurations" / "shop.yaml"
    configuration.parent.mkdir(parents=True)
    configuration.write_text("a: 2\n")

    def set_up(access: str = "read_write", refusals: dict[str, Answer] | None = None, **fields: Any) -> None:
        shop = SHOP | fields
        answers: dict[str, object] = {
            "GET /identity": WHO | {"name": "ci", "access": access},
            "GET /configurations": {"items": [shop], "next_cursor": None},
            "GET /fleets": {"items": [EDGE], "next_cursor": None},
            f"GET /fleets/{FLT}/deployments": {"items": [GROUP], "next_cursor": None},
            f"GET /configurations/{CFG}/versions/1/tests": {"items": []},
            "POST /validate": {"valid": True, "version": "0.139.0"},
        }

        def answer(asked: str) -> Answer:
            plain = asked.replace(PUBLIC, "").partition("?")[0]
            refused = (refusals or {}).get(plain)
            return refused or (200, {"ETag": '"1-1"'}, answers.get(plain, shop))

        server.answering = answer

    set_up()
    return set_up


def problem(status: int, code: str, detail: str = "No") -> Answer:
    return status, {}, {"status": status, "code": code, "detail": detail}


def writes(server: Server) -> list[tuple[str, Any]]:
    return [
        (line.replace(PUBLIC, ""), json.loads(body or b"{}"))
        for line, _, body in server.requests
        if not line.startswith("GET") and "/validate" not in line
    ]


def test_a_text_that_differs_from_a_published_version_becomes_the_next_one(
    server: Server, run: Run, says: Says
) -> None:
    code, out, err = run("apply -f all --yes -m Commit1")

    assert (code, "1 of 1 done" in err) == (0, True)
    assert "+a: 2" in out
    assert writes(server) == [(f"POST /configurations/{CFG}/versions", {"yaml": "a: 2\n", "description": "Commit1"})]


def test_a_draft_is_edited_if_it_is_still_the_one_that_was_read(
    server: Server, run: Run, says: Says, tmp_path: Path
) -> None:
    says(published_version=None)
    assert run("apply -f all --yes")[0] == 0
    ((line, headers, body),) = [one for one in server.requests if one[0].startswith("PATCH")]

    assert line.endswith(f"/configurations/{CFG}/versions/1")
    assert (headers["If-Match"], json.loads(body)) == ('"1-1"', {"yaml": "a: 2\n"})
    (tmp_path / "all" / "configurations" / "shop.yaml").write_text("a: 3\n")
    says(published_version=None, refusals={f"PATCH /configurations/{CFG}/versions/1": problem(412, "version_changed")})
    code, out, _ = run("apply -f all --yes")
    assert (code, "somebody changed it after the plan was made" in out) == (1, True)


def test_a_version_is_appended_only_to_the_one_that_was_read_and_else_not_published(
    server: Server, run: Run, says: Says, tmp_path: Path
) -> None:
    (tmp_path / "all" / "apply.yaml").write_text("publish: true\n")
    says(refusals={f"POST /configurations/{CFG}/versions": problem(412, "version_changed")})
    code, out, _ = run("apply -f all --yes")

    assert code == 1
    assert next(headers["If-Match"] for line, headers, _ in server.requests if line.endswith("/versions")) == '"1-1"'
    assert "somebody changed it after the plan was made" in out
    assert "skipped   configuration shop: configuration shop was not done" in out
    assert [line for line, _ in writes(server)] == [f"POST /configurations/{CFG}/versions"]


def test_what_its_owner_alone_may_change_is_left_out_with_what_depends_on_it(
    server: Server, run: Run, says: Says, tmp_path: Path
) -> None:
    (tmp_path / "all" / "apply.yaml").write_text("publish: true\n")
    (tmp_path / "all" / "fleets").mkdir()
    (tmp_path / "all" / "fleets" / "edge.yaml").write_text("groups:\n  web: {configuration: shop}\n")
    owners = "Only its owner or an Admin may change this configuration"
    says(refusals={f"POST /configurations/{CFG}/versions": problem(403, "not_the_owner", owners)})
    code, out, _ = run("apply -f all --yes")

    assert code == 0
    assert out.splitlines()[-3:] == [
        f"left out  configuration shop: {owners}",
        "left out  configuration shop: configuration shop was not done",
        "left out  group edge/web: configuration shop was not done",
    ]


def test_an_answer_that_is_not_of_this_api_is_told_and_nothing_is_changed(server: Server, run: Run, says: Says) -> None:
    says(published_version="soon")
    code, _, err = run("apply -f all --yes")

    assert (code, "published_version" in err, writes(server)) == (1, True, [])


def test_a_token_that_may_only_read_sees_the_plan(run: Run, says: Says) -> None:
    says(access="read")
    code, _, err = run("apply -f all --yes")

    assert (code, "this token may only read" in err) == (3, True)
    assert run("apply -f all --dry-run --exit-code")[0] == 4


def test_a_group_that_somebody_changed_meanwhile_is_not_assigned(
    server: Server, run: Run, says: Says, tmp_path: Path
) -> None:
    (tmp_path / "all" / "configurations" / "shop.yaml").write_text("a: 1\n")
    (tmp_path / "all" / "fleets").mkdir()
    (tmp_path / "all" / "fleets" / "edge.yaml").write_text("groups:\n  web: {configuration: shop@2}\n")
    groups = f"GET /fleets/{FLT}/deployments"
    refusals: dict[str, Answer] = {}
    says(refusals=refusals)
    planned = server.answering
    assert planned is not None

    def changing(asked: str) -> Answer:
        answer = planned(asked)
        if asked.replace(PUBLIC, "").startswith(groups):
            # For whoever asks again.
            refusals[groups] = 200, {}, {"items": [GROUP | {"version_number": 7}], "next_cursor": None}
        return answer

    server.answering = changing
    code, out, _ = run("apply -f all --yes")

    assert (code, "failed    group edge/web: somebody changed it after the plan was made" in out) == (1, True)
    assert writes(server) == []


def test_a_first_version_that_differs_from_what_hosts_run_is_refused_in_the_plan(
    server: Server, run: Run, says: Says, tmp_path: Path
) -> None:
    (tmp_path / "all" / "fleets").mkdir()
    (tmp_path / "all" / "fleets" / "edge.yaml").write_text("groups:\n  web: {configuration: shop@1, rollout: {}}\n")
    group = GROUP | {"configuration_id": None, "version_number": None, "first_by_rollout": True}
    warning = {"code": "differs_from_running", "message": "The version is not what web-1 runs", "severity": "warning"}
    check = f"POST /fleets/{FLT}/deployments/{DEP}/assignment-check"
    groups = f"GET /fleets/{FLT}/deployments"
    says(
        yaml="a: 2\n",
        refusals={
            groups: (200, {}, {"items": [group], "next_cursor": None}),
            check: (200, {}, {"warnings": [warning, {**warning, "code": "other"}]}),
        },
    )

    code, out, err = run("apply -f all --yes")

    assert code == 1, err
    assert "refused   group edge/web: The version is not what web-1 runs; `headgate fleet adopt` makes a draft" in out
    assert "`headgate rollout start edge web shop@1 --force` starts it all the same" in out
    assert [path for path, _ in writes(server) if "assignment-check" not in path] == []


def test_a_lost_connection_ends_it_and_says_what_was_not_begun(run: Run, says: Says, tmp_path: Path) -> None:
    (tmp_path / "all" / "apply.yaml").write_text("publish: true\n")
    says(refusals={f"POST /configurations/{CFG}/versions": (0, {}, b"")})
    code, out, err = run("apply -f all --yes")

    assert (code, "0 of 2 done" in err) == (1, True)
    assert out.count("not begun") == 2


@pytest.mark.parametrize("option", [[], ["--json"]], ids=["", "json"])
def test_what_a_server_says_controls_no_terminal_and_no_workflow(
    server: Server, says: Says, tmp_path: Path, option: list[str]
) -> None:
    forged = "\x1b[31m\n::error::no"
    (tmp_path / "all" / "fleets").mkdir()
    (tmp_path / "all" / "fleets" / "edge.yaml").write_text("groups: {}\n")
    fleets = 200, {}, {"items": [EDGE | {"type": forged}]}
    says(yaml=forged, collector_version=forged, refusals={"GET /fleets": fleets})
    environment = {"GITHUB_ACTIONS": "true", "HEADGATE_URL": server.url, "SERVICE_API_TOKEN": "sv_x", "LANG": "C.UTF-8"}
    done = cli_forked.run(["apply", "-f", "all", "--dry-run", *option], tmp_path, environment)
    printed = (done.stdout + done.stderr).decode()

    assert done.returncode == 1
    assert "no" in printed
    assert "\x1b" not in printed
    assert not [line for line in printed.splitlines() if line.lstrip().startswith("::")]


def test_usage_that_makes_no_sense_is_refused(run: Run, says: Says) -> None:
    assert run("apply -f all --exit-code")[0] == 2
    assert run("apply -f none")[0] == 1
    assert "confirm with --yes" in run("apply -f all")[2]
