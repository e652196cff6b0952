"""Rollouts in memory: what hosts get, what stops a rollout, and what it waits for."""

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.instances.desired.model import config_hash
from headgate.instances.orders.model import Orders, Override
from headgate.rollouts import acts
from headgate.rollouts.model import OwnRollout, Rollout
from headgate.rollouts.strategy import Gates, Step, Strategy, Window, preset
from tests.support.rolling_in_memory import ANN, BOB, ILL, NEW, OLD, QUICK, QUIET, Fare, Group

HALVES = Strategy((Step(30, percent=50), Step(120, percent=100)))
AT_ONCE = Strategy((Step(60, percent=100),))


def applied(rollout: Rollout) -> bool:
    """Whether every host whose turn has come runs the version."""
    return rollout.hosts is not None and 0 < rollout.hosts.due == rollout.hosts.applied


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
    group.start(Strategy((Step(0, hosts=1), Step(60, percent=100))), Gates(delivery=fares != "discards"))
    group.goes_on(applied)
    for host in group.hosts:
        host.elsewhere = ILL[fares]

    assert group.goes_on(lambda rollout: rollout.progress.step != 1).progress.step == 2


def test_a_short_soak_waits_for_the_counters_of_hosts_that_reported_them_before() -> None:
    group = Group.of(3, fares="blinds")
    group.start(Strategy((Step(0, hosts=1), Step(0, percent=100))))
    group.goes_on(lambda rollout: (rollout.reason or "").startswith("Waits for the counters of 1 instance"))

    ended = group.ends()
    assert (ended.status, [failure.gate for failure in ended.failures]) == ("rolled_back", ["not_judged"])
    assert sum(host.had_new for host in group.hosts) == 1


def test_what_failed_on_a_host_before_is_not_put_down_to_the_version() -> None:
    group = Group.of(2, elsewhere=ILL["401"])
    group.start()

    assert group.ends().status == "completed"


def test_with_halt_only_the_hosts_stay_and_resuming_judges_them_anew() -> None:
    group = Group.of(3, fares="401")
    group.start(replace(QUICK, on_failure="halt"))
    halted = group.ends()
    assert (halted.status, len(group.with_new())) == ("halted", 1)
    group.tick()
    assert group.rollout.failures == halted.failures
    for host in group.hosts:
        host.fares = "well"
    group.act(acts.resume)

    assert group.ends().status == "completed"


def test_a_later_step_goes_back_alone_and_a_retry_begins_it_again() -> None:
    group = Group.of(4)
    group.start(HALVES)
    group.goes_on(lambda rollout: rollout.progress.step == 2)
    early = [host for host in group.hosts if host.had_new]
    for host in group.hosts:
        host.fares = "well" if host in early else "fails"
    halted = group.ends()
    assert (halted.status, halted.progress.step, group.with_new()) == ("halted", 1, early)
    for host in group.hosts:
        host.fares = "well"
    group.act(acts.retry)

    assert group.ends().status == "completed"
    assert len(group.with_new()) == 4


def test_a_step_that_fails_while_it_soaks_again_goes_back_itself() -> None:
    group = Group.of(4)
    group.start(HALVES)
    group.goes_on(lambda rollout: rollout.progress.step == 2)
    early = [host for host in group.hosts if host.had_new]
    for host in group.hosts:
        host.fares = "well" if host in early else "fails"
    group.ends()
    for host in early:
        host.fares = "401"
    group.act(acts.retry)

    assert group.ends().status == "rolled_back"
    assert group.with_new() == []


def test_the_whole_rollout_goes_back_where_that_was_asked_for() -> None:
    group = Group.of(4)
    group.start(replace(HALVES, on_failure="roll_back"))
    group.goes_on(lambda rollout: rollout.progress.step == 2)
    for host in group.hosts:
        host.fares = "401"

    assert group.ends().status == "rolled_back"
    assert group.with_new() == []


