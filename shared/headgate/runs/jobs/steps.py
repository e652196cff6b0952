"""The tasks of the state machine for a job: prepare, evaluate, record, and what happens if one of them fails.

Between prepare and evaluate the test runner fetches `task.json` and `cases` of the job and leaves `results`.
"""

import json
import time
from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue, TypeAdapter

from headgate.checker import Asker
from headgate.events import service as events
from headgate.events.model import About
from headgate.foundation import clock, metrics
from headgate.runs import steps as run_steps
from headgate.runs import turns
from headgate.runs.jobs import kinds, runner, service, store
from headgate.runs.jobs.kinds import KINDS
from headgate.runs.jobs.model import MAX_REQUEST_BYTES, Job
from headgate.runs.model import Untrusted
from headgate.runs.steps import Collection, Evaluation, RunGone, Stage
from headgate.storage.table import Write
from headgate.version_tests import service as version_tests
from headgate.version_tests.model import Evidence
from headgate_engine.rules.engine import Prepared
from headgate_engine.testing.cases import Judge, Preparing, Ready
from headgate_engine.testing.model import MAX_CASES, MAX_RESULT_BYTES, Case, Unworkable, size_in_answer

# A step has 60 s, some of which the kind needs.
_PREPARING_SECONDS: Final = 40.0


_READY: Final = TypeAdapter(list[Ready])
_EVIDENCE: Final = TypeAdapter[Evidence | None](Evidence | None)


def prepare(job_id: str) -> Collection:
    """Write the cases for the test runner, and set the job to Running. Raises RunGone, Unworkable, Unavailable."""
    job = _unfinished(job_id)
    asker = _asker(job)
    cases = _cases(job, _request(job), asker)
    ready: list[Ready] = []
    to_run: list[tuple[Case, Prepared]] = []
    deadline = time.monotonic() + _PREPARING_SECONDS
    checks = Preparing(asker)
    for case in cases:
        if time.monotonic() > deadline:
            raise Unworkable(f"its {len(cases)} cases take too long to prepare; give it fewer, or smaller texts")
        found, prepared = checks.prepare(case)
        ready.append(found)
        if prepared is not None:
            to_run.append((case, prepared))
    store.put_file(job_id, "prepared.json", _READY.dump_json(ready).decode())
    task_url = runner.give(job, to_run)
    store.update(job.start(len(cases), clock.now()))
    return Collection(run_id=job_id, task_url=task_url)


def evaluate(job_id: str) -> Evaluation:
    """Evaluate the rules on the outputs, and store the job's result.

    The evaluation says only what is wrong with the test runner's results, if something is. Raises RunGone, Unworkable,
    Unavailable.
    """
    job = _unfinished(job_id)
    asker = _asker(job)
    request = _request(job)
    cases = _cases(job, request, asker)
    content = store.file(job_id, "prepared.json")
    ready = {one.id: one for one in _READY.validate_json(content or b"[]")}
    if set(ready) != {case.id for case in cases}:
        raise Unworkable("its cases were not the same when they were looked at again; start it again")
    ran = {case.id: (case.duration_seconds, ready[case.id].idle) for case in cases if not ready[case.id].reason}
    try:
        left = runner.results(job, ran)
    except Untrusted as lie:
        return Evaluation(fault=str(lie))
    judge = Judge(asker)
    results = [judge.result(case, ready[case.id], left.get(case.id)) for case in cases]
    document = KINDS[job.kind].conclude(job.started_at or job.created_at, request, results, asker)
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    if size_in_answer(text) > MAX_RESULT_BYTES:
        raise Unworkable(f"its result is over {MAX_RESULT_BYTES / 1e6} MB; give it fewer cases, or smaller samples")
    store.put_file(job_id, "result.json", text)
    # The request may be gone when the job ends.
    shown = kinds.evidence(job, request, document)
    store.put_file(job_id, "evidence.json", _EVIDENCE.dump_json(shown).decode())
    return Evaluation()


def record(job_id: str, evaluation: Evaluation) -> None:
    """End the job. Raises RunGone."""
    job, at = _unfinished(job_id), clock.now()
    if evaluation.fault:
        _end(job.fail(evaluation.fault, at))
    else:
        _end(job.complete(at), _EVIDENCE.validate_json(store.file(job_id, "evidence.json") or b"null"))


def fail(job_id: str, stage: Stage, error: str, at_fault: str | None) -> None:
    """End the job as Error, since a step failed. A job that has ended stays as it is.

    `error` is the state machine's name of the error. `at_fault` is a sentence about it, if the error is one of ours.
    """
    try:
        job = _unfinished(job_id)
    except RunGone:
        _make_room_after(job_id)
        return
    if error == Unworkable.__name__ and at_fault:
        _end(job.fail(at_fault, clock.now()))
        return
    metrics.count("RunStepsFailed")
    _end(job.fail(run_steps.why(stage, error, at_fault).replace("the run", "the job"), clock.now()))


def finish(job_id: str) -> None:
    """End a job as Error, since its execution ended without a result. A job that has ended stays as it is."""
    try:
        service.finish_lost(_unfinished(job_id))
    except RunGone:
        _make_room_after(job_id)


def _end(after: Job, evidence: Evidence | None = None) -> None:
    # Before it has ended: if this fails, the step is repeated.
    store.delete_asked(after)
    if evidence and after.configuration_id and after.version_number:
        # Both or none: a job in Error has shown nothing.
        version_tests.record(
            after.configuration_id,
            after.version_number,
            evidence,
            store.updating(after),
            store.AlreadyFinal(),
            _told(after, evidence),
        )
    else:
        store.update(after)
    service.count_outcome(after)
    turns.make_room(after.organization_id, after.id)


def _told(after: Job, evidence: Evidence) -> Sequence[Write]:
    """The event of a suite with tests that failed."""
    failed = sum(test.status != "Success" for test in evidence.tests)
    if not failed:
        return ()
    about = About(
        configuration_id=after.configuration_id,
        version_number=after.version_number,
        job_id=after.id,
        figures={"failed": failed, "tests": len(evidence.tests)},
    )
    return (events.write("test.failed", after.organization_id, about, evidence.finished_at),)


def _make_room_after(job_id: str) -> None:
    """For a job that has ended: the step that ended it may have failed before it made room."""
    job = store.job(job_id)
    if job is not None:
        turns.make_room(job.organization_id, job_id)


def _asker(job: Job) -> Asker:
    """The job asks for itself, since the credential that started it may be deleted by now."""
    return Asker(job.organization_id, job.id)


def _unfinished(job_id: str) -> Job:
    job = store.job(job_id)
    if job is None or job.is_final:
        raise RunGone
    return job


def _request(job: Job) -> JsonValue:
    content = store.asked(job, store.REQUEST, MAX_REQUEST_BYTES)
    if content is None:
        raise RunGone
    request: JsonValue = json.loads(content)
    return request


def _cases(job: Job, request: JsonValue, asker: Asker) -> Sequence[Case]:
    cases = KINDS[job.kind].cases(request, asker)
    if len(cases) > MAX_CASES:
        raise Unworkable(f"it would have {len(cases)} cases, and may have {MAX_CASES}")
    if len({case.id for case in cases}) != len(cases):
        raise ValueError("two cases of a job have the same id")
    return cases
