"""The endpoints of comparisons, with their requests and answers."""

from typing import Annotated, Literal, Self

from fastapi import Response
from pydantic import Field, model_validator

from headgate.http.credentials import Reader, Writer
from headgate.http.parameters import JobId
from headgate.http.paths import PUBLIC
from headgate.http.routing import recorded
from headgate.http.routing import router as group
from headgate.identity import checks
from headgate.runs.jobs import comparisons
from headgate.runs.jobs import service as jobs
from headgate.runs.jobs.comparisons import Ask, SideSource
from headgate_engine.testing.comparison import ComparisonResult
from headgate_engine.testing.named_test import MAX_TESTS
from headgate_engine.wire.inputs import CollectorVersion, Input
from headgate_engine.wire.tests import MAX_IGNORED, ComparedTests, Ignored, TestName
from testing.suite_wire import JobOut
from testing.wire import VersionOrText

router = group("/testing", "Pipeline tests")


class ComparedSourceIn(VersionOrText):
    """A compared side: `configuration_id` with `version_number`, or `yaml`; on the collector of `collector_version`.

    Without it, that is the version's own, and the server's default one for a text.
    """

    collector_version: CollectorVersion | None = None

    def as_source(self) -> SideSource:
        return SideSource(self.yaml, self.configuration_id, self.version_number, self.collector_version)


class StartComparison(Input):
    """Two sides, and the samples that go through both.

    Without `tests`, they are the tests of the right side's version; if it has none, of the left side's. `test_names`
    chooses among these.
    """

    left: ComparedSourceIn
    right: ComparedSourceIn
    tests: ComparedTests | None = None
    test_names: Annotated[list[TestName], Field(min_length=1, max_length=MAX_TESTS)] | None = None
    ignore: Annotated[
        list[Ignored] | None,
        Field(
            max_length=MAX_IGNORED,
            description='Paths that are not compared, such as `attributes["request.id"]`; by default, those of the '
            "test, and without any `observed_time_unix_nano`. Times that a run makes are never compared",
        ),
    ] = None

    @model_validator(mode="after")
    def _names_or_tests(self) -> Self:
        if self.tests is not None and self.test_names is not None:
            raise ValueError("`test_names` chooses among the tests of a version, so it excludes `tests`")
        return self

    def as_ask(self) -> Ask:
        """Raises SignalNotKnown."""
        return Ask(
            left=self.left.as_source(),
            right=self.right.as_source(),
            tests=None if self.tests is None else {test.name: test.as_test() for test in self.tests},
            names=self.test_names,
            ignore=self.ignore,
        )


class ComparisonOut(JobOut):
    """A comparison. `result` is there once it is `Done`; in `Error`, `reason` says why there is none."""

    kind: Literal["comparison"] = "comparison"
    result: ComparisonResult | None


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
