"""Findings as text and as GitHub's annotations, from answers that no server gives on request."""

import click
import pytest

from headgate_cli.checks.findings import Finding, Linted, as_github, as_text, of_lint
from headgate_cli.shaped import shaped
from headgate_cli.shapes import LintResult


def linted(*items: object) -> Linted:
    return Linted(shaped(LintResult, {"valid": True, "items": list(items)}))


def shown(finding: Finding, source: str) -> list[str]:
    return click.unstyle(as_text([finding], {finding.file: source})).split("\n")


def test_an_annotation_is_one_command_whatever_the_message_holds() -> None:
    finding = Finding("a:b.yaml", "warning", "other", "50%\n::set-output name=x::y\r\n", line=3)

    assert as_github([finding]) == [
        "::warning file=a%3Ab.yaml,title=other,line=3::50%25%0A::set-output name=x::y%0D%0A"
    ]


def test_a_note_is_a_notice_at_github() -> None:
    (command,) = as_github([Finding("a.yaml", "note", "ottl_note", "inferred")])

    assert command.startswith("::notice ")


def test_without_a_line_the_component_is_named() -> None:
    finding = Finding("a.yaml", "error", "other", "is wrong", path="receivers::otlp")

    assert shown(finding, "a: b") == ["a.yaml: error: receivers::otlp: is wrong [other]"]


def test_a_line_past_the_end_is_not_a_fault() -> None:
    assert len(shown(Finding("a.yaml", "error", "other", "is wrong", line=9, column=9), "a: b")) == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028"])
def test_lines_are_counted_as_yaml_does(end: str) -> None:
    source = f"first{end}seco\x0bnd{end}third"

    assert shown(Finding("a.yaml", "error", "other", "is wrong", line=3, column=1), source)[1] == "    3 | third"


@pytest.mark.parametrize("at", [0, 1, 199, 200, 2500, 4995, 4999])
def test_the_caret_is_in_sight_wherever_the_place_is(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    source = "." * at + "!" + "." * (4999 - at)
    _, line, caret = shown(Finding("a.yaml", "error", "other", "is wrong", line=1, column=at + 1), source)

    assert len(line) <= 80
    assert caret.index("^") == line.index("!")


def test_a_tab_is_named_where_it_indents() -> None:
    tab = Finding("a.yaml", "error", "yaml_syntax", "cannot start any token", line=2, column=1)

    assert shown(tab, "a:\n\tb: c\n")[-1] == "      = a tab is not indentation in YAML: use spaces"
    assert len(shown(tab, "a:\n  b: c\td\n")) == 3


@pytest.mark.parametrize("notes", [False, True])
def test_a_wrong_expression_is_told_with_what_was_meant(notes: bool) -> None:
    wrong = {"location": {"path": "processors::filter", "line": 1, "column": 1}, "error": "undefined", "note": "`set`?"}
    (found,) = of_lint("a.yaml", linted(wrong), notes=notes)

    assert shown(found, "sett()") == [
        "a.yaml:1:1: error: undefined [ottl]",
        "    1 | sett()",
        "      | ^",
        "      = `set`?",
    ]


@pytest.mark.parametrize("notes", [False, True])
def test_a_note_on_a_correct_expression_is_advice_that_is_asked_for(notes: bool) -> None:
    right = {"location": {"path": "processors::filter", "line": 1, "column": 1}, "error": None, "note": "inferred"}

    assert [one.severity for one in of_lint("a.yaml", linted(right), notes=notes)] == ["note"] * notes


def test_what_an_expression_probably_does_not_mean_is_shown_without_asking() -> None:
    note = {"code": "missing_group", "message": "$1xxx names no group", "way_out": "Write $${1}xxx."}
    right = {"location": {"path": "p", "line": 3, "column": 5}, "error": None, "note": None, "notes": [note]}

    (shown,) = of_lint("a.yaml", linted(right), notes=False)

    assert (shown.severity, shown.code, shown.line, shown.way_out) == ("note", "missing_group", 3, "Write $${1}xxx.")


def test_a_message_that_ends_in_a_period_gets_no_second_one() -> None:
    assert Finding("a.yaml", "error", "own", "Send it.", way_out="Do so.").whole == "Send it. Do so."


def test_a_line_with_a_secret_is_not_repeated() -> None:
    text = "a: b\nurl: http://user:hunter2hunter@backend\n"
    secret = Finding(
        "a.yaml", "error", "secret_in_text", "url holds credentials", line=2, column=6, way_out="Revoke it"
    )
    plain = Finding("a.yaml", "warning", "plain_http", "sends without TLS", line=2, column=6)
    other = Finding("a.yaml", "warning", "plain_http", "sends without TLS", line=1, column=4)
    printed = click.unstyle(as_text([plain, secret, other], {"a.yaml": text}))

    assert "hunter2" not in printed
    assert "= Revoke it" in printed
    assert "    1 | a: b" in printed


@pytest.mark.parametrize(("valid", "shown"), [(True, []), (False, [("error", 9, "could not be judged: a null")])])
def test_what_nobody_can_judge_is_an_error_of_a_text_that_is_not_right(
    valid: bool, shown: list[tuple[str, int, str]]
) -> None:
    location = {"path": "processors::transform::log_statements[1]", "line": 9, "column": 8}
    answer = {"valid": valid, "items": [], "skipped": [{"location": location, "expression": "", "reason": "a null"}]}

    reported = of_lint("a.yaml", Linted(shaped(LintResult, answer)), notes=False)

    assert [(finding.severity, finding.line, finding.message) for finding in reported] == shown
