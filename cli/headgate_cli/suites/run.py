"""Running suites on the server, side by side: each configuration's tests as one job, or several if they are large."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from headgate_cli import jobs
from headgate_cli.api import Api, Entity
from headgate_cli.jobs import JobKind, TestingJob, Work
from headgate_cli.shaped import shaped
from headgate_cli.shapes import SuiteOut, SuiteResult, TestOutcome
from headgate_cli.suites.files import FileTest
from headgate_cli.suites.select import Suite

_KIND: Final = JobKind(
    "/testing/suites",
    SuiteOut,
    counted="configurations tested",
    unfinished="the tests have not ended",
    continues="The tests continue on the server ({}); their results are not shown here",
    lost="the tests ended without a result",
)


@dataclass(frozen=True, slots=True)
class SuiteOutcome:
    """The end of one test: `answer` is the server's; None, with `problem`, if it did not run."""

    name: str
    test: FileTest | None
    answer: TestOutcome | None = None
    problem: str = ""

    @property
    def status(self) -> str:
        return self.answer["status"] if self.answer else "Error"

    @property
    def passed(self) -> bool:
        return self.status == "Success"


@dataclass(slots=True)
class SuiteRun(Work):
    """A suite that was run, test by test in the order of the suite. `problem` is why nothing of it could be run."""

    suite: Suite
    outcomes: list[SuiteOutcome] = field(default_factory=list)
    collector_version: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem and bool(self.outcomes) and all(outcome.passed for outcome in self.outcomes)

    def take(self, tests: Sequence[FileTest], result: Entity) -> None:
        suite = shaped(SuiteResult, result)
        self.collector_version = suite["collector_version"]
        files = {test.name: test for test in tests}
        answers = {outcome["name"]: outcome for outcome in suite["tests"]}
        for name in [*files, *(name for name in answers if name not in files)]:
            missing = "" if name in answers else "the server's answer has no result of this test"
            self.outcomes.append(SuiteOutcome(name, files.get(name), answers.get(name), missing))

    def refuse(self, tests: Sequence[FileTest], reason: str) -> None:
        self.outcomes += [SuiteOutcome(test.name, test, problem=reason) for test in tests]
        self.problem = reason


def run(
    api: Api, suites: Sequence[Suite], more: Mapping[str, object], done: Callable[[SuiteRun], None]
) -> list[SuiteRun]:
    """Run the suites; `more` is added to each request. Calls `done` for each suite, in their order, once it has ended.

    A suite that the server refuses has a problem; the others run. Raises as `jobs.run`.
    """
    runs = [SuiteRun(suite, problem=suite.problem.message if suite.problem else "") for suite in suites]
    started = [
        TestingJob(ran, tests, {**request(ran.suite, tests), **more})
        for ran in runs
        if not ran.problem
        for tests in parts(ran.suite)
    ]

    def finish(ran: SuiteRun) -> None:
        # Jobs of one suite may end in any order.
        places = {test.name: at for at, test in enumerate(ran.suite.tests)}
        ran.outcomes.sort(key=lambda outcome: places.get(outcome.name, len(places)))
        done(ran)

    jobs.run(api, _KIND, runs, started, finish)
    return runs


def parts(suite: Suite) -> Iterator[Sequence[FileTest]]:
    """Divide the tests of a file so that each part fits a request; those of a stored version are one part."""
    return iter([suite.tests]) if suite.is_stored else jobs.in_parts(suite.tests, suite.request, body_of)


def request(suite: Suite, tests: Sequence[FileTest]) -> dict[str, object]:
    """The body that runs these tests of the suite, or those of the stored version."""
    if suite.is_stored:
        return {**suite.request, **({"tests": list(suite.names)} if suite.names else {})}
    return {**suite.request, "tests": [body_of(test) for test in tests]}


def body_of(test: FileTest) -> dict[str, object]:
    # An output that is written by this run: what is expected so far is nothing.
    return {"name": test.name, **test.fields} | ({"expected": ""} if test.awaits_expected else {})