def test_a_paused_rollout_begins_nothing_until_it_is_resumed() -> None:
    group = Group.of(2)
    group.start()
    group.goes_on(applied)
    group.act(acts.pause)
    for _ in range(20):
        group.beats()
        group.tick()
    assert (group.rollout.progress.step, len(group.with_new())) == (1, 1)
    group.act(acts.resume)

    assert group.ends().status == "completed"


def test_a_gate_that_fails_while_it_is_paused_takes_the_step_back() -> None:
    group = Group.of(2, fares="401")
    group.start()
    group.tick()
    group.act(acts.pause)

    assert group.ends().status == "rolled_back"


def test_promoting_skips_the_rest_of_one_soak() -> None:
    group = Group.of(4)
    group.start(Strategy((Step(3_600, percent=50), Step(3_600, percent=100))))
    group.goes_on(applied)
    group.act(acts.promote)
    group.goes_on(lambda rollout: rollout.progress.step == 2 and applied(rollout), most=5)
    group.beats()
    group.tick()

    assert group.rollout.status == "in_progress"


def test_an_aborted_rollout_takes_every_host_back() -> None:
    group = Group.of(4)
    group.start(HALVES)
    group.goes_on(applied)
    group.act(acts.abort)

    assert group.ends().status == "aborted"
    assert [host.runs for host in group.hosts] == [OLD] * 4


def test_hosts_that_do_not_go_back_are_named_and_do_not_keep_the_rollout_open() -> None:
    group = Group.of(4)
    group.start(HALVES)
    group.goes_on(applied)
    stuck = group.with_new()
    for host in stuck:
        host.stuck = True
    group.act(acts.abort)
    aborted_at = group.at
    ended = group.ends()

    assert (ended.status, ended.reason) == (
        "aborted",
        "2 instances have not gone back to the version before within 7 minutes",
    )
    assert group.at - aborted_at == timedelta(minutes=7)
    assert {failure.instance_id: failure.gate for failure in ended.failures} == {
        host.instance.id: "rollback_failed" for host in stuck
    }
    assert ended.failures[0].message == "It does not report that it runs the version before in health"


def test_a_rollout_is_rolled_back_once_its_hosts_report_health_again_and_not_when_they_begin_to() -> None:
    group = Group.of(2, fares="401")
    group.start()
    group.goes_on(lambda rollout: rollout.status == "rolling_back")
    (host,) = group.with_new()
    host.starts_slowly = True
    group.beats(3)
    group.tick()
    assert (group.rollout.status, host.runs) == ("rolling_back", OLD)
    host.starts_slowly = False
    group.beats()
    group.tick()

    assert (group.rollout.status, group.rollout.not_back) == ("rolled_back", [])


def test_a_host_where_the_version_before_fails_is_named_with_its_reason() -> None:
    group = Group.of(2, fares="401")
    group.start()
    group.goes_on(lambda rollout: rollout.status == "rolling_back")
    (host,) = group.with_new()
    host.old_fails = True
    ended = group.ends()

    assert ended.status == "rolled_back"
    assert [(failure.instance_id, failure.message) for failure in ended.not_back] == [
        (host.instance.id, "no such exporter")
    ]
    assert (ended.reason or "").endswith("1 instance has not gone back to the version before within 7 minutes")


def test_hosts_that_stopped_are_not_said_to_have_gone_back() -> None:
    group = Group.of(2)
    group.start(AT_ONCE)
    group.goes_on(applied)
    group.leaves(group.hosts[0])
    group.act(acts.abort)
    ended = group.ends()

    assert (ended.status, [failure.message for failure in ended.not_back]) == (
        "aborted",
        ["It stopped, and nothing was heard of it since"],
    )


def test_aborting_again_gives_no_more_time_to_go_back() -> None:
    group = Group.of(2, fares="401")
    group.start()
    group.goes_on(lambda rollout: rollout.status == "rolling_back")
    begun_at = group.at
    for host in group.hosts:
        host.stuck = True
    group.goes_on(lambda _: group.at - begun_at >= timedelta(minutes=5))
    group.act(acts.abort)

    assert group.ends().status == "aborted"
    assert group.at - begun_at == timedelta(minutes=7)


