"""Captures: asked of a host, told to it with its messages, and what it sends for them."""

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from httpx2 import Response

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.audit import service as audit
from headgate.captures import service as captures
from headgate.captures import store
from headgate.captures.model import CaptureTarget
from headgate.checker import Asker
from headgate.foundation.settings import settings
from headgate.storage import aws
from headgate.storage.retry import LostRace
from headgate.storage.table import transact
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, admin_of, make_fleet, now
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith, application
from tests.support.opamp_agent import Agent
from tests.support.world import joined, session_of

pytestmark = pytest.mark.collector

__all__ = ["now"]

ROUTERS = [*fleets_routers, configurations_router]
PIPELINES = """\
receivers: {otlp: {protocols: {http: }}}
processors: {batch: }
exporters: {debug: }
service: {pipelines: {logs/a: {receivers: [otlp], processors: [batch], exporters: [debug]}}}
"""
ABLE = {"v": 1, "supervisor": {"version": "0.3.0"}, "name": "web-1", "can": ["restart", "capture"]}
WANTED = {"pipeline": "logs/a", "component": "batch", "condition": 'IsMatch(body, "^a")', "max_records": 5}
LINE = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "a"}}]}]}]})


@pytest.fixture
def fleet(join: JoinWith, monkeypatch: pytest.MonkeyPatch, now: Clock) -> Fleet:
    """Its group runs a version with a pipeline, and an Admin has allowed captures. The collector is the real one."""
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
    settings.cache_clear()
    fleet = make_fleet(join(ROUTERS, "ann"))
    fleet.change(configuration_id=fleet.configuration_id, version_number=fleet.publish(PIPELINES))
    assert allow(fleet, allowed=True).status_code == 200
    return fleet


@pytest.fixture
def agent(fleet: Fleet) -> Agent:
    agent = fleet.agent()
    agent.start()
    agent.tells(json.dumps(ABLE).encode())
    agent.applies()
    return agent


def admin(fleet: Fleet) -> TestClient:
    organization_id = fleet.member.organization_id
    headers = dict(session_of(joined(organization_id, "admin"), organization_id))
    return TestClient(application(ROUTERS), raise_server_exceptions=False, headers=headers)


def allow(fleet: Fleet, *, allowed: bool) -> Response:
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/captures"
    return admin(fleet).put(path, json={"allowed": allowed})


def start(fleet: Fleet, **changed: object) -> Response:
    body = {"deployment_id": fleet.deployment_id, **WANTED, **changed}
    return fleet.member.http.post(f"{API}/fleets/{fleet.id}/captures", json=body)


def started(fleet: Fleet, **changed: object) -> str:
    """The path of a new capture."""
    answer = start(fleet, **changed)
    assert answer.status_code == 201, answer.text
    return str(answer.headers["location"])


def known(fleet: Fleet, path: str) -> dict[str, Any]:
    found: dict[str, Any] = fleet.member.http.get(path).json()
    return found


def asked(answer: wire.ServerToAgent) -> dict[str, Any] | None:
    """What the host is told of a capture."""
    data = answer.custom_message.data
    found: dict[str, Any] | None = json.loads(data).get("capture") if data else None
    return found


def tells(agent: Agent, path: str, status: str, lines: str = "", **more: Any) -> wire.ServerToAgent:
    """What our supervisor tells of the capture at that path."""
    return agent.captured(path.rpartition("/")[2], lines, status, **more)


def events(fleet: Fleet) -> list[dict[str, Any]]:
    (seen,) = fleet.instances()
    found: list[dict[str, Any]] = fleet.member.http.get(
        f"{API}/fleets/{fleet.id}/instances/{seen['id']}/history"
    ).json()["items"]
    return found


def objects_of(path: str) -> list[str]:
    listed = aws.s3().list_objects_v2(Bucket=settings().bucket, Prefix=f"captures/{path.rpartition('/')[2]}")
    return [one["Key"] for one in listed.get("Contents", ())]


