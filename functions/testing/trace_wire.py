"""Answers of the endpoints of a run's steps."""

from collections.abc import Callable
from typing import Annotated, Final, Self

from fastapi import Path, Query, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, BeforeValidator

from headgate.foundation.page import Slice
from headgate.http.pagination import PageRequest
from headgate.http.parameters import AtLeastOne, whole_number
from headgate.http.wire import Answer
from headgate.runs.service import LARGEST_ANSWER
from headgate_engine.testing.trace import LeftOut, Step, StepRecord

StepNumber = Annotated[AtLeastOne, BeforeValidator(whole_number), Path()]
RecordNumber = Annotated[
    AtLeastOne | None,
    BeforeValidator(whole_number),
    Query(description="The number of a record in the sample, from 1; only what became of it"),
]
LARGE: Final[dict[int | str, dict[str, object]]] = {
    307: {
        "description": "The answer would be too large; at `Location` are all steps with their records, for some minutes"
    }
}


class StepsOut(Answer):
    """The steps of a traced run, in the order of the pipeline.

    If they are not `available`, `reason` says why. If they are not `complete`, `left_out` says how many records were
    over the limits.
    """

    available: bool
    reason: str | None
    complete: bool
    left_out: LeftOut
    items: list[Step]


class StepOut(Step):
    """A step and a page of its records."""

    records: list[StepRecord]
    next_cursor: str | None

    @classmethod
    def of(cls, step: Step, records: Slice[StepRecord], paging: PageRequest) -> Self:
        return cls(
            **{name: getattr(step, name) for name in Step.model_fields},
            records=list(records.entries),
            next_cursor=paging.cursor(records),
        )


def answer(model: BaseModel, link: Callable[[], str]) -> Response:
    """The model as JSON, or a redirect to the link if that is too large for a function's answer."""
    content = model.model_dump_json().encode()
    if len(content) > LARGEST_ANSWER:
        return RedirectResponse(link())
    return Response(content, media_type="application/json")