def test_a_host_where_the_version_before_failed_as_well_goes_back_to_what_worked() -> None:
    group = Group.of(1)
    (host,) = group.hosts
    # The group was assigned version 3, which failed here.
    broken = replace(OLD, version_number=3)
    group.stored = replace(group.stored, assignment=broken, assigned_revision=5, revision=5)
    host.stuck = True
    group.beats()
    host.runs, host.reported = broken, config_hash(broken)
    host.stuck = False
    host.say(group.stored, group.at, "failed")
    assert host.runs == OLD
    group.start(AT_ONCE)
    group.goes_on(applied)
    group.act(acts.abort)

    assert (group.ends().status, host.runs) == ("aborted", OLD)


def test_a_step_waits_until_somebody_else_approves_it() -> None:
    group = Group.of(2)
    group.start(Strategy((Step(0, hosts=1), Step(0, percent=100, approval=True))))
    waiting = group.goes_on(lambda rollout: rollout.status == "waiting_for_approval")
    assert (waiting.progress.step, waiting.reason, len(group.with_new())) == (1, "Step 2 waits for approval", 1)
    with pytest.raises(OwnRollout):
        group.act(acts.approved_by(ANN))
    group.act(acts.approved_by(BOB))

    assert group.ends().status == "completed"


def test_steps_begin_in_the_window_only() -> None:
    group = Group.of(2)
    # It is 12:01 UTC, 13:01 in Berlin.
    window = Window("13:30", "13:34", "Europe/Berlin")
    group.start(replace(QUICK, window=window), Gates(throughput_drop=None))
    group.tick()
    assert group.rollout.progress.step == 0
    assert group.rollout.reason == "Step 1 waits for the window from 13:30 to 13:34, Europe/Berlin"
    group.at += timedelta(minutes=29)
    group.beats()
    group.goes_on(applied)
    for _ in range(10):
        group.beats()
        group.tick()
    # The first host soaked for longer than it had to; the next step begins tomorrow.
    assert (group.rollout.progress.step, len(group.with_new())) == (1, 1)
    group.at += timedelta(hours=23, minutes=53)
    group.beats()

    assert group.ends().status == "completed"


@pytest.mark.parametrize(
    ("now", "open"),
    [("21:59", False), ("22:00", True), ("23:59", True), ("00:00", True), ("04:59", True), ("05:00", False)],
)
def test_a_window_may_span_midnight(now: str, open: bool) -> None:
    hour, minute = map(int, now.split(":"))
    at = Group().at.replace(hour=hour, minute=minute)

    assert Window("22:00", "05:00", "UTC").is_open(at) is open


def test_no_more_hosts_change_at_once_than_may() -> None:
    group = Group.of(6)
    group.start(Strategy((Step(0, percent=100),), max_unavailable=2))
    counts = []
    for _ in range(6):
        group.tick()
        counts.append(sum(host.had_new for host in group.hosts))
        group.beats()

    assert counts[:4] == [0, 2, 4, 6]
    assert group.ends().status == "completed"


def test_canaries_are_first_and_all_of_them_with_a_preset() -> None:
    group = Group.of(4)
    canaries = [group.join(labels={"ring": "canary", "zone": "a"}) for _ in range(2)]
    labels = {"ring": "canary"}
    group.start(Strategy(preset("canary", labels), labels))
    group.goes_on(applied)

    assert group.with_new() == canaries


def test_without_a_canary_one_host_is_taken_and_the_rollout_says_so() -> None:
    group = Group.of(3)
    labels = {"ring": "canary"}
    group.start(Strategy(preset("canary", labels), labels))
    first = group.goes_on(applied)

    assert (first.hosts and first.hosts.due, len(first.notes)) == (1, 1)
    assert "no instance has the labels of the canaries" in group.ends().notes[0]


