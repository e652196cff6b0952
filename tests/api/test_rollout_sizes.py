"""A rollout to a large group: it halts in its canaries and touches nothing else, or it ends."""

import pytest

from headgate.foundation.settings import settings
from headgate.instances import service as instances
from headgate.opamp import service as opamp
from tests.support import sizes
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, hash_of, now
from tests.support.opamp_agent import Agent
from tests.support.rolling import Host, RollingGroup, no_executions

__all__ = ["ann", "fleet", "no_executions", "now"]
pytestmark = [pytest.mark.sized, pytest.mark.timeout(3_600), pytest.mark.usefixtures("no_executions")]

HOSTS = sizes.either(20, 2_000)
CANARIES = HOSTS // 10
STRATEGY = {
    "canaries": {"role": "canary"},
    "steps": [
        {"canaries": True, "soak_seconds": 60},
        {"percent": 50, "soak_seconds": 60},
        {"percent": 100, "soak_seconds": 60},
    ],
}


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    """They all join in one minute of a clock that stands."""
    monkeypatch.setenv("HEADGATE_NEW_INSTANCES_PER_MINUTE", str(HOSTS))
    settings.cache_clear()


def of_hosts(fleet: Fleet, now: Clock, *, failing: bool) -> RollingGroup:
    """The first tenth are canaries; if some fail, it is one of twenty, of the canaries and of the others."""
    group = RollingGroup.of(fleet, now, hosts=0)
    for number in range(HOSTS):
        # Past HTTP, which would take most of the time.
        agent = Agent(
            lambda body: opamp.exchange(fleet.token, fleet.deployment_id, body).encode(), host_name=f"edge-{number}"
        )
        labels = {"role": "canary"} if number < CANARIES else {}
        host = Host(agent, labels=labels, fares="fails" if failing and number % 20 == 0 else "well")
        host.starts()
        group.hosts.append(host)
    group.beats()
    assert fleet.counts() == {"total": HOSTS, "applied": HOSTS}
    return group


def offered(fleet: Fleet) -> set[str | None]:
    """The names of the hosts that were ever offered version 2."""
    return {
        one.reported.description.host_name
        for one in instances.of_group(fleet.id, fleet.deployment_id)
        if one.trials.outcome_of(hash_of(fleet, 2))
    }


def test_one_host_of_twenty_that_fails_halts_it_in_the_canaries_and_nothing_else_is_touched(
    fleet: Fleet, now: Clock
) -> None:
    group = of_hosts(fleet, now, failing=True)
    rollout = group.start(STRATEGY)

    ended = group.ends(rollout)

    failing = len(range(0, CANARIES, 20))
    assert (ended["status"], ended["step"]) == ("rolled_back", 1)
    assert f"Step 1: {failing} of {CANARIES} collectors failed gates" in ended["reason"]
    assert offered(fleet) == {f"edge-{number}" for number in range(CANARIES)}
    # Everybody runs the version before, and does so after further heartbeats.
    group.beats()
    assert fleet.counts() == {"total": HOSTS, "applied": HOSTS}
    assert len(group.with_new()) == 0


def test_without_one_that_fails_it_reaches_all_of_them(fleet: Fleet, now: Clock) -> None:
    group = of_hosts(fleet, now, failing=False)
    rollout = group.start(STRATEGY)
    seen = []

    ended = group.goes_on(
        rollout, lambda shown: seen.append((shown["step"], len(group.with_new()))) or shown["status"] == "completed"
    )

    assert ended["hosts"] == {"total": HOSTS, "due": HOSTS, "applied": HOSTS, "failed": 0, "not_moved": 0}
    most = {0: 0, 1: CANARIES, 2: HOSTS // 2, 3: HOSTS}
    assert [(step, count) for step, count in seen if count > most[step]] == []
    assert len(group.with_new()) == HOSTS
    assert fleet.counts() == {"total": HOSTS, "applied": HOSTS}
