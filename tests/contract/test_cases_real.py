"""Cases side by side on a real collector: each has the output of a run of its own, for its whole duration."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from headgate_engine.testing.model import Case
from tests.support import local_cases, pipeline_cases, sizes
from tests.support.local_cases import Ran

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

NAMES = sizes.either(pipeline_cases.names()[::3], pipeline_cases.names())
# These depend on the time for which they run, so they run for all of it.
WAITS = {
    *("logs_dedup", "metrics_interval", "traces_groupbytrace_and_batch", "traces_spanmetrics", "traces_tail_sampling"),
}
MAKES_TIMES = {"logs_count", "metrics_deltatocumulative"}


@pytest.fixture(scope="module")
def results() -> Iterator[dict[str, Ran]]:
    """What came of each case as one of many, and as a run of its own (`… alone`)."""
    early = [a_case(name) for name in NAMES]
    alone = [replace(one, id=f"{one.id} alone", may_end_early=False) for one in early if one.id not in WAITS]
    with closing(local_cases.checker()) as collectors:
        yield {ran.result.case.id: ran for ran in local_cases.run(collectors, [*early, *alone])}


def a_case(name: str) -> Case:
    tested = pipeline_cases.case(name)
    return local_cases.a_case(name, tested.yaml, tested.sample, tested.target_pipeline, tested.duration_seconds)


@pytest.mark.parametrize("name", NAMES)
def test_the_output_is_that_of_a_run_of_its_own(name: str, results: dict[str, Ran]) -> None:
    early = results[name]
    assert early.result.status == "ran", early.result.reason
    if name in WAITS:
        assert early.left.outcome.idle is False
        return
    alone = results[f"{name} alone"]
    ours, its = (pipeline_cases.records(one.result.output, name in MAKES_TIMES) for one in (early, alone))

    assert (alone.result.status, alone.left.outcome.idle) == ("ran", False)
    assert ours == its
    assert early.result.records_out == alone.result.records_out


def test_what_waits_for_nothing_ends_early(results: dict[str, Ran]) -> None:
    early = [name for name in NAMES if results[name].left.outcome.idle]

    assert len(early) > len(NAMES) / 2
