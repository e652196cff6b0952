"""The results of suites for people, as annotations of a workflow, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import click

from headgate_cli.checks.findings import Finding
from headgate_cli.runs.follow import complaints
from headgate_cli.shapes import RuleOutcome, TestOutcome
from headgate_cli.suites import differences
from headgate_cli.suites.fields import FILE_OF
from headgate_cli.suites.files import WrongTests
from headgate_cli.suites.run import SuiteOutcome, SuiteRun
from headgate_cli.untrusted import one_line, quoted

FAILED_TEST: Final = "test_failed"
ERRORED_TEST: Final = "test_errored"
# Lines of standard error of a test that did not run as it should.
_MOST_LINES: Final = 8
_NOTE: Final = "headgate: "
_FIELD: Final = re.compile(r"([a-z_]+)(?:\[(\d{1,4})\])?: ")
_RULE: Final = re.compile("rule '(.+?)': ", re.DOTALL)
# How the collector begins to tell that it refuses a configuration.
_REFUSED: Final = "failed to get config"
_INVALID: Final = "`headgate validate` shows what is wrong in the configuration, with the lines"


@dataclass(frozen=True, slots=True)
class TestFailure:
    """One reason why a test did not pass: where it is asked for, in a sentence, and with details below."""

    title: str
    line: int = 1
    details: Sequence[str] = ()
    # The collector did not run as it should, so that nothing was judged.
    errored: bool = False
    # The output differs from the expected one: `--update` renews that.
    golden: bool = False


def failures(outcome: SuiteOutcome) -> list[TestFailure]:
    """The reasons why the test did not pass, in the order of its file; empty if it passed."""
    if outcome.answer is None:
        return [TestFailure(outcome.problem, errored=True)]
    results = outcome.answer["validation_results"]
    reasons = [_of_rule(outcome, result) for result in results if not result["passed"]]
    document = outcome.answer["differences"]
    if document and not document["equal"]:
        awaited = outcome.test is not None and outcome.test.awaits_expected
        wrong = "the expected output is not there yet" if awaited else "the output is not the expected one"
        title = f"{wrong}: {differences.summary(document)}"
        details = list(differences.lines(document))
        reasons.append(TestFailure(title, _line_of_field(outcome, "expected"), details, golden=True))
    if outcome.status == "Error" or (not reasons and not outcome.passed):
        reasons.insert(0, _errored(outcome, outcome.answer))
    return reasons


def as_text(ran: SuiteRun) -> Iterator[str]:
    """A line for the configuration and one for each test, with what failed below it."""
    label = click.style(one_line(ran.suite.label), bold=True)
    if ran.problem:
        yield f"{label}: {click.style('could not be tested', fg='red', bold=True)}"
        # The further lines of some messages are indented.
        yield from (f"  {line.removeprefix('  ')}" for line in ran.problem.splitlines())
    else:
        count = len(ran.outcomes)
        on = f" on collector {one_line(ran.collector_version)}" if ran.collector_version else ""
        yield f"{label}: {count} test{'' if count == 1 else 's'}{on}"
    for outcome in ran.outcomes:
        if outcome.answer is not None:
            yield from _of_outcome(outcome)


def summary(all_ran: Sequence[SuiteRun]) -> str:
    """`5 tests passed, 1 failed, 1 could not be run`."""
    outcomes = [outcome for ran in all_ran for outcome in ran.outcomes]
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.status == "Fail" for outcome in outcomes)
    errored = len(outcomes) - passed - failed
    whole = sum(bool(ran.problem) and not ran.outcomes for ran in all_ran)
    parts = [f"{passed} test{'' if passed == 1 else 's'} passed"]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{errored} could not be run"] if errored else []
    parts += [f"{whole} configuration{'' if whole == 1 else 's'} could not be tested"] if whole else []
    return ", ".join(parts)


def findings(all_ran: Sequence[SuiteRun]) -> list[Finding]:
    """Each failure at its line of the test's file; at the file of the configuration if it has none."""
    listed = []
    for ran in all_ran:
        if isinstance(ran.suite.problem, WrongTests):
            listed += [
                Finding(p.file, "error", ERRORED_TEST, p.message, line=p.line) for p in ran.suite.problem.problems
            ]
        elif ran.problem:
            listed.append(Finding(ran.suite.label, "error", ERRORED_TEST, ran.problem))
        for outcome in ran.outcomes:
            for failure in failures(outcome) if outcome.answer is not None else ():
                code = ERRORED_TEST if failure.errored else FAILED_TEST
                file, line = (outcome.test.file, failure.line) if outcome.test else (ran.suite.label, 0)
                message = "\n".join([f"{outcome.name}: {failure.title}", *map(click.unstyle, failure.details)])
                listed.append(Finding(file, "error", code, message, line=line))
    return listed


