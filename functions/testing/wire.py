"""Requests and answers of the testing endpoints and of those of saved rules."""

from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    model_validator,
)

from headgate.http.wire import Answer, ConfigurationId, Together, at
from headgate.runs.model import ListedRun, Run
from headgate.runs.service import Start, StoredVersion
from headgate_engine.collector import Signal
from headgate_engine.rules.model import MAX_RULES, Context, Expect, Rule
from headgate_engine.wire.inputs import Input, Name, Yaml
from headgate_engine.wire.runs import RecordsOut, RuleResultOut, RunOut
from headgate_engine.wire.tests import RuleIn, Rules, RunFields, distinct


class SaveRules(Input):
    signal_type: Signal
    rules: Rules
    name: Name | None = None

    def as_rules(self) -> list[Rule]:
        return [rule.rule(self.signal_type) for rule in self.rules]


class SaveRulesByHand(SaveRules):
    """An empty list removes the rules that were added by hand."""

    rules: Annotated[list[RuleIn], Field(max_length=MAX_RULES), AfterValidator(distinct)]


class StoredRuleOut(Answer):
    id: str
    api_owned: bool
    name: Annotated[str, at("rule", "name")]
    context: Annotated[Context, at("rule", "context")]
    condition: Annotated[str, at("rule", "condition")]
    expect: Annotated[Expect, at("rule", "expect")]
    min: Annotated[int | None, at("rule", "min")]
    max: Annotated[int | None, at("rule", "max")]


class RuleSetOut(Answer):
    """The rules of one pipeline."""

    pipeline: str
    name: str
    signal_type: Signal
    rules: list[StoredRuleOut]


class RuleSets(BaseModel):
    """The rules of a version, by pipeline."""

    items: list[RuleSetOut]


class VersionOrText(Input):
    """A stored version, or a text."""

    configuration_id: ConfigurationId | None = None
    version_number: Annotated[int, Field(ge=1)] | None = None
    yaml: Yaml | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.configuration_id is None) != (self.version_number is None):
            raise ValueError("`configuration_id` and `version_number` go together")
        if self.is_stored == (self.yaml is not None):
            raise ValueError("Either `configuration_id` with `version_number` is needed, or `yaml`")
        return self

    @property
    def is_stored(self) -> bool:
        return self.configuration_id is not None or self.version_number is not None


class StartRun(VersionOrText, RunFields):
    """Either `configuration_id` with `version_number`, or `yaml`; `rules` or `use_saved_rules` or neither."""

    collector_distribution: str | None = None
    use_saved_rules: bool = False

    @model_validator(mode="after")
    def _one_source_of_rules(self) -> Self:
        if self.use_saved_rules and self.rules is not None:
            raise ValueError("`rules` and `use_saved_rules` exclude each other")
        if self.use_saved_rules and not self.is_stored:
            raise ValueError(
                "`use_saved_rules` needs `configuration_id` and `version_number`; a text has no saved rules"
            )
        return self

    def as_start(self) -> Start:
        source: StoredVersion | str = self.yaml or ""
        if self.configuration_id is not None and self.version_number is not None:
            source = StoredVersion(self.configuration_id, self.version_number)
        return Start(
            source=source,
            sample=self.as_sample(),
            signal_type=self.signal_type,
            target_pipeline=self.target_pipeline,
            duration_seconds=self.duration_seconds,
            collector_version=self.collector_version,
            collector_distribution=self.collector_distribution,
            rules=self.as_rules(),
            use_saved_rules=self.use_saved_rules,
            feature_gates=self.feature_gates,
            trace=self.trace,
            stand_ins=self.stand_ins,
        )


def records(run: Run | ListedRun) -> RecordsOut | None:
    """The records of a run, once they are counted."""
    return RecordsOut.of(run.signal_type, run.records_in, run.records_out)


def run_out(run: Run) -> RunOut:
    """A test run, as an answer has it."""
    results = [RuleResultOut.of(result.rule, result, api_owned=result.api_owned) for result in run.results]
    shown = Together(run, records=records(run), validation_results=results if run.is_final else None, **run.recorded())
    return RunOut.model_validate(shown, from_attributes=True)
