"""Suites: the tests of one configuration, each with a sample and rules."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

from pydantic import BaseModel, JsonValue

from headgate.checker import Asker
from headgate.foundation.collector import Signal
from headgate.jobs.model import Case, CaseResult, Job
from headgate.rules.engine import Format, Sample, Verdict
from headgate.rules.model import Context, Expect, Rule


class StoredRule(BaseModel):
    """A rule, as a request stores it."""

    name: str
    condition: str
    context: Context
    expect: Expect = "any"
    min: int | None = None
    max: int | None = None

    def rule(self) -> Rule:
        return Rule(self.name, self.condition, self.context, self.expect, self.min, self.max)


class Test(BaseModel):
    """One test of a suite."""

    __test__ = False

    name: str
    target_pipeline: str
    signal_type: Signal
    sample: str
    sample_is_otlp: bool
    sample_format: Format | None = None
    sample_name: str | None = None
    duration_seconds: int = 5
    feature_gates: list[str] = []
    rules: list[StoredRule] = []


class Request(BaseModel):
    """A suite: the text, the collector, and the tests."""

    yaml: str
    collector_version: str
    tests: list[Test]


class RuleOutcome(BaseModel):
    """The result of one rule, with the fields that a test run's has."""

    name: str
    passed: bool
    context: Context
    condition: str
    expect: Expect
    min: int | None
    max: int | None
    matched: int
    total: int
    message: str

    @classmethod
    def of(cls, rule: Rule, verdict: Verdict) -> "RuleOutcome":
        seen = verdict.model_dump(include={"passed", "matched", "total", "message"})
        return cls.model_validate(asdict(rule) | seen)


class TestOutcome(BaseModel):
    """What came of one test. In `Error`, `reason` says why, and the first line of `stderr`."""

    __test__ = False

    name: str
    status: Literal["Success", "Fail", "Error"]
    reason: str
    validation_results: list[RuleOutcome]
    # Records by signal: the sample's, and the output's.
    records: dict[Literal["in", "out"], dict[Signal, int]] | None
    stderr: str
    seconds: float


class Result(BaseModel):
    """What came of a suite: `passed` if every test is a Success."""

    passed: bool
    collector_version: str
    tests: list[TestOutcome]


def cases(_job: Job, request: JsonValue, _asker: Asker) -> Sequence[Case]:
    """One case for each test."""
    asked = Request.model_validate(request)
    return [
        Case(
            id=test.name,
            yaml=asked.yaml,
            target_pipeline=test.target_pipeline,
            signal_type=test.signal_type,
            sample=Sample(test.sample, test.sample_is_otlp, test.sample_format, test.sample_name),
            collector_version=asked.collector_version,
            duration_seconds=test.duration_seconds,
            feature_gates=tuple(test.feature_gates),
            rules=tuple(rule.rule() for rule in test.rules),
        )
        for test in asked.tests
    ]


def conclude(_job: Job, request: JsonValue, results: Sequence[CaseResult], _asker: Asker) -> JsonValue:
    """The verdict on the suite, and the outcome of each test."""
    asked = Request.model_validate(request)
    tests = [_outcome(result) for result in results]
    passed = all(test.status == "Success" for test in tests)
    concluded = Result(passed=passed, collector_version=asked.collector_version, tests=tests)
    document: JsonValue = concluded.model_dump(mode="json")
    return document


def _outcome(result: CaseResult) -> TestOutcome:
    ran = result.status == "ran"
    rules = [RuleOutcome.of(*pair) for pair in zip(result.case.rules, result.verdicts, strict=False)]
    return TestOutcome(
        name=result.case.id,
        status="Error" if not ran else "Success" if all(rule.passed for rule in rules) else "Fail",
        reason=result.reason,
        validation_results=rules,
        records=_records(result),
        stderr=result.stderr,
        seconds=round(result.seconds, 1),
    )


def _records(result: CaseResult) -> dict[Literal["in", "out"], dict[Signal, int]] | None:
    if result.records_in is None or result.records_out is None:
        return None
    return {"in": {result.case.signal_type: result.records_in}, "out": dict(result.records_out)}
