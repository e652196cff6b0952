"""An organization's policies: read, set by Admins, and beside a verdict. The collector answers what a test wants."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from httpx2 import Response

from configurations.policies import router as policies_router
from headgate.audit import store
from headgate.checker import CheckerBusy, NoChecker, NotInstalled, Refused
from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.policies import store as policies_store
from headgate.policies.model import StoredPolicies
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith, Member, application
from tests.support.scripted_policies import LINTED, NOTHING, Engine, found, scripted
from tests.support.world import joined, session_of
from validation.app import router as validation_router

ROUTERS = [policies_router, validation_router]
EMPTY: dict[str, Any] = {"severities": {}, "not_suppressible": [], "rules": [], "publish_requires": []}
RULE = {
    "name": "no_debug",
    "expression": "'debug' in config.exporters",
    "message": "Send it somewhere",
    "examples": [{"yaml": "exporters: {debug: {}}", "violated": True}],
}


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    return scripted(monkeypatch)


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join(ROUTERS, "ann")


@pytest.fixture
def admin(organization_id: str) -> TestClient:
    headers = dict(session_of(joined(organization_id, "admin"), organization_id))
    return TestClient(application(ROUTERS), raise_server_exceptions=False, headers=headers)


def put(admin: TestClient, if_match: str = "", **changed: object) -> Response:
    headers = {"If-Match": if_match} if if_match else {}
    return admin.put(f"{API}/policies", json={**EMPTY, **changed}, headers=headers)


def policies(member: Member) -> dict[str, Any]:
    answer = member.http.post(f"{API}/validate?policies=true", json={"yaml": "a: 1"})
    assert answer.status_code == 200, answer.text
    found_here: dict[str, Any] = answer.json()["policies"]
    return found_here


def problem_of(answer: Response) -> tuple[int, str, list[tuple[list[str | int], str]]]:
    problem = answer.json()
    return answer.status_code, problem["code"], [(one["loc"], one["message"]) for one in problem["errors"]]


# Settings.


def test_by_default_nothing_is_an_error(ann: Member) -> None:
    answer = ann.http.get(f"{API}/policies")
    body = answer.json()

    assert answer.headers["ETag"] == '"policies-0"'
    assert body["settings"] == EMPTY
    assert (body["updated_at"], body["updated_by"]) == (None, None)
    assert {one["code"]: one["severity"] for one in body["policies"]} == {
        "insecure_tls": "warning",
        "plain_http": "warning",
        "listens_everywhere": "info",
    }


def test_what_an_admin_saves_is_what_everyone_reads(admin: TestClient, ann: Member) -> None:
    rule = {**RULE, "severity": "error", "suppressible": False, "examples": [{"yaml": "a: 1", "violated": False}]}
    changed = {
        "severities": {"insecure_tls": "error", "plain_http": "off"},
        "not_suppressible": ["insecure_tls"],
        "rules": [rule],
        "publish_requires": ["policies"],
    }
    saved = put(admin, **changed)
    read = ann.http.get(f"{API}/policies")

    assert saved.status_code == 200, saved.text
    assert read.json() == saved.json()
    assert read.headers["ETag"] == saved.headers["ETag"] == '"policies-1"'
    assert read.json()["settings"] == changed
    assert read.json()["updated_by"]["kind"] == "user"
    assert [(one["severity"], one["default_severity"], one["suppressible"]) for one in read.json()["policies"]] == [
        ("error", "warning", False),
        ("off", "warning", True),
        ("info", "info", True),
    ]


def test_a_change_is_recorded(admin: TestClient, organization_id: str) -> None:
    put(admin, publish_requires=["policies"])
    records = store.records(organization_id, 10, None).entries

    assert [(one.action, one.target, one.details) for one in records][:1] == [
        ("policies.changed", "policies", {"revision": "1", "publish_requires": "policies"})
    ]


@pytest.mark.parametrize("field", EMPTY)
def test_what_is_replaced_whole_needs_every_field(admin: TestClient, field: str) -> None:
    answer = admin.put(f"{API}/policies", json={name: value for name, value in EMPTY.items() if name != field})

    assert problem_of(answer) == (422, "invalid", [(["body", field], "This field is required")])


@pytest.mark.parametrize(
    ("changed", "loc", "message"),
    [
        ({"publish_requires": ["review"]}, ["publish_requires", 0], "This must be one of 'policies' or 'tests'"),
        ({"publish_requires": ["policies"] * 2}, ["publish_requires"], "policies is listed twice"),
        ({"severities": {"insecure_tls": "fatal"}}, ["severities", "insecure_tls"], "This must be one of 'error',"),
        ({"rules": [{**RULE, "severity": "off"}]}, ["rules", 0, "severity"], "This must be one of 'error',"),
        ({"rules": [{**RULE, "name": "No Debug"}]}, ["rules", 0, "name"], "This must match the pattern"),
        ({"rules": [{**RULE, "expression": "x" * 4001}]}, ["rules", 0, "expression"], "This may have at most 4,000"),
        ({"rules": [{**RULE, "message": " "}]}, ["rules", 0, "message"], "This must not be empty"),
        ({"rules": [RULE] * 51}, ["rules"], "This may have at most 50 entries"),
        ({"rules": [{**RULE, "examples": []}]}, ["rules", 0, "examples"], "Add an example: a small configuration"),
        (
            {"rules": [{name: value for name, value in RULE.items() if name != "examples"}]},
            ["rules", 0, "examples"],
            "Add an example: a small configuration",
        ),
        (
            {"rules": [{**RULE, "examples": [{"yaml": "x" * 16_001, "violated": True}]}]},
            ["rules", 0, "examples", 0, "yaml"],
            "This may have at most 16,000",
        ),
        (
            {"rules": [{**RULE, "examples": [{"yaml": "ä" * 15_000, "violated": True}] * 10}]},
            [],
            "The rules with their examples have 3",
        ),
    ],
)
def test_settings_have_limits(
    admin: TestClient, engine: Engine, changed: dict[str, Any], loc: list[str | int], message: str
) -> None:
    status, code, errors = problem_of(put(admin, **changed))

    assert (status, code, errors[0][0]) == (422, "invalid", ["body", *loc])
    assert errors[0][1].startswith(message)
    assert engine.asked == []


def test_a_code_that_no_policy_has_is_refused(admin: TestClient) -> None:
    answer = put(admin, severities={"insecure_tsl": "error"}, not_suppressible=["no_debug"], rules=[RULE])
    unknown = "There is no built-in policy {}; `GET /policies` lists them"

    assert problem_of(answer) == (
        422,
        "policies_invalid",
        [
            (["body", "severities", "insecure_tsl"], unknown.format("insecure_tsl")),
            (
                ["body", "not_suppressible", 0],
                unknown.format("no_debug") + "; a rule of your own says so by its `suppressible`",
            ),
        ],
    )


def test_a_wrong_rule_is_named_with_its_place(admin: TestClient, ann: Member, engine: Engine) -> None:
    examples = [{"yaml": "a: 1", "violated": True}, {"yaml": "b: [", "violated": False}]
    engine.answers["policy_rules"] = {
        "rules": [
            {"name": "a", "error": "expression: 1:6: Syntax error", "examples": []},
            {"name": "b", "error": "name: another rule has the name b", "examples": []},
            {
                "name": "c",
                "error": None,
                "examples": [
                    {"violated": False, "as_expected": False, "error": None},
                    {"violated": False, "as_expected": False, "error": "yaml: line 1: not YAML"},
                ],
            },
        ]
    }
    answer = put(admin, rules=[{**RULE, "name": name, "examples": examples} for name in "abc"])

    assert problem_of(answer) == (
        422,
        "policies_invalid",
        [
            (["body", "rules", 0, "expression"], "Rule a: 1:6: Syntax error"),
            (["body", "rules", 1, "name"], "Rule b: another rule has the name b"),
            (
                ["body", "rules", 2, "examples", 0, "violated"],
                "Rule c: the example says that the text breaks the rule, and it does not",
            ),
            (["body", "rules", 2, "examples", 1, "yaml"], "Rule c: line 1: not YAML"),
        ],
    )
    assert ann.http.get(f"{API}/policies").json()["settings"] == EMPTY


def test_rules_that_are_too_costly_are_refused(admin: TestClient, engine: Engine) -> None:
    engine.answers["policy_rules"] = Refused("too_costly", "it took too long")

    assert problem_of(put(admin, rules=[RULE])) == (422, "yaml_too_costly", [(["body", "rules"], "it took too long")])


@pytest.mark.parametrize(
    "outage",
    [
        CheckerBusy("busy"),
        NoChecker("none"),
        NotInstalled("0.1.0"),
        Refused("odd", "x"),
        {"rules": "none"},
        {"rules": [{"name": "other", "error": None, "examples": []}]},
    ],
    ids=str,
)
def test_rules_that_could_not_be_tried_are_not_saved(
    admin: TestClient, ann: Member, engine: Engine, outage: object
) -> None:
    engine.answers["policy_rules"] = outage
    answer = put(admin, rules=[RULE])

    assert (answer.status_code, answer.json()["code"]) == (503, "not_checked")
    assert ann.http.get(f"{API}/policies").json()["settings"] == EMPTY


def test_a_change_of_an_earlier_state_is_refused(admin: TestClient) -> None:
    first = put(admin, if_match='"policies-0"', severities={"insecure_tls": "error"})
    late = put(admin, if_match='"policies-0"', severities={"plain_http": "error"})

    assert first.status_code == 200
    assert (late.status_code, late.json()["code"]) == (412, "policies_changed")
    assert put(admin, if_match="*").status_code == 200


def test_of_changes_at_once_of_one_state_one_is_saved(admin: TestClient) -> None:
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: put(admin, if_match='"policies-0"').status_code, range(6)))

    assert sorted(answers) == [200, 412, 412, 412, 412, 412]


# What a text breaks.


def test_findings_count_as_the_organization_says(admin: TestClient, ann: Member, engine: Engine) -> None:
    rule = {**RULE, "severity": "error"}
    put(admin, severities={"insecure_tls": "error", "plain_http": "off"}, not_suppressible=["plain_http"], rules=[rule])
    suppressed = {"line": 4, "until": "2027-03", "reason": "a test"}
    engine.answers["policies"] = NOTHING | {
        "findings": [
            found("insecure_tls"),
            found("insecure_tls", 4, suppressed=suppressed),
            found("plain_http"),
            found("listens_everywhere", severity="info"),
            found("no_debug", 0, column=0, severity="error"),
        ],
        "suppressions": [{"code": "insecure_tls", **suppressed, "used": True, "problem": None}],
    }
    result = policies(ann)

    assert result["passed"] is False
    assert [(one["code"], one["severity"], one["line"], one["suppressed"]) for one in result["findings"]] == [
        ("insecure_tls", "error", 1, None),
        ("insecure_tls", "error", 4, suppressed),
        ("listens_everywhere", "info", 1, None),
        ("no_debug", "error", None, None),
    ]
    assert result["suppressions"] == [{"code": "insecure_tls", **suppressed, "used": True, "problem": None}]
    _, _, request = engine.asked[-1]
    assert request["not_suppressible"] == ["plain_http"]
    assert [one["name"] for one in request["rules"]] == ["no_debug"]
    assert request["today"] == clock.now().date().isoformat()


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        (NOTHING, True),
        ({"findings": [found("plain_http")]}, True),
        ({"findings": [found("insecure_tls")]}, False),
        ({"findings": [found("insecure_tls", suppressed={"line": 1, "until": "", "reason": "a"})]}, True),
        ({"failed_rules": [{"name": "no_debug", "error": "no such key"}]}, True),
        ({"failed_rules": [{"name": "strict", "error": "no such key"}]}, False),
    ],
)
def test_a_text_passes_if_nothing_counts_and_nothing_is_unknown(
    admin: TestClient, ann: Member, engine: Engine, answer: dict[str, Any], passed: bool
) -> None:
    put(admin, severities={"insecure_tls": "error"}, rules=[RULE, {**RULE, "name": "strict", "severity": "error"}])
    engine.answers["policies"] = NOTHING | answer
    result = policies(ann)

    assert result["passed"] is passed


def test_another_organization_has_policies_of_its_own(admin: TestClient, join: JoinWith) -> None:
    put(admin, severities={"insecure_tls": "error"})
    stranger = join(ROUTERS, "eve", organization_id=identity.create_organization("Other").id)

    assert stranger.http.get(f"{API}/policies").json()["settings"] == EMPTY


# One request for all parts.


@pytest.mark.parametrize(
    ("query", "keys", "operations"),
    [
        ("", set(), ["validate"]),
        ("?lint=false", set(), ["validate"]),
        ("?lint=true", {"lint"}, ["validate", "lint"]),
        ("?policies=true", {"policies"}, ["validate", "policies"]),
        ("?graph=true", {"graph"}, ["validate", "graph"]),
        (
            "?lint=true&policies=true&graph=true",
            {"lint", "policies", "graph"},
            ["validate", "lint", "policies", "graph"],
        ),
    ],
)
def test_a_part_is_there_where_it_is_asked_for(
    ann: Member, engine: Engine, query: str, keys: set[str], operations: list[str]
) -> None:
    answer = ann.http.post(f"{API}/validate{query}", json={"yaml": "a: 1"})

    shared = {"valid", "version", "distribution", "errors", "warnings", "environment", "findings", "valid_on_host"}
    assert set(answer.json()) == shared | keys
    assert engine.operations == operations
    assert answer.headers["RateLimit-Remaining"] == str(settings().rate_limit_per_minute - 1)


def test_a_place_that_is_not_known_is_null_in_every_part(ann: Member, engine: Engine) -> None:
    finding = {"message": "a", "component_path": "", "code": "other", "line": None, "column": None, "fix": None}
    finding["cause"] = None
    engine.answers["validate"] = {"valid": False, "errors": [finding], "warnings": [], "environment": []}
    item = {"location": {"path": "a", "line": 1, "column": 1}, "context": None, "kind": "condition", "expression": "a"}
    engine.answers["lint"] = LINTED | {"checked": 1, "items": [item]}
    answer = ann.http.post(f"{API}/validate?lint=true", json={"yaml": "a: 1"}).json()

    assert answer["errors"] == [finding]
    assert answer["lint"]["items"] == [item | {"error": None, "note": None, "notes": []}]


@pytest.mark.parametrize("query", ["?lint=1", "?policies=yes", "?lint=", "?polices=true"])
def test_a_part_is_asked_for_by_its_exact_words(ann: Member, query: str) -> None:
    assert ann.http.post(f"{API}/validate{query}", json={"yaml": "a: 1"}).status_code == 422


@pytest.mark.parametrize("part", ["lint", "policies", "graph"])
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (CheckerBusy("busy"), "not_checked"),
        ({"nothing": "known"}, "not_checked"),
        (Refused("too_costly", "too much"), "yaml_too_costly"),
        (
            Refused("yaml_syntax", "line 1: no"),
            {"lint": "not_lintable", "policies": "yaml_syntax", "graph": "not_checked"},
        ),
        (Refused("unresolvable", "no"), {"lint": "not_checked", "policies": "not_checked", "graph": "no_graph"}),
        (
            NoChecker("none"),
            {"lint": "lint_not_possible", "policies": "policies_not_possible", "graph": "not_checked"},
        ),
        (NotInstalled("0.158.0"), "collector_version_not_installed"),
    ],
    ids=str,
)
def test_a_part_that_fails_says_so_and_leaves_the_verdict(
    ann: Member, engine: Engine, part: str, fault: object, code: str | dict[str, str]
) -> None:
    engine.answers[part] = fault
    body = {"yaml": "a: 1", "version": "0.158.0"}
    answer = ann.http.post(f"{API}/validate?lint=true&policies=true&graph=true", json=body)
    other = {"lint": "policies", "policies": "lint", "graph": "lint"}[part]

    assert (answer.status_code, answer.json()["valid"]) == (200, True)
    assert answer.json()[part]["problem"]["code"] == (code if isinstance(code, str) else code[part])
    assert answer.json()[part]["problem"]["detail"]
    assert "problem" not in answer.json()[other]


def test_settings_are_read_while_the_collector_is_asked_and_those_that_were_read_count(
    ann: Member, admin: TestClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.answers["policies"] = NOTHING | {"findings": [found("insecure_tls")]}
    assert policies(ann)["findings"][0]["severity"] == "warning"
    get = policies_store.get

    def get_when_asked(organization_id: str) -> StoredPolicies:
        assert engine.asked
        return get(organization_id)

    with monkeypatch.context() as patch:
        patch.setattr(policies_store, "get", get_when_asked)
        engine.asked.clear()
        assert policies(ann)["findings"][0]["severity"] == "warning"
        assert engine.operations == ["validate", "policies"]

    put(admin, severities={"insecure_tls": "error"})
    assert policies(ann)["findings"][0]["severity"] == "error"

    def unreachable(_: str) -> StoredPolicies:
        raise EndpointConnectionError(endpoint_url="https://dynamodb")

    monkeypatch.setattr(policies_store, "get", unreachable)
    answer = ann.http.post(f"{API}/validate?policies=true", json={"yaml": "a: 1"})
    assert answer.status_code == 503


def test_without_a_verdict_there_is_no_part(ann: Member, engine: Engine) -> None:
    engine.answers["validate"] = CheckerBusy("busy")
    answer = ann.http.post(f"{API}/validate?lint=true&policies=true", json={"yaml": "a: 1"})

    assert answer.status_code == 503
    assert engine.operations == ["validate"]


def test_all_parts_are_one_check_under_way(ann: Member, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_CHECKS_UNDER_WAY", "1")
    settings.cache_clear()
    answer = ann.http.post(f"{API}/validate?lint=true&policies=true", json={"yaml": "a: 1"})

    assert answer.status_code == 200
    assert set(answer.json()) >= {"lint", "policies"}
