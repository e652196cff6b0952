"""The JUnit report of suites: a suite for each configuration, a case for each test."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

import click

from headgate_cli import junit
from headgate_cli.junit import text as _xml
from headgate_cli.runs.follow import complaints
from headgate_cli.suites import report
from headgate_cli.suites.files import WrongTests
from headgate_cli.suites.run import SuiteOutcome, SuiteRun


def as_xml(all_ran: Sequence[SuiteRun]) -> bytes:
    root = ElementTree.Element("testsuites", name="headgate test suite")
    for ran in all_ran:
        suite = ElementTree.SubElement(root, "testsuite", name=_xml(ran.suite.label))
        if ran.collector_version:
            properties = ElementTree.SubElement(suite, "properties")
            ElementTree.SubElement(properties, "property", name="collector_version", value=_xml(ran.collector_version))
        for outcome in ran.outcomes:
            _add_case(suite, ran, outcome)
        if not ran.outcomes:
            _add_problems(suite, ran)
    return junit.document(root, {"failures": "failure", "errors": "error"})


def _add_case(suite: ElementTree.Element, ran: SuiteRun, outcome: SuiteOutcome) -> None:
    case = _case(suite, ran, outcome.name, report.seconds(outcome))
    if outcome.test:
        case.set("file", _xml(outcome.test.file))
    for failure in report.failures(outcome):
        where = f"{outcome.test.file}:{failure.line}: " if outcome.test else ""
        kind = "error" if failure.errored else "failure"
        _add_reason(case, kind, failure.title, [f"{where}{failure.title}", *failure.details])
    if outcome.answer is None:
        return
    lines = [click.unstyle(line) for line in complaints(outcome.answer)]
    if lines:
        ElementTree.SubElement(case, "system-out").text = _xml("\n".join(lines))
    if outcome.answer["stderr"]:
        ElementTree.SubElement(case, "system-err").text = _xml(outcome.answer["stderr"])


def _add_problems(suite: ElementTree.Element, ran: SuiteRun) -> None:
    """Add what could not be run as an error of a case: a report without it would look like success."""
    if isinstance(ran.suite.problem, WrongTests):
        for problem in ran.suite.problem.problems:
            case = _case(suite, ran, problem.file, 0)
            case.set("file", _xml(problem.file))
            _add_reason(case, "error", problem.message, [f"{problem.file}:{problem.line}: {problem.message}"])
    else:
        reason = ran.problem or "no test was run"
        _add_reason(_case(suite, ran, ran.suite.label, 0), "error", reason, [reason])


def _case(suite: ElementTree.Element, ran: SuiteRun, name: str, seconds: float) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", name=_xml(name), classname=_xml(ran.suite.label), time=f"{seconds:.3f}"
    )


def _add_reason(case: ElementTree.Element, kind: str, title: str, lines: Sequence[str]) -> None:
    # A case has one failure or one error: readers take the first, so further reasons are added to its text.
    there = case.find("error") if case.find("error") is not None else case.find("failure")
    if there is None:
        there = ElementTree.SubElement(case, kind, message=_xml(title), type=kind)
    there.text = "\n".join(part for part in (there.text, *(_xml(click.unstyle(line)) for line in lines)) if part)
