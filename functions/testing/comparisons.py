"""The endpoints of comparisons."""

from fastapi import Response

from headgate.http.credentials import Reader, Writer
from headgate.http.parameters import JobId
from headgate.http.paths import PUBLIC
from headgate.http.routing import recorded
from headgate.http.routing import router as group
from headgate.identity import checks
from headgate.runs.jobs import comparisons
from headgate.runs.jobs import service as jobs
from testing.comparison_wire import ComparisonOut, StartComparison

router = group("/testing", "Pipeline tests")


@router.post("/comparisons", status_code=201, **recorded("comparison.started"))
def start_comparison(body: StartComparison, caller: Writer, response: Response) -> ComparisonOut:
    """Compare what two versions, texts or collectors put out for the same samples, record by record.

    Each sample goes through both sides, as one job, which takes one place among the runs under way. A collector version
    that is not installed is 422 `collector_version_not_installed`; what one side cannot run is a test that is
    `not_compared`.
    """
    with checks.under_way(caller):
        job = comparisons.start(caller, body.as_ask())
    response.headers["Location"] = f"{PUBLIC}{jobs.path(job)}"
    return ComparisonOut.of(job, result=None)


@router.get("/comparisons/{comparison_id}")
def get_comparison(comparison_id: JobId, caller: Reader) -> ComparisonOut:
    """A comparison: its status and, once it is `Done`, what differs."""
    job = jobs.get(caller, comparison_id, "comparison")
    return ComparisonOut.of(job, result=jobs.result(job))
