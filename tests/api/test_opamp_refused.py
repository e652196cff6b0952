"""Hosts whose messages are refused because too many came: when they count as silent, and what noting that costs."""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from headgate.foundation import clock
from headgate.instances import service as instances
from headgate.instances.counting import quiet
from headgate.instances.state.model import NEVER_REFUSED
from headgate.instances.timeline import store as timeline
from headgate.opamp import pace
from headgate.storage import aws
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.opamp_agent import Agent

__all__ = ["ann", "fleet", "now"]


@pytest.fixture
def busy(fleet: Fleet, now: Clock, monkeypatch: pytest.MonkeyPatch) -> Agent:
    """An agent that sends each second, which is all that its token may send."""
    monkeypatch.setattr(pace, "_of_token", lambda: (1.0, 1.0))
    monkeypatch.setattr(pace, "_tokens", pace.SenderPace())
    busy = fleet.agent(host_name="busy")
    busy.start()
    now.moves(seconds=1)
    return busy


@pytest.fixture
def host(fleet: Fleet, now: Clock, busy: Agent) -> Agent:
    """A host that was heard just now."""
    host = fleet.agent(host_name="host")
    host.start()
    now.moves(seconds=1)
    return host


def refused(fleet: Fleet, now: Clock, busy: Agent | None, minutes: int, *agents: Agent) -> Sequence[int]:
    """The statuses of messages that these agents send each half minute, just after the busy one, or after noise."""
    statuses = []
    for _ in range(2 * minutes):
        now.moves(seconds=30)
        if busy is None:
            assert fleet.post(b"noise").status_code == 400
        else:
            busy.heartbeat()
        statuses += [fleet.post(agent.message().SerializeToString()).status_code for agent in agents]
    return statuses


def states(fleet: Fleet) -> dict[object, object]:
    """The states of the hosts by their names, which the counters have to agree with."""
    found = {one["host_name"]: one["state"] for one in fleet.instances()}
    counted = Counter(str(state) for state in found.values())
    assert fleet.counts() == {"total": len(found), **counted}
    return found


def became_silent(fleet: Fleet, now: Clock, minutes: int) -> list[object]:
    since = now.at - timedelta(minutes=minutes)
    found = quiet.became_quiet(fleet.id, quiet.census(fleet.id), since, now.at)
    return [instance.reported.description.host_name for instance, kind, _ in found if kind == "silent"]


def test_a_host_whose_messages_are_refused_is_not_silent_and_was_not(
    fleet: Fleet, now: Clock, busy: Agent, host: Agent
) -> None:
    assert set(refused(fleet, now, busy, 10, host)) == {429}
    assert states(fleet) == {"busy": "pending_pickup", "host": "pending_pickup"}
    assert became_silent(fleet, now, 10) == []

    now.moves(seconds=2)
    host.heartbeat()
    (known,) = [one for one in fleet.instances() if one["host_name"] == "host"]
    entries = timeline.newest(fleet.id, str(known["id"]), 10, None).entries
    assert {entry.event for entry in entries}.isdisjoint({"silent", "back"})


def test_a_host_that_noise_leaves_no_turn_is_not_silent(fleet: Fleet, now: Clock, host: Agent) -> None:
    assert set(refused(fleet, now, None, 5, host)) == {429}

    assert states(fleet)["host"] == "pending_pickup"


def test_a_host_that_says_nothing_after_the_refusals_is_silent(
    fleet: Fleet, now: Clock, busy: Agent, host: Agent
) -> None:
    refused(fleet, now, busy, 5, host)
    # From here on, no message is refused.
    refused(fleet, now, busy, 3)
    assert states(fleet)["host"] == "pending_pickup"
    refused(fleet, now, busy, 2)
    assert states(fleet)["host"] == "silent"
    assert became_silent(fleet, now, 2) == ["host"]


def test_a_host_that_could_be_heard_for_a_short_time_between_refusals_is_not_silent_yet(
    fleet: Fleet, now: Clock, busy: Agent, host: Agent
) -> None:
    refused(fleet, now, busy, 4, host)
    refused(fleet, now, busy, 3)
    noise = fleet.agent(host_name="noise")
    assert set(refused(fleet, now, busy, 1, noise)) == {429}
    assert states(fleet)["host"] == "pending_pickup"


def test_a_host_that_was_silent_when_the_refusals_began_stays_so(
    fleet: Fleet, now: Clock, busy: Agent, host: Agent
) -> None:
    late = fleet.agent(host_name="late")
    refused(fleet, now, busy, 8)
    now.moves(seconds=2)
    late.start()
    assert set(refused(fleet, now, busy, 3, late)) == {429}

    assert states(fleet) == {"busy": "pending_pickup", "host": "silent", "late": "pending_pickup"}


def test_what_is_refused_costs_nothing_and_is_noted_twice_a_minute_by_whoever_is_accepted(
    fleet: Fleet, now: Clock, busy: Agent, host: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[object] = []
    monkeypatch.setattr(instances, "note_refusals", lambda *note: notes.append(note))
    monkeypatch.setattr(pace, "_of_token", lambda: (1.0, 8.0))
    now.moves(seconds=100)
    body = host.message().SerializeToString()
    with ThreadPoolExecutor(16) as pool:
        statuses = Counter(pool.map(lambda _: fleet.post(body).status_code, range(60)))
    assert (statuses[429], len(notes) < 2) == (52, True)

    with pytest.MonkeyPatch.context() as without_table:
        without_table.setattr(aws, "dynamodb", lambda: pytest.fail("a table was asked"))
        assert {fleet.post(body).status_code for _ in range(20)} == {429}
    notes.clear()
    now.moves(seconds=31)
    with ThreadPoolExecutor(16) as pool:
        statuses = Counter(pool.map(lambda _: fleet.post(body).status_code, range(20)))
    assert (statuses[429], len(notes)) == (12, 1)


def test_somebody_without_a_valid_token_writes_nothing(fleet: Fleet, now: Clock, busy: Agent) -> None:
    stranger = "ft_" + "0" * 40
    statuses = {fleet.post(busy.message().SerializeToString(), token=stranger).status_code for _ in range(3)}
    now.moves(seconds=10)
    statuses.add(fleet.post(busy.message().SerializeToString(), token=stranger).status_code)
    busy.heartbeat()

    assert statuses == {401, 429}
    assert instances.refusals(fleet.id) == NEVER_REFUSED


def test_processes_that_note_refusals_at_once_keep_the_latest_time(fleet: Fleet) -> None:
    at = clock.now()
    ends = [at + timedelta(seconds=seconds) for seconds in range(40)]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda until: instances.note_refusals(fleet.id, at, until), [*ends, *reversed(ends)]))

    noted = instances.refusals(fleet.id)
    assert abs(noted.until - ends[-1]) < timedelta(milliseconds=1)