def test_hosts_that_join_take_the_version_of_their_place() -> None:
    # Half of four hosts may be a small part of all places; of a hundred it is not.
    group = Group.of(100)
    group.start(Strategy((Step(600, percent=50), Step(600, percent=100))))
    group.goes_on(applied)
    joined = [group.join() for _ in range(64)]
    took = [host for host in joined if host.has_new]

    assert 0 < len(took) < 64
    assert all(host.runs == OLD for host in joined if host not in took)


@pytest.mark.parametrize(
    ("hosts", "due"),
    [
        (1, [1]),
        (2, [1, 2]),
        (3, [1, 3]),
        (4, [1, 2, 4]),
        (10, [1, 5, 10]),
        (20, [1, 2, 10, 20]),
        (100, [1, 10, 50, 100]),
    ],
)
def test_a_small_group_gets_fewer_steps_and_never_more_of_it_than_the_step_says(hosts: int, due: list[int]) -> None:
    group = Group.of(hosts)
    steps = (Step(0, hosts=1), Step(0, percent=10), Step(0, percent=50), Step(0, percent=100))
    group.start(Strategy(steps))
    counts: list[int] = []
    while group.rollout.status == "in_progress":
        group.tick()
        group.beats()
        counts.append(len(group.with_new()))

    assert sorted({count for count in counts if count}) == due


def test_a_group_without_hosts_is_assigned_the_version_and_the_rollout_says_so() -> None:
    group = Group.of(0)
    group.start()
    group.tick()

    assert (group.rollout.status, group.stored.assignment) == ("completed", NEW)
    assert group.rollout.notes == ("Step 0: no instance of the group reports, so that nothing was judged",)


def test_a_host_that_lies_in_absurd_figures_counts_as_one() -> None:
    group = Group.of(20, fares="401")
    for host in group.hosts[:2]:
        # Two of the others claim that every send fails. If it were believed, 401 would be nothing new.
        host.elsewhere = replace(QUIET, sent=0, failed=1 << 53, accepted=1 << 53, seconds=1 << 53)
        host.fares = "well"
    group.start(Strategy((Step(60, percent=50), Step(60, percent=100))))

    assert group.ends().status == "rolled_back"


def test_hosts_that_claim_to_be_well_do_not_outvote_one_that_is_not() -> None:
    group = Group.of(30)
    group.hosts[0].fares = "401"
    group.start(AT_ONCE)

    assert group.ends().status == "rolled_back"


def test_a_host_that_calls_itself_a_canary_changes_its_own_place_only() -> None:
    group = Group.of(6)
    group.start(Strategy((Step(600, hosts=1), Step(600, percent=100)), {"ring": "canary"}))
    group.goes_on(applied)
    liar = next(host for host in group.hosts if not host.had_new)
    liar.labels = {"ring": "canary"}
    group.beats(2)

    assert sum(host.had_new for host in group.hosts) == 2


def test_a_host_with_an_override_keeps_it_and_does_not_count() -> None:
    group = Group.of(3)
    pinned = group.hosts[0]
    until = group.at + timedelta(days=1)
    override = Override(OLD, until, group.at, ANN, None)
    pinned.instance = replace(pinned.instance, orders=Orders(override=override))
    group.start()
    ended = group.ends()

    assert (ended.status, ended.hosts and ended.hosts.total, pinned.had_new) == ("completed", 2, False)


def test_hosts_that_apply_again_and_again_do_not_keep_a_step_from_ending() -> None:
    group = Group.of(2, fares="flaps")
    # One of them is always applying.
    group.hosts[0].beats += 1
    group.start(Strategy((Step(0, percent=100),)), Gates(throughput_drop=None))

    assert group.ends().status == "completed"


def test_a_new_host_where_the_version_fails_gets_what_the_group_ran() -> None:
    group = Group.of(2)
    group.start(AT_ONCE, Gates(tolerated_percent=100))
    group.goes_on(applied)
    joined = group.join(fares="fails")

    assert joined.offered == [NEW, OLD]


