"""Cases side by side on a real collector: each has the output of a run of its own, for its whole duration."""

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from headgate_cli.checks.local import LocalChecks
from headgate_cli.local_testing.cases import Case, Cases, Result
from headgate_local.options import read_options
from tests.support import pipeline_cases, sizes

pytestmark = [pytest.mark.contract, pytest.mark.sized]

NAMES = sizes.either(pipeline_cases.names()[::3], pipeline_cases.names())
# These depend on the time for which they run, so they run for all of it.
WAITS = {
    *("logs_dedup", "metrics_interval", "traces_groupbytrace_and_batch", "traces_spanmetrics", "traces_tail_sampling"),
}
MAKES_TIMES = {"logs_count", "metrics_deltatocumulative"}


@pytest.fixture(scope="module")
def results() -> Iterator[dict[str, Result]]:
    """What came of each case as one of many, and as a run of its own (`… alone`)."""
    binary = read_options(os.environ).collectors / "0.139.0" / "otelcol-contrib"
    with LocalChecks(str(binary)) as checks:
        made = Cases(checks)
        early = [a_case(name) for name in NAMES]
        alone = [replace(one, id=f"{one.id} alone", may_end_early=False) for one in early if one.id not in WAITS]
        yield {result.case.id: result for result in made.run([*early, *alone])}


def a_case(name: str) -> Case:
    tested = pipeline_cases.case(name)
    question = {
        "target_pipeline": tested.target_pipeline,
        "signal_type": tested.signal_type,
        "duration_seconds": tested.duration_seconds,
    }
    return Case(name, tested.yaml, tested.sample, question)


@pytest.mark.parametrize("name", NAMES)
def test_the_output_is_that_of_a_run_of_its_own(name: str, results: dict[str, Result]) -> None:
    early = results[name]
    assert early.status == "ran", early.reason
    if name in WAITS:
        assert early.outcome["idle"] is False
        return
    alone = results[f"{name} alone"]
    ours, its = (pipeline_cases.records(one.output, name in MAKES_TIMES) for one in (early, alone))

    assert (alone.status, alone.outcome["idle"]) == ("ran", False)
    assert ours == its
    assert early.records_out == alone.records_out


def test_what_waits_for_nothing_ends_early(results: dict[str, Result]) -> None:
    early = [name for name in NAMES if results[name].outcome["idle"]]

    assert len(early) > len(NAMES) / 2
