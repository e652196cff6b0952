"""Rollouts that bring a collector with the version: what each host is to run, and when it counts as moved."""

from dataclasses import replace

import pytest

from headgate.deployments.programs import Program, ProgramFile
from headgate.deployments.versions import Assignment
from headgate.foundation.settings import settings
from headgate.instances.desired.model import config_hash
from headgate.instances.desired.offers import collector_obstacle
from headgate.instances.model import Contact, Instance
from headgate.instances.reported.host import Ability, ReportedHost
from headgate.instances.reported.model import HostDescription, Reported
from headgate.instances.state.intervals import QUICK_SECONDS
from headgate.opamp.decision import interval_of
from headgate.rollouts import acts
from tests.support.rolling_in_memory import NEW, OLD, Group

FILE = ProgramFile("a" * 64, True, "b" * 64, 1_000)
SECOND = Program("0.158.0", {"amd64": FILE})
THIRD = Program("0.160.0", {"amd64": replace(FILE, binary_sha256="c" * 64)})
INSTALLED = "0.139.0"
CAN: tuple[Ability, ...] = ("restart", "upgrade_collector")


def collectors(group: Group) -> list[tuple[str, Assignment | None]]:
    return [(host.collector, host.runs) for host in group.hosts]


def test_both_reach_one_host_and_then_all() -> None:
    group = Group.of(2, can=CAN)
    group.start(collector=SECOND)
    group.goes_on(lambda rollout: bool(rollout.hosts and rollout.hosts.applied == 1))
    assert sorted(collectors(group)) == [(INSTALLED, OLD), (SECOND.version, NEW)]

    assert group.ends().status == "completed"
    assert (group.stored.collector, group.stored.assignment) == (SECOND, NEW)
    assert collectors(group) == [(SECOND.version, NEW)] * 2


def test_a_host_counts_as_applied_only_if_it_was_seen_to_run_the_collector() -> None:
    group = Group.of(2, can=CAN, keeps_collector=True)
    group.start(collector=SECOND)
    group.goes_on(lambda rollout: bool(rollout.hosts and rollout.hosts.due == 1))
    group.beats(2)

    (due,) = group.with_new()
    said = "The host has not been seen to run collector 0.158.0; it runs 0.139.0"
    assert (due.instance.standing.state, due.instance.standing.message) == ("applying", said)
    ended = group.ends()
    assert (ended.status, ended.failures[0].gate) == ("rolled_back", "apply_failed")


def test_a_host_that_needs_a_person_to_move_its_collector_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_HEARTBEAT_SECONDS", "60")
    settings.cache_clear()
    group = Group.of(2, can=CAN)
    group.hosts[0].can = ()
    group.start(collector=SECOND)
    assert group.ends().status == "completed"
    group.beats()

    assert [host.instance.standing.state for host in group.hosts] == ["pending_pickup", "applied"]
    assert [interval_of(host.instance, None, group.at) > QUICK_SECONDS for host in group.hosts] == [True, True]
    settings.cache_clear()


def test_a_host_that_fails_goes_back_to_both() -> None:
    group = Group.of(2, can=CAN, fares="fails")
    group.start(collector=SECOND)

    assert group.ends().status == "rolled_back"
    assert collectors(group) == [(INSTALLED, OLD)] * 2
    assert group.stored.collector is None


def test_a_rollout_that_is_aborted_takes_both_back_to_what_the_group_ran() -> None:
    group = Group.of(2, can=CAN)
    group.start(collector=SECOND)
    group.ends()
    third = Assignment("cfg_1", 3)
    group.start(to=third, collector=THIRD)
    group.goes_on(lambda rollout: bool(rollout.hosts and rollout.hosts.applied == 1))
    assert sorted(collectors(group)) == [(SECOND.version, NEW), (THIRD.version, third)]
    group.act(acts.abort)

    assert group.ends().status == "aborted"
    assert collectors(group) == [(SECOND.version, NEW)] * 2