@pytest.mark.parametrize("minutes", [4, 20, 600])
def test_an_interruption_of_the_service_is_not_put_down_to_the_hosts(minutes: int) -> None:
    group = Group.of(4)
    # A real host tells what it counted meanwhile with its next report.
    group.start(gates=Gates(throughput_drop=None))
    group.goes_on(applied)
    # Nothing ticks, and nobody takes what hosts report.
    group.at += timedelta(minutes=minutes)
    group.tick()
    assert (group.rollout.status, len(group.with_new())) == ("in_progress", 1)
    group.beats()

    assert group.ends().status == "completed"


def test_a_host_that_the_version_made_silent_is_judged_also_after_a_retry() -> None:
    group = Group.of(3)
    group.start(Strategy((Step(600, percent=100),), on_failure="halt"))
    group.goes_on(applied)
    group.hosts[0].here = False
    assert group.ends().status == "halted"
    # Long enough to count as one that was not there when the retry was made.
    group.beats(8)
    group.act(acts.retry)
    assert group.rollout.status == "in_progress"
    ended = group.ends()

    assert (ended.status, [failure.gate for failure in ended.failures]) == ("halted", ["silent"])


def test_a_way_back_ends_also_if_every_judgement_is_late() -> None:
    group = Group.of(2, fares="401")
    group.start()
    group.goes_on(lambda rollout: rollout.status == "rolling_back")
    taken_back_at = group.at
    for host in group.with_new():
        host.stuck = True
    while group.rollout.status == "rolling_back" and group.at - taken_back_at < timedelta(hours=1):
        group.beats(4)
        group.tick()

    assert (group.rollout.status, len(group.rollout.not_back)) == ("rolled_back", 1)
    assert group.at - taken_back_at <= timedelta(minutes=16)


def test_a_long_interruption_of_a_way_back_is_not_put_down_to_the_hosts() -> None:
    group = Group.of(2, fares="401")
    group.start()
    group.goes_on(lambda rollout: rollout.status == "rolling_back")
    for minutes in (3, 600):
        group.at += timedelta(minutes=minutes)
        group.tick()
        assert group.rollout.status == "rolling_back"

    assert (group.ends().status, group.rollout.not_back) == ("rolled_back", [])


def test_a_host_that_is_gone_after_an_interruption_stops_the_rollout() -> None:
    group = Group.of(4)
    group.start()
    group.goes_on(applied)
    group.with_new()[0].here = False
    group.at += timedelta(minutes=20)

    assert group.ends().status == "rolled_back"


@pytest.mark.parametrize("soak", [30, 60, 119, 120])
def test_a_soak_shorter_than_the_time_of_silence_completes_nothing_that_is_not_heard(soak: int) -> None:
    group = Group.of(4)
    group.start(Strategy((Step(soak, percent=100),)))
    group.goes_on(lambda rollout: group.with_new() == group.hosts)
    for host in group.hosts:
        host.here = False
    ended = group.ends()

    assert ended.status == "rolled_back"
    assert "silent (4)" in (ended.reason or "")


def test_hosts_that_are_back_by_an_abort_are_no_longer_named_as_not_back() -> None:
    group = Group.of(4)
    group.start(Strategy((Step(60, hosts=1), Step(60, percent=100))))
    group.goes_on(lambda rollout: rollout.progress.step == 2 and applied(rollout))
    assert group.stored.rollout is not None
    place = group.stored.rollout.place
    last = max(group.hosts, key=lambda host: place(host.instance.id, host.labels))
    last.fares, last.stuck = "401", True
    halted = group.ends()
    assert (halted.status, [one.instance_id for one in halted.not_back]) == ("halted", [last.instance.id])
    last.stuck = False
    group.beats(3)
    group.act(acts.abort)
    ended = group.ends()

    assert (ended.status, ended.not_back) == ("aborted", [])
