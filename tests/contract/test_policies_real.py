"""Policies through the API, judged by the real collector."""

from collections.abc import Callable
from typing import Any

import pytest
from httpx2 import Response

from configurations.app import router as configurations_router
from configurations.policies import router as policies_router
from headgate import checker
from tests.support.configurations import create, get, patch, publish
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith, Member, application
from tests.support.world import joined, session_of
from validation.app import router as validation_router

ROUTERS = [configurations_router, policies_router, validation_router]
YAML = """\
receivers: {otlp: {protocols: {grpc: {endpoint: "localhost:4317"}}}}
processors: {memory_limiter: {check_interval: 1s, limit_mib: 400}}
exporters:
  otlp:
    endpoint: backend:4317
    tls:
      insecure: true
service:
  pipelines:
    traces: {receivers: [otlp], processors: [memory_limiter], exporters: [otlp]}
"""
ALLOWED = YAML.replace("true\n", "true # headgate: allow insecure_tls because the backend is on this host\n")
RULE = {
    "name": "names_its_backend",
    "expression": "config.exporters.exists(name, name == 'otlp')",
    "message": "Write otlp/BACKEND",
    "severity": "error",
    "examples": [
        {"yaml": "exporters: {otlp: {}}", "violated": True},
        {"yaml": "exporters: {otlp/a: {}}", "violated": False},
    ],
}

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.usefixtures("own_checker")]


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join(ROUTERS, "ann")


Save = Callable[..., Response]


@pytest.fixture
def save(organization_id: str) -> Save:
    headers = dict(session_of(joined(organization_id, "admin"), organization_id))
    admin = TestClient(application(ROUTERS), headers=headers)

    def put(**changed: object) -> Response:
        empty = {"severities": {}, "not_suppressible": [], "rules": [], "publish_requires": []}
        return admin.put(f"{API}/policies", json={**empty, **changed})

    return put


def checked(member: Member, yaml: str) -> dict[str, Any]:
    answer = member.http.post(f"{API}/validate?lint=true&policies=true", json={"yaml": yaml})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_every_policy_names_a_way_out_and_finds_its_example(ann: Member) -> None:
    policies = ann.http.get(f"{API}/policies").json()["policies"]

    assert len(policies) > 15
    assert all(one["why"] and one["way_out"] and one["severity"] in ("warning", "info") for one in policies)
    found = checked(ann, next(one["failing"] for one in policies if one["code"] == "insecure_tls"))["policies"]
    assert "insecure_tls" in {one["code"] for one in found["findings"]}


MISTYPED = YAML.replace(
    "memory_limiter: {check_interval: 1s, limit_mib: 400}}",
    "memory_limiter: {check_interval: 1s, limit_mib: 400}, transform: {trace_statements: ['sett(span.name, 1)']}}",
).replace("[memory_limiter]", "[memory_limiter, transform]")


