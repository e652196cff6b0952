"""The tasks of the state machine for a job: prepare, evaluate, record, and what happens if one of them fails.

Between prepare and evaluate the test runner fetches `task.json` and `cases` of the job and leaves `results`.
"""

import json
import time
from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, JsonValue, TypeAdapter

from headgate.checker import Asker
from headgate.events import service as events
from headgate.events.model import About
from headgate.foundation import clock, errors
from headgate.jobs import kinds, runner, service, store
from headgate.jobs.kinds import KINDS
from headgate.jobs.model import MAX_REQUEST_BYTES, Job
from headgate.jobs.runner import Left
from headgate.observability import metrics
from headgate.runs import service as runs
from headgate.runs import steps as run_steps
from headgate.runs import turns
from headgate.runs.model import Untrusted
from headgate.runs.steps import Collection, Evaluation, RunGone, Stage
from headgate.storage.table import Write
from headgate.version_tests import service as version_tests
from headgate.version_tests.model import Evidence
from headgate_engine.collector import Signal
from headgate_engine.rules import engine
from headgate_engine.rules.engine import Prepared, Results
from headgate_engine.testing import notes
from headgate_engine.testing.model import MAX_CASES, MAX_RESULT_BYTES, Case, CaseResult, Unworkable
from headgate_engine.testing.outcome import NEVER_EXECUTED
from headgate_engine.validation.model import ComponentNotInBuild

# A step has 60 s, some of which the kind needs.
_PREPARING_SECONDS: Final = 40.0
_JUDGING_SECONDS: Final = 40.0
_LARGEST_NOTES: Final = 64_000


class _Ready(BaseModel):
    """What `prepare` found of one case, for `evaluate`. It is refused if there is a reason."""

    id: str
    reason: str = ""
    field: str = ""
    line: int | None = None
    signals: list[Signal] = []
    records: int | None = None
    notes: str = ""
    nothing_out: str = ""
    idle: bool = False


_READY: Final = TypeAdapter(list[_Ready])
_EVIDENCE: Final = TypeAdapter[Evidence | None](Evidence | None)


def prepare(job_id: str) -> Collection:
    """Write the cases for the test runner, and set the job to Running. Raises RunGone, Unworkable, Unavailable."""
    job = _unfinished(job_id)
    asker = _asker(job)
    cases = _cases(job, _request(job), asker)
    ready: list[_Ready] = []
    to_run: list[tuple[Case, Prepared]] = []
    deadline = time.monotonic() + _PREPARING_SECONDS
    checks = _Checks(asker)
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
    judge = _Judge(asker)
    results = [judge.result(case, ready[case.id], left.get(case.id)) for case in cases]
    document = KINDS[job.kind].conclude(job.started_at or job.created_at, request, results, asker)
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    if len(text.encode()) > MAX_RESULT_BYTES:
        raise Unworkable(f"its result is over {MAX_RESULT_BYTES >> 20} MB; give it fewer cases, or smaller samples")
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


class _Checks:
    """Makes cases ready. What several cases have in common is asked once."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._not_installed: dict[str, str | None] = {}
        self._compiled: dict[tuple[object, ...], str] = {}

    def prepare(self, case: Case) -> tuple[_Ready, Prepared | None]:
        """What there is to know of a case before it runs; nothing to run if it is refused. Raises Unavailable."""
        version = case.collector_version
        if version not in self._not_installed:
            self._not_installed[version] = runs.not_installed(version, self._asker)
        if absent := self._not_installed[version]:
            return _Ready(id=case.id, reason=absent, field="collector_version"), None
        try:
            prepared = engine.prepare(
                case.yaml,
                case.target_pipeline,
                case.signal_type,
                case.sample,
                asker=self._asker,
                version=version,
                duration_seconds=case.duration_seconds,
                feature_gates=case.feature_gates,
                stand_ins=case.stand_ins,
            )
        except engine.Unpreparable as problem:
            return _Ready(id=case.id, reason=problem.message, field=problem.field, line=problem.line), None
        except engine.RunRefused as refused:
            return _Ready(id=case.id, reason=refused.reason, field="yaml"), None
        except (errors.Invalid, ComponentNotInBuild) as refused:
            return _Ready(id=case.id, reason=refused.detail, field="yaml"), None
        if mistake := self._mistake_in_rules(case, prepared):
            return _Ready(id=case.id, reason=mistake, field="rules"), None
        found = _Ready(
            id=case.id,
            signals=prepared.signals,
            records=prepared.records,
            notes="".join(map(notes.note, prepared.notes))[:_LARGEST_NOTES],
            nothing_out=prepared.nothing_out,
            idle=prepared.idle_milliseconds > 0,
        )
        return found, prepared

    def _mistake_in_rules(self, case: Case, prepared: Prepared) -> str:
        key = (case.collector_version, tuple(prepared.signals), case.rules)
        if key not in self._compiled:
            try:
                engine.require_compilable(
                    prepared.signals, case.rules, asker=self._asker, version=case.collector_version
                )
                self._compiled[key] = ""
            except errors.Invalid as refused:
                self._compiled[key] = refused.detail
        return self._compiled[key]


class _Judge:
    """Evaluates the rules of cases. Cases with the same output and rules are evaluated once."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._deadline = time.monotonic() + _JUDGING_SECONDS
        self._known: dict[tuple[object, ...], Results] = {}

    def result(self, case: Case, ready: _Ready, left: Left | None) -> CaseResult:
        """What came of a case; `left` is None if it did not run. Raises Unworkable, Unavailable."""
        signals = tuple(ready.signals)
        if left is None:
            said = NEVER_EXECUTED + ready.reason
            return CaseResult(case, "refused", ready.reason, ready.field, ready.line, stderr=said)
        outcome, written = left.outcome, left.stderr
        if written and not written.endswith("\n"):
            written += "\n"
        found = self._evaluated(case, ready, left.output) if case.judged and outcome.ran else None
        told = notes.told(
            outcome,
            written,
            ready.notes,
            asker=self._asker,
            nothing_out=ready.nothing_out,
            records=None if found is None else found.records,
            rules=case.rules,
            verdicts=() if found is None else found.verdicts,
        )
        return CaseResult(
            case,
            "ran" if outcome.ran else "error",
            "" if outcome.ran else outcome.why,
            signals=signals,
            records_in=ready.records,
            records_out=None if found is None else found.records,
            verdicts=() if found is None else tuple(found.verdicts),
            output=left.output,
            stderr=told,
            log=written,
            seconds=left.seconds,
        )

    def _evaluated(self, case: Case, ready: _Ready, output: str) -> Results:
        if time.monotonic() > self._deadline:
            raise Unworkable("its rules take too long; give it fewer cases, or smaller samples")
        key = (case.collector_version, tuple(ready.signals), case.rules, output)
        if key not in self._known:
            self._known[key] = engine.evaluate(
                ready.signals, case.rules, output, asker=self._asker, version=case.collector_version
            )
        return self._known[key]
