"""What happened on one host, as its messages told it, and what it ran at a time."""

import json
from typing import Any

import pytest

from headgate_opamp import opamp_pb2 as wire
from tests.support.events import waiting
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now, revision
from tests.support.members import API

__all__ = ["ann", "fleet", "now"]

APPLIED = wire.RemoteConfigStatuses_APPLIED
FAILED = wire.RemoteConfigStatuses_FAILED


def history(fleet: Fleet, query: str = "", expected: int = 200) -> Any:
    (seen,) = fleet.instances()
    answer = fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances/{seen['id']}/history{query}")
    assert answer.status_code == expected, answer.text
    return answer.json()


def events(fleet: Fleet) -> list[tuple[str, int | None]]:
    """All of them, the oldest first, with the number of the version that each is about."""
    items = history(fleet, "?limit=100")["items"]
    return [(one["event"], one["version"] and one["version"]["version_number"]) for one in reversed(items)]


def then(fleet: Fleet, time: str) -> tuple[str, int | None]:
    """The state and the version that ran at that time of the day."""
    said = history(fleet, f"?at=2026-11-21T{time}.000Z")
    return said["state"], said["running"] and said["running"]["version_number"]


def tells(**report: object) -> bytes:
    return json.dumps({"v": 1, **report}).encode()


