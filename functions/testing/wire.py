"""What the testing endpoints and those of saved rules take and give, field by field."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Final, Self, TypedDict

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    model_validator,
)
from pydantic.config import JsonDict

from headgate.http.wire import ConfigurationId, Time
from headgate.rules.model import RuleSet, StoredRule
from headgate.runs.model import ListedRun, RuleResult, Run, Status
from headgate.runs.service import Start, StoredVersion
from headgate_engine.collector import Signal
from headgate_engine.rules.engine import Format, Sample, Scalar
from headgate_engine.rules.model import DEFAULT_CONTEXTS, MAX_RULES, Context, Expect, Rule
from headgate_engine.testing.samples import of_json
from headgate_engine.wire.inputs import MAX_DOCUMENTS, CollectorVersion, Input, Name, Text, Yaml, refused_as
from testing.stand_ins import TakesStandIns

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
        given = self.min is not None or self.max is not None
        if given != (self.expect == "count"):
            raise ValueError("`expect: count` takes `min`, `max` or both, and no other takes any")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("`min` is above `max`")
        return self

    def rule(self, signal_type: Signal) -> Rule:
        context = self.context or DEFAULT_CONTEXTS[signal_type]
        return Rule(self.name, self.condition, context, self.expect, self.min, self.max)


def distinct(rules: list[RuleIn]) -> list[RuleIn]:
    names = [rule.name for rule in rules]
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if repeated is not None:
        raise ValueError(f"The rule name '{repeated}' is used twice")
    return rules


Rules = Annotated[list[RuleIn], Field(min_length=1, max_length=MAX_RULES), AfterValidator(distinct)]


class SaveRules(Input):
    signal_type: Signal
    rules: Rules
    name: Name | None = None

    def as_rules(self) -> list[Rule]:
        return [rule.rule(self.signal_type) for rule in self.rules]


class SaveRulesByHand(SaveRules):
    """An empty list removes the rules that were added by hand."""

    rules: Annotated[list[RuleIn], Field(max_length=MAX_RULES), AfterValidator(distinct)]


class StoredRuleOut(BaseModel):
    id: str
    api_owned: bool
    name: str
    context: Context
    condition: str
    expect: Expect
    min: int | None
    max: int | None

    @classmethod
    def of(cls, stored: StoredRule) -> Self:
        rule = stored.rule
        return cls(
            id=stored.id,
            api_owned=stored.api_owned,
            name=rule.name,
            context=rule.context,
            condition=rule.condition,
            expect=rule.expect,
            min=rule.min,
            max=rule.max,
        )


class RuleSetOut(BaseModel):
    """The rules of one pipeline."""

    pipeline: str
    name: str
    signal_type: Signal
    rules: list[StoredRuleOut]

    @classmethod
    def of(cls, saved: RuleSet) -> Self:
        return cls(
            pipeline=saved.pipeline,
            name=saved.name,
            signal_type=saved.signal_type,
            rules=[StoredRuleOut.of(rule) for rule in saved.rules],
        )


class RuleSets(BaseModel):
    """The rules of a version, by pipeline."""

    items: list[RuleSetOut]


_Document = Annotated[dict[str, JsonValue], Field(max_length=MAX_DOCUMENTS)]
SampleIn = Annotated[
    Text | _Document | Annotated[list[_Document], Field(min_length=1, max_length=MAX_DOCUMENTS)],
    refused_as("This must be text, an OTLP/JSON document or a list of such documents, at least one"),
]


FeatureGate = Annotated[str, StringConstraints(min_length=1, max_length=200)]
# Not in the specification of the API.
_BEYOND: Final[JsonDict] = {"x-extension": True}
_FORMAT: Final = (
    "`raw`: the text is log lines, even if they are OTLP/JSON; `otlp`: it is OTLP/JSON. By default, what it looks like"
)
_NAME: Final = (
    "The absolute path of the file that raw lines come from, such as `/var/log/pods/…`; "
    "the file is in the run's sandbox only"
)
_GATES: Final = "`+name` or `name` enables a feature gate of the collector, `-name` disables it"
_TRACE: Final = "Record what each component of the pipelines does to each record, for `…/steps`"


class StartRun(TakesStandIns):
    """Either `configuration_id` with `version_number`, or `yaml`; `rules` or `use_saved_rules` or neither."""

    configuration_id: ConfigurationId | None = None
    version_number: Annotated[int, Field(ge=1)] | None = None
    yaml: Yaml | None = None
    sample: SampleIn
    signal_type: Signal
    target_pipeline: Pipeline
    duration_seconds: Annotated[int, Field(ge=1, le=60)] = 5
    collector_version: CollectorVersion | None = None
    collector_distribution: str | None = None
    rules: Rules | None = None
    use_saved_rules: bool = False
    sample_format: Annotated[Format | None, Field(description=_FORMAT, json_schema_extra=_BEYOND)] = None
    sample_name: Annotated[
        str | None, Field(min_length=1, max_length=1_024, description=_NAME, json_schema_extra=_BEYOND)
    ] = None
    feature_gates: list[FeatureGate] = Field(default=[], max_length=20, description=_GATES, json_schema_extra=_BEYOND)
    trace: bool = Field(default=False, description=_TRACE, json_schema_extra=_BEYOND)

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        stored = self.configuration_id is not None or self.version_number is not None
        if stored == (self.yaml is not None):
            raise ValueError("Either `configuration_id` with `version_number` is needed, or `yaml`")
        if stored and (self.configuration_id is None or self.version_number is None):
            raise ValueError("`configuration_id` and `version_number` go together")
        if self.use_saved_rules and self.rules is not None:
            raise ValueError("`rules` and `use_saved_rules` exclude each other")
        if self.use_saved_rules and not stored:
            raise ValueError(
                "`use_saved_rules` needs `configuration_id` and `version_number`; a text has no saved rules"
            )
        return self

    def as_start(self) -> Start:
        source: StoredVersion | str = self.yaml or ""
        if self.configuration_id is not None and self.version_number is not None:
            source = StoredVersion(self.configuration_id, self.version_number)
        sample = Sample(self.sample, is_otlp=False) if isinstance(self.sample, str) else of_json(self.sample)
        return Start(
            source=source,
            sample=replace(sample, format=self.sample_format, name=self.sample_name),
            signal_type=self.signal_type,
            target_pipeline=self.target_pipeline,
            duration_seconds=self.duration_seconds,
            collector_version=self.collector_version,
            collector_distribution=self.collector_distribution,
            rules=[rule.rule(self.signal_type) for rule in self.rules or []],
            use_saved_rules=self.use_saved_rules,
            feature_gates=self.feature_gates,
            trace=self.trace,
            stand_ins=self.stand_ins(),
        )


class RuleResultOut(BaseModel):
    """The result of one rule. `message` says what was seen: `0 of 14 log records matched; expected at least 1`."""

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
    api_owned: bool

    @classmethod
    def of(cls, result: RuleResult) -> Self:
        rule = result.rule
        return cls(
            name=rule.name,
            passed=result.passed,
            context=rule.context,
            condition=rule.condition,
            expect=rule.expect,
            min=rule.min,
            max=rule.max,
            matched=result.matched,
            total=result.total,
            message=result.message,
            api_owned=result.api_owned,
        )


class RecordsOut(BaseModel):
    """Log records, spans and data points by signal: `in` is the sample's (of text, its lines), `out` what came out."""

    model_config = ConfigDict(serialize_by_alias=True)

    in_: dict[Signal, int] = Field(alias="in")
    out: dict[Signal, int]

    @classmethod
    def of(cls, run: Run | ListedRun) -> Self | None:
        if run.records_in is None or run.records_out is None:
            return None
        return cls.model_validate({"in": {run.signal_type: run.records_in}, "out": run.records_out})


