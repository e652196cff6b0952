"""Which versions a host can go back to: those that ran healthily for a time on it, or on its group's other hosts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headgate.deployments.mapping import GROUPS, group_item
from headgate.deployments.model import Deployment
from headgate.deployments.running import EVERYONE, RunningRollout
from headgate.deployments.versions import Assignment, HealthyVersion
from headgate.instances import mapping
from headgate.instances.desired.model import Desired, Trials
from headgate.instances.model import Instance
from headgate.instances.reported.host import HostCounters, HostReport
from headgate.instances.reported.model import Health, ReportedConfig, Status
from headgate.opamp.decision import ConfigText
from headgate.opamp.reasons import cause
from tests.support.deciding import decided, new_instance

AT = datetime(2026, 11, 22, 12, tzinfo=UTC)
ENDED = "Agent exited unexpectedly with exit code 1 while applying configuration"
REFUSED = "configuration validation failed: config validation failed: exit status 1, output: Error: no such exporter"
LATE = "Config apply timeout exceeded"
FLOWS = HostCounters(30, 300, 0, 300, 0, 0, 0.0)
HANGS = replace(FLOWS, sent=0, queue=0.4)
DENIED = replace(FLOWS, sent=0, failed=300)


class Group:
    """A group, and one host of it that applies what it is offered unless a test says otherwise."""

    def __init__(self) -> None:
        self.stored = Deployment("dep_1", "flt_1", "web", False, None, None, None, None, AT, AT)
        self.at = AT
        self.host = self.new_host()

    def new_host(self) -> Instance:
        return new_instance("ins_1", self.stored, AT)

    def assign(self, n: int | None) -> None:
        assignment = None if n is None else Assignment("cfg_1", n)
        self.stored = self.stored.assigned(assignment, self.at)

    def roll_out(self, n: int) -> None:
        revision = self.stored.revision + 1
        rollout = RunningRollout("rol_1", Assignment("cfg_1", n), revision, AT, cut=EVERYONE)
        self.stored = replace(self.stored.with_rollout(rollout), revision=revision)

    def take_back(self) -> None:
        self.stored = replace(self.stored.without_rollout(), revision=self.stored.revision + 1)

    @property
    def desired(self) -> Desired:
        return self.host.desired(self.stored, self.at)

    def says(
        self,
        status: Status | None = None,
        message: str = "",
        *,
        well: bool = True,
        counters: HostCounters | None = None,
        runs_on: int | None = None,
    ) -> int | None:
        """A message half a minute later, about what it was offered last; what it is offered, 0 for nothing."""
        self.at += timedelta(seconds=30)
        last = self.host.trials.last_offered()
        config = ReportedConfig(last.config_hash if last else "", status, message) if status else None
        why = cause(message) if status == "failed" else None
        said = HostReport("1", exits=0, counters=counters, text_hash=None if runs_on is None else f"{runs_on:064}")
        health = Health(well, "" if well else "it starts")
        decision = decided(self.host, self.stored, self.at, _text, health=health, config=config, cause=why, host=said)
        self.host = decision.instance
        if decision.proves:
            self.stored = replace(self.stored, proven_revision=self.stored.assigned_revision)
        return _number(decision.offer) if decision.offer else None

    def runs(self, n: int, beats: int = 3, counters: HostCounters | None = None) -> None:
        """It is assigned, applied, and runs for so many heartbeats."""
        self.assign(n)
        assert self.says() == n
        self.says("applied", counters=counters)
        for _ in range(beats):
            self.says(counters=counters)

    def fails(self, n: int) -> int | None:
        """It is assigned and fails; what is offered in its place."""
        self.assign(n)
        assert self.says() == n
        return self.says("failed", ENDED, well=False)


def _number(config: Desired) -> int:
    return config.assignment.version_number if config.assignment else 0


def _text(config: Desired) -> ConfigText:
    return ConfigText(f"{_number(config):064}", runs_nothing=False)


@pytest.fixture
def group() -> Group:
    """Its host ran version 1 healthily."""
    group = Group()
    group.runs(1)
    return group


def test_a_host_goes_back_to_what_ran_for_a_time_and_not_to_what_was_only_applied(group: Group) -> None:
    group.runs(2, beats=0)
    assert group.fails(3) == 1


def test_what_runs_on_stays_if_the_next_version_is_refused(group: Group) -> None:
    group.runs(2, beats=0)
    group.assign(3)
    assert group.says(runs_on=2) == 3
    assert group.says("failed", REFUSED, runs_on=2) == 2


def test_the_last_of_those_that_ran_for_a_time_is_taken(group: Group) -> None:
    group.runs(2)
    assert group.fails(3) == 2


@pytest.mark.parametrize("counters", [HANGS, DENIED])
def test_a_version_that_passes_nothing_on_is_never_gone_back_to(group: Group, counters: HostCounters) -> None:
    group.runs(2, beats=20, counters=counters)
    assert group.fails(3) == 1


def test_the_good_one_is_known_however_many_have_failed_since(group: Group) -> None:
    for n in range(2, 12):
        assert group.fails(n) == 1
        group.says("applied")
    assert group.stored.known_healthy == (HealthyVersion(Assignment("cfg_1", 1), None, 2),)


def test_a_fresh_host_goes_back_to_what_ran_on_the_groups_other_hosts(group: Group) -> None:
    group.assign(2)
    group.host = group.new_host()
    assert group.says() == 2
    assert group.says("failed", ENDED, well=False) == 1


def test_a_version_whose_rollout_was_taken_back_is_not_gone_back_to(group: Group) -> None:
    group.roll_out(2)
    group.says()
    group.says("applied")
    for _ in range(5):
        group.says()
    assert [version.assignment.version_number for version in group.host.trials.healthy] == [2, 1]
    group.take_back()
    assert group.says() == 1
    group.says("applied")
    assert [version.assignment.version_number for version in group.host.trials.healthy] == [1]
    assert group.fails(3) == 1


def test_a_group_that_went_back_does_not_go_forth_by_itself(group: Group) -> None:
    group.runs(2)
    # The supervisor goes on trying version 1.
    assert group.fails(1) is None
    assert group.stored.healthy == ()


def test_nothing_is_gone_back_to_once_the_group_was_cleared(group: Group) -> None:
    group.assign(None)
    assert group.says() == 0
    group.says("applied")
    assert group.fails(2) == 0


def test_a_host_that_changes_its_group_goes_back_to_what_ran_on_it(group: Group) -> None:
    moved = Group()
    healthy = tuple(replace(one, revision=0) for one in group.host.trials.healthy)
    moved.host = replace(group.host, trials=replace(group.host.trials, healthy=healthy))
    moved.at = group.at
    assert moved.fails(5) == 1


def test_a_late_version_is_applied_once_its_collector_is_healthy(group: Group) -> None:
    group.assign(2)
    group.says()
    assert group.says("failed", LATE, well=False) is None
    assert (group.host.standing.state, group.host.standing.message) == ("applying", LATE)
    # Its supervisor is asked again, and says so.
    assert group.says(well=True) == 2
    group.says("applied")
    assert group.host.standing.state == "applied"


@pytest.mark.parametrize("again", [True, False])
def test_a_late_version_has_failed_when_its_collector_is_not_healthy_within_a_minute(group: Group, again: bool) -> None:
    group.assign(2)
    group.says()
    if again:
        group.says("failed", LATE, well=False)
        # A supervisor that is offered what it has says that it applied it.
        group.assign(2)
        group.says(well=False)
        assert group.says("applied", well=False) is None
        said = "it starts"
    else:
        assert group.says("failed", LATE, well=False) is None
        said = LATE
    assert group.says(well=False) is None
    assert group.says(well=False) == 1
    assert (group.host.standing.state, group.host.standing.message) == ("apply_failed", said)


def test_what_an_earlier_release_stored_is_read_and_gone_back_to(group: Group) -> None:
    item = mapping.instance_item(replace(group.host, trials=Trials(group.host.trials.outcomes))) | {"revision": 1}
    stored = {name: value for name, value in item.items() if value is not None}
    assert not {"healthy_versions", "well_since"} & stored.keys()
    group.host = mapping.INSTANCES.read(stored)
    group.stored = replace(group.stored, proven_revision=None)
    assert group.fails(2) == 1


@pytest.fixture
def ran_on() -> Group:
    """Its host runs version 2 in health: in a rollout that is open, and whose group ran version 1 healthily."""
    group = Group()
    group.runs(1)
    group.roll_out(2)
    assert group.says(runs_on=1) == 2
    group.says("applied", runs_on=2)
    for _ in range(3):
        group.says(runs_on=2)
    return group


@pytest.mark.parametrize("taken_back", [True, False])
def test_a_refused_assignment_leaves_no_host_on_a_version_whose_rollout_did_not_complete(
    ran_on: Group, taken_back: bool
) -> None:
    if taken_back:
        ran_on.take_back()
    # Assigned before the host's next heartbeat.
    ran_on.assign(3)
    assert ran_on.says(runs_on=2) == 3
    assert ran_on.says("failed", REFUSED, runs_on=2) == 1


@pytest.mark.parametrize("assigned", [True, False])
def test_a_version_that_was_taken_back_is_gone_back_to_once_it_is_assigned(ran_on: Group, assigned: bool) -> None:
    ran_on.take_back()
    ran_on.assign(3)
    if assigned:
        # It was not told to go back meanwhile, and runs it still.
        ran_on.assign(2)
        for _ in range(3):
            ran_on.says(runs_on=2)
    else:
        ran_on.roll_out(2)
        assert ran_on.stored.taken_back == ()
        ran_on.take_back()
    ran_on.assign(4)
    assert ran_on.says() == 4
    assert ran_on.says("failed", ENDED, well=False) == (2 if assigned else 1)


def test_a_superseded_version_stays_if_the_group_ran_nothing_before() -> None:
    group = Group()
    group.roll_out(1)
    group.says()
    group.says("applied", runs_on=1)
    group.says(runs_on=1)
    group.assign(2)
    group.says(runs_on=1)
    assert group.says("failed", REFUSED, runs_on=1) == 1


def test_a_host_that_was_away_while_the_group_was_cleared_goes_back_to_nothing_of_before(group: Group) -> None:
    group.assign(None)
    group.assign(3)
    assert group.says() == 3
    assert group.says("failed", ENDED, well=False) == 0


def test_what_a_group_took_back_is_stored_and_read_again(ran_on: Group) -> None:
    ran_on.assign(None)
    ran_on.assign(3)
    ran_on.roll_out(2)
    ran_on.take_back()
    assert ran_on.stored.cleared_revision
    assert ran_on.stored.taken_back
    stored = {name: value for name, value in group_item(ran_on.stored).items() if value is not None}
    read = GROUPS.read(stored)
    assert (read.taken_back, read.cleared_revision) == (ran_on.stored.taken_back, ran_on.stored.cleared_revision)
    added = ("taken_back", "cleared_revision")
    earlier = GROUPS.read({name: value for name, value in stored.items() if name not in added})
    assert (earlier.taken_back, earlier.cleared_revision) == ((), 0)
