"""What the endpoints of a version's tests take and give."""

from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, model_validator

from headgate.http.wire import PrincipalOut, Time
from headgate.suites.service import Overview, Shown
from headgate.version_tests.model import Listed, Verdict
from headgate_engine.collector import Signal
from headgate_engine.rules.engine import Format, Sample, Scalar
from headgate_engine.rules.model import MAX_RULES, Context, Expect, Rule
from headgate_engine.testing.named_test import DURATION_SECONDS, NamedTest, signal_of
from headgate_engine.testing.samples import of_json
from headgate_engine.wire.inputs import Text, Variables
from testing.stand_ins import TakesStandIns
from testing.wire import FeatureGate, Pipeline, RuleIn, SampleIn, distinct

MAX_IGNORED: Final = 50

Ignored = Annotated[str, StringConstraints(min_length=1, max_length=1_024)]


class NamedTestIn(TakesStandIns):
    """A sample through one pipeline, and `rules` for what comes out, the `expected` output, or both."""

    target_pipeline: Pipeline
    signal_type: Annotated[Signal | None, Field(description="By default, the pipeline's own")] = None
    sample: SampleIn
    sample_format: Format | None = None
    sample_name: Annotated[str | None, Field(min_length=1, max_length=1_024)] = None
    duration_seconds: Annotated[int, Field(ge=1, le=60)] = DURATION_SECONDS
    feature_gates: list[FeatureGate] = Field(default=[], max_length=20)
    rules: Annotated[list[RuleIn], AfterValidator(distinct)] = Field(default=[], max_length=MAX_RULES)
    expected: Annotated[
        Text | None, Field(description="OTLP/JSON, one document a line; empty if nothing may come out")
    ] = None
    ignore: Annotated[
        list[Ignored] | None,
        Field(
            max_length=MAX_IGNORED,
            description="Paths that are not compared with `expected`; by default, `observed_time_unix_nano`. A time "
            "in `expected` equals any that the run made",
        ),
    ] = None
    env: Variables = Field(
        default={},
        description="Values for `${env:NAME}`: the collector's whole environment; stored and shown with the test",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not self.rules and self.expected is None:
            raise ValueError("A test needs `rules`, `expected`, or both: without them, every output would pass")
        if self.ignore is not None and self.expected is None:
            raise ValueError("`ignore` is for what is compared with `expected`, which is not given")
        if self.sample_format == "raw" and not isinstance(self.sample, str):
            raise ValueError("A `sample` that is a JSON value is OTLP/JSON: send raw lines as text")
        return self

    def as_test(self) -> NamedTest:
        """Raises SignalNotKnown if neither the test nor its pipeline says the signal."""
        signal = self.signal_type or signal_of(self.target_pipeline)
        sample = Sample(self.sample, is_otlp=False) if isinstance(self.sample, str) else of_json(self.sample)
        return NamedTest(
            target_pipeline=self.target_pipeline,
            signal_type=signal,
            sample=sample.text,
            sample_format="otlp" if sample.is_otlp else self.sample_format,
            sample_name=self.sample_name,
            duration_seconds=self.duration_seconds,
            feature_gates=tuple(self.feature_gates),
            rules=tuple(rule.rule(signal) for rule in self.rules),
            expected=self.expected,
            ignore=None if self.ignore is None else tuple(self.ignore),
            stand_ins=self.stand_ins(),
        )


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


class NamedTestOut(BaseModel):
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
    skip: list[str]
    attributes: dict[str, dict[str, Scalar]]
    env: dict[str, str]
    output_pipelines: list[str]
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
            skip=list(test.stand_ins.skip),
            attributes={id_: dict(given) for id_, given in test.stand_ins.attributes.items()},
            env=dict(test.stand_ins.env),
            output_pipelines=list(test.stand_ins.output_pipelines),
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
