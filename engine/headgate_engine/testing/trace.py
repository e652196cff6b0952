"""What a traced run recorded: each step of its pipelines, and what it did to each record.

The operation `steps` of the checker makes the document (layers/collector/internal/steps/document.go); nothing here
reads a meaning into it.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, JsonValue

from headgate_engine.collector import Signal

LARGEST_DOCUMENT: Final = 8 << 20
"""In bytes. The operation answers at most half of it."""

Count = Annotated[int, Field(ge=0)]
Position = Annotated[int | None, Field(ge=1)]
Kind = Literal["receiver", "processor", "connector", "exporter"]
Outcome = Literal["unchanged", "changed", "dropped", "created", "split", "merged"]


class LeftOut(BaseModel):
    """What a trace does not have: the oldest records, and bytes."""

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
    """What changed or dropped a record: one of a statement, a condition and a component, and where it is."""

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
    """What a step did to one record.

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
        for step in self.items:
            if step.n == n:
                return step
        return None


class RecordedTrace(Trace):
    """All steps with all records, as they are stored."""

    items: Sequence[RecordedStep] = ()

    @classmethod
    def unavailable(cls, reason: str) -> "RecordedTrace":
        return cls(available=False, reason=reason)
