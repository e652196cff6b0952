"""Stored variables reach running hosts by a rollout: sealed for each host, with gates, and back with the version."""

import pytest

from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.rolling import no_executions
from tests.support.sealed_hosts import WRONG, SealedGroup

__all__ = ["ann", "fleet", "no_executions", "now"]
pytestmark = pytest.mark.usefixtures("no_executions")


@pytest.fixture
def group(fleet: Fleet, now: Clock) -> SealedGroup:
    return SealedGroup.of(fleet, now, 2)


def test_a_changed_secret_reaches_hosts_step_by_step_without_an_install(group: SealedGroup) -> None:
    revision = group.stores(secrets={"API_KEY": "second"}, variables={"ZONE": None, "LEVEL": "warn"})
    assert [host.digest for host in group.hosts] == ["", ""]
    before = group.of_hosts()
    assert (before["newest"], before["rolled_out"], before["running"]) == (2, None, [{"revision": None, "hosts": 2}])

    rollout = group.starts(revision)
    assert rollout["variables"] == {"revision": 2, "before": None}
    ended = group.ends(rollout)

    assert (ended["status"], ended["hosts"]["applied"]) == ("completed", 2)
    for host in group.hosts:
        assert host.environment == {"API_KEY": "second", "LEVEL": "warn"}
        assert host.files[host.digest]["removed"] == ["ZONE"]
    after = group.of_hosts()
    assert (after["rolled_out"], after["running"]) == (2, [{"revision": 2, "hosts": 2}])
    assert group.fleet.member.http.get(group.path).json()["variables_revision"] == 2


def test_a_wrong_value_fails_the_gate_and_the_former_values_are_back(group: SealedGroup) -> None:
    group.ends(group.starts(group.stores(secrets={"API_KEY": "second"})))
    good = {host.digest for host in group.hosts}

    ended = group.ends(group.starts(group.stores(secrets={"API_KEY": WRONG})))

    assert ended["status"] in ("rolled_back", "halted")
    assert len([host for host in group.hosts if len(host.files) == 2]) == 1, "only the first step got it"
    assert {host.digest for host in group.hosts} == good
    assert group.of_hosts()["running"] == [{"revision": 2, "hosts": 2}]
    assert all(host.environment["API_KEY"] == "second" for host in group.hosts)
