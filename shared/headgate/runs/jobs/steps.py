"""The tasks of the state machine for a job, whose cases are made of its request when its turn has come."""

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from pydantic import JsonValue, TypeAdapter

from headgate.events import service as events
from headgate.events.model import About
from headgate.foundation import clock
from headgate.runs import files, runner
from headgate.runs.execution import AlreadyFinal, RunGone
from headgate.runs.jobs import kinds, service, store
from headgate.runs.jobs.kinds import KINDS
from headgate.runs.jobs.model import MAX_REQUEST_BYTES, Job
from headgate.runs.steps import Evaluation, Stage, Steps
from headgate.storage.table import Write
from headgate.version_tests import service as version_tests
from headgate.version_tests.model import Evidence
from headgate_engine.rules.engine import Prepared
from headgate_engine.testing.cases import Preparing, Ready
from headgate_engine.testing.model import MAX_CASES, MAX_RESULT_BYTES, Case, Unworkable, size_in_answer
from headgate_engine.testing.outcome import Left

# A step has 60 s, some of which the kind needs.
_PREPARING_SECONDS: Final = 40.0
_EVIDENCE: Final = TypeAdapter[Evidence | None](Evidence | None)


class JobSteps(Steps[Job]):
    life = service.JOBS

    def make_ready(self, execution: Job) -> tuple[Job, Collection[str]]:
        cases = self.cases(execution, self.request(execution))
        ready: list[Ready] = []
        to_run: list[tuple[Case, Prepared]] = []
        deadline = time.monotonic() + _PREPARING_SECONDS
        checks = Preparing(self.asker(execution))
        for case in cases:
            if time.monotonic() > deadline:
                raise Unworkable(f"its {len(cases)} cases take too long to prepare; give it fewer, or smaller texts")
            known, prepared = checks.prepare(case)
            ready.append(known)
            if prepared is not None:
                to_run.append((case, prepared))
        runner.put_cases(execution, ready, to_run)
        return replace(execution, cases=len(cases)), {case.collector_version for case, _ in to_run}

    def request(self, execution: Job) -> JsonValue:
        content = files.read_input(execution, service.REQUEST, MAX_REQUEST_BYTES)
        if content is None:
            raise RunGone
        request: JsonValue = json.loads(content)
        return request

    def cases(self, execution: Job, request: JsonValue) -> Sequence[Case]:
        cases = KINDS[execution.kind].cases(request, self.asker(execution))
        if len(cases) > MAX_CASES:
            raise Unworkable(f"it would have {len(cases)} cases, and may have {MAX_CASES}")
        if len({case.id for case in cases}) != len(cases):
            raise ValueError("two cases of a job have the same id")
        return cases

    def conclude(
        self,
        execution: Job,
        request: JsonValue,
        cases: Sequence[Case],
        ready: Mapping[str, Ready],
        left: Mapping[str, Left],
        /,
    ) -> None:
        judge = self.judge(execution)
        results = [judge.result(case, ready[case.id], left.get(case.id)) for case in cases]
        begun = execution.started_at or execution.created_at
        document = KINDS[execution.kind].conclude(begun, request, results, self.asker(execution))
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        if size_in_answer(text) > MAX_RESULT_BYTES:
            raise Unworkable(f"its result is over {MAX_RESULT_BYTES / 1e6} MB; give it fewer cases, or smaller samples")
        files.put(execution.id, service.RESULT, text)
        # The request may be gone when the job ends.
        shown = kinds.evidence(execution, request, document)
        files.put(execution.id, "evidence.json", _EVIDENCE.dump_json(shown).decode())

    def complete(self, execution: Job, evaluation: Evaluation) -> None:
        if evaluation.fault:
            self.life.end(execution.fail(evaluation.fault, clock.now()))
            return
        after = execution.complete(clock.now())
        evidence = _EVIDENCE.validate_json(files.read(execution.id, "evidence.json") or b"null")
        update = None
        if evidence and after.configuration_id and after.version_number:
            # Both or none: a job in Error has shown nothing.
            update = partial(
                version_tests.record,
                after.configuration_id,
                after.version_number,
                evidence,
                store.updating(after),
                AlreadyFinal(),
                _event(after, evidence),
            )
        self.life.end(after, update)

    def failed(self, execution: Job, _stage: Stage, reason: str, /) -> Job:
        return execution.fail(reason, clock.now())


def _event(after: Job, evidence: Evidence) -> Sequence[Write]:
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
