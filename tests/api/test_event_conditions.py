"""Under which condition an event of a host or a rollout is sent, and when not: one course of each.

test_notifications.py has what time alone brings, test_events.py publications, test_suites.py tests that failed, and
test_webhooks.py the test of a webhook. test_rollouts.py has hosts that do not go back.
"""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from headgate.events import service as events
from headgate.events.model import EVENT_TYPES
from headgate_opamp import opamp_pb2 as wire
from tests.support.events import waiting
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, make_fleet, now
from tests.support.members import API, Member
from tests.support.opamp_agent import Agent
from tests.support.rolling import FAILED, RollingGroup, no_executions

__all__ = ["ann", "fleet", "no_executions", "now"]
pytestmark = pytest.mark.usefixtures("no_executions")

ELSEWHERE = {
    "configuration.published": "test_events.py",
    "test.failed": "test_suites.py",
    "rollout.rollback_failed": "test_rollouts.py",
    "instance.silent": "test_notifications.py",
    "instance.stale": "test_notifications.py",
    "token.expiring": "test_notifications.py",
    "fleet.limit_near": "test_notifications.py",
    "webhook.test": "test_webhooks.py",
}


def told(fleet: Fleet) -> list[str]:
    """The types since the last call."""
    organization_id = fleet.member.organization_id
    sent = waiting(organization_id)
    events.sent(sent)
    return sorted(event.type for event in sent if event.type != "configuration.published")


@pytest.fixture
def agent(fleet: Fleet, now: Clock) -> Agent:
    """A host that applied version 1, of which nothing is told."""
    fleet.assign(1)
    agent = fleet.agent(host_name="web-1")
    agent.start()
    agent.applies()
    assert told(fleet) == []
    return agent


def reports(agent: Agent, **news: object) -> None:
    agent.tells(json.dumps({"v": 1, "supervisor": {"version": "0.3.0"}, **news}).encode())


def assigned(fleet: Fleet, agent: Agent, n: int) -> None:
    fleet.assign(n)
    agent.heartbeat()


def test_a_failure_is_told_once_and_what_takes_its_place_is_a_recovery(fleet: Fleet, agent: Agent, now: Clock) -> None:
    assigned(fleet, agent, 2)
    agent.report(FAILED, "no such exporter")
    assert told(fleet) == ["instance.apply_failed"]
    agent.heartbeat()
    assert told(fleet) == []

    now.moves(seconds=30)
    assigned(fleet, agent, 3)
    agent.applies()
    assert told(fleet) == ["instance.recovered"]


def test_an_assignment_that_works_is_told_to_nobody(fleet: Fleet, agent: Agent) -> None:
    assigned(fleet, agent, 2)
    agent.applies()

    assert told(fleet) == []


def test_what_is_changed_on_a_host_is_told_and_not_that_it_is_undone(fleet: Fleet, agent: Agent, now: Clock) -> None:
    reports(agent, config={"drifted": ["exporters"]})
    assert told(fleet) == ["instance.drifted"]
    now.moves(seconds=30)
    reports(agent, config={"drifted": ["exporters"]})
    reports(agent, config={"drifted": []})

    assert told(fleet) == []


def leaves(agent: Agent, _: Clock) -> None:
    agent.leaves()


def is_silent(_: Agent, now: Clock) -> None:
    now.moves(minutes=6)


def is_stale(_: Agent, now: Clock) -> None:
    now.moves(minutes=20)


def is_ill(agent: Agent, _: Clock) -> None:
    agent.says_health(healthy=False, error="no route")


def loops(agent: Agent, _: Clock) -> None:
    said = "The collector ended 3 times in the 10 minutes after this configuration was applied"
    agent.report(FAILED, said, own=True)


