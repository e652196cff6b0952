"""Recording the steps of a traced run, and reading them.

The test runner leaves what the collector recorded as the file `steps`, which is not trusted. The checker makes the
document of it that is stored as `steps.json`.
"""

import json
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from headgate.checker import Asker, NoChecker, NotInstalled
from headgate.foundation.caller import Caller
from headgate.runs import runner, service, store
from headgate.runs.model import OutputNotReady, Run, Untrusted
from headgate.runs.trace import RunNotTraced, StepNotFound
from headgate.storage.page import Slice
from headgate_engine.collectors import service as collectors
from headgate_engine.testing.trace import (
    ENDED_BEFORE,
    LARGEST_DOCUMENT,
    RecordedTrace,
    Records,
    Step,
    StepRecord,
    Trace,
    of_record,
    recorded,
)

DOCUMENT: Final = "steps.json"
# A page ends after that many bytes, so that a few records with large bodies do not make it too large for an answer.
_PAGE_BYTES: Final = 1_000_000
_NO_STORAGE: Final = "the service's storage did not answer"


def why_not(run: Run) -> str:
    """Why that run's collector cannot record steps; empty if it can. Raises Unavailable if it could not be asked."""
    version = run.collector_version
    try:
        if collectors.records_steps(version, asker=_asker(run)):
            return ""
    except NoChecker:
        return f"collector {version} is an official release, whose components cannot be observed"
    except NotInstalled as error:
        return f"collector {version} is not installed; installed: {', '.join(error.installed) or 'none'}"
    return f"this build of collector {version} cannot record steps; build it again"


def note_unavailable(run: Run, reason: str) -> None:
    """Store why the run has no steps."""
    _store(run.id, RecordedTrace.unavailable(reason))


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
    return store.link(run_id, DOCUMENT)


def _read(caller: Caller, run_id: str) -> tuple[Trace, Records]:
    """The steps, and the records of each, by its number, as they are stored: a page needs a few of many."""
    run = service.get(caller, run_id)
    if not run.trace:
        raise RunNotTraced
    if not run.is_final:
        raise OutputNotReady
    text = store.file_if_there(run_id, DOCUMENT, LARGEST_DOCUMENT)
    if text is None:
        return RecordedTrace.unavailable(ENDED_BEFORE), {}
    document = json.loads(text)
    return Trace.model_validate(document), {step["n"]: step["records"] for step in document["items"]}


def _of_files(run: Run) -> RecordedTrace | None:
    """None if it was noted when the run was prepared why it has no steps."""
    try:
        events = runner.steps(run)
    except Untrusted as lie:
        return RecordedTrace.unavailable(str(lie))
    if events is not None:
        yaml = store.file(run.id, "configuration.yaml") or ""
        return recorded(events, yaml, asker=_asker(run), version=run.collector_version)
    noted = store.file_size(run.id, DOCUMENT) > 0
    return None if noted else RecordedTrace.unavailable(ENDED_BEFORE)


def _store(run_id: str, document: RecordedTrace) -> None:
    store.put_file(run_id, DOCUMENT, document.model_dump_json())


def _asker(run: Run) -> Asker:
    """The run asks for itself, since the credential that started it may be deleted by now."""
    return Asker(run.organization_id, run.id)