def as_json(ran: SuiteRun) -> dict[str, object]:
    """The server's results by configuration; a test of a file has the file beside its name."""
    tests = [
        {"name": outcome.name}
        | ({"file": outcome.test.file} if outcome.test else {})
        | (dict(outcome.answer) if outcome.answer else {"status": "Error", "problem": outcome.problem})
        for outcome in ran.outcomes
    ]
    return {
        **ran.suite.named,
        "passed": ran.passed,
        "collector_version": ran.collector_version or None,
        "problem": ran.problem or None,
        "jobs": ran.jobs,
        "tests": tests,
    }


def records(outcome: SuiteOutcome) -> str:
    """`14 logs in, 9 logs out`; empty if they were not counted."""
    counts = outcome.answer["records"] if outcome.answer else None
    return one_line(", ".join(f"{_counts(counts.get(way, {}))} {way}" for way in ("in", "out"))) if counts else ""


def seconds(outcome: SuiteOutcome) -> float:
    return outcome.answer["seconds"] if outcome.answer else 0.0


def _of_outcome(outcome: SuiteOutcome) -> Iterator[str]:
    mark = (
        click.style("pass ", fg="green")
        if outcome.passed
        else click.style("FAIL " if outcome.status == "Fail" else "ERROR", fg="red", bold=True)
    )
    facts = [records(outcome), f"{seconds(outcome):.1f} s"]
    yield f"  {mark}  {one_line(outcome.name)}  ({', '.join(part for part in facts if part)})"
    if outcome.answer is not None and outcome.status != "Error":
        yield from (f"         {line}" for line in complaints(outcome.answer))
    for failure in failures(outcome):
        where = f"{one_line(outcome.test.file)}:{failure.line}: " if outcome.test else ""
        yield f"         {where}{failure.title}"
        yield from (f"           {detail}" for detail in failure.details)


def _errored(outcome: SuiteOutcome, answer: TestOutcome) -> TestFailure:
    """The reason why the collector did not run as it should: the server's with its notes, or else standard error."""
    lines = [line for line in answer["stderr"].splitlines() if line.strip()]
    reason = answer["reason"]
    if reason:
        lines = [line.removeprefix(_NOTE) for line in lines if line.startswith(_NOTE) and reason not in line]
    else:
        reason = lines.pop(0) if lines else "the collector did not run as it should"
    reason = reason.removeprefix("headgate: ")
    return TestFailure(
        quoted(reason),
        _line_of_reason(outcome, answer["field"] or "", reason),
        [*map(one_line, lines[:_MOST_LINES]), *([_INVALID] if _REFUSED in reason else [])],
        errored=True,
        golden=reason.startswith("expected: "),
    )


def _line_of_reason(outcome: SuiteOutcome, field: str, reason: str) -> int:
    """The line of what the server names: the field, or `rule 'x': …`, `expected: line 3: …`, `ignore[0]: …`."""
    rule, named = _RULE.match(reason), _FIELD.match(f"{field}: " if field else reason)
    if rule:
        return _line_of_rule(outcome, rule[1])
    if named and outcome.test:
        return _line_of_field(outcome, named[1], *([int(named[2])] if named[2] else []))
    return 1


def _line_of_field(outcome: SuiteOutcome, field: str, *place: int) -> int:
    """The line of the field, or of the one that names its file."""
    test = outcome.test
    if test and (field,) not in test.lines and field in FILE_OF:
        field = FILE_OF[field]
    return _line(outcome, field, *place)


def _of_rule(outcome: SuiteOutcome, result: RuleOutcome) -> TestFailure:
    limits = {"min": result["min"], "max": result["max"]}
    bounds = [f"{bound} {limit}" for bound, limit in limits.items() if limit is not None]
    return TestFailure(
        f"{one_line(result['name'])} ({one_line(', '.join([result['expect'], *bounds]))}): {quoted(result['message'])}",
        _line_of_rule(outcome, result["name"]),
        [one_line(result["condition"])],
    )


def _line_of_rule(outcome: SuiteOutcome, name: str) -> int:
    rules = outcome.test.fields.get("rules") if outcome.test else None
    for at, rule in enumerate(rules if isinstance(rules, list) else ()):
        if isinstance(rule, Mapping) and str(rule.get("name")).strip() == name:
            return _line(outcome, "rules", at)
    return _line(outcome, "rules")


def _line(outcome: SuiteOutcome, *place: str | int) -> int:
    return outcome.test.line(*place) if outcome.test else 1


def _counts(counts: Mapping[str, int]) -> str:
    return " + ".join(f"{count} {signal}" for signal, count in sorted(counts.items())) or "none"
