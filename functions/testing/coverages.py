"""The endpoints of coverage, with their requests and answers."""

from typing import Annotated

from fastapi import Response
from pydantic import Field

from headgate.configurations.model import ConfigurationNotFound, VersionNotFound
from headgate.foundation.caller import Caller
from headgate.http.credentials import Reader, Writer
from headgate.http.parameters import JobId
from headgate.http.paths import PUBLIC
from headgate.http.routing import recorded
from headgate.http.routing import router as group
from headgate.http.wire import ids_in_body
from headgate.identity import checks
from headgate.runs.jobs import coverages
from headgate.runs.jobs import service as jobs
from headgate.runs.jobs.model import Job
from headgate_engine.testing.coverage import MAX_MUTANTS, MUTANTS, CoverageResult
from testing.suite_wire import JobOut, TakesTests

router = group("/testing", "Pipeline tests")


class StartCoverage(TakesTests):
    """Either `configuration_id` with `version_number`, and `tests` by name (by default, all); or `yaml` with `tests`.

    `max_mutants`: as many changes of the text are tried at most.
    """

    max_mutants: Annotated[int, Field(ge=1, le=MAX_MUTANTS)] = MUTANTS

    def start(self, caller: Caller) -> Job:
        """Raises what `chosen` and `coverages.start` do."""
        version = self.collector_version
        return coverages.start(caller, self.chosen(caller), collector_version=version, max_mutants=self.max_mutants)


class CoverageOut(JobOut):
    """The share of a configuration that its tests notice. `result` exists once it is `Done`."""

    result: CoverageResult | None


@router.post("/coverage", status_code=201, **recorded("coverage.started"))
def start_coverage(body: StartCoverage, caller: Writer, response: Response) -> CoverageOut:
    """Find what could be taken out of a configuration without a test that notices it.

    Each change leaves out or changes one thing: a processor, a statement, its `where`, a condition, a route, a number.
    The tests run on each, as one job, which takes one place of the runs under way.
    """
    with ids_in_body(configuration_id=ConfigurationNotFound, version_number=VersionNotFound), checks.under_way(caller):
        job = body.start(caller)
    response.headers["Location"] = f"{PUBLIC}{jobs.path(job)}"
    return CoverageOut.of(job, result=None)


@router.get("/coverage/{coverage_id}")
def get_coverage(coverage_id: JobId, caller: Reader) -> CoverageOut:
    """A coverage job: its status and, once it is `Done`, the score and what became of each change."""
    job = jobs.get(caller, coverage_id, "coverage")
    return CoverageOut.of(job, result=jobs.result(job))
