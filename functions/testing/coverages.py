"""The endpoints of coverage."""

from fastapi import Response

from headgate.configurations.model import ConfigurationNotFound, VersionNotFound
from headgate.http.credentials import Reader, Writer
from headgate.http.parameters import JobId
from headgate.http.paths import PUBLIC
from headgate.http.routing import recorded
from headgate.http.routing import router as group
from headgate.http.wire import ids_in_body
from headgate.identity import checks
from headgate.runs.jobs import service as jobs
from testing.coverage_wire import CoverageOut, StartCoverage

router = group("/testing", "Pipeline tests")


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
