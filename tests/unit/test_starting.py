"""Starting the components of a text: an outage of it takes nothing away, and a crash is a finding."""

import time

import pytest

from headgate import checker
from headgate_engine.checker import crashes
from headgate_engine.checker.errors import CheckerBusy, CheckerFailed, NoChecker, Refused
from headgate_engine.errors import Unavailable
from headgate_engine.policies.model import PolicyChoices
from headgate_engine.validation import checking, starting
from headgate_engine.validation.checking import Parts
from headgate_engine.validation.findings import listed
from headgate_engine.validation.model import (
    CheckRequest,
    Code,
    Finding,
    LintItem,
    LintResult,
    Location,
    NotChecked,
    StartResult,
    TooCostly,
    ValidationResult,
)
from tests.support.askers import ASKER

TEXT = CheckRequest("receivers:\n", "0.139.0", {})
VALID = ValidationResult(True, "0.139.0", "otelcol-contrib", (), (), ())
PATH = "processors::tail_sampling"
FAILED = Finding("it does not start: unknown policy", PATH, "start_failed", 4, 5)


def answering(monkeypatch: pytest.MonkeyPatch, answer: dict[str, object] | Exception) -> list[str]:
    asked: list[str] = []

    def call(op: str, *_: object, **__: object) -> dict[str, object]:
        asked.append(op)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(checker.COLLECTORS, "call", call)
    return asked


def started(verdict: ValidationResult = VALID) -> StartResult:
    return starting.start(TEXT, verdict, asker=ASKER)


def test_what_a_start_shows_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    finding = {"message": "no", "component_path": PATH, "code": "start_failed", "line": 4, "column": 5, "fix": None}
    answering(monkeypatch, {"started": [PATH], "findings": [finding]})

    assert started() == StartResult([PATH], [Finding("no", PATH, "start_failed", 4, 5)])


@pytest.mark.parametrize("code", ["yaml_syntax", "wrapped_configuration", "crash"])
def test_a_text_of_which_nothing_can_be_built_is_not_started(code: Code, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, {})
    verdict = ValidationResult(False, "0.139.0", "otelcol-contrib", [Finding("x", "", code)], (), ())

    assert (started(verdict), asked) == (StartResult(), [])


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (CheckerBusy("busy"), "busy; nothing was started"),
        (CheckerFailed("died"), "died; nothing was started"),
        (NoChecker("no check"), "is an official release, which is not started here"),
        (Refused("unknown_op", "there is no operation"), "cannot start components for a check"),
        (Unavailable("gone"), "gone; nothing was started"),
    ],
)
def test_an_outage_says_that_nothing_was_started(
    failure: Exception, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, failure)

    with pytest.raises(NotChecked, match=words):
        started()


def test_what_takes_too_much_is_too_costly(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, Refused("too_costly", "7 seconds"))

    with pytest.raises(TooCostly, match="7 seconds"):
        started()


def test_a_start_that_lint_knows_better_is_listed_once() -> None:
    finding = Finding('it does not start: unable to parse: 1:1: undefined function "sett"', PATH, "start_failed", 4, 5)
    error = LintItem(Location(PATH + "::policies[0]", 6, 9), "span", "condition", "x", '1:7: undefined function "sett"')
    lint = LintResult(False, "v0.139.0", 1, [error], ())

    rows = listed(VALID, lint, None, (), {}, StartResult([PATH], [finding, FAILED]))

    assert [(row.line, row.source, row.code) for row in rows] == [(4, "start", "start_failed"), (6, "lint", "ottl")]


def test_what_the_host_decides_is_a_warning_and_an_outage_is_told() -> None:
    on_host = Finding("open /x: no such file", PATH, "depends_on_host", 4, 5)

    rows = listed(VALID, None, None, [("start", "busy")], {}, StartResult([PATH], [on_host, FAILED]))

    assert [(row.severity, row.source, row.code) for row in rows] == [
        ("error", "start", "start_failed"),
        ("warning", "start", "depends_on_host"),
        ("warning", "start", "not_checked"),
    ]


CRASH = "panic: x\n\ngoroutine 7 [running]:\nexample.com/aprocessor.begin()\n"


@pytest.mark.parametrize(
    ("said", "report"),
    [
        ("", ""),
        ("panic: quoted in a log line\n", ""),
        (f"a line\n{CRASH}", CRASH),
        (f"panic: first\n\ngoroutine 1 [running]:\n{CRASH}", CRASH),
        ("fatal error: all goroutines are asleep\n\ngoroutine 1 [x]:\n",) * 2,
        ("fatal error: runtime: out of memory\n\ngoroutine 1 [running]:\n", ""),
        ("runtime/cgo: pthread_create failed\n" + CRASH, ""),
    ],
)
def test_a_crash_is_the_runtimes_last_report_and_no_limit(said: str, report: str) -> None:
    assert crashes.report(said) == report


def test_no_question_is_asked_when_the_time_of_a_check_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float | None] = []

    def call(*_: object, timeout: float | None, **__: object) -> dict[str, object]:
        given.append(timeout)
        return {}

    monkeypatch.setattr(checker.COLLECTORS, "call", call)
    asker = ASKER.until(time.monotonic() + 1_000)
    for timeout in (10, None):
        asker.ask("start", {}, timeout=timeout)

    with pytest.raises(CheckerBusy, match="took too long to ask the collector again"):
        ASKER.until(time.monotonic()).ask("start", {})
    assert [timeout and round(timeout, -1) for timeout in given] == [10, 1_000]
    with pytest.raises(NotChecked):
        checking.check(
            CheckRequest("a:", None, {}), Parts(start=True), PolicyChoices(), asker=ASKER, ends=time.monotonic() - 100
        )
