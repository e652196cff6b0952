"""Recording the steps of a traced run, and reading them.

The test runner leaves what the collector recorded as the file `steps`, which is not trusted. The checker makes the
document of it that is stored as `steps.json`.
"""

from collections.abc import Iterator
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, ValidationError

from headgate import checker
from headgate.checker import Asker, NoChecker, NotInstalled
from headgate.collectors import service as collectors
from headgate.foundation.caller import Caller
from headgate.foundation.errors import Unavailable
from headgate.runs import runner, service, store
from headgate.runs.model import OutputNotReady, Run, Untrusted
from headgate.runs.trace import LARGEST_DOCUMENT, LeftOut, RecordedStep, RunNotTraced, StepRecord, Trace
from headgate.storage import objects
from headgate.storage.page import Slice

DOCUMENT: Final = "steps.json"
_SECONDS: Final = 20.0
# A page ends after that many bytes, so that a few records with large bodies do not make it too large for an answer.
_PAGE_BYTES: Final = 1_000_000
_ENDED_BEFORE: Final = "the run ended before its steps were recorded"
_NO_STORAGE: Final = "the service's storage did not answer"


class _Answer(BaseModel):
    """The answer of the operation `steps`."""

    complete: bool
    left_out: LeftOut
    steps: list[RecordedStep]


def why_not(run: Run) -> str:
    """Why that run's collector cannot record steps; empty if it can. Raises Unavailable if it could not be asked."""
    version = run.collector_version
    try:
        if collectors.records_steps(version, asker=_asker(run)):
            return ""
    except NoChecker:
        return f"collector {version} is an official release, whose components cannot be observed"
    except NotInstalled:
        return f"collector {version} is not installed"
    return f"this build of collector {version} cannot record steps; build it again"


def note_unavailable(run: Run, reason: str) -> None:
    """Store why the run has no steps."""
    _store(run.id, Trace.unavailable(reason))


def record(run: Run) -> str:
    """Store the steps of a traced run of which the test runner has left its files.

    Returns why there are none, empty if there are. Nothing that fails here ends the run.
    """
    try:
        document = _of_files(run)
        if document is None:
            return ""
        _store(run.id, document)
    except (BotoCoreError, ClientError):
        return _NO_STORAGE
    return document.reason or ""


def trace(caller: Caller, run_id: str) -> Trace:
    """The steps of a run that has ended. Raises RunNotFound, RunNotTraced, OutputNotReady."""
    run = service.get(caller, run_id)
    if not run.trace:
        raise RunNotTraced
    if not run.is_final:
        raise OutputNotReady
    return _stored(run_id) or Trace.unavailable(_ENDED_BEFORE)


def step(
    caller: Caller, run_id: str, n: int, *, record: int | None, limit: int, after: str | None
) -> tuple[RecordedStep, Slice[StepRecord]]:
    """A step, and a page of its records: of all, or of one record of the sample.

    Raises RunNotFound, RunNotTraced, OutputNotReady, StepNotFound.
    """
    step = trace(caller, run_id).step(n)
    wanted = _wanted(step, record, int(after or 0))
    page: list[StepRecord] = []
    size, position = 0, None
    for at, entry in wanted:
        if len(page) == limit or size > _PAGE_BYTES:
            position = str(at)
            break
        page.append(entry)
        size += len(entry.model_dump_json())
    return step, Slice(page, position)


def link(run_id: str) -> str:
    """The URL of all the steps with their records, for an answer that is too large. To be asked after `trace`."""
    return store.link(run_id, DOCUMENT)


def _wanted(step: RecordedStep, record: int | None, start: int) -> Iterator[tuple[int, StepRecord]]:
    for at, entry in enumerate(step.records):
        if at >= start and (record is None or entry.is_of(record)):
            yield at, entry


def _of_files(run: Run) -> Trace | None:
    """None if it was noted when the run was prepared why it has no steps."""
    try:
        events = runner.steps(run)
    except Untrusted as lie:
        return Trace.unavailable(str(lie))
    if events is not None:
        return _document(run, events)
    return None if _stored(run.id) else Trace.unavailable(_ENDED_BEFORE)


def _document(run: Run, events: str) -> Trace:
    question = {"events": events, "yaml": store.file(run.id, "configuration.yaml") or ""}
    try:
        answer = checker.call("steps", question, asker=_asker(run), version=run.collector_version, timeout=_SECONDS)
        recorded = _Answer.model_validate(answer)
    except Unavailable as outage:
        return Trace.unavailable(outage.detail)
    except checker.Refused as refused:
        return Trace.unavailable(refused.message)
    except ValidationError:
        return Trace.unavailable("the checker's answer is not a list of steps")
    trace = Trace(available=True, complete=recorded.complete, left_out=recorded.left_out, items=recorded.steps)
    too_large = len(trace.model_dump_json()) > LARGEST_DOCUMENT
    return Trace.unavailable("the steps are too large") if too_large else trace


def _store(run_id: str, document: Trace) -> None:
    store.put_file(run_id, DOCUMENT, document.model_dump_json())


def _stored(run_id: str) -> Trace | None:
    try:
        text = store.file_if_there(run_id, DOCUMENT, LARGEST_DOCUMENT)
    except objects.TooLong:
        return None
    return None if text is None else Trace.model_validate_json(text)


def _asker(run: Run) -> Asker:
    """The run asks for itself, since the credential that started it may be deleted by now."""
    return Asker(run.organization_id, run.id)