def test_a_later_rollout_without_a_collector_and_an_assignment_keep_it() -> None:
    group = Group.of(1, can=CAN)
    group.start(collector=SECOND)
    group.ends()
    group.start(to=OLD)
    assert group.ends().status == "completed"
    assert collectors(group) == [(SECOND.version, OLD)]

    group.stored = replace(group.stored, assignment=NEW, assigned_revision=90, revision=90)
    group.beats()
    assert collectors(group) == [(SECOND.version, NEW)]


def test_the_same_version_with_another_collector_is_another_thing_to_run() -> None:
    group = Group.of(1, can=CAN)
    group.start(to=OLD, collector=SECOND)

    assert group.ends().status == "completed"
    assert collectors(group) == [(SECOND.version, OLD)]
    rebuilt = replace(SECOND, files={"amd64": replace(FILE, binary_sha256="d" * 64)})
    assert len({config_hash(OLD), config_hash(OLD, SECOND), config_hash(OLD, rebuilt)}) == 3
    assert config_hash(None, SECOND) == config_hash(None)


def test_a_host_that_came_late_and_fails_goes_back_to_the_installed_collector() -> None:
    group = Group.of(1, can=CAN)
    late = group.join(can=CAN)
    group.beats(2)
    late.here = False
    group.beats(60)
    group.start(collector=SECOND)
    assert group.ends().status == "completed"
    late.here, late.fares = True, "fails"
    group.beats(3)

    assert (late.collector, late.runs, late.instance.standing.state) == (INSTALLED, OLD, "apply_failed")


def test_hosts_that_cannot_be_moved_take_no_step_and_wait() -> None:
    group = Group.of(2, can=CAN)
    older = group.join(can=("restart",))
    group.beats(2)
    group.start(collector=SECOND)
    ended = group.ends()

    assert ended.hosts is not None
    assert (ended.status, ended.hosts.total, ended.hosts.not_moved) == ("completed", 2, 1)
    assert [one.instance_id for one in ended.not_moved] == [older.instance.id]
    group.beats()
    assert (older.runs, older.instance.standing.state, older.instance.standing.message) == (
        OLD,
        "pending_pickup",
        ended.not_moved[0].message,
    )
    older.collector = SECOND.version
    group.beats(2)
    assert (older.runs, older.instance.standing.state) == (NEW, "applied")


@pytest.mark.parametrize(
    ("host", "arch", "way_out"),
    [
        (ReportedHost(can=("restart",)), "amd64", "Its supervisor cannot replace a collector. Install the host again"),
        (ReportedHost(platform="docker"), "amd64", "Docker moves it: make an image with that collector"),
        (ReportedHost(platform="kubernetes"), "amd64", "`--set image.tag=0.158.0`"),
        (
            ReportedHost(labels={"k8s.node.name": "n1"}),
            "amd64",
            "Helm moves it: `headgate fleet install flt_1 --platform",
        ),
        (ReportedHost(can=CAN), "arm64", "is not published for arm64"),
        (ReportedHost(can=CAN), None, "is not published for an unknown architecture"),
    ],
)
def test_the_way_out_fits_the_host(host: ReportedHost, arch: str | None, way_out: str) -> None:
    at = Group().at
    reported = Reported(HostDescription(arch=arch), host=host)
    instance = Instance("ins_1", "flt_1", "dep_1", Contact.first(0, at), reported=reported)
    why = collector_obstacle(instance, SECOND)

    assert why is not None
    assert why.startswith("The version needs collector 0.158.0, and this host runs a version that is not known. ")
    assert way_out in why
    described = HostDescription(arch=arch, collector_version=SECOND.version)
    there = replace(instance, reported=replace(reported, description=described))
    assert (collector_obstacle(there, SECOND), collector_obstacle(instance, None)) == (None, None)


def test_nothing_to_run_takes_no_collector() -> None:
    group = replace(Group().stored, assignment=None, collector=SECOND)
    host = Group.of(1, can=CAN).hosts[0].instance

    assert host.desired(group, Group().at).collector is None
