"""The findings of a check as one list: in the order of the text, each mistake once."""

from collections.abc import Mapping
from typing import Any

import pytest

from headgate import checker
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import CheckerBusy, CheckerFailed, Refused
from headgate_engine.policies.model import PolicyFinding, PolicyResult, Suppressed, Suppression
from headgate_engine.validation import together
from headgate_engine.validation.findings import ListedFinding, Source, listed
from headgate_engine.validation.model import (
    Finding,
    LintItem,
    LintNote,
    LintResult,
    Location,
    Skipped,
    ValidationResult,
)
from headgate_engine.validation.together import Ends
from tests.support.askers import ASKER

PATH = "processors::transform"
SAID = 'undefined function "sett"'


def verdict(*errors: Finding, warnings: tuple[Finding, ...] = ()) -> ValidationResult:
    return ValidationResult(not errors, "0.139.0", "otelcol-contrib", errors, warnings, ())


def linted(*items: LintItem, skipped: tuple[Skipped, ...] = ()) -> LintResult:
    return LintResult(not any(item.error for item in items), "v0.139.0", len(items), items, skipped)


def item(line: int, error: str | None = None, note: str | None = None, notes: tuple[LintNote, ...] = ()) -> LintItem:
    return LintItem(Location(f"{PATH}::log_statements[0]", line, 9), "log", "statement", "x", error, note, notes)


def policies(*findings: PolicyFinding, comments: tuple[Suppression, ...] = ()) -> PolicyResult:
    return PolicyResult(passed=True, findings=findings, suppressions=comments, failed_rules=())


def places(found: list[ListedFinding]) -> list[tuple[int | None, str, str]]:
    return [(one.line, one.source, one.code) for one in found]


def test_an_ottl_error_is_listed_once_where_the_expression_is() -> None:
    errors = (Finding(f"unable to parse: 1:1: {SAID}", PATH, "invalid_value", 2, 3), Finding("x", PATH, "other", 2, 3))

    found = listed(verdict(*errors), linted(item(5, f"1:7: {SAID}", "did you mean `set`?")), None, (), {})

    assert places(found) == [(2, "collector", "other"), (5, "lint", "ottl")]
    assert found[1].way_out == "did you mean `set`?"


@pytest.mark.parametrize(
    "other",
    [
        Finding(f"1:1: {SAID}", "processors::transform/other", "invalid_value", 2, 3),
        Finding("another error", PATH, "invalid_value", 2, 3),
        Finding(SAID, PATH, "unknown_key", 2, 3),
    ],
    ids=["another component", "another error", "another kind"],
)
def test_another_mistake_is_not_taken_for_it(other: Finding) -> None:
    found = listed(verdict(other), linted(item(5, SAID)), None, (), {})

    assert len(found) == 2


def test_all_parts_are_in_the_order_of_the_text() -> None:
    warning = Finding("unused", "receivers::x", "unused_component", 7, 3)
    info = PolicyFinding("insecure_tls", "info", "m", "use TLS", "exporters::otlp", 3, 5, None)
    allowed = PolicyFinding("no_retry", "error", "m", "", "exporters::otlp", 3, 5, Suppressed(2, None, "because"))
    comment = Suppression("no_such", 1, None, "because", used=False, problem="there is no policy no_such")
    skipped = Skipped(Location(PATH, 6, 1), "x", "it is not known here")
    notes = (LintNote("numbers_as_text", "compares text", "write 5"),)

    found = listed(
        verdict(warnings=(warning,)),
        linted(item(5, note="context is inferred", notes=notes), skipped=(skipped,)),
        policies(info, allowed, comments=(comment,)),
        (),
        {(3, 5): (3, 9)},
    )

    assert [(one.line, one.severity, one.source, one.code, one.way_out) for one in found] == [
        (1, "warning", "policy", "suppression", ""),
        (3, "note", "policy", "insecure_tls", "use TLS"),
        (5, "note", "lint", "numbers_as_text", "write 5"),
        (6, "note", "lint", "ottl_skipped", ""),
        (7, "warning", "collector", "unused_component", ""),
    ]
    assert [(one.end_line, one.end_column) for one in found[:3]] == [(None, None), (3, 9), (None, None)]


def test_a_part_that_was_not_checked_is_told_unless_the_text_is_not_yaml() -> None:
    missing: list[tuple[Source, str]] = [("lint", "No collector")]
    syntax = Finding("did not find expected key", "", "yaml_syntax", 1, 1)

    assert [one.message for one in listed(verdict(), None, None, missing, {})] == ["Not checked: No collector"]
    assert places(listed(verdict(syntax), None, None, missing, {})) == [(1, "collector", "yaml_syntax")]


QUESTION: Mapping[str, Any] = {"yaml": "a: b", "env": {}}
VERDICT: Mapping[str, Any] = {"valid": True, "errors": [], "warnings": [], "environment": []}


def asked_of(monkeypatch: pytest.MonkeyPatch, answer: Mapping[str, Any] | Exception) -> tuple[Asker, Ends, list[str]]:
    """An asker after one question for lint and policies, and the operations that a collector is asked."""
    operations: list[str] = []

    def call(op: str, _fields: Mapping[str, Any], **_: object) -> Mapping[str, Any]:
        operations.append(op)
        if op == "check" and isinstance(answer, Exception):
            raise answer
        return answer if op == "check" and not isinstance(answer, Exception) else {"asked": op}

    monkeypatch.setattr(checker.COLLECTORS, "call", call)
    asker, ends = together.asked(QUESTION, ("lint", "policies"), "0.139.0", asker=ASKER)
    return asker, ends, operations


def test_one_question_answers_all_parts_and_each_answer_is_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = {"problem": {"code": "yaml_syntax", "message": "not YAML"}}
    answer = {**VERDICT, "lint": {"result": {"valid": True}}, "policies": refused, "ends": [[1, 2, 1, 5]]}
    asker, ends, operations = asked_of(monkeypatch, answer)

    assert asker.ask("validate", QUESTION)["valid"] is True
    assert asker.ask("lint", QUESTION) == {"valid": True}
    with pytest.raises(Refused, match="not YAML"):
        asker.ask("policies", QUESTION)
    assert (ends, operations) == ({(1, 2): (1, 5)}, ["check"])
    assert asker.ask("lint", QUESTION) == {"asked": "lint"}


@pytest.mark.parametrize(
    "failure", [Refused("too_costly", "x"), Refused("unknown_op", "x"), CheckerFailed("died")], ids=repr
)
def test_what_breaks_one_question_is_asked_in_parts(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    asker, ends, operations = asked_of(monkeypatch, failure)

    assert [asker.ask(op, QUESTION)["asked"] for op in ("validate", "lint")] == ["validate", "lint"]
    assert (ends, operations) == ({}, ["check", "validate", "lint"])


def test_an_outage_is_not_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asker, _, operations = asked_of(monkeypatch, CheckerBusy("busy"))

    with pytest.raises(CheckerBusy):
        asker.ask("validate", QUESTION)
    assert operations == ["check"]


def test_ends_in_another_form_take_nothing_away(monkeypatch: pytest.MonkeyPatch) -> None:
    asker, ends, _ = asked_of(monkeypatch, {**VERDICT, "ends": [["x"]]})

    assert (asker.ask("validate", QUESTION)["valid"], ends) == (True, {})
