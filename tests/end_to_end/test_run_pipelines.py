"""Real configurations and samples of all three signals through the service, and by hand through the same collector."""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from headgate.foundation.settings import settings
from headgate_local.options import read_options
from tests.support import pipeline_cases, run_support, sizes
from tests.support.local_service import LocalService
from tests.support.run_support import Json

pytestmark = [pytest.mark.end_to_end, pytest.mark.sized]

# In order of signals: every third has some of each.
NAMES = sizes.either(pipeline_cases.names()[::5], pipeline_cases.names())
AT_ONCE = 6
# These make times of their own, or put things together by when they came.
MAKES_TIMES = {"logs_count", "logs_dedup", "traces_spanmetrics", "metrics_interval", "metrics_deltatocumulative"}
# This one says the same again and again, as often as it has time to.
REPEATS = {"traces_spanmetrics"}


@dataclass(frozen=True)
class Trial:
    """What came of one case: with the rules that pass, with those that fail, and by hand."""

    passing: Json
    failing: Json
    output: str
    output_by_hand: str


@pytest.fixture(scope="module")
def trials(service: LocalService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Trial]]]:
    """Every case, under way: runs last as long as they were asked to, so they go on together."""
    folder = tmp_path_factory.mktemp("by_hand")
    with service.client() as client, ThreadPoolExecutor(AT_ONCE) as pool:
        yield {name: pool.submit(try_out, client, name, folder / name) for name in NAMES}


def try_out(client: httpx.Client, name: str, folder: Path) -> Trial:
    tested = pipeline_cases.case(name)
    passing = run_support.start(client, tested.request(tested.passes))
    failing = run_support.start(client, tested.request(tested.fails))
    by_hand = pipeline_cases.run_by_hand(collector(), tested, folder)
    passed = run_support.finished(client, passing["id"])
    return Trial(
        passing=passed,
        failing=run_support.finished(client, failing["id"]),
        output=run_support.output(client, passed["id"]),
        output_by_hand=by_hand,
    )


def collector() -> Path:
    return read_options(os.environ).collectors / settings().collector_version / "otelcol-contrib"


@pytest.mark.parametrize("name", NAMES)
def test_rules_that_hold_pass(name: str, trials: dict[str, Future[Trial]]) -> None:
    run = trials[name].result().passing
    rules = pipeline_cases.case(name).passes

    assert (run["status"], run["success"]) == ("Success", True), (run["validation_results"], run["stderr"])
    assert [result["name"] for result in run["validation_results"]] == [rule["name"] for rule in rules]
    assert "Everything is ready" in run["stderr"]


@pytest.mark.parametrize("name", NAMES)
def test_rules_that_do_not_hold_fail_and_say_what_was_seen(name: str, trials: dict[str, Future[Trial]]) -> None:
    run = trials[name].result().failing

    assert (run["status"], run["success"]) == ("Fail", False), (run["validation_results"], run["stderr"])
    assert [result["passed"] for result in run["validation_results"]] == [False] * len(run["validation_results"])
    assert all("; expected " in result["message"] for result in run["validation_results"])


@pytest.mark.parametrize("name", NAMES)
def test_the_output_is_that_of_the_collector_by_hand(name: str, trials: dict[str, Future[Trial]]) -> None:
    trial = trials[name].result()
    ours = pipeline_cases.records(trial.output, name in MAKES_TIMES)
    by_hand = pipeline_cases.records(trial.output_by_hand, name in MAKES_TIMES)

    assert set(ours) == set(by_hand)
    assert name in REPEATS or ours == by_hand
