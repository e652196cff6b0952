"""A group's timeline: who assigned what, when and why, and what was assigned at a time."""

from typing import Any

import pytest

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.deployments import mapping
from headgate.fleets import keys
from headgate.identity import service as identity
from headgate.storage import table
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API, JoinWith

__all__ = ["ann", "fleet", "now"]


def history(fleet: Fleet, expected: int = 200, group: str = "", **query: str) -> Any:
    path = f"{API}/fleets/{fleet.id}/deployments/{group or fleet.deployment_id}/history"
    response = fleet.member.http.get(path, params=query)
    assert response.status_code == expected, response.text
    return response.json()


def told(fleet: Fleet, **query: str) -> list[tuple[object, ...]]:
    """Each event, its version number before and after, and why."""
    found = history(fleet, **query)["items"]
    return [(one["event"], _number(one["before"]), _number(one["assigned"]), one["message"]) for one in found]


def _number(version: dict[str, object] | None) -> object:
    return version and version["version_number"]


def test_the_history_tells_who_assigned_what_when_and_why(now: Clock, fleet: Fleet) -> None:
    now.moves(hours=1)
    fleet.assign(1, message="  first try ")
    now.moves(hours=1)
    fleet.assign(2)
    fleet.assign(2, message="again, where it failed")
    fleet.change(name="renamed")
    now.moves(hours=1)
    fleet.assign(None, message="an incident")

    assert told(fleet) == [
        ("cleared", 2, None, "an incident"),
        ("assigned", 2, 2, "again, where it failed"),
        ("assigned", 1, 2, None),
        ("assigned", None, 1, "first try"),
        ("created", None, None, None),
    ]
    assert {event["reach"] and event["reach"]["state"] for event in history(fleet)["items"]} == {None, "superseded"}
    newest = history(fleet)["items"][0]
    assert (newest["at"], newest["by"]["name"]) == ("2026-11-21T15:00:00.000Z", "ann")
    assert newest["before"]["configuration_name"] == "Edge"


def test_the_history_says_how_many_collectors_run_what_was_assigned(now: Clock, fleet: Fleet) -> None:
    fleet.assign(1)
    assert history(fleet)["items"][0]["reach"] == {"state": "completed", "total": 0, "applied": 0, "failed": 0}
    first, second = fleet.agent(host_name="a"), fleet.agent(host_name="b")
    first.start()
    second.start()
    now.moves(hours=1)
    fleet.assign(2)
    first.heartbeat()
    first.applies()
    newest, older = history(fleet)["items"][:2]
    assert newest["reach"] == {"state": "assigned", "total": 2, "applied": 1, "failed": 0}
    assert older["reach"]["state"] == "superseded"


def test_what_was_assigned_at_a_time_is_told_with_its_event(now: Clock, fleet: Fleet) -> None:
    now.moves(hours=1)
    fleet.assign(1)
    now.moves(hours=1)
    fleet.assign(2, message="why not")
    now.moves(hours=1)

    def at(hour: str) -> tuple[object, object]:
        then = history(fleet, at=f"2026-11-21T{hour}Z")
        return _number(then["assigned"]), then["since"]

    assert at("12:59:59.999") == (None, "2026-11-21T12:00:00.000Z")
    assert at("13:00:00") == (1, "2026-11-21T13:00:00.000Z")
    assert at("14:59:00") == (2, "2026-11-21T14:00:00.000Z")
    assert history(fleet, at="2026-11-21T16:59:00+02:00")["event"]["message"] == "why not"
    assert history(fleet, 404, at="2026-11-21T11:59:59Z")["code"] == "deployment_not_found"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("2026-11-21T12:00:01Z", "in the future"),
        ("2026-08-01T12:00:00Z", "90 days"),
        ("2026-11-21", "such as 2026-11-20T19:32:02Z"),
        ("2026-13-21T12:00:00Z", "query.at"),
    ],
)
def test_a_time_that_the_history_does_not_cover_is_422(now: Clock, fleet: Fleet, at: str, said: str) -> None:
    problem = history(fleet, 422, at=at)
    assert said in str(problem)


def test_events_end_after_90_days_and_what_they_left_is_still_known(now: Clock, fleet: Fleet) -> None:
    fleet.assign(1)
    now.moves(days=60)
    fleet.assign(2)
    now.moves(days=31)

    assert told(fleet) == [("assigned", 1, 2, None)]
    then = history(fleet, at="2027-01-01T00:00:00Z")
    assert (_number(then["assigned"]), then["since"]) == (1, "2026-11-21T12:00:00.000Z")


def test_a_group_of_an_earlier_release_says_what_it_does_not_know(now: Clock, fleet: Fleet) -> None:
    group = mapping.GROUPS.read(table.fleets.get(keys.deployment(fleet.id, fleet.deployment_id)) or {})
    for event in table.fleets.list_all(keys.history_of(fleet.id)):
        table.write(table.fleets.delete({name: event[name] for name in ("pk", "sk")}))
    item = mapping.group_item(group) | {"assigned_at": None}
    table.fleets.put(item)
    now.moves(hours=1)

    assert history(fleet, 404, at="2026-11-21T12:30:00Z")["code"] == "not_known"
    fleet.assign(1)
    assert history(fleet, 404, at="2026-11-21T12:30:00Z")["code"] == "not_known"
    assert told(fleet) == [("assigned", None, 1, None)]


def test_the_history_is_paged(now: Clock, fleet: Fleet) -> None:
    for n in (1, 2, 3):
        now.moves(minutes=1)
        fleet.assign(n)
    seen: list[object] = []
    query: dict[str, str] = {"limit": "3"}
    while True:
        page = history(fleet, **query)
        seen += [_number(one["assigned"]) for one in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = str(page["next_cursor"])

    assert seen == [3, 2, 1, None]


def test_a_message_without_an_assignment_or_too_long_is_422(fleet: Fleet) -> None:
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}"
    for body in (
        {"message": "because"},
        {"name": "web", "message": "because"},
        {"configuration_id": None, "message": " "},
        {"configuration_id": None, "message": "x" * 1_001},
        {"configuration_id": None, "message": None},
    ):
        response = fleet.member.http.patch(path, json=body)
        assert (response.status_code, response.json()["errors"][0]["loc"]) == (422, ["body", "message"]), body


def test_fleets_and_groups_are_found_by_their_exact_name(fleet: Fleet, join: JoinWith) -> None:
    other = fleet.add_group("web & co", 1)

    def found(path: str, name: str) -> list[object]:
        items = fleet.member.http.get(f"{API}/fleets{path}", params={"name": name}).json()["items"]
        return [one["id"] for one in items]

    assert found("", "Edge") == [fleet.id]
    assert found("", "edge") == []
    assert found(f"/{fleet.id}/deployments", "web & co") == [other]
    assert found(f"/{fleet.id}/deployments", "web") == []
    elsewhere = identity.create_organization("Elsewhere").id
    stranger = join([*fleets_routers, configurations_router], "eve", organization_id=elsewhere)
    assert stranger.http.get(f"{API}/fleets", params={"name": "Edge"}).json()["items"] == []
