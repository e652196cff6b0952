"""Running comparisons on the server: each as one job, or as several if its tests are large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from headgate_cli import jobs
from headgate_cli.api import Api, Entity
from headgate_cli.comparisons.sides import Pair, body_of
from headgate_cli.jobs import JobKind, TestingJob, Work
from headgate_cli.shaped import shaped
from headgate_cli.shapes import ComparedTest, ComparisonOut, ComparisonResult
from headgate_cli.suites.files import FileTest

_KIND: Final = JobKind(
    "/testing/comparisons",
    ComparisonOut,
    counted="comparisons done",
    unfinished="the comparisons have not ended",
    continues="The comparisons continue on the server ({}); their results are not shown here",
    lost="the comparison ended without a result",
    # More wait here: each takes a place among an organization's runs.
    at_once=8,
)


@dataclass(slots=True)
class Compared(Work):
    """A comparison that was run. `results` are the server's, one for each job; `problem` is why there is none."""

    pair: Pair
    results: list[ComparisonResult] = field(default_factory=list)

    def take(self, tests: Sequence[FileTest], result: Entity) -> None:
        del tests
        self.results.append(shaped(ComparisonResult, result))

    @property
    def tests(self) -> list[ComparedTest]:
        return [test for result in self.results for test in result["tests"]]

    @property
    def differs(self) -> bool:
        return any(test["status"] == "differs" for test in self.tests)

    @property
    def compared(self) -> bool:
        """True if no test was left out of the comparison."""
        return not self.problem and all(test["status"] != "not_compared" for test in self.tests)


def run(api: Api, pairs: Sequence[Pair], ignore: Sequence[str]) -> list[Compared]:
    """Run the comparisons. One that the server refuses has a problem; the others run. Raises as `jobs.run`."""
    all_compared = [Compared(pair, problem=pair.problem) for pair in pairs]
    started = [
        TestingJob(compared, tests, request)
        for compared in all_compared
        if not compared.problem and not compared.pair.note
        for tests, request in requests(compared.pair, ignore)
    ]
    jobs.run(api, _KIND, all_compared, started, lambda _: None)
    return all_compared


def requests(pair: Pair, ignore: Sequence[str]) -> Iterator[tuple[Sequence[FileTest], dict[str, object]]]:
    """The bodies that run a comparison, each of a size that the server takes, with the tests of each."""
    base: dict[str, object] = {"left": dict(pair.left.request), "right": dict(pair.right.request)}
    base |= {"ignore": list(ignore)} if ignore else {}
    if not pair.tests:
        yield (), {**base, **({"test_names": list(pair.names)} if pair.names else {})}
    for part in jobs.in_parts(pair.tests, base, body_of):
        yield part, {**base, "tests": [body_of(test) for test in part]}
