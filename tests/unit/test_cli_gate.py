"""The check before a version is published or assigned: what it asks, and what an outage does."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

ID = "0123456789abcdefghjkmnpq0r"
CONFIGURATION, FLEET, GROUP = f"cfg_{ID}", f"flt_{ID}", f"dep_{ID}"
VERSION = {"n": 2, "yaml": "two", "collector_version": "0.140.0", "status": "published"}
DETAIL = {
    "id": CONFIGURATION,
    "name": "edge",
    "yaml": "three",
    "collector_version": "0.139.0",
    "latest_version": 3,
    "published_version": 2,
}
GROUP_OF = {"id": GROUP, "name": "Default", "configuration_id": CONFIGURATION, "version_number": 2}
OUTAGE: Answer = (503, {}, {"detail": "The YAML was not checked", "code": "not_checked"})
NOT_INSTALLED: Answer = (422, {}, {"detail": "0.140.0 is not installed", "code": "collector_version_not_installed"})
NOT_IN_BUILD: Answer = (503, {}, {"detail": "It lacks hostmetrics", "code": "component_not_in_build"})
ERROR = {"message": "no", "code": "other", "component_path": ""}
INVALID: Answer = (200, {}, {"valid": False, "version": "0.139.0", "errors": [ERROR]})

# What each command does at last, and the version that has to be checked before.
COMMANDS = {
    f"config publish {CONFIGURATION}": ("/versions/3/publish", "three", "0.139.0"),
    f"deployment assign {FLEET} {GROUP} {CONFIGURATION}": (f"/deployments/{GROUP}", "two", "0.140.0"),
    f"deployment assign {FLEET} {GROUP} {CONFIGURATION} --version 2": (f"/deployments/{GROUP}", "two", "0.140.0"),
    f"deployment create {FLEET} canary {CONFIGURATION}": ("/deployments", "two", "0.140.0"),
}


def answering(verdict: Answer) -> Callable[[str], Answer]:
    def answer(asked: str) -> Answer:
        if "/validate" in asked:
            return verdict
        if asked.endswith("/versions/2"):
            return 200, {}, VERSION
        if asked.startswith("GET"):
            return 200, {}, DETAIL
        return 200, {}, GROUP_OF | {"n": 3}

    return answer


def changed(server: Server) -> list[str]:
    return [asked for asked, _, _ in server.requests if not asked.startswith("GET") and "/validate" not in asked]


@pytest.mark.parametrize("line", COMMANDS)
def test_the_version_itself_is_checked_once_by_its_own_collector(server: Server, run: Run, line: str) -> None:
    server.answering = answering((200, {}, {"valid": True}))
    path, text, version = COMMANDS[line]

    assert run(line)[0] == 0
    (verdict,) = [json.loads(body) for asked, _, body in server.requests if "/validate" in asked]
    assert verdict == {"yaml": text, "version": version}
    (made,) = changed(server)
    assert made.endswith(path)


@pytest.mark.parametrize("line", COMMANDS)
@pytest.mark.parametrize("verdict", [OUTAGE, INVALID, (200, {}, b"<h1>hotel</h1>")], ids=["outage", "invalid", "hotel"])
def test_what_was_not_found_valid_stops_it_unless_forced(server: Server, run: Run, line: str, verdict: Answer) -> None:
    server.answering = answering(verdict)
    code, _, said = run(line)

    assert (code, changed(server)) == (1, [])
    assert said.endswith("; --force goes on anyway\n")
    assert ("could not validate edge v" in said) == (verdict is not INVALID)

    assert run(f"{line} --force")[0] == 0
    assert len(changed(server)) == 1


@pytest.mark.parametrize(
    ("verdict", "reason"), [(NOT_INSTALLED, "0.140.0 is not installed"), (NOT_IN_BUILD, "It lacks hostmetrics")]
)
@pytest.mark.parametrize("line", COMMANDS)
def test_a_collector_version_that_the_server_cannot_ask_is_a_warning(
    server: Server, run: Run, line: str, verdict: Answer, reason: str
) -> None:
    server.answering = answering(verdict)
    code, _, said = run(line)

    assert (code, len(changed(server))) == (0, 1)
    assert said.startswith("warning: edge v")
    assert f"was not validated: {reason}" in said


@pytest.mark.parametrize("verdict", [NOT_INSTALLED, NOT_IN_BUILD, OUTAGE, (503, {}, {"detail": "no"})])
def test_a_text_that_was_not_checked_is_not_saved(server: Server, run: Run, verdict: Answer, tmp_path: Path) -> None:
    (tmp_path / "edge.yaml").write_text("one")
    server.answering = answering(verdict)
    code, _, said = run("config create edge.yaml --publish")

    assert (code, changed(server)) == (1, [])
    assert said.startswith("headgate: could not validate edge.yaml: ")
    assert said.endswith("Nothing was saved; --no-validate saves it anyway\n")


def test_what_was_checked_is_what_is_assigned(server: Server, run: Run) -> None:
    server.answering = answering((200, {}, {"valid": True}))
    run(f"deployment assign {FLEET} {GROUP} {CONFIGURATION}")

    assert json.loads(server.requests[-1][2]) == {"configuration_id": CONFIGURATION, "version_number": 2}


def test_what_is_published_is_not_checked_again(server: Server, run: Run) -> None:
    server.answering = answering(OUTAGE)

    assert run(f"config publish {CONFIGURATION} --version 2")[0] == 0


def finding(severity: str, code: str) -> Answer:
    place = {"component_path": "processors::tail_sampling", "line": 1, "column": 1}
    entry = {"message": "unknown policy", "code": code, "severity": severity, "source": "start", "way_out": "", **place}
    return 200, {}, {"valid": True, "errors": [], "warnings": [], "findings": [entry], "start": {"started": []}}


@pytest.mark.parametrize("line", COMMANDS)
def test_what_ends_the_collector_at_its_start_stops_it_unless_forced(server: Server, run: Run, line: str) -> None:
    server.answering = answering(finding("error", "start_failed"))
    code, _, said = run(line)

    assert (code, changed(server)) == (1, [])
    assert "error: unknown policy [start_failed]" in said
    assert "the collector ends when it starts with it\n" in said
    assert {asked for asked, _, _ in server.requests if "/validate" in asked} == {
        "POST /api/v1/public/validate?start=true"
    }

    assert run(f"{line} --force")[0] == 0


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (finding("warning", "depends_on_host"), "warning: unknown policy [depends_on_host]"),
        ((200, {}, {"valid": True, "start": {"problem": {"code": "x", "detail": "busy"}}}), "was not started: busy"),
        ((200, {}, {"valid": True}), ""),
    ],
    ids=["depends on the host", "an outage", "a server from before"],
)
def test_what_the_host_decides_or_nobody_could_start_stops_nothing(
    server: Server, run: Run, verdict: Answer, words: str
) -> None:
    server.answering = answering(verdict)
    code, _, said = run(f"config publish {CONFIGURATION}")

    assert (code, len(changed(server))) == (0, 1)
    assert words in said


def test_values_that_several_texts_lack_are_asked_for_in_one_line(server: Server, run: Run, tmp_path: Path) -> None:
    def lacks(name: str) -> dict[str, object]:
        error = ERROR | {"cause": {"kind": "variable", "names": [name]}}
        return {"valid": False, "version": "0.139.0", "errors": [error]}

    def answer(asked: str) -> Answer:
        items = [lacks("ZONE"), lacks("KEY")] if "/validate/batch" in asked else []
        return 200, {}, {"items": items, "next_cursor": None}

    server.answering = answer
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text(name)
    code, _, err = run("config push a.yaml b.yaml")

    assert (code, err.count("These errors go away")) == (1, 1)
    assert "give ZONE, KEY with --env NAME=VALUE or --env-file FILE" in err
