"""What the endpoints of suites take and give, field by field."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from headgate.foundation.clock import rfc3339
from headgate.foundation.collector import Signal
from headgate.http.wire import CollectorVersion, Input
from headgate.jobs.kinds import suite
from headgate.jobs.model import Job, Status
from headgate.rules.engine import Format, Sample
from headgate.rules.model import DEFAULT_CONTEXTS, MAX_RULES
from headgate.runs.model import MAX_SAMPLE_BYTES, SampleTooLarge
from headgate.runs.samples import of_json
from headgate.settings import settings
from testing.wire import FeatureGate, Pipeline, RuleIn, SampleIn

_MAX_TESTS: Final = 50
_SIGNALS: Final[tuple[Signal, ...]] = ("logs", "traces", "metrics")

TestName = Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class TestIn(Input):
    """A test: a sample through one pipeline, and rules. `signal_type` is the pipeline's own unless it is given."""

    __test__ = False

    name: TestName
    target_pipeline: Pipeline
    signal_type: Signal | None = None
    sample: SampleIn
    sample_format: Format | None = None
    sample_name: Annotated[str | None, Field(min_length=1, max_length=1_024)] = None
    duration_seconds: Annotated[int, Field(ge=1, le=60)] = 5
    feature_gates: list[FeatureGate] = Field(default=[], max_length=20)
    rules: list[RuleIn] = Field(default=[], max_length=MAX_RULES)

    def as_test(self) -> suite.Test:
        """Raises SampleTooLarge."""
        sample = Sample(self.sample, is_otlp=False) if isinstance(self.sample, str) else of_json(self.sample)
        if len(sample.text.encode()) > MAX_SAMPLE_BYTES:
            raise SampleTooLarge
        signal = self.signal_type or self._signal_of_pipeline()
        return suite.Test(
            name=self.name,
            target_pipeline=self.target_pipeline,
            signal_type=signal,
            sample=sample.text,
            sample_is_otlp=sample.is_otlp,
            sample_format=self.sample_format,
            sample_name=self.sample_name,
            duration_seconds=self.duration_seconds,
            feature_gates=self.feature_gates,
            rules=[
                suite.StoredRule(
                    name=rule.name,
                    condition=rule.condition,
                    context=rule.context or DEFAULT_CONTEXTS[signal],
                    expect=rule.expect,
                    min=rule.min,
                    max=rule.max,
                )
                for rule in self.rules
            ],
        )

    def _signal_of_pipeline(self) -> Signal:
        own = self.target_pipeline.partition("/")[0]
        return next((signal for signal in _SIGNALS if signal == own), "logs")


def _distinct(tests: list[TestIn]) -> list[TestIn]:
    names = [test.name for test in tests]
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if repeated is not None:
        raise ValueError(f"The test name '{repeated}' is used twice")
    return tests


class StartSuite(Input):
    """A text and its tests, which run side by side on one collector."""

    yaml: Annotated[str, StringConstraints(min_length=1)]
    tests: Annotated[list[TestIn], Field(min_length=1, max_length=_MAX_TESTS), AfterValidator(_distinct)]
    collector_version: CollectorVersion | None = None

    def as_request(self) -> suite.Request:
        """Raises SampleTooLarge."""
        version = self.collector_version or settings().collector_version
        return suite.Request(yaml=self.yaml, collector_version=version, tests=[test.as_test() for test in self.tests])


class JobOut(BaseModel):
    """A job. `reason` says why it is in `Error`; `result` is there when it is `Done`."""

    id: str
    status: Status
    reason: str
    configuration_id: str | None
    version_number: int | None
    created_at: str
    started_at: str | None
    finished_at: str | None


class SuiteOut(JobOut):
    """A suite of tests that has been started."""

    kind: Literal["suite"] = "suite"
    result: suite.Result | None

    @classmethod
    def of(cls, job: Job, result: object) -> Self:
        return cls(
            **fields_of(job),
            result=None if result is None else suite.Result.model_validate(result),
        )


def fields_of(job: Job) -> dict[str, object]:
    """The fields that every kind of job has."""
    return {
        "id": job.id,
        "status": job.status,
        "reason": job.reason,
        "configuration_id": job.configuration_id,
        "version_number": job.version_number,
        "created_at": rfc3339(job.created_at),
        "started_at": rfc3339(job.started_at) if job.started_at else None,
        "finished_at": rfc3339(job.finished_at) if job.finished_at else None,
    }
