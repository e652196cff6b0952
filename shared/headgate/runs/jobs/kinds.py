"""The kinds of jobs, in one table: what cases a request has, and what document comes of their results."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol

from pydantic import JsonValue

from headgate.checker import Asker
from headgate.foundation import clock
from headgate.runs.jobs.model import Job, Kind
from headgate.version_tests.model import Evidence, TestVerdict, text_digest
from headgate_engine.testing import comparison, coverage, suite
from headgate_engine.testing.model import Case, CaseResult
from headgate_engine.testing.suite_result import SuiteResult


class Workings(Protocol):
    """A kind of job. Its request holds all that it needs, above all the texts, so that no right is needed later.

    Both may ask the collector's checker in the name of the job, may be called again after a fault, and must answer the
    same for the same request. They raise Unworkable, which ends the job as Error with that reason, and Unavailable,
    which tries again. Together with all questions each has some 45 seconds.
    """

    def cases(self, request: JsonValue, asker: Asker) -> Sequence[Case]:
        """The cases, at most MAX_CASES, each with an id of its own. None is a job without a collector."""
        ...

    def conclude(self, begun: datetime, request: JsonValue, results: Sequence[CaseResult], asker: Asker) -> JsonValue:
        """The job's result, at most MAX_RESULT_BYTES of JSON. The results are in the order of the cases.

        `begun` is when the job began: a later read of the clock would give another answer if this is repeated.
        """
        ...


KINDS: Final[Mapping[Kind, Workings]] = {"suite": suite, "comparison": comparison, "coverage": coverage}


def evidence(job: Job, request: JsonValue, result: JsonValue) -> Evidence | None:
    """The evidence of a suite of all tests of a stored version: of what was run, whatever has changed since.

    It is stored if, and when, the job ends as Done. None for any other job.
    """
    if job.kind != "suite" or job.configuration_id is None or job.version_number is None:
        return None
    asked = suite.SuiteRequest.model_validate(request)
    if asked.all_tests_sha256 is None:
        return None
    return Evidence(
        job_id=job.id,
        text_sha256=text_digest(asked.yaml),
        tests_sha256=asked.all_tests_sha256,
        collector_version=asked.collector_version,
        tests=tuple(TestVerdict(test.name, test.status) for test in SuiteResult.model_validate(result).tests),
        finished_at=clock.now(),
        first_build=asked.first_build,
        feature_gates=tuple(asked.feature_gates),
    )
