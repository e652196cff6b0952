"""The testing endpoints: runs of pipelines on real collectors, and suites of tests."""

from fastapi import Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from headgate.configurations.model import ConfigurationNotFound, VersionNotFound
from headgate.http.credentials import Reader, Writer
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import JobId, RunId
from headgate.http.paths import PUBLIC
from headgate.http.routing import recorded
from headgate.http.routing import router as group
from headgate.http.wire import ids_in_body
from headgate.identity import checks
from headgate.runs import service as runs
from headgate.runs import trace as traces
from headgate.runs.jobs import service as jobs
from headgate_engine.wire.runs import RunOut
from testing import trace_wire
from testing.runs_wire import RunSummary, WantedRuns
from testing.suite_wire import StartSuite, SuiteOut
from testing.trace_wire import LARGE, RecordNumber, StepNumber, StepOut, StepsOut
from testing.wire import StartRun, run_out

router = group("/testing", "Pipeline tests")


@router.post("/runs", status_code=202, **recorded("run.started"))
def start_run(body: StartRun, caller: Writer, response: Response) -> RunOut:
    """Start a test run: the sample through one pipeline of a real collector, and rules on what it puts out.

    The run is `Queued`; one that the testing service refuses is `Error` at once, its `stderr` saying why. So many runs
    of an organization are under way at once; more wait as `Queued`, in order, and with too many waiting a start is 429
    `too_many_runs_waiting`. A text that would take the collector too long is 422 `yaml_too_costly`.
    """
    with ids_in_body(configuration_id=ConfigurationNotFound, version_number=VersionNotFound), checks.under_way(caller):
        run = runs.start(caller, body.as_start())
    response.headers["Location"] = f"{PUBLIC}/testing/runs/{run.id}"
    return run_out(run)


@router.get("/runs")
def list_runs(caller: Reader, paging: Paging, filters: WantedRuns) -> Page[RunSummary]:
    """The test runs of the last 30 days that the caller sees, newest first.

    A page has what is found among up to 5,000 runs: it may be short, also empty, and still have a next one.
    """
    return paging.page(runs.listed(caller, filters, paging.limit, paging.after), RunSummary.of_run)


@router.get("/runs/{run_id}")
def get_run(run_id: RunId, caller: Reader) -> RunOut:
    """A test run: its status, and the result of each rule once the status is final."""
    return run_out(runs.get(caller, run_id))


@router.get(
    "/runs/{run_id}/output",
    response_class=PlainTextResponse,
    responses={307: {"description": "The output is large; it is at `Location` for some minutes"}},
)
def get_run_output(run_id: RunId, caller: Reader) -> Response:
    """The collector's output, one OTLP/JSON document a line, in the order recorded. 404 until the run has ended."""
    link = runs.output_link(caller, run_id)
    if link is not None:
        return RedirectResponse(link)
    return PlainTextResponse(runs.output(caller, run_id))


@router.get("/runs/{run_id}/sample", response_class=PlainTextResponse)
def get_run_sample(run_id: RunId, caller: Reader) -> PlainTextResponse:
    """The sample of a run: the text as it was sent; a sample that was JSON has one document a line."""
    return PlainTextResponse(runs.sample(caller, run_id))


@router.get("/runs/{run_id}/stderr", response_class=PlainTextResponse)
def get_run_stderr(run_id: RunId, caller: Reader) -> PlainTextResponse:
    """The collector's standard error as it was written, its first 48 KB and last 16 KB. 404 until the run has ended."""
    return PlainTextResponse(runs.stderr(caller, run_id))


@router.get("/runs/{run_id}/steps", response_model=StepsOut, responses=LARGE)
def list_run_steps(run_id: RunId, caller: Reader) -> Response:
    """The steps of a run that was started with `trace`: the records that went into and came out of each component.

    404 `run_not_traced` for a run that was not traced, and 404 `output_not_ready` until the run has ended.
    """
    steps = StepsOut.of(traces.trace(caller, run_id))
    return trace_wire.answer(steps, lambda: traces.link(run_id))


@router.get("/runs/{run_id}/steps/{n}", response_model=StepOut, responses=LARGE)
def get_run_step(run_id: RunId, n: StepNumber, caller: Reader, paging: Paging, record: RecordNumber = None) -> Response:
    """A step of a traced run, and what it did to each record, in pages; with `record`, to one record of the sample.

    A page ends at 1 MB of records, also below its `limit`.
    """
    step, records = traces.step(caller, run_id, n, record=record, limit=paging.limit, after=paging.after)
    return trace_wire.answer(StepOut.of(step, records, paging), lambda: traces.link(run_id))


@router.post("/suites", status_code=201, **recorded("suite.started"))
def start_suite(body: StartSuite, caller: Writer, response: Response) -> SuiteOut:
    """Run tests of a stored version or of a text side by side, as one job, which takes one place of the runs under way.

    All tests of a stored version leave evidence with the version, which publishing may require.

    A test that ends only when the collector has run for its duration takes that long; any other ends when its sample is
    through.
    """
    with ids_in_body(configuration_id=ConfigurationNotFound, version_number=VersionNotFound), checks.under_way(caller):
        job = body.start(caller)
    response.headers["Location"] = f"{PUBLIC}{jobs.path(job)}"
    return SuiteOut.of_job(job, None)


@router.get("/suites/{suite_id}")
def get_suite(suite_id: JobId, caller: Reader) -> SuiteOut:
    """A suite: its status, and the outcome of each test once it has ended."""
    job = jobs.get(caller, suite_id, "suite")
    return SuiteOut.of_job(job, jobs.result(job))
