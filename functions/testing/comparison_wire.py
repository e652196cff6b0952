"""What the endpoints of comparisons take and give."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from headgate.http.wire import ConfigurationId
from headgate.jobs.comparisons import Ask, Source
from headgate.jobs.model import Job
from headgate.version_tests.model import MAX_TESTS, NAME
from headgate_engine.collector import Signal
from headgate_engine.rules.engine import Format, Sample
from headgate_engine.testing.comparison import ComparisonResult
from headgate_engine.testing.named_test import DURATION_SECONDS, NamedTest, signal_of
from headgate_engine.testing.samples import of_json
from headgate_engine.wire.inputs import CollectorVersion, Input, Yaml
from testing.stand_ins import TakesStandIns
from testing.suite_wire import JobOut, fields_of
from testing.tests_wire import MAX_IGNORED, Ignored
from testing.wire import FeatureGate, Pipeline, SampleIn

TestName = Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=f"^{NAME.pattern}$")]


class ComparedSourceIn(Input):
    """What is compared: `configuration_id` with `version_number`, or `yaml`; on the collector of `collector_version`.

    Without it, that is the version's own, and the server's default one for a text.
    """

    configuration_id: ConfigurationId | None = None
    version_number: Annotated[int, Field(ge=1)] | None = None
    yaml: Yaml | None = None
    collector_version: CollectorVersion | None = None

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        given = (self.configuration_id is not None, self.version_number is not None)
        if given not in ((False, False), (True, True)):
            raise ValueError("`configuration_id` and `version_number` go together")
        if all(given) == (self.yaml is not None):
            raise ValueError("Either `configuration_id` with `version_number` is needed, or `yaml`")
        return self

    def as_source(self) -> Source:
        return Source(self.yaml, self.configuration_id, self.version_number, self.collector_version)


class ComparedTestIn(TakesStandIns):
    """A sample through one pipeline of both sides."""

    name: TestName
    target_pipeline: Pipeline
    signal_type: Annotated[Signal | None, Field(description="By default, the pipeline's own")] = None
    sample: SampleIn
    sample_format: Format | None = None
    sample_name: Annotated[str | None, Field(min_length=1, max_length=1_024)] = None
    duration_seconds: Annotated[int, Field(ge=1, le=60)] = DURATION_SECONDS
    feature_gates: list[FeatureGate] = Field(default=[], max_length=20)
    ignore: Annotated[list[Ignored] | None, Field(max_length=MAX_IGNORED, description="As in a saved test")] = None

    def as_test(self) -> NamedTest:
        """Raises SignalNotKnown if neither the test nor its pipeline says the signal."""
        sample = Sample(self.sample, is_otlp=False) if isinstance(self.sample, str) else of_json(self.sample)
        return NamedTest(
            target_pipeline=self.target_pipeline,
            signal_type=self.signal_type or signal_of(self.target_pipeline),
            sample=sample.text,
            sample_format="otlp" if sample.is_otlp else self.sample_format,
            sample_name=self.sample_name,
            duration_seconds=self.duration_seconds,
            feature_gates=tuple(self.feature_gates),
            ignore=None if self.ignore is None else tuple(self.ignore),
            stand_ins=self.stand_ins(),
        )


def _distinct(tests: list[ComparedTestIn]) -> list[ComparedTestIn]:
    names = [test.name for test in tests]
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if repeated is not None:
        raise ValueError(f"The test name '{repeated}' is used twice")
    return tests


Tests = Annotated[list[ComparedTestIn], Field(min_length=1, max_length=MAX_TESTS), AfterValidator(_distinct)]


class StartComparison(Input):
    """Two sides, and the samples that go through both.

    Without `tests`, they are the tests of the right side's version; if it has none, of the left side's. `test_names`
    chooses among these.
    """

    left: ComparedSourceIn
    right: ComparedSourceIn
    tests: Tests | None = None
    test_names: Annotated[list[TestName], Field(min_length=1, max_length=MAX_TESTS)] | None = None
    ignore: Annotated[
        list[Ignored] | None,
        Field(
            max_length=MAX_IGNORED,
            description='Paths that are not compared, such as `attributes["request.id"]`; by default, those of the '
            "test, and without any `observed_time_unix_nano`. Times that a run makes are never compared",
        ),
    ] = None

    @model_validator(mode="after")
    def _names_or_tests(self) -> Self:
        if self.tests is not None and self.test_names is not None:
            raise ValueError("`test_names` chooses among the tests of a version, so it excludes `tests`")
        return self

    def as_ask(self) -> Ask:
        """Raises SignalNotKnown."""
        return Ask(
            left=self.left.as_source(),
            right=self.right.as_source(),
            tests=None if self.tests is None else {test.name: test.as_test() for test in self.tests},
            names=self.test_names,
            ignore=self.ignore,
        )


class ComparisonOut(JobOut):
    """A comparison. `result` is there once it is `Done`; in `Error`, `reason` says why there is none."""

    kind: Literal["comparison"] = "comparison"
    result: ComparisonResult | None

    @classmethod
    def of(cls, job: Job, result: object) -> Self:
        return cls(**fields_of(job), result=None if result is None else ComparisonResult.model_validate(result))
