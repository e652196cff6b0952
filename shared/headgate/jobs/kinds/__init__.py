"""The kinds of jobs, in one table: what cases a request has, and what document comes of their results."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from pydantic import JsonValue

from headgate.checker import Asker
from headgate.jobs.kinds import comparison, coverage, suite
from headgate.jobs.model import Case, CaseResult, Job, Kind
from headgate.version_tests.model import Evidence


class Workings(Protocol):
    """A kind of job. Its request holds all that it needs, above all the texts, so that no right is needed later.

    The first two may ask the collector's checker in the name of the job, may be called again after a fault, and must
    answer the same for the same request. They raise Unworkable, which ends the job as Error with that reason, and
    Unavailable, which tries again. Together with all questions each has some 45 seconds.
    """

    def cases(self, job: Job, request: JsonValue, asker: Asker) -> Sequence[Case]:
        """The cases, at most MAX_CASES, each with an id of its own. None is a job without a collector."""
        ...

    def conclude(self, job: Job, request: JsonValue, results: Sequence[CaseResult], asker: Asker) -> JsonValue:
        """The job's result, at most MAX_RESULT_BYTES of JSON. The results are in the order of the cases."""
        ...

    def evidence(self, job: Job, request: JsonValue, result: JsonValue) -> Evidence | None:
        """What the result shows about the job's version, which is stored if, and when, the job ends as Done."""
        ...


KINDS: Final[Mapping[Kind, Workings]] = {"suite": suite, "comparison": comparison, "coverage": coverage}
