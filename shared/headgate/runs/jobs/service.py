"""Starting jobs, and reading their results."""

import json
from typing import Final

from pydantic import JsonValue

from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.runs import files, turns
from headgate.runs import service as runs
from headgate.runs.jobs import store
from headgate.runs.jobs.model import MAX_REQUEST_BYTES, Job, JobNotFound, JobTooLarge, Kind
from headgate.runs.lifecycle import Lifecycle
from headgate.runs.suites.service import Selection
from headgate_engine.testing.model import MAX_RESULT_BYTES

REQUEST: Final = "request.json"
RESULT: Final = "result.json"
# Where a kind's jobs are in the API, below `/testing/`.
PATHS: Final[dict[Kind, str]] = {"suite": "suites", "comparison": "comparisons", "coverage": "coverage"}


class ResultGone(errors.Unavailable):
    """The job is Done, and its result cannot be read."""

    code = "result_gone"
    detail = "The job's result cannot be read; start the job again"


JOBS: Final[Lifecycle[Job]] = Lifecycle("job", store, (REQUEST,))


def path(job: Job) -> str:
    """The path of the job in the API, below its root."""
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

    def store_it() -> None:
        # The file comes first, since the execution reads it, and the job before its turn, which changes it.
        files.put_input(job, REQUEST, content)
        store.create(job, path(job))

    JOBS.launch(job, store_it)
    return job


def start_tests(caller: Caller, kind: Kind, request: JsonValue, chosen: Selection) -> Job:
    """Start a job of chosen tests. Raises what `start` does."""
    return start(
        caller,
        kind,
        request,
        published=chosen.published,
        configuration_id=chosen.configuration_id,
        version_number=chosen.n,
        secret=any(test.stand_ins.env for _, test in chosen.tests),
    )


def get(caller: Caller, job_id: str, kind: Kind) -> Job:
    """A job; one read. On the way, one that has waited long is begun if it can be, and one that is lost ends as Error.

    Raises JobNotFound.
    """
    job = JOBS.seen(caller, job_id, clock.now())
    if job is None or job.kind != kind:
        raise JobNotFound
    return job


def result(job: Job) -> JsonValue:
    """Returns the result of a job, None unless it is Done. One read. Raises ResultGone."""
    if job.status != "Done":
        return None
    content = files.read(job.id, RESULT, MAX_RESULT_BYTES)
    if content is None:
        raise ResultGone
    document: JsonValue = json.loads(content)
    return document


def finish_unfinished() -> int:
    """End every job and every run that had begun as Error, and begin those that waited, in order. How many ended.

    For the start of a service whose executions do not survive it.
    """
    ended, organizations = set[str](), set[str]()
    for of_unfinished, begun in (JOBS.interrupt_begun(), runs.RUNS.interrupt_begun()):
        organizations |= of_unfinished
        ended |= begun
    # What begins from here on is not lost.
    for organization_id in organizations:
        turns.make_room(organization_id, *ended)
    return len(ended)
