"""Requests and answers of the endpoints of a version's tests."""

from typing import Annotated, Self

from pydantic import BaseModel

from headgate.http.wire import Answer, PrincipalOut, at
from headgate.runs.suites.service import TestsOverview
from headgate.version_tests.model import ListedTest, Verdict
from headgate_engine.collector import Signal
from headgate_engine.rules.engine import Format
from headgate_engine.rules.model import Context, Expect
from headgate_engine.testing.named_test import NamedTest
from headgate_engine.wire.stand_ins import ShownStandIns
from headgate_engine.wire.times import Time


class TestRuleOut(Answer):
    __test__ = False
    name: str
    condition: str
    context: Context
    expect: Expect
    min: int | None
    max: int | None


class ListedTestOut(Answer):
    """A test in a list. `sha256` is that of what it says, and is the same where another version's says the same."""

    name: str
    target_pipeline: str
    signal_type: Signal
    rule_count: Annotated[int, at("rules")]
    expects_output: bool
    sha256: Annotated[str, at("content", "sha256")]
    updated_at: Time
    updated_by: PrincipalOut


class TestOutcomeOut(Answer):
    """The outcome of a test in one suite; `current` as in the evidence."""

    __test__ = False
    status: Verdict
    current: bool
    collector_version: str
    finished_at: Time


class TestOfVersionOut(ListedTestOut):
    """A test of a version, with what came of it."""

    __test__ = False
    history: list[TestOutcomeOut]


class NamedTestOut(Answer, ShownStandIns):
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
    sha256: Annotated[str, at("content", "sha256")]
    updated_at: Time
    updated_by: PrincipalOut

    @classmethod
    def of_test(cls, listed: ListedTest, test: NamedTest) -> Self:
        return cls.of(test, test.stand_ins, listed)


class TestVerdictOut(Answer):
    __test__ = False
    name: str
    status: Verdict


class EvidenceOut(Answer):
    """The outcome of a suite of all tests.

    `current`: the version still has this text, these tests, this collector and these feature gates.
    """

    passed: bool
    current: bool
    text_sha256: str
    tests_sha256: str
    collector_version: str
    feature_gates: list[str]
    tests: list[TestVerdictOut]
    job_id: str
    finished_at: Time


class VersionTestsOut(BaseModel):
    """All tests of a version, 50 at most, by name; and the newest 10 pieces of evidence, the newest first."""

    items: list[TestOfVersionOut]
    next_cursor: None = None
    tests_sha256: str
    evidence: list[EvidenceOut]

    @classmethod
    def of(cls, overview: TestsOverview) -> Self:
        return cls(
            items=[
                TestOfVersionOut.of(test, history=[*map(TestOutcomeOut.of, overview.history(test.name))])
                for test in overview.tests.tests
            ],
            tests_sha256=overview.tests.sha256,
            evidence=[EvidenceOut.of(known.evidence, known) for known in overview.evidence],
        )
