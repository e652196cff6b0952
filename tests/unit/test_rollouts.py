"""Rollouts in memory: what hosts get, and what a rollout waits for."""

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.instances.orders.model import Orders, Override
from headgate.rollouts import acts
from headgate.rollouts.model import OwnRollout
from headgate.rollouts.strategy import ChangeWindow, Gates, RolloutStep, Strategy, preset
from tests.support.rolling_in_memory import ANN, AT_ONCE, BOB, HALVES, NEW, OLD, QUICK, QUIET, Group, applied


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
    group.start(Strategy((RolloutStep(3_600, percent=50), RolloutStep(3_600, percent=100))))
    group.goes_on(applied)
    group.act(acts.promote)
    group.goes_on(lambda rollout: rollout.progress.step == 2 and applied(rollout), most=5)
    group.beats()
    group.tick()

    assert group.rollout.status == "in_progress"


def test_a_step_waits_until_somebody_else_approves_it() -> None:
    group = Group.of(2)
    group.start(Strategy((RolloutStep(0, hosts=1), RolloutStep(0, percent=100, approval=True))))
    waiting = group.goes_on(lambda rollout: rollout.status == "waiting_for_approval")
    assert (waiting.progress.step, waiting.reason, len(group.with_new())) == (1, "Step 2 waits for approval", 1)
    with pytest.raises(OwnRollout):
        group.act(acts.approved_by(ANN))
    group.act(acts.approved_by(BOB))

    assert group.ends().status == "completed"


def test_steps_begin_in_the_window_only() -> None:
    group = Group.of(2)
    # It is 12:01 UTC, 13:01 in Berlin.
    window = ChangeWindow("13:30", "13:34", "Europe/Berlin")
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

    assert ChangeWindow("22:00", "05:00", "UTC").is_open(at) is open


def test_no_more_hosts_change_at_once_than_may() -> None:
    group = Group.of(6)
    group.start(Strategy((RolloutStep(0, percent=100),), max_unavailable=2))
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
    group.start(Strategy((RolloutStep(600, percent=50), RolloutStep(600, percent=100))))
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
    steps = (
        RolloutStep(0, hosts=1),
        RolloutStep(0, percent=10),
        RolloutStep(0, percent=50),
        RolloutStep(0, percent=100),
    )
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
    group.start(Strategy((RolloutStep(60, percent=50), RolloutStep(60, percent=100))))

    assert group.ends().status == "rolled_back"


def test_hosts_that_claim_to_be_well_do_not_outvote_one_that_is_not() -> None:
    group = Group.of(30)
    group.hosts[0].fares = "401"
    group.start(AT_ONCE)

    assert group.ends().status == "rolled_back"


def test_a_host_that_calls_itself_a_canary_changes_its_own_place_only() -> None:
    group = Group.of(6)
    group.start(Strategy((RolloutStep(600, hosts=1), RolloutStep(600, percent=100)), {"ring": "canary"}))
    group.goes_on(applied)
    liar = next(host for host in group.hosts if not host.had_new)
    liar.labels = {"ring": "canary"}
    group.beats(2)

    assert sum(host.had_new for host in group.hosts) == 2


@pytest.mark.parametrize("by", ["override", "cut off"])
def test_a_host_that_a_person_set_apart_does_not_count(by: str) -> None:
    group = Group.of(3)
    pinned = group.hosts[0]
    override = Override(OLD, group.at + timedelta(days=1), group.at, ANN, None)
    orders = Orders(override=override) if by == "override" else Orders(cut_off_at=group.at)
    pinned.instance = replace(pinned.instance, orders=orders)
    group.start()
    ended = group.ends()

    assert (ended.status, ended.hosts and ended.hosts.total) == ("completed", 2)
    # Nothing refuses messages here.
    assert by == "cut off" or not pinned.had_new


def test_hosts_that_apply_again_and_again_do_not_keep_a_step_from_ending() -> None:
    group = Group.of(2, fares="flaps")
    # One of them is always applying.
    group.hosts[0].beats += 1
    group.start(Strategy((RolloutStep(0, percent=100),)), Gates(throughput_drop=None))

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
    group.start(Strategy((RolloutStep(600, percent=100),), on_failure="halt"))
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
    group.start(Strategy((RolloutStep(soak, percent=100),)))
    group.goes_on(lambda rollout: group.with_new() == group.hosts)
    for host in group.hosts:
        host.here = False
    ended = group.ends()

    assert ended.status == "rolled_back"
    assert "silent (4)" in (ended.reason or "")


def test_hosts_that_are_back_by_an_abort_are_no_longer_named_as_not_back() -> None:
    group = Group.of(4)
    group.start(Strategy((RolloutStep(60, hosts=1), RolloutStep(60, percent=100))))
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
