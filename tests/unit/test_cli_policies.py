"""`headgate validate --policies` and `headgate policy`, with a server that answers what a test wants."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.answering import Server
from tests.support.cli_in_process import Run

VERDICT = {
    "valid": True,
    "version": "0.139.0",
    "distribution": "otelcol-contrib",
    "errors": [],
    "warnings": [],
    "environment": [],
}
FINDING = {
    "code": "insecure_tls",
    "severity": "error",
    "message": "otlp sends without TLS",
    "way_out": "Remove insecure: true",
    "component_path": "exporters::otlp::tls",
    "line": 2,
    "column": 3,
    "suppressed": None,
}
RESULT: dict[str, Any] = {
    "passed": False,
    "findings": [FINDING],
    "suppressions": [],
    "failed_rules": [],
}
SETTINGS: dict[str, Any] = {
    "severities": {"insecure_tls": "error", "detailed_debug": "off"},
    "not_suppressible": ["insecure_tls"],
    "rules": [
        {
            "name": "no_debug",
            "expression": "'debug' in config.exporters",
            "message": "Send it somewhere",
            "severity": "warning",
            "suppressible": True,
            "examples": [{"yaml": "exporters:\n  debug: {}\n", "violated": True}],
        }
    ],
    "publish_requires": ["policies"],
}
POLICY = {
    "code": "insecure_tls",
    "title": "TLS is switched off",
    "severity": "error",
    "default_severity": "warning",
    "suppressible": False,
    "why": "Anyone can read it",
    "way_out": "Remove insecure: true",
    "failing": "a: 1\nb: 2\n",
    "passing": "c: 1\n",
}
POLICIES = {"policies": [POLICY], "settings": SETTINGS, "updated_at": None, "updated_by": None}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "a.yaml"
    file.write_text("a: 1\nb: 2\n")
    return file


def answer(server: Server, *listed: dict[str, Any], **policies: object) -> None:
    """The server's list of findings, and its part of policies."""
    findings = [{"source": "policy", **finding} for finding in listed]
    server.answers = [(200, {}, {**VERDICT, "findings": findings, "policies": {**RESULT, **policies}})]


@pytest.mark.usefixtures("file")
def test_a_finding_that_counts_is_printed_with_its_way_out_and_ends_with_1(server: Server, run: Run) -> None:
    answer(server, FINDING)
    code, out, err = run("validate --policies a.yaml")

    assert code == 1
    assert out.splitlines() == [
        "a.yaml:2:3: error: otlp sends without TLS [insecure_tls]",
        "    2 | b: 2",
        "      |   ^",
        "      = Remove insecure: true",
    ]
    assert err.splitlines()[1:] == ["a.yaml: policy errors; 1 finding of policies"]
    assert server.requests[-1][0] == "POST /api/v1/public/validate?policies=true&start=true"


@pytest.mark.usefixtures("file")
def test_without_the_option_no_policy_is_asked(server: Server, run: Run) -> None:
    server.answers = [(200, {}, VERDICT)]

    assert run("validate --no-start a.yaml")[0] == 0
    assert server.requests[-1][0] == "POST /api/v1/public/validate"


@pytest.mark.usefixtures("file")
def test_advice_ends_with_0(server: Server, run: Run) -> None:
    answer(server, {**FINDING, "severity": "warning"}, {**FINDING, "severity": "note"}, passed=True)
    code, out, _ = run("validate --policies a.yaml")

    assert code == 0
    assert [line.split(": ")[1] for line in out.splitlines() if line.startswith("a.yaml")] == ["warning", "note"]


