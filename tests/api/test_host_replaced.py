"""A host that was installed again takes the place of what it was, as a person says."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from httpx2 import Response

from headgate.instances.model import instance_id
from tests.support.fleet_of_agents import Clock, Fleet, ann, changes_of, fleet, now
from tests.support.members import API
from tests.support.opamp_agent import Agent
from tests.support.signing_host import SigningHost

__all__ = ["ann", "fleet", "now"]


def path(fleet: Fleet, instance_id: object) -> str:
    return f"{API}/fleets/{fleet.id}/instances/{instance_id}"


def replaces(fleet: Fleet, instance_id: object, by: object = None) -> Response:
    return fleet.member.http.post(f"{path(fleet, instance_id)}/replace", json={"by": by} if by else {})


def events(fleet: Fleet, instance_id: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = fleet.member.http.get(f"{path(fleet, instance_id)}/history").json()["items"]
    return found


def joins(fleet: Fleet, host_name: str) -> str:
    """The id of a new host that applied what its group runs."""
    agent: Agent = fleet.agent(host_name=host_name)
    agent.start()
    agent.applies()
    return instance_id(agent.uid)


@pytest.fixture
def former(fleet: Fleet, now: Clock) -> str:
    """A host that is silent."""
    fleet.assign(1)
    former = joins(fleet, "web-1")
    now.moves(minutes=6)
    return former


def test_the_only_host_of_its_name_that_came_since_takes_its_place(fleet: Fleet, former: str, now: Clock) -> None:
    pinned = {"version_number": 1, "until": "2026-11-30T00:00:00Z"}
    assert fleet.member.http.put(f"{path(fleet, former)}/override", json=pinned).status_code == 200
    joins(fleet, "web-2")
    again = joins(fleet, "web-1")
    assert fleet.counts() == {"total": 3, "silent": 1, "applied": 2}

    answer = replaces(fleet, former)

    assert (answer.status_code, answer.json()["id"]) == (200, again), answer.text
    assert answer.json()["override"]["version_number"] == 1
    assert fleet.member.http.get(path(fleet, former)).status_code == 404
    assert fleet.counts() == {"total": 2, "applied": 2}
    assert [(one["event"], one["reason"]) for one in (events(fleet, former)[0], events(fleet, again)[0])] == [
        ("replaced", f"It was installed again: {again}"),
        ("replaces", f"It was {former}"),
    ]
    assert changes_of(fleet)["instance.replaced"] == f"fleets/{fleet.id}/instances/{former}/replace"
    assert replaces(fleet, former).status_code == 404


def test_what_reports_or_has_no_successor_is_not_replaced(fleet: Fleet, former: str, now: Clock) -> None:
    assert (none := replaces(fleet, former)).status_code == 409
    assert "No host called web-1 has reported for the first time since" in none.json()["detail"]
    first, second = joins(fleet, "web-1"), joins(fleet, "web-1")
    several = replaces(fleet, former)
    assert (several.status_code, several.json()["code"]) == (409, "not_replaceable")
    assert {first, second} <= set(re.findall(r"ins_\w+", several.json()["detail"]))
    reports = replaces(fleet, first, second)
    assert (reports.status_code, "reports" in reports.json()["detail"]) == (409, True)
    two_hosts = replaces(fleet, former, former)
    assert (two_hosts.status_code, two_hosts.json()["errors"][0]["loc"]) == (422, ["body", "by"])
    unknown = replaces(fleet, former, f"ins_{'0' * 26}")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "by: No such instance")
    assert fleet.counts() == {"total": 3, "silent": 1, "applied": 2}

    assert replaces(fleet, former, second).status_code == 200
    assert fleet.counts() == {"total": 2, "applied": 2}


def test_the_host_with_its_key_takes_its_place_whatever_others_are_called(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    host = SigningHost.of(fleet)
    agent = host.agent(host_name="web-1")
    agent.start()
    now.moves(minutes=20)
    joins(fleet, "web-1")
    # It has lost its id alone.
    again = host.agent(host_name="renamed")
    again.start()

    answer = replaces(fleet, instance_id(agent.uid))

    assert (answer.status_code, answer.json()["id"]) == (200, instance_id(again.uid)), answer.text


def test_of_several_that_replace_it_at_once_one_does(fleet: Fleet, former: str) -> None:
    joins(fleet, "web-1")
    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(answer.status_code for answer in pool.map(lambda _: replaces(fleet, former), range(4)))

    assert statuses == [200, 404, 404, 404]
    assert fleet.counts() == {"total": 1, "applied": 1}