def test_a_host_recovers_once_after_every_way_back(fleet: Fleet, agent: Agent, now: Clock) -> None:
    courses: list[tuple[Callable[[Agent, Clock], None], list[str]]] = [
        (leaves, ["instance.stopped"]),
        (is_silent, []),
        (is_stale, []),
        (is_ill, ["instance.apply_failed"]),
        (loops, ["instance.apply_failed"]),
    ]
    for n, ((happens, before), anew) in enumerate(itertools.product(courses, (False, True)), start=2):
        name = f"{happens.__name__}, and {'another start' if anew else 'the same process'}"
        happens(agent, now)
        assert told(fleet) == before, name
        now.moves(seconds=30)
        if anew:
            # Its collector is not healthy yet.
            agent.health = wire.ComponentHealth(healthy=False)
            agent.start()
            now.moves(seconds=30)
        if happens is loops:
            assigned(fleet, agent, n)
            agent.applies()
        agent.says_health(healthy=True)
        assert told(fleet) == ["instance.recovered"], name
        now.moves(seconds=30)
        agent.says_health(healthy=False)
        agent.says_health(healthy=True)
        assert told(fleet) == [], name
        now.moves(hours=1)
        agent.heartbeat()
        told(fleet)


def test_a_pod_of_which_no_silence_was_told_does_not_recover(ann: Member, now: Clock) -> None:
    pods = make_fleet(ann, "kubernetes-supervisor", "Pods")
    pods.assign(1)
    pod = pods.agent()
    pod.start()
    pod.applies()
    now.moves(minutes=20)
    pod.heartbeat()
    assert told(pods) == []
    pod.says_health(healthy=False, error="no route")
    now.moves(seconds=30)
    pod.says_health(healthy=True)

    assert told(pods) == ["instance.apply_failed", "instance.recovered"]


@pytest.mark.parametrize("well", [True, False], ids=["well when it is replaced", "well later"])
def test_a_host_that_was_installed_again_recovers_when_its_entry_is_replaced(
    fleet: Fleet, agent: Agent, now: Clock, well: bool
) -> None:
    former = fleet.instances()[0]["id"]
    now.moves(minutes=20)
    again = fleet.agent(host_name="web-1")
    again.start()
    if well:
        again.applies()
    assert told(fleet) == []
    replaced = fleet.member.http.post(f"{API}/fleets/{fleet.id}/instances/{former}/replace", json={})
    assert replaced.status_code == 200, replaced.text
    assert told(fleet) == (["instance.recovered"] if well else [])
    again.applies()

    assert told(fleet) == ([] if well else ["instance.recovered"])


@pytest.mark.parametrize(
    ("act", "fares", "types"),
    [
        ("", "well", ["rollout.finished"]),
        ("abort", "well", ["rollout.finished"]),
        ("supersede", "well", ["rollout.finished"]),
        ("", "fails", ["instance.apply_failed", "instance.recovered", "rollout.rolled_back"]),
        ("halt", "fails", ["instance.apply_failed", "rollout.halted"]),
    ],
)
def test_a_rollout_tells_that_it_started_and_how_it_ended(
    fleet: Fleet, now: Clock, act: str, fares: str, types: list[str]
) -> None:
    group = RollingGroup.of(fleet, now, hosts=1, fares=fares)
    told(fleet)
    strategy = {"steps": [{"percent": 100, "soak_seconds": 60}], "on_failure": "halt" if act == "halt" else "roll_back"}
    rollout = group.start(strategy)
    assert told(fleet) == ["rollout.started"]
    if act == "abort":
        assert group.act(rollout, "pause").status_code == 200
        assert told(fleet) == []
        assert group.act(rollout, "abort").status_code == 200
    if act == "supersede":
        fleet.assign(3)
    else:
        group.goes_on(rollout, lambda shown: shown["status"] not in ("in_progress", "rolling_back"))

    assert told(fleet) == types


def test_every_type_of_event_has_a_course() -> None:
    courses = Path(__file__).read_text().partition("def told")[2]

    assert {*(name for name in EVENT_TYPES if f'"{name}"' in courses), *ELSEWHERE} == set(EVENT_TYPES)
