"""Requests for runs, suites, comparisons and coverage of texts that are not stored."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator
from pydantic.config import JsonDict

from headgate_engine.collector import Signal
from headgate_engine.rules.engine import Format, Sample
from headgate_engine.rules.model import DEFAULT_CONTEXTS, MAX_RULES, Context, Expect, Rule
from headgate_engine.testing.coverage import MAX_MUTANTS, MUTANTS
from headgate_engine.testing.named_test import DURATION_SECONDS, MAX_TESTS, NAME, NamedTest, signal_of
from headgate_engine.testing.samples import of_request
from headgate_engine.wire.inputs import (
    GATES,
    MAX_DOCUMENTS,
    CollectorVersion,
    FeatureGate,
    Input,
    Name,
    Text,
    Variables,
    Yaml,
    refused_as,
)
from headgate_engine.wire.stand_ins import StandIns

Pipeline = Annotated[str, StringConstraints(min_length=1, max_length=1_024)]


# The largest number that both Go and DynamoDB hold.
Bound = Annotated[int, Field(ge=0, le=1_000_000_000)]


class RuleIn(Input):
    name: Name
    condition: Annotated[str, StringConstraints(min_length=1, max_length=4_096)]
    context: Context | None = None
    expect: Expect = "any"
    min: Bound | None = None
    max: Bound | None = None

    @model_validator(mode="after")
    def _bounds_fit(self) -> Self:
        is_bounded = self.min is not None or self.max is not None
        if is_bounded != (self.expect == "count"):
            raise ValueError("`expect: count` takes `min`, `max` or both, and no other takes any")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("`min` is above `max`")
        return self

    def rule(self, signal_type: Signal) -> Rule:
        context = self.context or DEFAULT_CONTEXTS[signal_type]
        return Rule(self.name, self.condition, context, self.expect, self.min, self.max)


def require_distinct(names: Sequence[str], noun: str = "test") -> None:
    """Raises ValueError if a name is used twice."""
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if repeated is not None:
        raise ValueError(f"The {noun} name '{repeated}' is used twice")


def distinct(rules: list[RuleIn]) -> list[RuleIn]:
    require_distinct([rule.name for rule in rules], "rule")
    return rules


Rules = Annotated[list[RuleIn], Field(min_length=1, max_length=MAX_RULES), AfterValidator(distinct)]


_Document = Annotated[dict[str, JsonValue], Field(max_length=MAX_DOCUMENTS)]
SampleIn = Annotated[
    Text | _Document | Annotated[list[_Document], Field(min_length=1, max_length=MAX_DOCUMENTS)],
    refused_as("This must be text, an OTLP/JSON document or a list of such documents, at least one"),
]


# Not in the specification of the API.
_BEYOND: Final[JsonDict] = {"x-extension": True}


_FORMAT: Final = (
    "`raw`: the text is log lines, even if they are OTLP/JSON; `otlp`: it is OTLP/JSON. By default, what it looks like"
)


_NAME: Final = (
    "The absolute path of the file that raw lines come from, such as `/var/log/pods/…`; "
    "the file is in the run's sandbox only"
)


_TRACE: Final = "Record what each component of the pipelines does to each record, for `…/steps`"


class RunFields(StandIns):
    """The fields of a request for a run, beside the text."""

    sample: SampleIn
    signal_type: Signal
    target_pipeline: Pipeline
    duration_seconds: Annotated[int, Field(ge=1, le=60)] = DURATION_SECONDS
    collector_version: CollectorVersion | None = None
    rules: Rules | None = None
    sample_format: Annotated[Format | None, Field(description=_FORMAT, json_schema_extra=_BEYOND)] = None
    sample_name: Annotated[
        str | None, Field(min_length=1, max_length=1_024, description=_NAME, json_schema_extra=_BEYOND)
    ] = None
    feature_gates: list[FeatureGate] = Field(default=[], max_length=20, description=GATES, json_schema_extra=_BEYOND)
    trace: bool = Field(default=False, description=_TRACE, json_schema_extra=_BEYOND)

    def as_sample(self) -> Sample:
        return replace(of_request(self.sample), format=self.sample_format, name=self.sample_name)

    def as_rules(self) -> list[Rule]:
        return [rule.rule(self.signal_type) for rule in self.rules or []]


MAX_IGNORED: Final = 50


Ignored = Annotated[str, StringConstraints(min_length=1, max_length=1_024)]


class _SampleIn(StandIns):
    """A sample through one pipeline."""

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
        sample = of_request(self.sample)
        return NamedTest(
            target_pipeline=self.target_pipeline,
            signal_type=self.signal_type or signal_of(self.target_pipeline),
            sample=sample.text,
            sample_format="otlp" if sample.is_otlp else self.sample_format,
            sample_name=self.sample_name,
            duration_seconds=self.duration_seconds,
            feature_gates=tuple(self.feature_gates),
            ignore=None if self.ignore is None else tuple(self.ignore),
            stand_ins=self.stand_ins,
        )


class NamedTestIn(_SampleIn):
    """A sample through one pipeline, and `rules` for what comes out, the `expected` output, or both."""

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
        if self.expected is not None and (self.signal_type or self.target_pipeline.partition("/")[0]) == "profiles":
            raise ValueError("Profiles are not compared with `expected`: use `rules`")
        if self.sample_format == "raw" and not isinstance(self.sample, str):
            raise ValueError("A `sample` that is a JSON value is OTLP/JSON: send raw lines as text")
        return self

    def as_test(self) -> NamedTest:
        test = super().as_test()
        rules = tuple(rule.rule(test.signal_type) for rule in self.rules)
        return replace(test, rules=rules, expected=self.expected)


TestName = Annotated[str, StringConstraints(pattern=f"^{NAME.pattern}$")]


class SuiteTestIn(NamedTestIn):
    """A test of a text, with its name."""

    name: TestName


class ComparedTestIn(_SampleIn):
    """A sample through one pipeline of both sides."""

    name: TestName


def _distinct(tests: list[ComparedTestIn]) -> list[ComparedTestIn]:
    require_distinct([test.name for test in tests])
    return tests


ComparedTests = Annotated[list[ComparedTestIn], Field(min_length=1, max_length=MAX_TESTS), AfterValidator(_distinct)]


class RunOfText(RunFields):
    """A run of a text."""

    yaml: Yaml


class TestsOfText(Input):
    """Tests of a text."""

    __test__ = False

    yaml: Yaml
    tests: Annotated[list[SuiteTestIn], Field(min_length=1, max_length=MAX_TESTS)]
    collector_version: CollectorVersion | None = None

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        require_distinct([test.name.lower() for test in self.tests])
        return self

    def named(self) -> list[tuple[str, NamedTest]]:
        """The tests by name. Raises SignalNotKnown."""
        return [(test.name, test.as_test()) for test in self.tests]


class SuiteOfText(TestsOfText):
    """A suite of a text. `output`: the result has each test's output, as far as it has room."""

    output: bool = False


class CoverageOfText(TestsOfText):
    """A coverage job of a text."""

    max_mutants: Annotated[int, Field(ge=1, le=MAX_MUTANTS)] = MUTANTS


class ComparedText(Input):
    """A text that is compared, on the collector of `collector_version`, the default one without it."""

    yaml: Yaml
    collector_version: CollectorVersion | None = None


class ComparisonOfTexts(Input):
    """Two texts, and the samples that go through both."""

    left: ComparedText
    right: ComparedText
    tests: ComparedTests
    ignore: Annotated[list[Ignored] | None, Field(max_length=MAX_IGNORED)] = None
