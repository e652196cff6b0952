"""Reading the steps of a traced run."""

import json
from typing import Final

from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.foundation.page import Slice
from headgate.runs import files, service
from headgate.runs.model import OutputNotReady
from headgate.runs.tracing import DOCUMENT
from headgate_engine.testing.trace import (
    ENDED_BEFORE,
    LARGEST_DOCUMENT,
    RecordedTrace,
    Records,
    Step,
    StepRecord,
    Trace,
    of_record,
)

# A page ends after that many bytes, so that a few records with large bodies do not make it too large for an answer.
_PAGE_BYTES: Final = 1_000_000


class RunNotTraced(errors.NotFound):
    """The run was started without `trace`."""

    code = "run_not_traced"
    detail = "This test run was not traced"


class StepNotFound(errors.NotFound):
    """The run has fewer steps, or its steps are not available."""

    code = "step_not_found"

    def __init__(self, trace: Trace) -> None:
        steps = f"No such step; this run has {len(trace.items)}"
        super().__init__(steps if trace.available else f"The steps of this run are not available: {trace.reason}")


def trace(caller: Caller, run_id: str) -> Trace:
    """The steps of a run that has ended. Raises RunNotFound, RunNotTraced, OutputNotReady."""
    return _read(caller, run_id)[0]


def step(
    caller: Caller, run_id: str, n: int, *, record: int | None, limit: int, after: str | None
) -> tuple[Step, Slice[StepRecord]]:
    """A step, and a page of its records: of all, or of one record of the sample.

    Raises RunNotFound, RunNotTraced, OutputNotReady, StepNotFound.
    """
    trace, records = _read(caller, run_id)
    step = trace.step(n)
    if step is None:
        raise StepNotFound(trace)
    page: list[StepRecord] = []
    size = 0
    for at, entry in of_record(records[n], record, int(after or 0)):
        if len(page) == limit or size > _PAGE_BYTES:
            return step, Slice(page, str(at))
        page.append(StepRecord.model_validate(entry))
        size += len(page[-1].model_dump_json())
    return step, Slice(page, None)


def link(run_id: str) -> str:
    """The URL of all the steps with their records, for an answer that is too large. To be asked after `trace`."""
    return files.link(run_id, DOCUMENT)


def _read(caller: Caller, run_id: str) -> tuple[Trace, Records]:
    """The steps, and the records of each, by its number, as they are stored: a page needs a few of many."""
    run = service.get(caller, run_id)
    if not run.trace:
        raise RunNotTraced
    if not run.is_final:
        raise OutputNotReady
    text = files.text_if_there(run_id, DOCUMENT, LARGEST_DOCUMENT)
    if text is None:
        return RecordedTrace.unavailable(ENDED_BEFORE), {}
    document = json.loads(text)
    return Trace.model_validate(document), {step["n"]: step["records"] for step in document["items"]}