def test_a_pause_in_typing_is_one_question_and_one_mistake_one_finding(
    ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    call = checker.COLLECTORS.call

    def recorded(op: str, *arguments: Any, **named: Any) -> dict[str, object]:
        asked.append(op)
        return call(op, *arguments, **named)

    monkeypatch.setattr(checker.COLLECTORS, "call", recorded)
    path = f"{API}/validate?lint=true&policies=true&graph=true"
    answer = ann.http.post(path, json={"yaml": MISTYPED}).json()

    assert asked == ["check"]
    errors = [one for one in answer["findings"] if one["severity"] == "error"]
    assert [(one["source"], one["code"], one["line"]) for one in errors] == [("lint", "ottl", 2)]
    lines = MISTYPED.splitlines()
    marked = [lines[one["line"] - 1][one["column"] - 1 : one["end_column"] - 1] for one in answer["findings"]]
    assert marked[0] == "sett"
    assert all(marked)
    assert [one["line"] for one in answer["findings"]] == sorted(one["line"] for one in answer["findings"])


def test_one_request_gives_verdict_lint_and_policies_with_places(ann: Member) -> None:
    answer = checked(ann, YAML)

    assert (answer["valid"], answer["lint"]["valid"], answer["policies"]["passed"]) == (True, True, True)
    (finding,) = [one for one in answer["policies"]["findings"] if one["code"] == "insecure_tls"]
    assert (finding["severity"], finding["component_path"], finding["line"], finding["column"]) == (
        "warning",
        "exporters::otlp::tls::insecure",
        7,
        7,
    )


def test_a_text_that_is_not_yaml_has_a_verdict_and_says_why_it_has_no_parts(ann: Member) -> None:
    answer = checked(ann, "receivers: [\n")

    assert (answer["valid"], answer["errors"][0]["code"]) == (False, "yaml_syntax")
    assert answer["lint"]["problem"]["code"] == "not_lintable"
    assert answer["policies"]["problem"]["code"] == "yaml_syntax"


def test_a_rule_is_tried_on_its_examples_and_then_judges(ann: Member, save: Save) -> None:
    assert save(rules=[RULE]).status_code == 200
    policies = checked(ann, YAML)["policies"]

    assert policies["passed"] is False
    assert [one["message"] for one in policies["findings"] if one["severity"] == "error"] == ["Write otlp/BACKEND"]


def test_wrong_rules_are_refused_with_their_places(save: Save) -> None:
    wrong = [
        {**RULE, "expression": "config.exporters.exist("},
        {**RULE, "name": "insecure_tls"},
        {**RULE, "name": "b", "examples": [{"yaml": "exporters: {otlp/a: {}}", "violated": True}]},
        {**RULE, "name": "c", "examples": [{"yaml": "exporters: [", "violated": True}]},
    ]
    answer = save(rules=wrong)

    assert answer.status_code == 422
    assert [one["loc"][2:] for one in answer.json()["errors"]] == [
        [0, "expression"],
        [1, "name"],
        [2, "examples", 0, "violated"],
        [3, "examples", 0, "yaml"],
    ]


def test_a_rule_that_errs_or_costs_too_much_is_told_and_leaves_the_verdict(ann: Member, save: Save) -> None:
    numbers = f"[{', '.join('1' for _ in range(150))}]"
    nested = f"{numbers}.all(a, {numbers}.all(b, {numbers}.all(c, a + b + c == 3)))"
    rules = [
        {
            **RULE,
            "name": "errs",
            "expression": "config.exporters.nothing.there == 1",
            "examples": [{"yaml": "exporters: {nothing: {there: 1}}", "violated": True}],
        },
        {
            **RULE,
            "name": "costly",
            "expression": f"config.?exporters.orValue({{}}).all(id, {nested})",
            "examples": [{"yaml": "receivers: {otlp: {}}", "violated": True}],
        },
    ]
    assert save(rules=rules).status_code == 200
    answer = checked(ann, YAML)

    assert answer["valid"] is True
    assert {one["name"]: one["severity"] for one in answer["policies"]["failed_rules"]} == {
        "errs": "error",
        "costly": "error",
    }
    assert answer["policies"]["passed"] is False


def test_publishing_requires_that_nothing_counts(ann: Member, save: Save) -> None:
    save(severities={"insecure_tls": "error"}, publish_requires=["policies"])
    configuration_id = create(ann, yaml=YAML)
    refused = publish(ann, configuration_id)

    assert (refused.status_code, refused.json()["code"]) == (409, "publish_requirements")
    assert [(one["code"], one["line"]) for one in refused.json()["errors"]] == [("insecure_tls", 7)]

    patch(ann, configuration_id, 1, yaml=ALLOWED)
    assert publish(ann, configuration_id).status_code == 200
    assert publish(ann, configuration_id).status_code == 200
    assert get(ann, f"/{configuration_id}/versions/1/suppressions").json()["items"] == [
        {
            "code": "insecure_tls",
            "line": 7,
            "until": None,
            "reason": "the backend is on this host",
            "used": True,
            "problem": None,
        }
    ]


def test_a_comment_suppresses_only_what_admins_allow(ann: Member, save: Save) -> None:
    save(severities={"insecure_tls": "error"}, not_suppressible=["insecure_tls"], publish_requires=["policies"])
    configuration_id = create(ann, yaml=ALLOWED)

    assert publish(ann, configuration_id).status_code == 409
    (comment,) = get(ann, f"/{configuration_id}/versions/1/suppressions").json()["items"]
    assert (comment["used"], "does not allow" in comment["problem"]) == (False, True)


def test_a_large_text_of_comments_does_not_hold_up_the_next_request(ann: Member) -> None:
    """Each line is a comment that suppresses nothing."""
    hostile = YAML + "# headgate: allow insecure_tls because x\n" * 20_000
    answer = ann.http.post(f"{API}/validate?lint=true&policies=true", json={"yaml": hostile})

    assert answer.status_code in (200, 422)
    if answer.status_code == 200:
        assert len(answer.json()["policies"].get("suppressions", [])) <= 500
    assert checked(ann, YAML)["policies"]["passed"] is True
