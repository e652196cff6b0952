"""Pauses of the service in memory: hosts back off meanwhile, and a healthy version is never taken back for that."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from headgate.foundation.settings import settings
from headgate.instances.reported.host import HostCounters
from headgate.rollouts.model import FINAL
from headgate.rollouts.progress import wait
from headgate.rollouts.strategy import RolloutStep, Strategy
from tests.support.rolling_in_memory import NEW, Group, Host

STRATEGY = Strategy((RolloutStep(120, hosts=1), RolloutStep(60, percent=100)))
LONGEST_BACK_OFF = 90
RELAY_WAITS = 40


@pytest.fixture(params=[5, 30, 300])
def heartbeat(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setenv("HEADGATE_FLEET_HEARTBEAT_SECONDS", str(request.param))
    settings.cache_clear()
    yield request.param
    settings.cache_clear()


def back_off(pause: int) -> int:
    """How long after the service's return an agent tries again, at most: it has grown by half with each try."""
    return min(LONGEST_BACK_OFF, 3 * pause // 4) + RELAY_WAITS


@pytest.mark.parametrize("pause", [20, 45, 60, 120, 600, 14_400])
@pytest.mark.parametrize("begins", [40, 130, 400, 700])
def test_a_pause_takes_no_healthy_version_back(heartbeat: int, pause: int, begins: int) -> None:
    group = Group.of(4)
    group.start(STRATEGY)
    started, next_tick = group.at, 0
    due: dict[int, int] = {place: place * heartbeat // 4 for place in range(4)}
    ends = begins + pause
    while group.rollout.status not in FINAL:
        second = min(next_tick, *due.values())
        assert second < 40_000
        if begins <= second < ends:
            # The last of them comes as late as it can.
            waits = back_off(pause)
            due = {place: ends + waits * (place + 1) // 4 if at < ends else at for place, at in due.items()}
            next_tick = max(next_tick, ends)
            continue
        group.at = started + timedelta(seconds=second)
        for place, host in enumerate(group.hosts):
            if second >= due[place]:
                _beats(group, host)
                due[place] = second + heartbeat
        if second >= next_tick:
            group.tick()
            next_tick = second + int(wait().total_seconds())

    assert (group.rollout.status, group.rollout.failures) == ("completed", ())
    assert group.stored.assignment == NEW


def _beats(group: Group, host: Host) -> None:
    """A heartbeat with what the host counted since the one before."""
    seconds = int((group.at - host.instance.contact.last_seen_at).total_seconds())
    host.elsewhere = HostCounters(
        seconds,
        10 * seconds,
        0,
        10 * seconds,
        0,
        0,
        0.0,
        delivered={"logs": 7 * seconds, "traces": 3 * seconds},
        memory=1 << 27,
        cpu=seconds,
    )
    host.beat(group.stored, group.at)
