"""Suites: the tests of one configuration, each with a sample, and with rules, an expected output or both."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel, JsonValue

from headgate_engine.checker.asker import Asker
from headgate_engine.collector import Signal
from headgate_engine.rules import outputs
from headgate_engine.rules.outputs import Incomparable, RunPeriod
from headgate_engine.testing.model import LONGEST, MAX_RESULT_BYTES, Case, CaseResult, Unworkable
from headgate_engine.testing.named_test import NamedTest, of_document, to_document
from headgate_engine.testing.suite_result import RuleOutcome, SuiteResult, TestOutcome, fitted

# How the comparison begins a message about the expected output.
_LEFT: Final = "left: "
# A step has 60 s, some of which rules need.
_COMPARING_SECONDS: Final = 20.0
# The differences of all tests together, in bytes: half of a result.
_DIFFERENCES: Final = MAX_RESULT_BYTES // 2


class RequestedTest(BaseModel):
    """A test, and what it says as a document."""

    name: str
    says: dict[str, JsonValue]

    def test(self) -> NamedTest:
        return of_document(self.says)


class SuiteRequest(BaseModel):
    """A suite: the text, the collector, and the tests. `all_tests_sha256` is there if they are all of a version's.

    `first_build` is set if the collector's first program may run it, while the whole one is being built.
    `feature_gates` are the version's: the tests have them already, unless they name their own.
    """

    yaml: str
    collector_version: str
    tests: list[RequestedTest]
    all_tests_sha256: str | None
    with_output: bool
    first_build: bool = False
    feature_gates: list[str] = []


def request_of(
    yaml: str,
    tests: Sequence[tuple[str, NamedTest]],
    *,
    collector_version: str,
    all_tests_sha256: str | None = None,
    with_output: bool,
    first_build: bool = False,
    feature_gates: Sequence[str] = (),
) -> JsonValue:
    """The request of a suite."""
    asked = SuiteRequest(
        yaml=yaml,
        collector_version=collector_version,
        tests=[RequestedTest(name=name, says=to_document(test)) for name, test in tests],
        all_tests_sha256=all_tests_sha256,
        with_output=with_output,
        first_build=first_build,
        feature_gates=list(feature_gates),
    )
    document: JsonValue = asked.model_dump(mode="json")
    return document


def cases(request: JsonValue, _asker: Asker) -> Sequence[Case]:
    """One case for each test."""
    asked = SuiteRequest.model_validate(request)
    return [test.test().case(test.name, asked.yaml, asked.collector_version) for test in asked.tests]


def conclude(begun: datetime, request: JsonValue, results: Sequence[CaseResult], asker: Asker) -> JsonValue:
    """The verdict on the suite, and the outcome of each test. Raises Unworkable, Unavailable."""
    asked = SuiteRequest.model_validate(request)
    # Any time that the run made equals any time in the expected output.
    ran = RunPeriod(begun, begun + LONGEST)
    deadline = time.monotonic() + _COMPARING_SECONDS
    listed = _DIFFERENCES // len(asked.tests)
    tests = []
    for each, result in zip(asked.tests, results, strict=True):
        if time.monotonic() > deadline:
            raise Unworkable("its outputs take too long to compare; give it fewer tests, or smaller samples")
        tests.append(_outcome(result, each.test(), ran, asker, listed, with_output=asked.with_output))
    passed = all(test.status == "Success" for test in tests)
    concluded = SuiteResult(passed=passed, collector_version=asked.collector_version, tests=fitted(tests))
    document: JsonValue = concluded.model_dump(mode="json")
    return document


def _outcome(
    result: CaseResult, test: NamedTest, ran: RunPeriod, asker: Asker, listed: int, *, with_output: bool
) -> TestOutcome:
    """`told` is how many bytes of differences are told."""
    rules = [RuleOutcome.of(*pair) for pair in zip(result.case.rules, result.verdicts, strict=False)]
    outcome = TestOutcome(
        name=result.case.id,
        status="Error",
        reason=result.reason,
        field=result.field or None,
        line=result.line,
        validation_results=rules,
        records=_records(result),
        differences=None,
        output=result.output if with_output and result.status == "ran" else None,
        output_left_out=False,
        stderr=result.stderr,
        component_errors=list(result.component_errors),
        notes=list(result.notes),
        cut=False,
        seconds=round(result.seconds, 1),
    )
    if result.status != "ran":
        return outcome
    equal = True
    if test.expected is not None:
        try:
            differences = outputs.compare(
                test.expected, result.output, asker=asker, ignore=test.ignore, right_ran=ran, max_bytes=listed
            ).whole()
        except Incomparable as error:
            reason = _about(error)
            stderr = f"headgate: {reason}\n{result.stderr}"
            field = "ignore" if error.code == "bad_path" else "expected"
            return outcome.model_copy(update={"reason": reason, "field": field, "stderr": stderr})
        outcome.differences, equal = differences, differences.equal
    outcome.status = "Success" if equal and all(rule.passed for rule in rules) else "Fail"
    return outcome


def _about(error: Incomparable) -> str:
    """The reason why the output cannot be compared, with the test's own names of fields."""
    if error.message.startswith(_LEFT):
        return f"expected: {error.message.removeprefix(_LEFT)}"
    return error.message if error.code == "bad_path" else f"expected: {error.message}"


def _records(result: CaseResult) -> dict[Literal["in", "out"], dict[Signal, int]] | None:
    if result.records_in is None or result.records_out is None:
        return None
    return {"in": {result.case.signal_type: result.records_in}, "out": dict(result.records_out)}
