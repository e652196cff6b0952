"""What a host says of itself, as the API shows it."""

import json
from unittest.mock import ANY

import pytest

from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API

__all__ = ["ann", "fleet", "now"]

TOLD = {
    "v": 1,
    "supervisor": {"version": "0.2.0"},
    "name": "web-1",
    "labels": {"zone": "a"},
    "config": {"hash": "a" * 64, "drifted": ["receivers"]},
    "exits": {"since_apply": 2, "last": ["2026-11-22T12:00:00Z"]},
    "counters": {
        **{"seconds": 30, "accepted": 7, "refused": 0, "sent": 5, "failed": 2, "dropped": 0, "queue": 0.25},
        "exporters": {"otlphttp/a": {"sent": 5, "failed": 2, "queue": 0.25}},
    },
}


def told(**changed: object) -> bytes:
    return json.dumps({**TOLD, **changed}).encode()


def test_a_host_is_shown_by_its_name_with_what_changed_on_it(fleet: Fleet) -> None:
    agent = fleet.agent()
    agent.start()
    agent.tells(told())
    (seen,) = fleet.instances()

    assert (seen["name"], seen["labels"], seen["supervisor_version"]) == ("web-1", {"zone": "a"}, "0.2.0")
    assert (seen["drifted"], seen["exits"], seen["last_exits"]) == (["receivers"], 2, ["2026-11-22T12:00:00Z"])
    assert seen["counters"] == TOLD["counters"]


def test_three_hosts_called_vm_are_three_names(fleet: Fleet) -> None:
    for name in ("web-1", "web-2", "web-3"):
        agent = fleet.agent()
        agent.host_name = "vm"
        agent.start()
        agent.tells(told(name=name))

    seen = fleet.instances()
    assert {one["host_name"] for one in seen} == {"vm"}
    assert sorted(one["name"] for one in seen) == ["web-1", "web-2", "web-3"]


def test_a_host_with_an_older_supervisor_does_its_work_and_says_less(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    (seen,) = fleet.instances()

    assert (seen["state"], seen["running"]["version_number"]) == ("applied", 1)
    assert [seen[unsaid] for unsaid in ("supervisor_version", "name", "drifted", "exits", "counters")] == [None] * 5
    agent.leaves()
    assert fleet.instances()[0]["state"] == "stopped"


def test_counters_alone_are_written_with_the_next_heartbeat_that_is_due(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    agent.tells(told())
    moved = {"v": 1, "counters": {**TOLD["counters"], "sent": 9}}
    now.moves(seconds=30)
    agent.tells(json.dumps(moved).encode())
    assert fleet.instances()[0]["counters"]["sent"] == 5
    now.moves(minutes=3)
    agent.tells(json.dumps(moved).encode())
    assert fleet.instances()[0]["counters"]["sent"] == 9


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[]", b"{}", told(name="a\nb"), told(labels={"k": "x" * 300}), b"9" * 9_000]
)
def test_a_malformed_report_changes_nothing_and_the_host_is_answered(fleet: Fleet, now: Clock, data: bytes) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.tells(told())
    before = fleet.instances()[0]
    answer = agent.tells(data)

    assert answer.instance_uid == agent.uid
    assert fleet.instances()[0] == before


def test_a_configuration_that_a_host_reports_as_crashing_is_not_offered_again(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    fleet.assign(2)
    agent.heartbeat()
    agent.applies()
    failed = agent.message()
    failed.remote_config_status.CopyFrom(agent.status)
    failed.remote_config_status.status = wire.RemoteConfigStatuses_FAILED
    failed.remote_config_status.error_message = (
        "The collector ended 3 times in the 10 minutes after this configuration was applied (it exited unexpectedly)"
    )
    answer = agent.send(failed)

    assert answer.HasField("remote_config")
    agent.applies()
    (seen,) = fleet.instances()
    assert (seen["state"], seen["running"]["version_number"]) == ("apply_failed", 1)
    assert "ended 3 times" in seen["state_message"]
    assert not agent.heartbeat().HasField("remote_config")


def found(fleet: Fleet, query: str) -> list[str]:
    answer = fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances?{query}")
    assert answer.status_code == 200, answer.text
    return sorted(one["name"] for one in answer.json()["items"])


def test_hosts_are_found_by_what_they_say_and_do(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    for name, labels, drifted in (("web-1", {"zone": "a"}, []), ("web-2", {"zone": "b"}, ["service"]), ("db", {}, [])):
        agent = fleet.agent()
        agent.start()
        agent.tells(told(name=name, labels=labels, config={"drifted": drifted}))
        if name != "db":
            agent.applies()

    assert found(fleet, "state=applied") == ["web-1", "web-2"]
    assert found(fleet, "host=WEB") == ["web-1", "web-2"]
    assert found(fleet, "host=edge-1") == ["db", "web-1", "web-2"]
    assert found(fleet, "label=zone%3Db") == ["web-2"]
    assert found(fleet, "drifted=true") == ["web-2"]
    assert found(fleet, "drifted=false&state=pending_pickup") == ["db"]
    assert found(fleet, "version=1") == ["web-1", "web-2"]
    assert found(fleet, "version=2") == []
    assert len(found(fleet, f"deployment_id={fleet.deployment_id}&limit=1")) == 1


def test_a_filtered_list_goes_on_where_it_ended(fleet: Fleet, now: Clock) -> None:
    for n in range(5):
        agent = fleet.agent()
        agent.start()
        agent.tells(told(name=f"{'odd' if n % 2 else 'even'}-{n}"))
    path = f"{API}/fleets/{fleet.id}/instances?host=even&limit=2"
    first = fleet.member.http.get(path).json()
    second = fleet.member.http.get(f"{path}&cursor={first['next_cursor']}").json()

    assert sorted(one["name"] for one in first["items"] + second["items"]) == ["even-0", "even-2", "even-4"]
    assert second["next_cursor"] is None


def test_one_host_is_read_by_its_id(fleet: Fleet, now: Clock) -> None:
    fleet.agent().start()
    (seen,) = fleet.instances()
    path = f"{API}/fleets/{fleet.id}/instances"

    assert fleet.member.http.get(f"{path}/{seen['id']}").json().items() >= (seen | {"running": ANY}).items()
    other = seen["id"][:-1] + ("0" if seen["id"][-1] != "0" else "1")
    answer = fleet.member.http.get(f"{path}/{other}")
    assert (answer.status_code, answer.json()["detail"]) == (404, "No such instance")


@pytest.mark.parametrize(
    "query", ["state=broken", "version=0", "label=zone", "drifted=yes", "host=", "deployment_id=x"]
)
def test_a_malformed_filter_is_422(fleet: Fleet, query: str) -> None:
    assert fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances?{query}").status_code == 422