@pytest.mark.usefixtures("file")
def test_a_suppressed_finding_is_for_code_scanning_only(server: Server, run: Run) -> None:
    suppressed = {**FINDING, "suppressed": {"line": 2, "until": None, "reason": "a test"}}
    answer(server, passed=True, findings=[suppressed])

    code, out, err = run("validate --policies a.yaml")
    assert (code, out) == (0, "")
    assert "a.yaml: no policy errors; 0 findings of policies, 1 suppressed" in err
    assert run("validate --policies --format github a.yaml")[1] == ""
    (result,) = json.loads(run("validate --policies --format sarif a.yaml")[1])["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "inSource", "justification": "a test"}]
    assert result["message"] == {"text": "otlp sends without TLS. Remove insecure: true"}
    assert json.loads(run("validate --policies --json a.yaml")[1])[0]["policies"]["findings"] == [suppressed]


@pytest.mark.usefixtures("file")
def test_what_the_server_lists_is_printed_and_a_part_that_was_not_checked_in_other_words(
    server: Server, run: Run
) -> None:
    listed = {**FINDING, "code": "suppression", "message": "the comment for x: it has no reason", "way_out": ""}
    answer(server, listed, {**listed, "code": "not_checked", "message": "Not checked: busy"}, findings=[])
    code, out, _ = run("validate --policies --format github a.yaml")

    assert code == 1
    assert out.splitlines() == [
        "::error file=a.yaml,title=suppression,line=2,col=3::the comment for x: it has no reason",
    ]


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"problem": {"code": "not_checked", "detail": "busy"}}, "could not check the policies of a.yaml: busy"),
        (None, "could not check the policies of a.yaml: the server does not check policies"),
    ],
)
def test_policies_that_were_not_checked_are_not_success(server: Server, run: Run, part: object, message: str) -> None:
    server.answers = [(200, {}, {**VERDICT, **({"policies": part} if part else {})})]
    code, out, err = run("validate --policies a.yaml")

    assert (code, out) == (1, "")
    assert message in err
    sarif = json.loads(run("validate --policies --format sarif a.yaml")[1])
    assert sarif["runs"][0]["invocations"] == [{"executionSuccessful": False}]


# `headgate policy`.


def test_policies_are_listed_with_the_organizations_rules(server: Server, run: Run) -> None:
    server.answers = [(200, {}, POLICIES)]
    code, out, _ = run("policy list")

    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["CODE", "SEVERITY", "SUPPRESSIBLE", "TITLE"],
        ["insecure_tls", "error", "no", "TLS", "is", "switched", "off"],
        ["no_debug", "warning", "yes", "Send", "it", "somewhere"],
    ]


def test_a_policy_is_shown_with_its_reason_and_examples(server: Server, run: Run) -> None:
    server.answers = [(200, {}, POLICIES)]
    _, out, _ = run("policy show insecure_tls")

    assert "Why: Anyone can read it\nWay out: Remove insecure: true" in out
    assert "Found in:\n    a: 1\n    b: 2\n" in out
    assert "Expression:\n    'debug' in config.exporters" in run("policy show no_debug")[1]


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        ("nothing", ""),
        ("insecure-tls", ", did you mean insecure_tls?"),
        ("tls", ", did you mean insecure_tls?"),
        ("no_debgu", ", did you mean no_debug?"),
    ],
)
def test_a_policy_that_does_not_exist_is_told_with_what_was_meant(
    code: str, meant: str, server: Server, run: Run
) -> None:
    server.answers = [(200, {}, POLICIES)]
    ended, _, err = run(f"policy show {code}")

    assert (ended, err) == (
        1,
        f"headgate: there is no policy or rule {code}{meant}: `headgate policy list` shows all\n",
    )


def test_settings_come_back_as_they_were_printed(server: Server, run: Run, tmp_path: Path) -> None:
    server.answers = [(200, {"ETag": '"policies-3"'}, POLICIES)]
    printed = run("policy get")[1]
    (tmp_path / "policies.yaml").write_text(printed)
    code, out, _ = run("policy set policies.yaml")
    asked, headers, body = server.requests[-1]

    assert "  - yaml: |\n      exporters:\n" in printed
    assert (code, out) == (0, "2 policies, 1 of them rules of the organization; 1 counts as errors\n")
    assert (asked, headers["If-Match"], json.loads(body)) == ("PUT /api/v1/public/policies", '"policies-3"', SETTINGS)


def test_what_a_file_leaves_out_is_the_default(server: Server, run: Run, tmp_path: Path) -> None:
    server.answers = [(200, {}, POLICIES)]
    (tmp_path / "policies.yaml").write_text("severities: {detailed_debug: off}\n")
    run("policy set --force policies.yaml")
    _, headers, body = server.requests[-1]

    assert "If-Match" not in headers
    assert json.loads(body) == {
        "severities": {"detailed_debug": "off"},
        "not_suppressible": [],
        "rules": [],
        "publish_requires": [],
    }


