"""How many instances a fleet may have, and how many new ones in a minute."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from headgate.fleets import keys
from headgate.foundation.settings import settings
from headgate.storage import aws, items
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, make_fleet, now
from tests.support.members import Member

__all__ = ["ann", "fleet", "now"]

Limits = Callable[..., None]


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Limits:
    def set_limits(instances: int = 5_000, a_minute: int = 600) -> None:
        monkeypatch.setenv("HEADGATE_INSTANCE_LIMIT", str(instances))
        monkeypatch.setenv("HEADGATE_NEW_INSTANCES_PER_MINUTE", str(a_minute))
        settings.cache_clear()

    return set_limits


def joins(fleet: Fleet, n: int = 1) -> list[int]:
    """What new agents are answered, many at once."""
    bodies = [fleet.agent(host_name=f"new-{place}").full().SerializeToString() for place in range(n)]
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(lambda body: fleet.post(body).status_code, bodies))


def room(fleet: Fleet) -> dict[str, object]:
    item = aws.dynamodb().get_item(TableName=settings().fleets_table, Key=items.marshal(keys.room(fleet.id)))["Item"]
    return dict(items.unmarshal(item))


def test_a_fleet_takes_exactly_as_many_as_it_may_have_however_many_come_at_once(fleet: Fleet, limits: Limits) -> None:
    limits(instances=20)
    answers = joins(fleet, 60)

    assert (answers.count(200), answers.count(503)) == (20, 40)
    assert fleet.counts() == {"total": 20, "pending_pickup": 20}
    assert room(fleet)["total"] == 20


def test_a_fleet_takes_exactly_so_many_a_minute_however_many_come_at_once(
    fleet: Fleet, limits: Limits, now: Clock
) -> None:
    limits(a_minute=15)
    answers = joins(fleet, 40)
    assert (answers.count(200), answers.count(503)) == (15, 25)
    now.moves(seconds=60)
    answers = joins(fleet, 40)

    assert (answers.count(200), answers.count(503)) == (15, 25)
    assert fleet.counts()["total"] == 30


def test_who_is_refused_is_told_when_to_ask_again(fleet: Fleet, limits: Limits, now: Clock) -> None:
    limits(a_minute=1)
    now.moves(seconds=15)
    joins(fleet)
    answer = fleet.post(fleet.agent().full().SerializeToString())

    assert (answer.status_code, answer.json()["code"]) == (503, "fleet_full")
    assert answer.json()["detail"] == "The fleet has reached its limit of 1 new instances a minute"
    # Until the minute is over, and not all in the same second.
    assert 45 <= int(answer.headers["retry-after"]) <= 65
    limits(instances=1)
    answer = fleet.post(fleet.agent().full().SerializeToString())
    assert answer.json()["detail"] == "The fleet has reached its limit of 1 instances"
    assert 60 <= int(answer.headers["retry-after"]) <= 80


def test_whoever_is_known_is_never_refused(fleet: Fleet, limits: Limits, now: Clock) -> None:
    fleet.assign(1)
    agents = [fleet.agent(host_name=f"edge-{n}") for n in range(3)]
    for agent in agents:
        agent.start()
    limits(instances=1, a_minute=1)
    for agent in agents:
        agent.heartbeat()
        agent.applies()
        agent.leaves()
        agent.start()
        now.moves(minutes=20)
        agent.heartbeat()
        fleet.agent(group=fleet.add_group(agent.host_name, 1), uid=agent.uid).start()

    assert joins(fleet) == [503]
    assert fleet.counts()["total"] == 3


def test_a_fleet_that_is_full_takes_the_place_of_those_that_are_forgotten(
    fleet: Fleet, limits: Limits, now: Clock
) -> None:
    limits(instances=3)
    staying = fleet.agent()
    staying.start()
    assert joins(fleet, 3) != [200, 200, 200]
    now.moves(days=15)
    staying.heartbeat()
    assert joins(fleet) == [503]
    now.moves(days=16)

    assert sorted(joins(fleet, 4)) == [200, 200, 503, 503]
    assert fleet.counts()["total"] == 3
    assert room(fleet)["total"] == 3


def test_whoever_comes_back_after_being_forgotten_joins_anew(fleet: Fleet, limits: Limits, now: Clock) -> None:
    limits(instances=1)
    away = fleet.agent()
    away.start()
    now.moves(days=40)
    assert joins(fleet) == [200]

    assert fleet.post(away.message().SerializeToString()).status_code == 503
    assert fleet.counts()["total"] == 1
    now.moves(days=40)
    away.heartbeat()
    assert fleet.counts()["total"] == 1


def test_a_fleet_from_before_there_was_a_limit_is_counted(fleet: Fleet, limits: Limits) -> None:
    joins(fleet, 5)
    aws.dynamodb().delete_item(TableName=settings().fleets_table, Key=items.marshal(keys.room(fleet.id)))
    limits(instances=7)
    answers = joins(fleet, 6)

    assert (answers.count(200), answers.count(503)) == (2, 4)
    assert fleet.counts()["total"] == 7


def test_each_fleet_has_a_limit_of_its_own(fleet: Fleet, ann: Member, limits: Limits) -> None:
    limits(instances=1)
    other = make_fleet(ann, label="Other")

    assert (joins(fleet), joins(other), joins(fleet), joins(other)) == ([200], [200], [503], [503])


def test_a_refused_instance_leaves_nothing_behind(fleet: Fleet, limits: Limits) -> None:
    limits(instances=1)
    joins(fleet, 4)

    assert len(fleet.instances()) == 1
    assert room(fleet)["joined"] == 1
    message = fleet.agent().message()
    # Not even one that is given another id.
    message.flags = wire.AgentToServerFlags_RequestInstanceUid
    assert fleet.post(message.SerializeToString()).status_code == 200
    assert len(fleet.instances()) == 1


def test_an_answer_to_one_that_is_known_costs_no_more_for_the_limit(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    asked: list[str] = []
    aws.dynamodb().meta.events.register("before-call.dynamodb", lambda model, **_: asked.append(model.name))
    now.moves(seconds=30)
    agent.heartbeat()
    assert asked == ["BatchGetItem"]
    now.moves(minutes=3)
    agent.heartbeat()

    # The second of the two is the fleet's selectors, once a minute in a process. Now the group learns, once, that its
    # version runs healthily.
    assert asked[1:] == ["BatchGetItem", "BatchGetItem", "GetItem", "TransactWriteItems", "TransactWriteItems"]
    del asked[:]
    now.moves(minutes=4)
    agent.heartbeat()
    assert asked == ["BatchGetItem", "BatchGetItem", "GetItem", "TransactWriteItems"]
