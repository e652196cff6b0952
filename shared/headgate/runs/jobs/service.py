"""Starting jobs, and reading their results."""

import json
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import JsonValue

from headgate.foundation import clock, errors, metrics
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.runs import service as runs
from headgate.runs import turns
from headgate.runs.jobs import store
from headgate.runs.jobs.model import MAX_REQUEST_BYTES, Job, JobNotFound, JobTooLarge, Kind
from headgate_engine.testing.model import MAX_RESULT_BYTES

# Where a kind's jobs are in the API, below `/testing/`.
PATHS: Final[dict[Kind, str]] = {"suite": "suites", "comparison": "comparisons", "coverage": "coverage"}


class ResultGone(errors.Unavailable):
    """The job is Done, and its result cannot be read."""

    code = "result_gone"

    def __init__(self) -> None:
        super().__init__("The job's result cannot be read; start the job again")


def path(job: Job) -> str:
    """Where the API has the job, below its root."""
    return f"/testing/{PATHS[job.kind]}/{job.id}"


def require_room(caller: Caller) -> None:
    """For a request that costs something before it starts a job. Raises TestingNotSetUp, TooManyRuns; one read."""
    if not settings().test_runs:
        raise runs.TestingNotSetUp
    turns.require_room(caller.organization_id)


def start(
    caller: Caller,
    kind: Kind,
    request: JsonValue,
    *,
    published: bool,
    secret: bool = False,
    configuration_id: str | None = None,
    version_number: int | None = None,
) -> Job:
    """Start a job, which is Queued then. Its request holds all that it needs: nobody's rights are asked for later.

    `published` if it is about published versions only, `secret` if the request has values of variables. Raises
    JobTooLarge; TooManyRuns; TestingNotSetUp; and TestingUnavailable, when nothing was started and no job exists.
    """
    require_room(caller)
    content = json.dumps(request, ensure_ascii=False, separators=(",", ":"))
    if len(content.encode()) > MAX_REQUEST_BYTES:
        raise JobTooLarge
    at = clock.now()
    job = Job(
        id=new_id("job", at),
        organization_id=caller.organization_id,
        created_by=caller.principal,
        published=published,
        secret=secret,
        kind=kind,
        status="Queued",
        configuration_id=configuration_id,
        version_number=version_number,
        created_at=at,
    )
    # The file comes first, since the execution reads it, and the job before its turn, which changes it.
    try:
        store.put_asked(job, store.REQUEST, content)
        store.create(job, path(job))
        turns.enter(job)
    except (BotoCoreError, ClientError) as error:
        _forget(job)
        raise runs.TestingUnavailable from error
    except errors.HeadgateError:
        _forget(job)
        raise
    return job


def get(caller: Caller, job_id: str, kind: Kind) -> Job:
    """A job; one read. On the way, one that has waited long is begun if it can be, and one that is lost ends as Error.

    Raises JobNotFound.
    """
    at = clock.now()
    job = store.job(job_id)
    if job is None or job.kind != kind or not job.visible_to(caller, at):
        raise JobNotFound
    lost = job.is_lost(at) or (job.has_waited(at) and not turns.advance(job))
    return finish_lost(job) if lost else job


def result(job: Job) -> JsonValue:
    """What came of a job; None until it is Done, and if it is in Error. One read. Raises ResultGone."""
    if job.status != "Done":
        return None
    content = store.file(job.id, "result.json", MAX_RESULT_BYTES)
    if content is None:
        raise ResultGone
    document: JsonValue = json.loads(content)
    return document


def finish_lost(lost: Job) -> Job:
    """End a job as Error, since its execution is gone. Returns it as it is then."""
    ended = _end_lost(lost)
    turns.make_room(lost.organization_id, lost.id)
    return ended


def finish_unfinished() -> int:
    """End every job and every run that had begun as Error, and begin those that waited, in order. How many ended.

    For the start of a service whose executions do not survive it.
    """
    unfinished = list(store.unfinished())
    begun = [job for job in unfinished if not turns.waits(job)]
    for job in begun:
        _end_lost(job)
    # What begins from here on is not lost.
    ended = runs.finish_unfinished()
    for job in unfinished:
        turns.make_room(job.organization_id, *(one.id for one in begun))
    return ended + len(begun)


def count_outcome(ended: Job) -> None:
    """Count a job that has just ended with the runs, for the metrics."""
    metrics.count("RunsSuccess" if ended.status == "Done" else "RunsError")


def _end_lost(lost: Job) -> Job:
    store.delete_asked(lost)
    ended = lost.fail("The job was interrupted: its execution did not come to an end", clock.now())
    try:
        store.update(ended)
    except store.AlreadyFinal:
        return store.job(lost.id) or ended
    count_outcome(ended)
    return ended


def _forget(job: Job) -> None:
    """What cannot be removed just now ends as Error when it is next read, and expires."""
    try:
        store.delete(job.id)
        store.delete_request(job)
        turns.make_room(job.organization_id, job.id)
    except (BotoCoreError, ClientError, errors.Contention):
        return
