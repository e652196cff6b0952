"""Limits of gates, each at its edge: what one host counted before and since, judged without tables."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from headgate.deployments.model import Deployment
from headgate.deployments.running import NOBODY, RunningRollout
from headgate.deployments.versions import Assignment
from headgate.instances.counting.watch import Measurements, Sums, Watch
from headgate.instances.model import Contact
from headgate.instances.reported.host import HostCounters, ReportedHost
from headgate.instances.state.intervals import longest
from headgate.rollouts import figures
from headgate.rollouts.figures import Others
from headgate.rollouts.gates import judge
from headgate.rollouts.hosts import RolloutHost
from headgate.rollouts.model import Rates
from headgate.rollouts.strategy import Gates
from tests.support.deciding import new_instance

AT: Final = datetime(2026, 11, 26, 12, tzinfo=UTC)
GROUP: Final = Deployment("dep_1", "flt_1", "web", False, None, None, None, None, AT, AT)


def host(before: Sums | None, since: Sums | None, seconds: int = 60, exits: int = 0) -> RolloutHost:
    """A host that was measured for 100 s before it ran the version, and was heard so many seconds in it."""
    watch = Watch("rol_1", 1, None, AT, before, 100, since, exits)
    instance = new_instance("ins_1", GROUP, AT, measured=Measurements(watch))
    contact = Contact(1, AT, AT + timedelta(seconds=seconds), AT)
    return RolloutHost(replace(instance, contact=contact), NOBODY, True, "applied")


def failed_gates(member: RolloutHost) -> Sequence[str]:
    return [failure.gate for failure in judge(Gates(), [member], [], Rates(), 1).failures]


@pytest.mark.parametrize(
    ("before", "since", "seconds", "fails"),
    [
        # Half of the rate may be lost, and no more.
        (Sums(accepted=1_000), Sums(accepted=300), 60, False),
        (Sums(accepted=1_000), Sums(accepted=299), 60, True),
        (Sums(accepted=1_000), Sums(), 59, False),
        (Sums(accepted=100), Sums(), 60, True),
        (Sums(accepted=99), Sums(), 60, False),
        (Sums(sent=100), Sums(), 60, True),
        (Sums(sent=1_000, delivered={"logs": 100}), Sums(sent=600, delivered={"traces": 60}), 60, True),
        (Sums(sent=1_000, delivered={"logs": 99}), Sums(sent=600, delivered={"traces": 60}), 60, False),
    ],
)
def test_throughput_is_judged_after_a_minute_and_of_a_hundred_items(
    before: Sums, since: Sums, seconds: int, fails: bool
) -> None:
    assert failed_gates(host(before, since, seconds)) == (["throughput_drop"] if fails else [])


def test_throughput_that_was_lost_elsewhere_too_is_not_judged() -> None:
    (counted,) = figures.throughput(
        host(Sums(accepted=1_000), Sums(accepted=300)), Others(accepted=40), by_delivery=False
    )

    assert counted == ("took in", 50, 40)


@pytest.mark.parametrize(
    ("before", "since", "fails"),
    [(100, 199, False), (100, 200, False), (100, 201, True), (0, 900, False), (10, 109, False), (10, 110, True)],
)
def test_memory_may_double_and_a_hundred_mebibytes_are_little(before: int, since: int, fails: bool) -> None:
    assert failed_gates(host(Sums(memory=before), Sums(memory=since))) == (["memory_growth"] if fails else [])


@pytest.mark.parametrize(
    ("before", "since", "seconds", "fails"),
    [
        (10, 30, 60, False),
        (10, 31, 60, True),
        (10, 31, 59, False),
        (1, 20, 60, False),
        (1, 21, 60, True),
        (0, 90, 60, False),
        (100, 300, 60, False),
        (100, 301, 60, True),
    ],
)
def test_a_processor_may_be_used_three_times_as_much_and_a_fifth_of_one_is_little(
    before: int, since: int, seconds: int, fails: bool
) -> None:
    used = host(Sums(cpu=before * 10 * 100), Sums(cpu=since * 10 * seconds), seconds)

    assert failed_gates(used) == (["cpu_growth"] if fails else [])


@pytest.mark.parametrize(("exits", "fails"), [(0, False), (1, False), (2, True)])
def test_one_restart_is_none_too_many(exits: int, fails: bool) -> None:
    assert failed_gates(host(None, None, exits=exits)) == (["restarts"] if fails else [])


@pytest.mark.parametrize(
    ("since", "gate"),
    [
        (Sums(sent=94, failed=6), "send_failed"),
        (Sums(sent=95, failed=5), None),
        (Sums(sent=0, failed=9), None),
        (Sums(sent=9, failed=1), "send_failed"),
        (Sums(accepted=94, refused=6), "refused"),
        (Sums(accepted=95, refused=5), None),
        (Sums(queue=26), "queue_growth"),
        (Sums(queue=25), None),
    ],
)
def test_shares_may_grow_by_their_limit_and_ten_items_are_the_fewest(since: Sums, gate: str | None) -> None:
    assert failed_gates(host(Sums(), since)) == ([gate] if gate else [])


@pytest.mark.parametrize(
    ("before", "seconds", "fails"), [(10, 60, True), (10, 61, True), (9, 60, False), (10, 59, False)]
)
def test_a_host_that_counted_before_and_does_not_any_more_has_a_minute(before: int, seconds: int, fails: bool) -> None:
    assert failed_gates(host(Sums(accepted=before), None, seconds)) == (["not_judged"] if fails else [])
    assert figures.unjudged([host(Sums(sent=before), None, seconds)]) == int(before == 10 and seconds < 60)


@pytest.mark.parametrize(
    ("before", "since", "fails"),
    [
        (10, Sums(sent=10, delivered={"logs": 0}), True),
        (9, Sums(sent=10, delivered={}), False),
        (10, Sums(sent=9, delivered={}), False),
        (10, Sums(sent=10, delivered={"logs": 1}), False),
        (10, Sums(sent=10), False),
    ],
)
def test_delivery_is_judged_of_ten_items_on_both_sides(before: int, since: Sums, fails: bool) -> None:
    assert failed_gates(host(Sums(sent=before, delivered={"logs": before}), since)) == (["delivery"] if fails else [])


def waiting(counters: HostCounters | None, before_seconds: int = 0) -> RolloutHost:
    """A host that is not due, and reports these counts."""
    watch = Watch("rol_1", 1, None, None, Sums(), before_seconds)
    instance = new_instance("ins_1", GROUP, AT, measured=Measurements(watch))
    reported = replace(instance.reported, host=ReportedHost(counters=counters))
    return RolloutHost(replace(instance, reported=reported), NOBODY, False, "waiting")


def counts(items: int, seconds: int, **more: Any) -> HostCounters:
    return HostCounters(seconds, items, 0, items * 2, 0, 0, 0.0, **more)


def test_rates_are_medians_of_items_in_a_thousand_seconds() -> None:
    reports = [
        counts(30, 10, delivered={"logs": 3}, memory=10 << 20, cpu=2),
        counts(90, 10, delivered={"logs": 6, "traces": 1}, memory=30 << 20, cpu=4),
        counts(50, 10, delivered={"logs": 9}, memory=20 << 20, cpu=8),
        counts(99, 0),
        None,
    ]

    assert figures.rates([waiting(counters) for counters in reports]) == Rates(
        accepted=5_000, sent=10_000, delivered={"logs": 600, "traces": 0}, memory=20, cpu=400
    )
    assert figures.rates([waiting(counters) for counters in reports[:2]]) == Rates()


@pytest.mark.parametrize(
    ("counters", "interval_share", "unmeasured"),
    [
        (counts(1, 1), 0.5, 0),
        (counts(1, 1), 0.49, 1),
        (None, 0, 0),
    ],
)
def test_half_an_interval_of_a_host_that_counts_is_enough_to_compare(
    counters: HostCounters | None, interval_share: float, unmeasured: int
) -> None:
    host = waiting(counters, int(interval_share * longest(quick=False)))

    assert figures.unmeasured([host], RunningRollout("rol_1", Assignment("cfg_1", 1), 1, AT)) == unmeasured


def test_what_the_others_lost_or_grew_excuses_no_more_than_that() -> None:
    now = [waiting(counts(50, 10, delivered={"logs": 9}, memory=20 << 20, cpu=8))] * 3
    then = figures.rates(now)
    halved = Others(accepted=50, sent=50, delivered={"logs": 50}, memory=200, cpu=200)
    less = Rates(then.accepted, then.sent, then.delivered, 10, 400)
    more = Rates(10_000, 20_000, {"logs": 1_800}, 10, 400)

    assert Others.of(now, then) == Others(0, 0, 0, delivered={"logs": 100})
    assert Others.of(now, more) == replace(halved, send_failed=0, refused=0, queue=0)
    assert Others.of(now, replace(less, accepted=1, sent=1, memory=900, cpu=9_000)) == Others.of(now, then)


@pytest.mark.parametrize("kind", ["accepted", "refused", "sent", "failed"])
def test_ten_items_of_any_kind_are_enough_to_be_judged_by(kind: str) -> None:
    counted = [figures.was_counted(Watch("rol_1", 1, before=Sums(**{kind: items}))) for items in (9, 10)]

    assert counted == [False, True]
