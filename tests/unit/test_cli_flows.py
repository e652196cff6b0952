"""`headgate flow use` against a server that answers what a test wants."""

import json
from typing import Any

import pytest

from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

CONFIGURATION = "cfg_0123456789abcdefghjkmnpq0r"
RULE = {"name": "some", "condition": "true", "context": None, "expect": "count", "min": 1, "max": None}
TEST = {
    "name": "edge",
    "target_pipeline": "logs",
    "signal_type": "logs",
    "duration_seconds": 3,
    "sample": "one\n",
    "rules": [RULE],
}
FLOW: dict[str, Any] = {"name": "Edge", "yaml": "a: b", "summary": "It flows.", "tests": [TEST]}


def answering(flow: dict[str, Any], put: Answer = (200, {}, {"sha256": "x"})) -> Any:
    def answer(asked: str) -> Answer:
        if asked.startswith("PUT"):
            return put
        return 200, {}, {"id": CONFIGURATION, "name": "Edge"} if asked.startswith("POST") else flow

    return answer


def asked(server: Server) -> list[str]:
    return [line.replace("/api/v1/public", "") for line, _, _ in server.requests]


def test_a_flow_brings_its_tests(server: Server, run: Run) -> None:
    server.answering = answering(FLOW)
    code, out, err = run("flow use edge")

    assert (code, out.strip()) == (0, CONFIGURATION)
    assert "Edge v1 is a draft with 1 test." in err
    assert asked(server)[1:] == ["POST /configurations", f"PUT /configurations/{CONFIGURATION}/versions/1/tests/edge"]
    assert json.loads(server.requests[-1][2]) == {name: value for name, value in TEST.items() if name != "name"}


@pytest.mark.parametrize(
    ("options", "flow"), [("--no-tests", FLOW), ("", {name: value for name, value in FLOW.items() if name != "tests"})]
)
def test_without_tests_there_is_the_draft_alone(options: str, flow: dict[str, Any], server: Server, run: Run) -> None:
    server.answering = answering(flow)

    assert run(f"flow use edge {options}")[0] == 0
    assert asked(server)[1:] == ["POST /configurations"]


def test_a_test_that_cannot_be_saved_is_told_with_the_draft_that_is_there(server: Server, run: Run) -> None:
    problem = {"status": 422, "title": "x", "detail": "rules: too many", "code": "invalid"}
    server.answering = answering(FLOW, (422, {"Content-Type": "application/problem+json"}, problem))
    code, _, err = run("flow use edge")

    assert code == 1
    assert f"{CONFIGURATION} is created as a draft, but its test edge could not be saved: " in err
    assert "rules: too many" in err


def test_a_test_whose_name_leads_elsewhere_is_refused_before_anything_is_created(server: Server, run: Run) -> None:
    server.answering = answering({**FLOW, "tests": [{**TEST, "name": "../rules"}]})
    code, _, err = run("flow use edge")

    assert (code, asked(server)) == (1, ["GET /flows/edge"])
    assert "which cannot be the name of a file: add --no-tests" in err
