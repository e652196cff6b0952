"""A test run, as an answer has it."""

from collections.abc import Mapping, Sequence
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from headgate_engine.collector import Signal
from headgate_engine.rules.engine import ComponentError, Format, RunNote
from headgate_engine.testing.suite_result import RuleOutcome
from headgate_engine.wire.stand_ins import ShownStandIns
from headgate_engine.wire.times import Time

Status = Literal["Queued", "Running", "Success", "Fail", "Error"]


class RuleResultOut(RuleOutcome):
    """The result of one rule. `message` says what was seen: `0 of 14 log records matched; expected at least 1`."""

    api_owned: bool


class RecordsOut(BaseModel):
    """Log records, spans, data points and samples of profiles by signal.

    `in` is the sample's (of text, its lines), `out` what came out.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    in_: dict[Signal, int] = Field(alias="in")
    out: dict[Signal, int]

    @classmethod
    def of(cls, signal: Signal, records_in: int | None, records_out: Mapping[Signal, int] | None) -> Self | None:
        """None if they were not counted."""
        if records_in is None or records_out is None:
            return None
        return cls.model_validate({"in": {signal: records_in}, "out": records_out})


class RunOut(ShownStandIns):
    """A test run. `success` is null until the status is final; `validation_results` are there from then on.

    `records` are there once the collector has run for its duration; if nothing came out, `stderr` begins with a line
    that says so. The first line of a run in `Error` is its cause. `stderr` is the collector's standard error, errors
    and warnings first, without the resource in each line, stack traces and repetitions. `…/stderr` has the whole text.
    `component_errors` are the errors in it by component, also of a run that is a Success, and `notes` those of this
    service.
    """

    id: str
    status: Status
    success: bool | None
    stderr: str
    component_errors: Sequence[ComponentError]
    notes: Sequence[RunNote]
    validation_results: Sequence[RuleResultOut] | None
    records: RecordsOut | None
    configuration_id: str | None
    version_number: int | None
    signal_type: Signal
    target_pipeline: str
    duration_seconds: int
    collector_version: str
    sample_format: Format | None
    sample_name: str | None
    feature_gates: Sequence[str]
    trace: bool
    env_names: Sequence[str]
    created_at: Time
    started_at: Time | None
    finished_at: Time | None
