"""Gates of rollouts in memory: which hosts stop a rollout, and what is not put down to the version."""

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.instances.state.model import STALE_AFTER, Refusals
from headgate.rollouts.strategy import Gates, RolloutStep, Strategy
from tests.support.rolling_in_memory import AT_ONCE, ILL, NEW, OLD, QUICK, QUIET, Fare, Group, applied


@pytest.mark.parametrize(
    ("fares", "gate"),
    [
        ("fails", "apply_failed"),
        ("hangs", "apply_failed"),
        ("crashes", "crash_loop"),
        ("401", "send_failed"),
        ("refuses", "refused"),
        ("queues", "queue_growth"),
        ("dries up", "throughput_drop"),
        ("restarts", "restarts"),
        ("discards", "delivery"),
        ("loses a signal", "throughput_drop"),
        ("blinds", "not_judged"),
        ("swells", "memory_growth"),
        ("burns", "cpu_growth"),
    ],
)
def test_a_version_that_fares_ill_is_taken_back_from_the_first_host(fares: Fare, gate: str) -> None:
    group = Group.of(4, fares=fares)
    group.start()
    ended = group.ends()

    assert ended.status == "rolled_back"
    assert gate in {failure.gate for failure in ended.failures}
    assert gate in (ended.reason or "")
    assert sum(host.had_new for host in group.hosts) == 1
    assert [host.runs for host in group.hosts] == [OLD] * 4
    assert (group.stored.assignment, group.stored.rollout) == (OLD, None)


@pytest.mark.parametrize(
    "fares",
    ["401", "refuses", "queues", "dries up", "restarts", "discards", "loses a signal", "blinds", "swells", "burns"],
)
def test_a_gate_that_is_switched_off_stops_nothing(fares: Fare) -> None:
    group = Group.of(4, fares=fares)
    limits = ("restarts", "send_failed", "refused", "queue_growth", "throughput_drop", "memory_growth", "cpu_growth")
    off = Gates(**dict.fromkeys(limits), delivery=False, not_judged=False)
    group.start(gates=off)

    assert group.ends().status == "completed"


def test_more_hosts_than_are_tolerated_stop_it_and_fewer_do_not() -> None:
    ended = []
    for failing in (1, 2):
        group = Group.of(10)
        for host in group.hosts[:failing]:
            host.fares = "fails"
        group.start(AT_ONCE, Gates(tolerated_percent=10))
        ended.append(group.ends().status)

    assert ended == ["completed", "rolled_back"]


def test_a_host_that_is_not_heard_again_stops_it() -> None:
    group = Group.of(3)
    group.start()
    group.goes_on(applied)
    for host in group.hosts:
        host.here = False
    ended = group.ends()

    assert (ended.status, ended.failures[-1].gate) == ("rolled_back", "silent")


def test_hosts_whose_messages_are_refused_are_not_silent_and_the_rollout_waits_for_them() -> None:
    group = Group.of(3, tells=False)
    group.start()
    group.goes_on(applied)
    for host in group.hosts:
        host.here = False
    # They may come back ten minutes later.
    back_at = group.at + timedelta(minutes=10)
    group.refused = Refusals(group.at, back_at)
    group.goes_on(lambda _: group.at > back_at, most=30)
    assert (group.rollout.status, group.rollout.failures) == ("in_progress", ())
    assert group.rollout.reason == "Waits to hear of 1 instance after the soak"
    for host in group.hosts:
        host.here = True
    ended = group.ends()

    assert (ended.status, ended.failures) == ("completed", ())


@pytest.mark.parametrize("soak", [0, 600])
def test_a_host_that_is_not_heard_after_refusals_stops_it(soak: int) -> None:
    group = Group.of(3)
    group.start(Strategy((RolloutStep(soak, hosts=1), RolloutStep(0, percent=100))))
    group.goes_on(applied)
    group.refused = Refusals(group.at, group.at + timedelta(minutes=10))
    for host in group.hosts:
        host.here = False
    ended = group.ends()

    assert group.at > group.refused.until
    assert (ended.status, ended.failures[-1].gate) == ("rolled_back", "silent")


def test_refusals_that_do_not_end_hide_a_host_for_no_longer_than_until_it_is_stale() -> None:
    group = Group.of(3)
    group.start()
    group.goes_on(applied)
    # As long as somebody who has the fleet's token sends too much.
    group.refused = Refusals(group.at, group.at + timedelta(days=1))
    for host in group.hosts:
        host.here = False
    stale_at = group.at + STALE_AFTER + timedelta(minutes=2)
    group.goes_on(lambda rollout: bool(rollout.failures) or group.at > stale_at)

    assert [failure.gate for failure in group.rollout.failures] == ["silent"]


def test_hosts_that_fall_silent_before_the_version_reaches_them_leave_the_step_to_the_next() -> None:
    group = Group.of(3)
    group.start()
    group.tick()
    gone = list(group.hosts)
    for host in gone:
        host.here = False
    group.goes_on(lambda rollout: "waits for the next one" in (rollout.reason or ""))
    assert (group.stored.assignment, [host.had_new for host in gone]) == (OLD, [False] * 3)
    assert any(note.endswith("waits for the next one") for note in group.rollout.notes)
    joined = group.join()

    assert group.ends().status == "completed"
    assert joined.has_new