def test_a_rollout_and_a_failed_one_are_told_in_order(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    now.moves(seconds=5)
    agent.applies()
    now.moves(seconds=55)
    fleet.assign(2)
    agent.heartbeat()
    now.moves(seconds=5)
    agent.report(FAILED, "bad endpoint")
    agent.applies()

    assert events(fleet) == [
        *(("first_seen", None), ("offered", 1), ("applying", 1), ("running", 1)),
        *(("offered", 2), ("offered", 1), ("apply_failed", 2)),
    ]
    last = history(fleet, "?limit=1")["items"][0]
    assert (last["reason"], last["state"], last["running"]["version_number"]) == ("bad endpoint", "apply_failed", 1)
    assert last["version"]["configuration_name"] == "Edge"
    assert last["at"] == "2026-11-21T12:01:05.000Z"


def test_a_page_goes_on_where_the_one_before_ended(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    found, query = [], "?limit=1"
    while query:
        page = history(fleet, query)
        found += [one["event"] for one in page["items"]]
        query = f"?limit=1&cursor={page['next_cursor']}" if page["next_cursor"] else ""

    assert found == ["running", "applying", "offered", "first_seen"]


def test_what_ran_at_a_time_is_known_also_while_nothing_was_heard(fleet: Fleet, now: Clock) -> None:
    now.moves(minutes=1)
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    now.moves(minutes=1)
    agent.applies()
    now.moves(minutes=30)
    agent.heartbeat()
    fleet.assign(2)
    now.moves(minutes=1)
    agent.heartbeat()
    agent.applies()

    assert then(fleet, "12:01:30") == ("pending_pickup", None)
    assert then(fleet, "12:03:00") == ("applied", 1)
    assert then(fleet, "12:10:00") == ("silent", 1)
    assert then(fleet, "12:30:00") == ("stale", 1)
    assert then(fleet, "12:32:30") == ("applied", 1)
    assert then(fleet, "12:33:00") == ("applied", 2)
    now.moves(minutes=10)
    assert then(fleet, "12:42:00") == ("silent", 2)
    assert ("silent", None) in events(fleet)
    assert ("back", None) in events(fleet)


@pytest.mark.parametrize(
    ("at", "status", "code"),
    [
        ("2026-11-21T11:59:00.000Z", 404, "not_known"),
        ("2026-11-21T12:30:00.000Z", 422, "time_not_covered"),
        ("2026-08-20T12:00:00.000Z", 422, "time_not_covered"),
        ("yesterday", 422, "invalid"),
    ],
)
def test_a_time_that_is_not_covered_is_refused(fleet: Fleet, now: Clock, at: str, status: int, code: str) -> None:
    fleet.agent().start()

    assert history(fleet, f"?at={at}", status)["code"] == code


def test_events_end_after_ninety_days(fleet: Fleet, now: Clock) -> None:
    agent = fleet.agent()
    agent.start()
    agent.report(APPLIED)
    for _ in range(4):
        now.moves(days=25)
        agent.heartbeat()

    told = [event for event, _ in events(fleet)]
    assert (told.count("silent"), "first_seen" in told) == (3, False)


def test_what_changes_on_the_host_is_told(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    agent.tells(tells(config={"drifted": ["exporters"]}))
    agent.tells(tells(exits={"since_apply": 1, "last": ["2026-11-21T12:00:00Z"]}))
    agent.tells(tells(crash_loop={"hash": "", "exits": 3}))
    agent.tells(tells(config={"drifted": []}))
    agent.leaves()
    agent.start()

    told = history(fleet)["items"]
    wanted = ["running", "back", "stopped", "drifted", "crash_loop", "exited", "drifted"]
    assert [one["event"] for one in told][: len(wanted)] == wanted
    assert [one["drifted"] for one in told if one["event"] == "drifted"] == [[], ["exporters"]]
    assert [one["exits"] for one in told if one["event"] in ("crash_loop", "exited")] == [3, 1]


def test_a_host_that_changes_without_end_writes_a_bounded_number_of_events(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    for _ in range(40):
        now.moves(seconds=30)
        agent.says_health(healthy=False, error="no route")
        agent.says_health(healthy=True)
    told = events(fleet)
    # Each of the two once more: the others are repetitions.
    assert (len(told), [event for event, _ in told[30:]]) == (33, ["apply_failed", "applied", "flapping"])

    now.moves(hours=1)
    agent.heartbeat()
    told = events(fleet)
    assert [event for event, _ in told[33:]] == ["silent", "flapping_ended", "back"]
    ended = next(one for one in history(fleet)["items"] if one["event"] == "flapping_ended")
    assert ended["left_out"] == 4 + 80 - 32


def test_a_host_that_changes_without_end_hides_no_other_version(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    for _ in range(20):
        now.moves(seconds=30)
        agent.says_health(healthy=False, error="no route")
        agent.says_health(healthy=True)
    assert history(fleet, "?at=2026-11-21T12:06:00.000Z")["covered"] is True
    assert history(fleet, "?at=2026-11-21T12:10:00.000Z")["covered"] is False
    for n in (2, 3):
        now.moves(seconds=30)
        fleet.assign(n)
        agent.heartbeat()
        agent.applies() if n == 2 else agent.report(FAILED, "bad endpoint")

    told = events(fleet)[31:]
    assert {("running", 2), ("apply_failed", 3)} <= set(told)
    sent = [event for event in waiting(fleet.member.organization_id) if event.type == "instance.apply_failed"]
    assert len(sent) == [event for event, _ in events(fleet)].count("apply_failed")
    now.moves(hours=1)
    agent.heartbeat()
    said = history(fleet, f"?at={now.at.strftime('%Y-%m-%dT%H:%M:%S')}.000Z")
    assert (said["covered"], said["running"]["version_number"]) == (True, 2)


def test_a_host_that_changes_without_end_does_not_hide_that_its_supervisor_changed(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    for _ in range(20):
        now.moves(seconds=30)
        agent.says_health(healthy=False, error="no route")
        agent.says_health(healthy=True)
    for number in range(15):
        now.moves(seconds=30)
        agent.tells(tells(supervisor={"version": f"0.2.{number}"}))

    happened = [event for event, _ in events(fleet)]
    assert happened.count("supervisor_changed") == 14
    assert len(happened) == 30 + 14 + len(["apply_failed", "applied", "flapping"])


def test_heartbeats_without_news_write_no_event(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    before, written = events(fleet), revision(fleet)
    for _ in range(12):
        now.moves(seconds=30)
        agent.heartbeat()

    assert (events(fleet), revision(fleet) - written) == (before, 2)


def test_another_organization_sees_no_history(fleet: Fleet, now: Clock) -> None:
    fleet.agent().start()
    (seen,) = fleet.instances()
    path = f"{API}/fleets/{fleet.id}/instances/{seen['id']}/history"
    last = "0" if str(seen["id"])[-1] != "0" else "1"

    assert fleet.member.http.get(path[: -len("/history")][:-1] + last + "/history").status_code == 404


def test_webhooks_are_told_what_went_wrong_and_that_it_is_well_again(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    agent.tells(tells(config={"drifted": ["exporters"]}))
    agent.says_health(healthy=False, error="token=abc")
    agent.says_health(healthy=True)
    agent.leaves()
    agent.start()
    sent = [event for event in waiting(fleet.member.organization_id) if event.type.startswith("instance.")]

    wanted = ["apply_failed", "drifted", "recovered", "recovered", "stopped"]
    assert sorted(event.type for event in sent) == [f"instance.{type}" for type in wanted]
    assert {(event.about.name, event.about.reason) for event in sent} == {("edge-1", None)}


def test_a_host_is_told_to_be_well_again_however_long_its_way_back_is(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    agent.leaves()
    now.moves(seconds=30)
    # Its collector starts: it is neither stopped nor well.
    agent.health = wire.ComponentHealth(healthy=False)
    agent.start()
    now.moves(seconds=30)
    agent.says_health(healthy=True)
    now.moves(seconds=30)
    agent.says_health(healthy=False)
    agent.says_health(healthy=True)

    sent = [event.type for event in waiting(fleet.member.organization_id) if event.type.startswith("instance.")]
    assert sorted(sent) == ["instance.recovered", "instance.stopped"]
