"""Measuring coverage on the server: one job for each configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from headgate_cli import jobs
from headgate_cli.api import Api, Entity
from headgate_cli.jobs import JobKind, TestingJob, Work
from headgate_cli.shaped import shaped
from headgate_cli.shapes import CoverageOut, CoverageResult, Mutant
from headgate_cli.suites.files import FileTest
from headgate_cli.suites.run import parts, request
from headgate_cli.suites.select import Suite

_KIND: Final = JobKind(
    "/testing/coverage",
    CoverageOut,
    counted="configurations measured",
    unfinished="the measuring has not ended",
    continues="The measuring continues on the server ({}); its result is not shown here",
    lost="it ended without a result",
)
_TOO_LARGE: Final = (
    "its tests are too large for one request: push it, and measure the version, or some tests with --test"
)


@dataclass(slots=True)
class CoverageRun(Work):
    """The coverage of one configuration: the server's result, or the problem why there is none."""

    suite: Suite
    result: CoverageResult | None = None

    def take(self, tests: Sequence[FileTest], result: Entity) -> None:
        del tests
        self.result = shaped(CoverageResult, result)

    @property
    def score(self) -> float | None:
        """In percent; None if no change of an output was tried."""
        return self.result["score"] if self.result else None

    @property
    def is_whole(self) -> bool:
        """True if it was measured with every test."""
        return self.result is not None and all(test["usable"] for test in self.result["tests"])

    def mutants(self, outcome: str) -> list[Mutant]:
        """The changes with that outcome."""
        return [mutant for mutant in self.result["mutants"] if mutant["outcome"] == outcome] if self.result else []


def run(
    api: Api, suites: Sequence[Suite], more: Mapping[str, object], done: Callable[[CoverageRun], None]
) -> list[CoverageRun]:
    """Measure the suites; `more` is added to each request. Calls `done` for each, in their order, once it has ended.

    Raises as `jobs.run`.
    """
    measured = [CoverageRun(suite, problem=suite.problem.message if suite.problem else "") for suite in suites]
    started = []
    for coverage in measured:
        tests = [] if coverage.problem else list(parts(coverage.suite))
        if len(tests) > 1:
            coverage.problem = _TOO_LARGE
        elif tests:
            started.append(TestingJob(coverage, tests[0], {**request(coverage.suite, tests[0]), **more}))
    jobs.run(api, _KIND, measured, started, done)
    return measured
