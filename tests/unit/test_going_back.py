"""A host whose collector is killed while it goes back to a version that worked: that, or none older."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from headgate.deployments.versions import Assignment
from headgate.instances.desired.model import Desired, config_hash
from headgate.instances.desired.offers import offer, with_offer
from headgate.instances.model import Contact, Instance
from headgate.instances.reported.model import AgentReport, Cause, Health, ReportedConfig, Status
from headgate.instances.state.transitions import after_report
from headgate.opamp.reasons import cause

AT = datetime(2026, 11, 22, 12, tzinfo=UTC)
OLDER, GOOD, BAD = (Desired(Assignment("cfg_1", n), n) for n in (1, 2, 3))
# A group keeps its revision when a rollout of it is taken back.
BACK = GOOD
KILLED = "Agent exited unexpectedly with exit code -1 while applying configuration"
ENDED = "bind: address already in use\n(Agent exited unexpectedly with exit code 1 while applying configuration)"
LATE = "Config apply timeout exceeded"
LOOPED = "The collector ended 3 times in the 10 minutes after this configuration was applied (it exited unexpectedly)"
BY_ROLLOUT = replace(BAD, before=GOOD.assignment)


class Host:
    """What the service knows of a host, and what it sends it, until the host says something."""

    def __init__(self) -> None:
        self.instance = Instance("ins_1", "flt_1", "dep_1", Contact.first(0, AT))
        self.sent: list[int | None] = []

    def says(
        self, desired: Desired, config: ReportedConfig | None = None, *, well: bool, cause: Cause | None = None
    ) -> None:
        number = self.instance.contact.sequence_num + 1
        health = Health(well, "" if well else "exited")
        report = AgentReport(b"x" * 16, number, True, True, health=health, config=config, cause=cause)
        self.instance = after_report(self.instance, report, desired, AT)
        sent = offer(self.instance, desired)
        if sent is not None:
            self.instance = with_offer(self.instance, sent, "00", AT)
            self.sent.append(sent.assignment.version_number if sent.assignment else None)

    def reports(self, desired: Desired, of: Desired, status: Status, message: str = "") -> None:
        said = ReportedConfig(of.config_hash, status, message)
        self.says(desired, said, well=status == "applied", cause=cause(message) if status == "failed" else None)

    def runs(self, *versions: Desired) -> None:
        for version in versions:
            self.says(version, well=True)
            self.reports(version, version, "applied")

    def sent_since(self) -> list[int | None]:
        sent, self.sent = self.sent, []
        return sent


@pytest.fixture
def host() -> Host:
    """It ran the older version, then the good one."""
    host = Host()
    host.runs(OLDER, GOOD)
    return host


@pytest.fixture
def back(host: Host) -> Host:
    """Its rollout was taken back, and it was sent the good version again."""
    host.runs(BY_ROLLOUT)
    host.says(BACK, well=True)
    assert host.sent_since()[-1] == 2
    return host


def test_a_version_that_worked_is_offered_once_more_if_its_collector_was_killed_on_the_way_back(back: Host) -> None:
    back.reports(BACK, BACK, "failed", KILLED)
    assert (back.sent_since(), back.instance.standing.state) == ([2], "pending_pickup")

    # The supervisor has it already, so it says Applied at once. It is green when the collector is well.
    back.says(BACK, ReportedConfig(BACK.config_hash, "applied"), well=False)
    assert back.instance.standing.state == "apply_failed"
    back.says(BACK, well=True)
    assert (back.sent_since(), back.instance.standing.state) == ([], "applied")


def test_it_goes_back_once_more_also_while_the_rollout_lasts(host: Host) -> None:
    host.says(BY_ROLLOUT, well=True)
    host.reports(BY_ROLLOUT, BAD, "failed", ENDED)
    host.sent_since()
    host.reports(BY_ROLLOUT, GOOD, "failed", KILLED)
    assert (host.sent_since(), host.instance.standing.state) == ([2], "apply_failed")
    host.reports(BY_ROLLOUT, GOOD, "applied")
    assert (host.sent_since(), host.instance.running()) == ([], host.instance.trials.outcome_of(GOOD.config_hash))


@pytest.mark.parametrize("says_so_each_time", [True, False])
def test_it_is_offered_three_times_then_it_failed_and_none_older_is_sent(back: Host, says_so_each_time: bool) -> None:
    back.reports(BACK, BACK, "failed", KILLED)
    for _ in range(6):
        if says_so_each_time:
            back.reports(BACK, BACK, "failed", KILLED)
        else:
            # Its OpAMP client does not send a status that is equal to the one before.
            back.says(BACK, well=False)

    assert back.sent_since() == [2, 2]
    assert (back.instance.standing.state, back.instance.standing.message) == ("apply_failed", KILLED)
    back.reports(BACK, BACK, "applied")
    assert back.instance.standing.state == "applied"


def test_it_is_bounded_also_while_the_rollout_lasts(host: Host) -> None:
    host.says(BY_ROLLOUT, well=True)
    host.reports(BY_ROLLOUT, BAD, "failed", ENDED)
    host.sent_since()
    for _ in range(6):
        host.reports(BY_ROLLOUT, GOOD, "failed", KILLED)
        host.says(BY_ROLLOUT, well=False)
    assert host.sent_since() == [2, 2]


def test_a_version_that_fails_by_itself_has_failed_at_once_and_the_one_that_worked_runs(back: Host) -> None:
    back.reports(BACK, BACK, "failed", ENDED)
    assert (back.sent_since(), back.instance.standing.state, back.instance.standing.message) == (
        [1],
        "apply_failed",
        ENDED,
    )


def test_a_version_that_never_worked_here_has_failed_also_if_it_was_killed(host: Host) -> None:
    host.says(BAD, well=True)
    host.sent_since()
    host.reports(BAD, BAD, "failed", KILLED)
    assert (host.sent_since(), host.instance.standing.state) == ([2], "apply_failed")


def test_a_version_that_came_back_and_ends_again_and_again_has_failed(back: Host) -> None:
    back.reports(BACK, BACK, "failed", KILLED)
    back.reports(BACK, BACK, "applied")
    back.sent_since()
    back.reports(BACK, BACK, "failed", LOOPED)
    assert (back.sent_since(), back.instance.standing.state) == ([1], "apply_failed")
    assert back.instance.reported.config.config_hash == config_hash(GOOD.assignment)


def test_a_person_who_assigns_it_again_gives_it_three_more(back: Host) -> None:
    for _ in range(6):
        back.reports(BACK, BACK, "failed", KILLED)
    back.sent_since()
    back.says(replace(BACK, revision=5), well=False)
    assert back.sent_since() == [2]
