"""The trace of a run: each step of its pipelines, and the step's effect on each record.

The operation `steps` of the checker makes the document (layers/collector/internal/steps/document.go); nothing here
reads a meaning into it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, Field, JsonValue, ValidationError, field_validator
from pydantic_core import PydanticSerializationError

from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import Refused
from headgate_engine.collector import Signal
from headgate_engine.errors import Unavailable

ENDED_BEFORE: Final = "the run ended before its steps were recorded"
"""The reason why a run whose collector was not started, or did not get far, has no steps."""
LARGEST_DOCUMENT: Final = 8 << 20
"""In bytes. The operation answers at most half of it."""
_SECONDS: Final = 20.0

Count = Annotated[int, Field(ge=0)]
Position = Annotated[int | None, Field(ge=1)]
Kind = Literal["receiver", "processor", "connector", "exporter"]
Outcome = Literal["unchanged", "changed", "dropped", "created", "split", "merged"]


class LeftOut(BaseModel):
    """The parts that a trace left out: the oldest records, and bytes."""

    records: Count = 0
    bytes: Count = 0


class Failure(BaseModel):
    """An error, and how often it came."""

    message: str
    count: Count


class Statement(BaseModel):
    """An OTTL statement or condition of a component. It has no line if it was not found in the configuration.

    `evaluated` counts how often it was tried, `matched` how often its condition held; `changed` and `dropped` count
    records.
    """

    kind: Literal["statement", "condition"]
    text: str
    path: str
    line: Position
    column: Position
    context: str
    evaluated: Count
    matched: Count
    changed: Count
    dropped: Count
    errors: list[Failure]


class Reason(BaseModel):
    """The cause of a change or a drop: a statement, a condition or a component, and its place."""

    statement: str | None = None
    condition: str | None = None
    component: str | None = None
    path: str
    line: Position
    column: Position


class FieldChange(BaseModel):
    """A field before and after a step; null where it is not there. A long value is a text that ends with `…`."""

    path: str
    change: Literal["added", "removed", "changed"]
    before: JsonValue
    after: JsonValue
    by: Reason | None


class StepRecord(BaseModel):
    """The effect of a step on one record.

    `record` is its number in the sample, from 1, and null for one that was created; `records` are those of all that it
    was made of. `outputs` is how many records came out for it.
    """

    record: int | None
    records: list[int]
    outcome: Outcome
    outputs: Count
    name: str
    by: list[Reason]
    fields: list[FieldChange]
    fields_left_out: Count


class Step(BaseModel):
    """A component of a pipeline, and what the records went through there: log records, spans and data points.

    `feeds` are the pipelines that a connector feeds. `replaces` are the components that the sample or the recorder
    stands for. `exact` is false where records are matched by what they contain, because the component keeps them for a
    time or puts new ones in their place. `left_out` is how many of its records, or details of records, are not told.
    """

    n: Annotated[int, Field(ge=1)]
    pipeline: str
    feeds: list[str]
    kind: Kind
    component: str
    replaces: list[str]
    signal: Signal
    out_signal: Signal
    exact: bool
    records_in: Count
    records_out: Count
    unchanged: Count
    changed: Count
    dropped: Count
    created: Count
    split: Count
    merged: Count
    errors: list[Failure]
    statements: list[Statement]
    left_out: Count


class RecordedStep(Step):
    """A step with its records: what went in, in that order, then what was created."""

    records: list[StepRecord]


class Trace(BaseModel):
    """All steps of a run, in the order of the pipelines. Without `available`, `reason` says why there are none."""

    available: bool
    reason: str | None = None
    complete: bool = False
    left_out: LeftOut = LeftOut()
    items: Sequence[Step] = ()

    def step(self, n: int) -> Step | None:
        """The step with that number; None if the run has fewer, or its steps are not available."""
        return next((step for step in self.items if step.n == n), None)


class RecordedTrace(Trace):
    """All steps with all records, as they are stored."""

    items: Sequence[RecordedStep] = ()

    @classmethod
    def unavailable(cls, reason: str) -> "RecordedTrace":
        return cls(available=False, reason=reason)


Records: TypeAlias = Mapping[int, Sequence[Mapping[str, JsonValue]]]
"""The records of steps, by the step's number, as they are stored."""


class _Answer(BaseModel):
    """The answer of the operation `steps`."""

    complete: bool
    left_out: LeftOut
    steps: list[RecordedStep]

    @field_validator("steps")
    @classmethod
    def _numbered(cls, steps: list[RecordedStep]) -> list[RecordedStep]:
        if any(step.n != place for place, step in enumerate(steps, 1)):
            raise ValueError("the steps count from 1")
        return steps

    def trace(self) -> RecordedTrace:
        return RecordedTrace(available=True, complete=self.complete, left_out=self.left_out, items=self.steps)


def recorded(events: str, yaml: str, *, asker: Asker, version: str) -> RecordedTrace:
    """The steps of what a collector recorded; or why there are none, which does not fail the run."""
    try:
        answer = asker.ask("steps", {"events": events, "yaml": yaml}, version=version, timeout=_SECONDS)
        trace = _Answer.model_validate(answer).trace()
        too_large = len(trace.model_dump_json()) > LARGEST_DOCUMENT
    except Unavailable as outage:
        return RecordedTrace.unavailable(outage.detail)
    except Refused as refused:
        return RecordedTrace.unavailable(refused.message)
    except (ValidationError, PydanticSerializationError):
        # The latter for half a character, which has no UTF-8.
        return RecordedTrace.unavailable("the checker's answer is not a list of steps")
    return RecordedTrace.unavailable("the steps are too large") if too_large else trace


def of_record(
    records: Sequence[Mapping[str, JsonValue]], record: int | None, start: int
) -> Iterator[tuple[int, Mapping[str, JsonValue]]]:
    """From a position on, those that are that record of the sample or were made of it; all without one."""
    for at, entry in enumerate(records[start:], start):
        made_of = entry["records"]
        if record in (None, entry["record"]) or (isinstance(made_of, list) and record in made_of):
            yield at, entry
