"""Rollouts in memory that are aborted or taken back: where each host goes, and what is said of it."""

from dataclasses import replace
from datetime import timedelta

from headgate.instances.desired.model import config_hash
from headgate.rollouts import acts
from tests.support.rolling_in_memory import AT_ONCE, HALVES, OLD, Group, applied


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
