"""When an instance is silent, stale and forgotten, what state its report has, and when its text is looked at."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import pytest

from headgate.deployments.programs import Program
from headgate.deployments.versions import Assignment
from headgate.instances.desired.model import ConfigOutcome, Desired
from headgate.instances.model import Contact, Instance
from headgate.instances.reported.model import AgentReport, Health, ReportedConfig, Status
from headgate.instances.state import model, transitions
from tests.support.deciding import SENDER

AT: Final = datetime(2026, 11, 26, 12, 0, 7, tzinfo=UTC)
DESIRED: Final = Desired(Assignment("cfg_1", 1), 1)
SECOND: Final = timedelta(seconds=1)


def reporting(
    config_hash: str = "", *, status: Status = "applied", accepts: bool = True, health: Health | None = None
) -> Instance:
    instance = Instance("ins_1", "flt_1", "dep_1", Contact.first(0, AT), SENDER)
    config = ReportedConfig(config_hash, status)
    return replace(instance, reported=replace(instance.reported, config=config, accepts_config=accepts, health=health))


def test_an_instance_is_stale_a_quarter_of_an_hour_after_the_mark_of_its_last_message() -> None:
    mark = model.mark_of(AT)
    silent, stale = model.quiet_from(mark, quick=False)

    assert stale == AT.replace(second=0) + model.STALE_AFTER
    assert not model.stale(mark, stale)
    assert model.stale(mark, stale + SECOND)
    assert AT < silent < stale


def test_an_instance_is_silent_only_after_the_time_that_says_so() -> None:
    silent, _ = model.quiet_from(mark := model.mark_of(AT), quick=False)

    shown = [model.shown("applied", mark, at, current=True, quick=False) for at in (silent, silent + SECOND)]

    assert shown == ["applied", "silent"]


def test_an_instance_is_forgotten_thirty_days_after_the_end_of_the_day_of_its_last_message() -> None:
    day = model.day_of(model.mark_of(AT))
    ends = datetime(2026, 11, 27, tzinfo=UTC) + model.FORGOTTEN_AFTER

    assert [model.forgotten(day, at) for at in (ends - SECOND, ends)] == [False, True]


@pytest.mark.parametrize("before_or_after", ["0" * 32, "f" * 32])
def test_the_text_is_looked_at_of_no_other_version_than_the_assigned_one(before_or_after: str) -> None:
    assert transitions.to_check(reporting(DESIRED.config_hash), DESIRED)
    # The same text, and not the same object: hashes come out of tables and messages.
    assert transitions.to_check(reporting("".join(list(DESIRED.config_hash))), DESIRED)
    assert not transitions.to_check(reporting(before_or_after), DESIRED)


@pytest.mark.parametrize(
    ("result", "text_hash", "looks"),
    [("applied", None, True), ("applied", "a" * 64, False), ("failed", "a" * 64, True)],
)
def test_the_text_of_a_version_that_was_applied_is_looked_at_once(
    result: Literal["applied", "failed"], text_hash: str | None, looks: bool
) -> None:
    instance = reporting(DESIRED.config_hash)
    # One that failed before it was assigned again.
    outcome = ConfigOutcome.of(DESIRED, result, "", text_hash, revision=0)
    instance = replace(instance, trials=instance.trials.with_outcome(outcome))

    assert transitions.to_check(instance, DESIRED) is looks


@pytest.mark.parametrize(("status", "message"), [("applied", transitions.ANOTHER_TEXT), ("applying", None)])
def test_another_text_is_a_failure_once_the_host_says_that_it_is_applied(status: Status, message: str | None) -> None:
    instance = reporting(DESIRED.config_hash, status=status)
    host = replace(instance.reported.host, text_hash="b" * 64)
    instance = replace(instance, reported=replace(instance.reported, host=host))
    outcome = ConfigOutcome.of(DESIRED, "applied", "", "a" * 64)
    instance = replace(instance, trials=instance.trials.with_outcome(outcome))

    assert transitions.judged(instance, DESIRED).standing.message == message


def test_a_collector_that_takes_no_configuration_is_told_so_only_where_one_is_assigned() -> None:
    observed = reporting(accepts=False, health=Health(healthy=True))

    with_one = transitions.judged(observed, DESIRED).standing
    without = transitions.judged(observed, Desired(None, 0)).standing

    assert (with_one.state, with_one.message) == ("pending_pickup", transitions.TAKES_NO_CONFIGURATION)
    assert (without.state, without.message) == ("running", None)


@pytest.mark.parametrize(
    ("healthy", "error", "state"),
    [
        (True, "", "applied"),
        (True, "late", "applied"),
        (False, "exited", "apply_failed"),
        (False, "", "pending_pickup"),
    ],
)
def test_a_version_is_applied_only_in_health_and_has_failed_only_with_an_error(
    healthy: bool, error: str, state: str
) -> None:
    judged = transitions.judged(reporting(DESIRED.config_hash, health=Health(healthy, error)), DESIRED)

    assert (judged.standing.state, judged.standing.message) == (state, error if state == "apply_failed" else None)


@pytest.mark.parametrize(
    ("status", "state"), [("applied", "applied"), ("applying", "applying"), ("failed", "applying")]
)
def test_a_failure_of_an_unclear_cause_counts_only_as_long_as_the_host_reports_one(status: Status, state: str) -> None:
    unclear = replace(ConfigOutcome.of(DESIRED, "offered"), unclear_since=AT)
    instance = reporting(DESIRED.config_hash, status=status, health=Health(healthy=True))
    instance = replace(instance, trials=instance.trials.with_outcome(unclear))

    assert transitions.judged(instance, DESIRED).standing.state == state


@pytest.mark.parametrize(
    ("status", "state", "message"),
    [
        ("applied", "applying", "The host has not been seen to run collector 0.158.0; it runs none"),
        ("applying", "applying", None),
        ("failed", "pending_pickup", None),
    ],
)
def test_an_applied_version_waits_until_its_collector_is_seen(status: Status, state: str, message: str | None) -> None:
    upgrade = replace(DESIRED, collector=Program("0.158.0", {}))
    instance = reporting(upgrade.config_hash, status=status, health=Health(healthy=True))

    standing = transitions.judged(instance, upgrade).standing

    assert (standing.state, standing.message) == (state, message)


@pytest.mark.parametrize(("status", "state"), [("applied", "idle"), ("applying", "pending_pickup")])
def test_an_instance_without_a_version_is_idle_once_it_runs_none(status: Status, state: str) -> None:
    nothing = Desired(None, 1)
    instance = reporting(nothing.config_hash, status=status)

    assert transitions.judged(instance, nothing).standing.state == state


@pytest.mark.parametrize(("length", "ends"), [(300, "a" * 300), (301, "a" * 299 + "…")])
def test_the_message_of_a_state_has_three_hundred_characters(length: int, ends: str) -> None:
    instance = reporting(DESIRED.config_hash, health=Health(healthy=False, error="a" * length))

    assert transitions.judged(instance, DESIRED).standing.message == ends


@pytest.mark.parametrize(("number", "stopped"), [(8, True), (9, True), (10, False), (0, False)])
def test_a_message_from_before_the_end_leaves_a_collector_stopped(number: int, stopped: bool) -> None:
    before = reporting(DESIRED.config_hash, health=Health(healthy=True))
    before = replace(before, contact=Contact.first(9, AT), reported=replace(before.reported, stopped=True))
    report = AgentReport(b"x" * 16, number, accepts_config=True, takes_interval=True, full=True)

    assert transitions.after_report(before, report, DESIRED, AT).reported.stopped is stopped