def test_a_step_whose_hosts_fall_silent_goes_on_with_others_if_that_is_tolerated() -> None:
    group = Group.of(4)
    group.start(gates=Gates(silent=False))
    group.goes_on(applied)
    (first,) = group.with_new()
    first.here = False
    group.goes_on(lambda _: len(group.with_new()) > 1)

    assert (group.rollout.progress.step, len(group.with_new())) == (1, 2)
    assert group.ends().status == "completed"


def test_a_host_that_was_silent_before_its_turn_came_does_not_count() -> None:
    group = Group.of(3)
    for host in group.hosts[1:]:
        host.here = False
    group.beats(12)
    group.start()
    ended = group.ends()

    assert (ended.status, ended.hosts and ended.hosts.total) == ("completed", 1)


def test_hosts_with_an_older_supervisor_are_not_judged_by_telemetry_and_the_rollout_says_so() -> None:
    group = Group.of(2, fares="401", tells=False)
    group.start()
    ended = group.ends()

    assert ended.status == "completed"
    assert [note.partition(":")[0] for note in ended.notes] == ["Step 1", "Step 2"]
    assert "2 of 2 instances report no counters" in ended.notes[1]


def test_what_fails_elsewhere_too_is_not_put_down_to_the_version() -> None:
    group = Group.of(4)
    group.start()
    group.goes_on(applied)
    for host in group.hosts:
        host.elsewhere = ILL["401"]

    assert group.goes_on(lambda rollout: rollout.progress.step != 1).progress.step == 2


@pytest.mark.parametrize("fares", ["discards", "loses a signal", "swells", "burns"])
def test_what_all_hosts_do_is_not_put_down_to_the_version(fares: Fare) -> None:
    group = Group.of(4)
    # The short soak of the first step does not end before its host reports what it counts.
    group.start(Strategy((RolloutStep(0, hosts=1), RolloutStep(60, percent=100))), Gates(delivery=fares != "discards"))
    group.goes_on(applied)
    for host in group.hosts:
        host.elsewhere = ILL[fares]

    assert group.goes_on(lambda rollout: rollout.progress.step != 1).progress.step == 2


@pytest.mark.parametrize("counts_later", [True, False])
def test_a_first_step_waits_until_its_hosts_have_counted_and_not_without_end(counts_later: bool) -> None:
    blank = replace(QUIET, seconds=1, accepted=1, sent=1, delivered={"logs": 1})
    group = Group.of(4, fares="discards", elsewhere=blank)
    group.start()
    group.tick()
    assert (group.rollout.reason, group.with_new()) == ("Waits for the counters of 1 instance", [])
    for host in group.hosts:
        host.elsewhere = QUIET if counts_later else blank

    ended = group.ends()

    # Without what a host delivered before, nobody can see that it delivers nothing now.
    assert ended.status == ("rolled_back" if counts_later else "completed")


def test_a_short_soak_waits_for_the_counters_of_hosts_that_reported_them_before() -> None:
    group = Group.of(3, fares="blinds")
    group.start(Strategy((RolloutStep(0, hosts=1), RolloutStep(0, percent=100))))
    group.goes_on(lambda rollout: (rollout.reason or "").startswith("Waits for the counters of 1 instance"))

    ended = group.ends()
    assert (ended.status, [failure.gate for failure in ended.failures]) == ("rolled_back", ["not_judged"])
    assert sum(host.had_new for host in group.hosts) == 1


def test_what_failed_on_a_host_before_is_not_put_down_to_the_version() -> None:
    group = Group.of(2, elsewhere=ILL["401"])
    group.start()

    assert group.ends().status == "completed"


def ill_in_its_soak(hosts: int) -> Group:
    """A group whose first host does not run the version in health since the middle of its soak."""
    group = Group.of(hosts)
    group.start(QUICK)
    group.goes_on(lambda rollout: rollout.progress.soaking_since is not None)
    group.with_new()[0].starts_slowly = True
    group.goes_on(lambda rollout: rollout.reason == "Waits for 1 instance to run the version in health again")
    return group


@pytest.mark.parametrize("hosts", [1, 3])
def test_a_version_whose_host_falls_ill_in_the_soak_reaches_no_other_and_is_taken_back(hosts: int) -> None:
    group = ill_in_its_soak(hosts)
    assert len(group.with_new()) == 1
    back = group.goes_on(lambda rollout: rollout.status == "rolling_back")

    assert [failure.gate for failure in back.failures] == ["crash_loop"]
    assert len([host for host in group.hosts if host.had_new]) == 1


@pytest.mark.parametrize("hosts", [1, 3])
def test_a_host_that_is_well_again_after_its_soak_lets_the_rollout_go_on(hosts: int) -> None:
    group = ill_in_its_soak(hosts)
    for host in group.hosts:
        host.starts_slowly = False

    assert (group.ends().status, group.stored.assignment) == ("completed", NEW)