def refused(answer: Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_a_capture_is_told_to_its_host_and_its_sample_is_read(fleet: Fleet, agent: Agent) -> None:
    asking = start(fleet)
    path = asking.headers["location"]
    shown = asking.json()
    assert (asking.status_code, shown["status"], shown["host_name"], shown["restarts"]) == (201, "pending", "web-1", 2)
    assert "restarts twice" in shown["notice"]
    assert asked(agent.heartbeat()) == asked(agent.heartbeat())
    assert asked(agent.heartbeat()) == {
        **{"id": shown["id"], "signal": "logs", "pipeline": "logs/a", "component": "batch", "context": "log"},
        **{"condition": 'IsMatch(body, "^a")', "records": 5, "seconds": 120},
        "redaction": {
            "kinds": ["credentials", "card_numbers", "mail_addresses", "random_strings"],
            "patterns": [],
            "keys": [],
        },
    }
    assert asked(tells(agent, path, "running")) is None
    assert known(fleet, path)["status"] == "running"
    assert refused(fleet.member.http.get(f"{path}/sample")) == (404, "sample_not_found")

    tells(agent, path, "ended", f"{LINE}\n{LINE}\n", reason="time", records=2, left_out=1, redacted=3)
    ended = known(fleet, path)
    assert [ended[name] for name in ("status", "reason", "records", "left_out", "redacted")] == [
        *("completed", "time", 2, 1, 3)
    ]
    assert fleet.member.http.get(f"{path}/sample").text == f"{LINE}\n{LINE}\n"
    assert [one["id"] for one in known(fleet, f"{API}/fleets/{fleet.id}/captures")["items"]] == [shown["id"]]
    assert asked(agent.heartbeat()) is None
    assert fleet.state() == "applied"


@pytest.mark.usefixtures("agent")
def test_a_permission_that_is_taken_away_while_a_capture_is_asked_for_holds(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = captures._require_condition

    def forbidden_meanwhile(target: CaptureTarget, *, asker: Asker) -> None:
        check(target, asker=asker)
        assert allow(fleet, allowed=False).status_code == 200

    monkeypatch.setattr(captures, "_require_condition", forbidden_meanwhile)

    assert refused(start(fleet)) == (409, "captures_not_allowed")
    assert known(fleet, f"{API}/fleets/{fleet.id}/captures")["items"] == []


def test_a_timeline_shows_who_asked_and_what_came_of_it(fleet: Fleet, agent: Agent) -> None:
    path = started(fleet)
    tells(agent, path, "running")
    tells(agent, path, "ended", LINE, reason="records", records=1)
    ended, began = events(fleet)[:2]

    assert (began["event"], began["by"]["name"]) == ("capture", "ann")
    assert began["message"].endswith(": logs/a after batch, up to 5 records in 120 s")
    assert (ended["event"], ended["state"]) == ("capture_ended", "applied")
    assert ended["message"].endswith(": logs/a after batch, 1 records, ended by records")


def test_captures_are_off_until_a_session_of_an_admin_allows_them(fleet: Fleet, agent: Agent, now: Clock) -> None:
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}"
    assert refused(fleet.member.http.put(f"{path}/captures", json={"allowed": True})) == (403, "session_required")
    # Records of one millisecond have no order.
    now.moves(seconds=1)
    assert allow(fleet, allowed=False).json()["captures_allowed"] is False
    assert refused(start(fleet)) == (409, "captures_not_allowed")
    assert refused(start(fleet, deployment_id=None, instance_id=fleet.instances()[0]["id"])) == (
        409,
        "captures_not_allowed",
    )
    now.moves(seconds=1)
    assert allow(fleet, allowed=True).json()["captures_allowed"] is True
    assert known(fleet, path)["captures_allowed"] is True
    assert start(fleet, deployment_id=None, instance_id=fleet.instances()[0]["id"]).status_code == 201
    records = audit.records(admin_of(fleet), 100, None).entries
    changes = [record.details for record in records if record.action == "deployment.captures_changed"]
    assert changes == [{"allowed": "yes"}, {"allowed": "no"}, {"allowed": "yes"}]


REFUSED: list[tuple[Mapping[str, object], str, str]] = [
    ({"pipeline": "logs/b"}, "pipeline", "It has: logs/a"),
    ({"pipeline": "profiles"}, "pipeline", "logs, traces and metrics"),
    ({"component": "debug"}, "component", "These can be named: otlp, batch"),
    ({"condition": "bodyy == 1"}, "condition", "bodyy"),
    ({"condition": "true) or (true"}, "condition", "unexpected token"),
    ({"context": "span"}, "context", "For logs this is log"),
    ({"max_records": 101}, "max_records", "100"),
    ({"duration_seconds": 601}, "duration_seconds", "600"),
]


def test_what_cannot_be_captured_is_refused_by_its_field(fleet: Fleet, agent: Agent) -> None:
    for changed, field, says in REFUSED:
        answer = start(fleet, **changed)
        (error,) = answer.json()["errors"]
        assert (answer.status_code, error["loc"]) == (422, ["body", field]), changed
        assert says in error["message"]
    assert asked(agent.heartbeat()) is None


def test_one_capture_at_a_time_is_asked_of_a_host(fleet: Fleet, agent: Agent) -> None:
    path = started(fleet)
    again = start(fleet, deployment_id=None, instance_id=fleet.instances()[0]["id"])
    assert refused(again) == (409, "capture_open")
    assert path.rpartition("/")[2] in again.json()["detail"]


def test_a_host_that_cannot_capture_is_told_why_before_anything_happens(fleet: Fleet, now: Clock) -> None:
    assert refused(start(fleet)) == (409, "capture_not_possible")
    agent = fleet.agent()
    agent.start()
    agent.tells(json.dumps({**ABLE, "can": ["restart"]}).encode())
    assert "is Applied" in start(fleet).json()["detail"]
    agent.applies()
    assert "install the host again" in start(fleet).json()["detail"]
    agent.tells(json.dumps({**ABLE, "config": {"hash": "a" * 64, "drifted": []}}).encode())
    of_host = {"deployment_id": None, "instance_id": fleet.instances()[0]["id"]}
    assert "is apply_failed: a capture needs one that is Applied" in start(fleet, **of_host).json()["detail"]


def test_no_capture_is_asked_of_a_host_that_is_cut_off(fleet: Fleet, agent: Agent, now: Clock) -> None:
    instance_id = fleet.instances()[0]["id"]
    path = f"{API}/fleets/{fleet.id}/instances/{instance_id}/cut-off"
    assert admin(fleet).post(path).status_code == 200

    for target in ({"deployment_id": None, "instance_id": instance_id}, {}):
        answer = start(fleet, **target)
        assert refused(answer) == (409, "capture_not_possible")
        assert "cut this host off" in answer.json()["detail"]

    now.moves(minutes=-1)
    second = fleet.agent()
    second.start()
    second.tells(json.dumps({**ABLE, "name": "web-2"}).encode())
    second.applies()
    now.moves(minutes=1)
    assert known(fleet, started(fleet))["host_name"] == "web-2"


def test_no_capture_begins_while_a_rollout_is_open(fleet: Fleet, agent: Agent) -> None:
    n = fleet.publish(PIPELINES)
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/rollouts"
    strategy = {"steps": [{"percent": 1}, {"percent": 100}]}
    assert fleet.member.http.post(path, json={"version_number": n, "strategy": strategy}).status_code == 201
    answer = start(fleet)

    assert refused(answer) == (409, "capture_not_possible")


def test_a_capture_that_no_host_begins_expires(fleet: Fleet, agent: Agent, now: Clock) -> None:
    path = started(fleet)
    for _ in range(7):
        now.moves(minutes=1)
        agent.heartbeat()

    assert asked(agent.heartbeat()) is None
    assert (known(fleet, path)["status"], known(fleet, path)["reason"]) == ("expired", "expired")
    assert started(fleet) != path


def test_a_host_that_is_silent_loses_its_capture(fleet: Fleet, agent: Agent, now: Clock) -> None:
    path = started(fleet)
    tells(agent, path, "running")
    now.moves(minutes=90)
    assert known(fleet, path)["status"] == "failed"
    agent.heartbeat()
    assert (known(fleet, path)["status"], known(fleet, path)["reason"]) == ("failed", "lost")


def test_a_writer_ends_a_capture(fleet: Fleet, agent: Agent) -> None:
    path = started(fleet)
    tells(agent, path, "running")
    ending = fleet.member.http.post(f"{path}/end")
    assert (ending.status_code, ending.json()["status"]) == (200, "running")
    assert fleet.member.http.post(f"{path}/end").status_code == 200
    assert asked(agent.heartbeat()) == {"id": path.rpartition("/")[2], "stop": True}
    tells(agent, path, "ended", reason="stopped")

    assert (known(fleet, path)["status"], known(fleet, path)["records"]) == ("completed", 0)
    assert refused(fleet.member.http.post(f"{path}/end")) == (409, "capture_ended")
    assert refused(fleet.member.http.get(f"{path}/sample")) == (404, "sample_not_found")


def test_a_group_that_forbids_captures_ends_those_under_way(fleet: Fleet, agent: Agent) -> None:
    path = started(fleet)
    tells(agent, path, "running")
    allow(fleet, allowed=False)
    assert asked(agent.heartbeat()) == {"id": path.rpartition("/")[2], "stop": True}
    tells(agent, path, "ended", LINE, reason="stopped", records=1)
    assert (known(fleet, path)["status"], known(fleet, path)["reason"]) == ("completed", "stopped")

    allow(fleet, allowed=True)
    path = started(fleet)
    allow(fleet, allowed=False)
    assert asked(agent.heartbeat()) == {"id": path.rpartition("/")[2], "stop": True}
    tells(agent, path, "ended", reason="stopped")
    assert known(fleet, path)["status"] == "completed"
    assert asked(agent.heartbeat()) is None


def test_a_deleted_capture_leaves_nothing(fleet: Fleet, agent: Agent) -> None:
    path = started(fleet)
    assert refused(fleet.member.http.delete(path)) == (409, "capture_open")
    tells(agent, path, "ended", LINE, reason="records", records=1)
    assert len(objects_of(path)) == 1
    assert fleet.member.http.delete(path).status_code == 204

    assert objects_of(path) == []
    assert refused(fleet.member.http.get(path)) == (404, "capture_not_found")
    assert refused(fleet.member.http.get(f"{path}/sample")) == (404, "capture_not_found")


def test_of_two_changes_of_the_same_capture_the_first_one_stays(fleet: Fleet, agent: Agent) -> None:
    capture_id = started(fleet).rpartition("/")[2]
    before = store.capture(fleet.id, capture_id)
    assert before is not None
    transact([store.changing(before, replace(before, error="first"))])

    with pytest.raises(LostRace):
        transact([store.changing(before, replace(before, error="second"))])

    after = store.capture(fleet.id, capture_id)
    assert after is not None
    assert after.error == "first"


def test_a_capture_is_kept_for_thirty_days(fleet: Fleet, agent: Agent, now: Clock) -> None:
    path = started(fleet)
    tells(agent, path, "ended", LINE, reason="records", records=1)
    now.moves(days=29)
    assert known(fleet, path)["records"] == 1
    now.moves(days=2)
    assert refused(fleet.member.http.get(path)) == (404, "capture_not_found")
    assert known(fleet, f"{API}/fleets/{fleet.id}/captures")["items"] == []


def nested(depth: int) -> str:
    value = '{"stringValue": "a"}'
    for _ in range(depth):
        value = f'{{"arrayValue": {{"values": [{value}]}}}}'
    return LINE.replace('{"stringValue": "a"}', value)


NO_SAMPLES: dict[str, tuple[str, int]] = {
    "text": ("a line of text", 1),
    "empty": ('{"resourceSpans": []}', 1),
    "spans": (LINE.replace("resourceLogs", "resourceSpans"), 1),
    "fewer": (LINE, 2),
    "more": ("\n".join([LINE] * 6), 6),
    "deep": (nested(20), 1),
    "very deep": ("[" * 100_000, 1),
    "large": (LINE + " " * (1 << 20), 1),
    "a number": ('{"resourceLogs": 7}', 1),
    "beside": ('{"resourceLogs": [], "more": 1}', 1),
}


def test_what_is_not_a_sample_is_not_stored(fleet: Fleet, agent: Agent) -> None:
    for name, (lines, records) in NO_SAMPLES.items():
        path = started(fleet)
        tells(agent, path, "ended", lines, reason="records", records=records)
        ended = known(fleet, path)
        assert (ended["status"], ended["reason"], ended["records"]) == ("failed", "bad_sample", 0), name
        assert "is not a sample" in ended["error"]
        assert objects_of(path) == []


HOSTILE: dict[str, Mapping[str, Any]] = {
    "not base64": {"sample": "?"},
    "a negative number": {"records": -1},
    "an unknown reason": {"reason": "boredom"},
    "a long error": {"error": "x" * 5_000},
    "another version": {"v": 2},
    "a bomb": {"sample": base64.b64encode(zlib.compress(bytes(64 << 20))).decode()},
}


def test_a_hostile_message_stores_nothing_and_counts_as_a_heartbeat(fleet: Fleet, agent: Agent) -> None:
    path = started(fleet)
    for name, told in HOSTILE.items():
        tells(agent, path, "ended", **told)
        assert objects_of(path) == [], name
        assert known(fleet, path)["status"] == ("failed" if name == "a bomb" else "pending"), name
    assert fleet.state() == "applied"


def test_a_host_sends_only_for_the_capture_that_was_asked_of_it(fleet: Fleet, agent: Agent) -> None:
    mine = started(fleet)
    other = fleet.agent()
    other.start()
    for path in (mine, f"{mine[:-1]}{'0' if mine[-1] != '0' else '1'}"):
        tells(other, path, "ended", LINE, reason="records", records=1)
        assert objects_of(path) == []
    assert known(fleet, mine)["status"] == "pending"
    tells(agent, mine, "ended", LINE, reason="records", records=1)
    tells(agent, mine, "ended", f"{LINE}\n{LINE}", reason="records", records=2)

    assert (known(fleet, mine)["records"], len(objects_of(mine))) == (1, 1)


def test_metrics_count_by_their_data_points(fleet: Fleet, agent: Agent) -> None:
    text = PIPELINES.replace("logs/a", "metrics")
    fleet.change(configuration_id=fleet.configuration_id, version_number=fleet.publish(text))
    agent.heartbeat()
    agent.applies()
    path = started(fleet, pipeline="metrics", component="otlp", condition='metric.name == "a"', context=None)
    assert (asked(agent.heartbeat()) or {})["context"] == "datapoint"
    line = {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "a", "gauge": {"dataPoints": [{}, {}]}}]}]}]}
    tells(agent, path, "ended", json.dumps(line), reason="records", records=2)
    assert known(fleet, path)["records"] == 2


def test_the_organization_decides_what_hosts_redact(fleet: Fleet, agent: Agent) -> None:
    path = f"{API}/fleets/capture-redaction"
    rules = {"kinds": ["mail_addresses"], "patterns": [r"order-\d+", 'say "x"'], "keys": ["customer"]}
    assert refused(fleet.member.http.put(path, json=rules)) == (403, "session_required")
    wrong = admin(fleet).put(path, json={**rules, "patterns": ["a", "("]})
    assert (wrong.status_code, wrong.json()["errors"][0]["loc"]) == (422, ["body", "patterns", 1])
    assert admin(fleet).put(path, json=rules).json() == rules
    assert fleet.member.http.get(path).json() == rules
    started(fleet)

    assert (asked(agent.heartbeat()) or {})["redaction"] == rules


def test_heartbeats_of_hosts_without_a_capture_read_nothing_more(
    fleet: Fleet, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object) -> None:
        raise AssertionError("a capture was read")

    monkeypatch.setattr("headgate.captures.store.capture", read)
    agent.heartbeat()
