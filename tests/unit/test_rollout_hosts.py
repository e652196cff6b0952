"""Where a host stands in a rollout: the edge of each time that it is given, judged without tables."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from headgate.deployments.model import Deployment
from headgate.deployments.programs import Program
from headgate.deployments.running import EVERYONE, NOBODY, RunningRollout
from headgate.deployments.versions import Assignment
from headgate.foundation.principal import Principal
from headgate.instances.counting.watch import Departure, Measurements, Watch
from headgate.instances.desired.model import ConfigOutcome, Desired
from headgate.instances.model import Contact, Instance, Standing
from headgate.instances.orders.model import PendingOrder
from headgate.rollouts.gates import judge
from headgate.rollouts.hosts import Phase, RolloutHost, hosts
from headgate.rollouts.model import Begun, Progress, Rates, Rollout
from headgate.rollouts.state import RolloutState
from headgate.rollouts.strategy import Gates, RolloutStep, Strategy
from tests.support.deciding import new_instance

BEGUN: Final = datetime(2026, 11, 26, 12, tzinfo=UTC)
MOMENT: Final = timedelta(milliseconds=1)
# Three heartbeats of 30 s, and 30 s more.
QUIET: Final = timedelta(seconds=120)
RUNNING: Final = RunningRollout("rol_1", Assignment("cfg_1", 2), 2, BEGUN, EVERYONE, EVERYONE)
GROUP: Final = Deployment(
    "dep_1", "flt_1", "web", False, None, None, None, Assignment("cfg_1", 1), BEGUN, BEGUN, rollout=RUNNING
)
SOAK: Final = timedelta(minutes=10)
ROLLOUT: Final = Rollout(
    *("rol_1", "org_1", "flt_1", "dep_1", None, None, Strategy([RolloutStep(600, percent=100)]), Gates(), None),
    *("in_progress", Principal("user", "usr_1", "Ann"), BEGUN, BEGUN),
    progress=Progress([Begun(1, NOBODY)], grown_at=BEGUN),
)


def instance(
    watch: Watch | None, heard: timedelta = timedelta(0), *, stopped: bool = False, orders: Any = None, **parts: Any
) -> Instance:
    stored: Instance = new_instance("ins_1", GROUP, BEGUN, measured=Measurements(watch), **parts)
    contact = Contact(1, BEGUN, BEGUN + heard, BEGUN)
    reported = replace(stored.reported, accepts_config=True, stopped=stopped)
    return replace(stored, contact=contact, reported=reported, orders=orders or stored.orders)


def phase(
    stored: Instance, after: timedelta, progress: Progress = ROLLOUT.progress, group: Deployment = GROUP
) -> Phase:
    (host,) = hosts(RolloutState(replace(ROLLOUT, progress=progress), group, [stored], BEGUN + after))
    return host.phase


def told(**fields: Any) -> Watch:
    return Watch("rol_1", 2, BEGUN, **fields)


WELL: Final = Watch("rol_1", 2, None, BEGUN)
RESTARTED: Final = new_instance("ins_1", GROUP, BEGUN).orders.with_order(PendingOrder.new("restart", BEGUN))
FIVE: Final = timedelta(minutes=5)
BEFORE: Final = Desired(Assignment("cfg_1", 1), 1)


@pytest.mark.parametrize(
    ("stored", "last", "before", "then"),
    [
        # Its turn came, and it was not heard since.
        (instance(None), QUIET, "pending", "absent"),
        (instance(Watch("rol_1", 1, BEGUN)), QUIET, "pending", "silent"),
        (instance(told(), FIVE), FIVE, "pending", "failed"),
        (instance(told()), QUIET, "pending", "silent"),
        (instance(told(), timedelta(minutes=1)), timedelta(minutes=1) + QUIET, "pending", "silent"),
        # A restart that was ordered takes up to five minutes.
        (instance(told(), stopped=True, orders=RESTARTED), FIVE, "pending", "left"),
        (instance(told(), stopped=True), QUIET, "leaving", "left"),
        (instance(WELL, SOAK - MOMENT, stopped=True), SOAK - MOMENT + QUIET, "leaving", "left"),
    ],
)
def test_a_host_has_a_time_for_each_step_and_not_a_moment_more(
    stored: Instance, last: timedelta, before: Phase, then: Phase
) -> None:
    assert [phase(stored, last), phase(stored, last + MOMENT)] == [before, then]


@pytest.mark.parametrize("well", [SOAK, SOAK + MOMENT, 2 * SOAK])
def test_a_host_that_ran_the_version_for_its_soak_may_leave(well: timedelta) -> None:
    assert phase(instance(WELL, well, stopped=True), well + timedelta(hours=1)) == "absent"


def test_a_collector_that_is_fetched_has_a_quarter_of_an_hour() -> None:
    program = Program("0.139.0", {})
    group = replace(GROUP, rollout=replace(RUNNING, collector=program))
    limit = timedelta(minutes=15)
    stored = instance(told(), limit)
    described = replace(stored.reported.description, collector_version="0.139.0")
    stored = replace(stored, reported=replace(stored.reported, description=described))

    assert [phase(stored, at, group=group) for at in (limit, limit + MOMENT)] == ["pending", "failed"]


def test_a_host_has_its_time_anew_after_an_interruption() -> None:
    awake = ROLLOUT.progress.grown_at + timedelta(hours=1)
    progress = replace(ROLLOUT.progress, awake_since=awake)
    back = timedelta(hours=1) + timedelta(seconds=130) + QUIET

    assert [phase(instance(told()), at, progress) for at in (back, back + MOMENT)] == ["pending", "silent"]


@pytest.mark.parametrize(
    ("state", "revision", "expected"),
    [
        ("applied", 2, "applied"),
        ("applied", 1, "pending"),
        ("apply_failed", 2, "failed"),
        ("apply_failed", 1, "pending"),
    ],
)
def test_only_what_is_said_of_the_rollouts_own_revision_counts(state: Any, revision: int, expected: Phase) -> None:
    assert phase(instance(told(), standing=Standing(state, None, revision)), timedelta(0)) == expected


@pytest.mark.parametrize(
    ("config", "applied_at", "expected"),
    [
        (BEFORE, BEGUN, "absent"),
        (BEFORE, BEGUN - MOMENT, "going_back"),
        (replace(BEFORE, assignment=Assignment("cfg_1", 0)), BEGUN, "going_back"),
        (replace(BEFORE, assignment=Assignment("cfg_1", 7)), BEGUN, "going_back"),
        (replace(BEFORE, assignment=Assignment("cfg_1", 8)), BEGUN, "going_back"),
    ],
)
def test_a_host_that_stopped_went_back_if_it_ran_the_version_before_since(
    config: Desired, applied_at: datetime, expected: Phase
) -> None:
    stored = instance(replace(told(), taken_back=True), stopped=True)
    outcome = ConfigOutcome.of(config, "applied", at=applied_at)
    stored = replace(stored, trials=stored.trials.with_outcome(outcome))

    assert phase(stored, timedelta(0), group=replace(GROUP, rollout=replace(RUNNING, cut=NOBODY))) == expected


def test_a_host_that_moved_away_is_judged_as_one_that_stopped() -> None:
    moved = instance(None)
    departure = Departure("rol_1", 2, BEGUN, None, relabelled=False)
    moved = replace(moved, deployment_id="dep_2", measured=Measurements(departures=[departure]))

    assert [phase(moved, QUIET), phase(moved, QUIET + MOMENT)] == ["leaving", "left"]
    assert phase(replace(moved, measured=Measurements()), QUIET) == "absent"


@pytest.mark.parametrize(("failing", "hosts_", "halts"), [(0, 10, False), (3, 10, False), (4, 10, True), (1, 3, True)])
def test_a_share_of_hosts_may_fail_and_not_a_host_more(failing: int, hosts_: int, halts: bool) -> None:
    members = [
        RolloutHost(replace(instance(told()), id=f"ins_{n}"), NOBODY, True, "failed" if n < failing else "pending")
        for n in range(hosts_)
    ]

    assert (judge(Gates(tolerated_percent=33), members, [], Rates(), 1).reason is not None) is halts
