"""The interval that an instance is told: short while something is on its way to it, and its own of a range."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import pytest

from headgate.deployments.running import RunningRollout
from headgate.deployments.versions import Assignment
from headgate.foundation.settings import settings
from headgate.instances.counting.watch import Watch
from headgate.instances.model import Contact, Instance, Standing
from headgate.instances.orders.model import PendingOrder
from headgate.opamp.decision import interval_of
from tests.support.deciding import SENDER

AT: Final = datetime(2026, 11, 26, 12, tzinfo=UTC)
ROLLOUT: Final = RunningRollout("rol_1", Assignment("cfg_1", 1), 1, AT)
REST: Final = range(270, 301)
QUICK: Final = range(10, 31)


@pytest.fixture(autouse=True)
def _five_minutes_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_HEARTBEAT_SECONDS", "300")
    settings.cache_clear()


def instance(number: int = 0) -> Instance:
    resting = Instance(f"ins_{number}", "flt_1", "dep_1", Contact.first(0, AT), SENDER)
    reported = replace(resting.reported, accepts_config=True)
    return replace(resting, reported=reported, standing=Standing("applied", None, 1))


def stands(state: Literal["pending_pickup", "applying"], message: str | None = None) -> Callable[[Instance], Instance]:
    return lambda resting: replace(resting, standing=Standing(state, message, 1))


def watched(resting: Instance) -> Instance:
    return replace(resting, measured=replace(resting.measured, watch=Watch("rol_1", 1)))


def ordered(at: datetime) -> Callable[[Instance], Instance]:
    return lambda resting: replace(resting, orders=resting.orders.with_order(PendingOrder.new("restart", at)))


@pytest.mark.parametrize(
    ("change", "rollout", "interval"),
    [
        (lambda resting: resting, None, REST),
        (lambda resting: resting, ROLLOUT, REST),
        (stands("pending_pickup"), None, QUICK),
        (stands("applying"), None, QUICK),
        (stands("applying", "starting"), None, QUICK),
        # A person has to help it.
        (stands("pending_pickup", "no program"), None, REST),
        (watched, ROLLOUT, QUICK),
        (watched, None, QUICK),
        (watched, replace(ROLLOUT, rests=True), REST),
        (ordered(AT), None, QUICK),
        (ordered(AT - timedelta(days=2)), None, REST),
    ],
)
def test_an_instance_reports_quickly_while_something_is_on_its_way_to_it(
    change: Callable[[Instance], Instance], rollout: RunningRollout | None, interval: range
) -> None:
    assert interval_of(change(instance()), rollout, AT) in interval


@pytest.mark.parametrize(("change", "interval"), [(lambda resting: resting, REST), (stands("applying"), QUICK)])
def test_hosts_that_started_together_have_intervals_over_the_whole_range(
    change: Callable[[Instance], Instance], interval: range
) -> None:
    told = {interval_of(change(instance(number)), None, AT) for number in range(300)}

    assert told <= {*interval}
    assert min(told) < interval[3]
    assert max(told) > interval[-4]