class Shared(TypedDict):
    """What a run and its entry in a list show alike."""

    id: str
    status: Status
    success: bool | None
    configuration_id: str | None
    version_number: int | None
    signal_type: Signal
    target_pipeline: str
    duration_seconds: int
    collector_version: str
    trace: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    records: RecordsOut | None


def shared(run: Run | ListedRun) -> Shared:
    """The fields that a run and its entry in a list have in common."""
    return Shared(
        id=run.id,
        status=run.status,
        success=run.success,
        configuration_id=run.configuration_id,
        version_number=run.version_number,
        signal_type=run.signal_type,
        target_pipeline=run.target_pipeline,
        duration_seconds=run.duration_seconds,
        collector_version=run.collector_version,
        trace=run.trace,
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        records=RecordsOut.of(run),
    )


class RunOut(BaseModel):
    """A test run. `success` is null until the status is final; `validation_results` are there from then on.

    `records` are there once the collector has run for its duration; if nothing came out, `stderr` begins with a line
    that says so. The first line of a run in `Error` is its cause. `stderr` is the collector's standard error, errors
    and warnings first, without the resource in each line, stack traces and repetitions. `…/stderr` has the whole text.
    """

    id: str
    status: Status
    success: bool | None
    stderr: str
    validation_results: list[RuleResultOut] | None
    records: RecordsOut | None
    configuration_id: str | None
    version_number: int | None
    signal_type: Signal
    target_pipeline: str
    duration_seconds: int
    collector_version: str
    sample_format: Format | None
    sample_name: str | None
    feature_gates: list[str]
    trace: bool
    skip: list[str]
    attributes: dict[str, dict[str, Scalar]]
    env_names: list[str]
    output_pipelines: list[str]
    created_at: Time
    started_at: Time | None
    finished_at: Time | None

    @classmethod
    def of(cls, run: Run) -> Self:
        return cls(
            **shared(run),
            stderr=run.stderr,
            validation_results=[RuleResultOut.of(result) for result in run.results] if run.is_final else None,
            sample_format=run.sample_format,
            sample_name=run.sample_name,
            feature_gates=list(run.feature_gates),
            skip=list(run.skip),
            attributes={component: dict(values) for component, values in run.attributes.items()},
            env_names=list(run.env_names),
            output_pipelines=list(run.output_pipelines),
        )
