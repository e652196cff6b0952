"""What the endpoints of a version's tests take and give."""

from typing import Self

from pydantic import BaseModel

from headgate.http.wire import PrincipalOut
from headgate.suites.service import Overview, Shown
from headgate.version_tests.model import Listed, Verdict
from headgate_engine.collector import Signal
from headgate_engine.rules.engine import Format
from headgate_engine.rules.model import Context, Expect, Rule
from headgate_engine.testing.named_test import NamedTest
from headgate_engine.wire.stand_ins import ShownStandIns
from headgate_engine.wire.times import Time


class TestRuleOut(BaseModel):
    __test__ = False
    name: str
    condition: str
    context: Context
    expect: Expect
    min: int | None
    max: int | None

    @classmethod
    def of(cls, rule: Rule) -> Self:
        return cls(
            name=rule.name,
            condition=rule.condition,
            context=rule.context,
            expect=rule.expect,
            min=rule.min,
            max=rule.max,
        )


class ListedTestOut(BaseModel):
    """A test in a list. `sha256` is that of what it says, and is the same where another version's says the same."""

    name: str
    target_pipeline: str
    signal_type: Signal
    rule_count: int
    expects_output: bool
    sha256: str
    updated_at: Time
    updated_by: PrincipalOut

    @classmethod
    def of(cls, listed: Listed) -> "ListedTestOut":
        return ListedTestOut(
            name=listed.name,
            target_pipeline=listed.target_pipeline,
            signal_type=listed.signal_type,
            rule_count=listed.rules,
            expects_output=listed.expects_output,
            sha256=listed.content.sha256,
            updated_at=listed.updated_at,
            updated_by=PrincipalOut.of(listed.updated_by),
        )


class NamedTestOut(ShownStandIns):
    """A test as `PUT` takes it, with its defaults; a `sample` that was a JSON value is a text, a document a line."""

    name: str
    target_pipeline: str
    signal_type: Signal
    sample: str
    sample_format: Format | None
    sample_name: str | None
    duration_seconds: int
    feature_gates: list[str]
    rules: list[TestRuleOut]
    expected: str | None
    ignore: list[str] | None
    env: dict[str, str]
    sha256: str
    updated_at: Time
    updated_by: PrincipalOut

    @classmethod
    def of(cls, listed: Listed, test: NamedTest) -> Self:
        return cls(
            name=listed.name,
            target_pipeline=test.target_pipeline,
            signal_type=test.signal_type,
            sample=test.sample,
            sample_format=test.sample_format,
            sample_name=test.sample_name,
            duration_seconds=test.duration_seconds,
            feature_gates=list(test.feature_gates),
            rules=[TestRuleOut.of(rule) for rule in test.rules],
            expected=test.expected,
            ignore=None if test.ignore is None else list(test.ignore),
            **dict(test.stand_ins),
            sha256=listed.content.sha256,
            updated_at=listed.updated_at,
            updated_by=PrincipalOut.of(listed.updated_by),
        )


class TestVerdictOut(BaseModel):
    __test__ = False
    name: str
    status: Verdict


class EvidenceOut(BaseModel):
    """What a suite of all tests came to. `current`: the version still has this text, these tests, this collector."""

    passed: bool
    current: bool
    text_sha256: str
    tests_sha256: str
    collector_version: str
    tests: list[TestVerdictOut]
    job_id: str
    finished_at: Time

    @classmethod
    def of(cls, shown: Shown) -> Self:
        evidence = shown.evidence
        return cls(
            passed=evidence.passed,
            current=shown.current,
            text_sha256=evidence.text_sha256,
            tests_sha256=evidence.tests_sha256,
            collector_version=evidence.collector_version,
            tests=[TestVerdictOut(name=one.name, status=one.status) for one in evidence.tests],
            job_id=evidence.job_id,
            finished_at=evidence.finished_at,
        )


class VersionTestsOut(BaseModel):
    """All tests of a version, 50 at most, by name; and the newest 10 pieces of evidence, the newest first."""

    items: list[ListedTestOut]
    next_cursor: None = None
    tests_sha256: str
    evidence: list[EvidenceOut]

    @classmethod
    def of(cls, overview: Overview) -> Self:
        return cls(
            items=[ListedTestOut.of(one) for one in overview.tests.tests],
            tests_sha256=overview.tests.sha256,
            evidence=[EvidenceOut.of(one) for one in overview.evidence],
        )