REPLACED = (
    "policies.yaml names no state in `etag`: it replaces 1 rule, 2 severities, 1 code that no comment suppresses, "
    "1 requirement of publishing"
)


def test_a_file_without_a_state_replaces_nothing_in_a_pipe(server: Server, run: Run, tmp_path: Path) -> None:
    server.answers = [(200, {"ETag": '"policies-3"'}, POLICIES)]
    (tmp_path / "policies.yaml").write_text("severities: {}\n")
    code, out, err = run("policy set policies.yaml")

    assert (code, out) == (1, "")
    assert err == (f"headgate: {REPLACED}; begin with a file of `headgate policy get`, or replace them with --force\n")
    assert [asked for asked, _, _ in server.requests] == ["GET /api/v1/public/policies"]


def test_a_file_without_a_state_needs_no_consent_where_nothing_is_set(server: Server, run: Run, tmp_path: Path) -> None:
    nothing = {field: type(value)() for field, value in SETTINGS.items()}
    server.answers = [(200, {"ETag": '"policies-0"'}, {**POLICIES, "settings": nothing})]
    (tmp_path / "policies.yaml").write_text("severities: {insecure_tls: error}\n")

    assert run("policy set policies.yaml")[0] == 0
    asked, headers, _ = server.requests[-1]
    assert (asked, headers["If-Match"]) == ("PUT /api/v1/public/policies", '"policies-0"')


@pytest.mark.parametrize(("typed", "ended", "asks"), [("y\n", 0, 2), ("n\n", 1, 1), ("", 130, 1)])
def test_a_terminal_asks_before_a_file_without_a_state_replaces_settings(
    server: Server, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, ended: int, asks: int
) -> None:
    server.answers = [(200, {"ETag": '"policies-3"'}, POLICIES)]
    (tmp_path / "policies.yaml").write_text("severities: {}\n")
    terminal = io.StringIO(typed)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    code, _, err = run("policy set policies.yaml")

    assert code == ended
    assert f"{REPLACED}. Replace all of it? [y/N]:" in err
    assert len(server.requests) == asks
    if ended == 0:
        assert server.requests[-1][1]["If-Match"] == '"policies-3"'


def test_a_change_by_somebody_else_is_not_overwritten(server: Server, run: Run, tmp_path: Path) -> None:
    server.answers = [(412, {}, {"detail": "The policies have changed", "code": "policies_changed"})]
    (tmp_path / "policies.yaml").write_text("etag: policies-3\n")
    code, _, err = run("policy set policies.yaml")

    assert code == 1
    assert "somebody changed the policies since policies.yaml was printed" in err
    server.answers = [(200, {}, POLICIES)]
    assert run("policy set --force policies.yaml")[0] == 0
    assert "If-Match" not in server.requests[-1][1]


def test_a_wrong_rule_is_named_with_its_place(server: Server, run: Run, tmp_path: Path) -> None:
    errors = [
        {"loc": ["body", "rules", 0, "expression"], "message": "Rule no_debug: 1:6: Syntax error"},
        {"loc": ["body", "severities", "x"], "message": "There is no built-in policy x"},
    ]
    server.answers = [(422, {}, {"detail": "wrong", "code": "policies_invalid", "errors": errors})]
    (tmp_path / "policies.yaml").write_text("etag: policies-3\nrules: [{name: no_debug, expression: 'nope('}]\n")
    code, _, err = run("policy set policies.yaml")

    assert code == 1
    assert err.splitlines() == [
        "headgate: policies.yaml: rule 1 (no_debug), expression: 1:6: Syntax error",
        "  policies.yaml: severities.x: There is no built-in policy x",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- a\n", "policies.yaml must hold the settings: `headgate policy set --help` shows the format"),
        ("rule: []\n", "policies.yaml has the unknown field rule: `headgate policy set --help` shows the format"),
        ("a: [\n", "policies.yaml:2:1: "),
    ],
)
def test_a_file_of_another_form_is_refused(
    server: Server, run: Run, tmp_path: Path, content: str, message: str
) -> None:
    (tmp_path / "policies.yaml").write_text(content)
    code, _, err = run("policy set policies.yaml")

    assert code == 1
    assert err.startswith(f"headgate: {message}")
    assert server.requests == []
