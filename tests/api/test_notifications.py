"""The sweep of each minute: what it finds, how it groups, and that nothing secret is in what it sends."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest

from headgate.deployments import own_tokens
from headgate.events import service as events
from headgate.events.model import About, Event, EventType, event
from headgate.fleets import service as fleets
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.instances.state.model import STALE_AFTER
from headgate.storage import table
from headgate.storage.retry import LostRace
from headgate.storage.table import transact, write
from headgate.webhooks.notifications import bus, grouping, keys, store, watching
from headgate.webhooks.notifications.names import Names
from headgate.webhooks.notifications.sweep import NotSwept
from tests.support import https_receiver
from tests.support.events import waiting
from tests.support.fleet_of_agents import Clock, Fleet, admin_of, ann, fleet, make_fleet, now
from tests.support.fleets import create as create_fleet
from tests.support.https_receiver import Receiver
from tests.support.webhooks import Admin, delivered, swept

__all__ = ["ann", "fleet", "now"]


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    with https_receiver.receiving(tmp_path_factory.mktemp("receiver")) as receiver:
        yield receiver


@pytest.fixture
def inbox(receiver: Receiver) -> Receiver:
    receiver.answer, receiver.received = https_receiver.accept, []
    return receiver


@pytest.fixture(autouse=True)
def _first_sweep(aws_here: object) -> None:
    """Each test begins at the same time, so that of the one before has to be forgotten."""
    write(table.events.delete(keys.sweep()))


@pytest.fixture
def on_the_bus(aws_here: object) -> Iterator[list[dict[str, Any]]]:
    """What a rule of an operator gets from the bus: filled when the test ends the sweep, by calling `read`."""
    sqs, rules = boto3.client("sqs"), boto3.client("events")
    url = sqs.create_queue(QueueName="of-a-rule")["QueueUrl"]
    arn = "arn:aws:sqs:us-east-1:123456789012:of-a-rule"
    rules.put_rule(Name="all", EventBusName=settings().event_bus, EventPattern='{"source": ["headgate"]}')
    rules.put_targets(Rule="all", EventBusName=settings().event_bus, Targets=[{"Id": "queue", "Arn": arn}])
    yield _Reading(url)
    rules.remove_targets(Rule="all", EventBusName=settings().event_bus, Ids=["queue"])
    rules.delete_rule(Name="all", EventBusName=settings().event_bus)
    sqs.delete_queue(QueueUrl=url)


class _Reading(list[dict[str, Any]]):
    def __init__(self, url: str) -> None:
        self._url = url

    def read(self) -> list[dict[str, Any]]:
        sqs = boto3.client("sqs")
        while found := sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10).get("Messages", []):
            for one in found:
                self.append(json.loads(one["Body"]))
                sqs.delete_message(QueueUrl=self._url, ReceiptHandle=one["ReceiptHandle"])
        return self


def of_hosts(organization_id: str, fleet_id: str, number: int, seconds: float = 0.0) -> list[Event]:
    """So many hosts that could not apply, spread over the seconds."""
    began = clock.now()
    return [
        event(
            "instance.apply_failed",
            organization_id,
            About(fleet_id=fleet_id, deployment_id=new_id("dep"), instance_id=new_id("ins"), name=f"host-{n}"),
            began + timedelta(seconds=seconds * n / number),
        )
        for n in range(number)
    ]


def put(some: list[Event]) -> None:
    store.put_all([events.put(one) for one in some])


def found(fleet: Fleet, since: datetime, until: datetime) -> list[Event]:
    """The events that looking at this time writes, of the fleet's organization."""
    organization_id = fleet.member.organization_id
    events.sent(waiting(organization_id))
    watching.watch(since, until)
    return waiting(organization_id)


def types(organization_id: str) -> list[EventType]:
    return [one.type for one in waiting(organization_id)]


def test_500_hosts_that_fail_within_a_minute_are_one_message(fleet: Fleet, inbox: Receiver, now: Clock) -> None:
    organization_id = fleet.member.organization_id
    admin = Admin.of(organization_id)
    made = admin.create(inbox.url, types=["instance.apply_failed"])
    put(of_hosts(organization_id, fleet.id, 500, seconds=59))
    swept()
    assert len(waiting(organization_id)) == 500
    now.moves(seconds=60)
    swept()
    delivered()
    (received,) = inbox.received

    data = received.event["data"]
    assert (data["count"], len(data["items"])) == (500, 10)
    assert [one["instance"]["name"] for one in data["items"]] == [f"host-{n}" for n in range(10)]
    assert data["fleet"]["name"] == "Edge"
    assert waiting(organization_id) == []
    assert [one["status"] for one in admin.deliveries(made["id"])] == ["delivered"]


def test_the_bus_has_each_event_by_itself(fleet: Fleet, on_the_bus: Any, now: Clock) -> None:
    organization_id = fleet.member.organization_id
    put(of_hosts(organization_id, fleet.id, 12))
    now.moves(seconds=60)
    swept()
    ours = [one for one in on_the_bus.read() if organization_id in one["detail"]["source"]]

    assert {one["detail-type"] for one in ours} == {"configuration.published", "instance.apply_failed"}
    of_them = [one["detail"] for one in ours if one["detail-type"] == "instance.apply_failed"]
    assert {one["data"]["count"] for one in of_them} == {1}
    assert len({one["id"] for one in of_them}) == 12


def test_later_ones_are_another_message_and_other_fleets_too() -> None:
    organization_id = new_id("org")
    first, second = of_hosts(organization_id, new_id("flt"), 3), of_hosts(organization_id, new_id("flt"), 2)
    later = [
        Event(one.id, one.type, one.organization_id, one.at + timedelta(seconds=61), one.about)
        for one in of_hosts(organization_id, first[0].about.fleet_id or "", 1)
    ]
    groups = grouping.due([*first, *second, *later], clock.now() + timedelta(minutes=3))

    assert sorted(len(group.events) for group in groups) == [1, 2, 3]


def test_a_message_names_things_and_links_to_them(fleet: Fleet) -> None:
    organization_id = fleet.member.organization_id
    about = About(
        fleet_id=fleet.id, deployment_id=fleet.deployment_id, configuration_id=fleet.configuration_id, version_number=1
    )
    happened = event("rollout.halted", organization_id, about, clock.now())
    document: Any = grouping.message_of(grouping.EventGroup([happened]), Names("https://headgate.example/")).document
    (item,) = document["data"]["items"]

    assert document["source"] == f"https://headgate.example/organizations/{organization_id}"
    assert document["data"]["link"] == f"{document['source']}/fleets/{fleet.id}"
    assert document["data"]["fleet"]["name"] == "Edge"
    assert item["deployment"] == {"id": fleet.deployment_id, "name": "Default"}
    assert item["configuration"]["link"] == f"{document['source']}/configurations/{fleet.configuration_id}"


def test_what_is_gone_has_no_name() -> None:
    about = About(fleet_id=new_id("flt"), deployment_id=new_id("dep"), configuration_id=new_id("cfg"))
    happened = event("rollout.halted", new_id("org"), about, clock.now())
    document: Any = grouping.message_of(grouping.EventGroup([happened]), Names("")).document

    assert "name" not in document["data"]["fleet"]
    assert set(document["data"]["items"][0]["deployment"]) == {"id"}


def test_a_host_becomes_silent_and_then_stale_once(fleet: Fleet, now: Clock) -> None:
    agent = fleet.agent(host_name="web-1")
    agent.start()
    told = []
    for _ in range(20):
        since = now.at
        now.moves(minutes=1)
        told += found(fleet, since, now.at)

    assert [(one.type, one.about.name) for one in told] == [("instance.silent", "web-1"), ("instance.stale", "web-1")]
    assert fleet.instances()[0]["state"] == "stale"


def test_the_times_are_those_at_which_the_state_changed(fleet: Fleet, now: Clock) -> None:
    heard = now.at
    fleet.agent().start()
    now.moves(minutes=20)
    _, stale = found(fleet, heard, now.at)

    assert timedelta() <= STALE_AFTER - (stale.at - heard) < timedelta(seconds=10)


def test_those_that_were_stale_for_long_are_found_after_an_outage_of_the_sweep(fleet: Fleet, now: Clock) -> None:
    """The counters no longer name them once others of their shard were heard."""
    since = now.at
    quiet = fleet.agent()
    quiet.start()
    now.moves(minutes=60)
    # In the same shard; an identifier of zeros alone is refused.
    fleet.agent(uid=b"\x01" + bytes(14) + quiet.uid[-1:]).start()

    assert [one.type for one in found(fleet, since, now.at)] == ["instance.silent", "instance.stale"]


def test_looking_at_the_same_time_again_writes_the_same_events(fleet: Fleet, now: Clock) -> None:
    since = now.at
    fleet.agent().start()
    now.moves(minutes=20)
    first = found(fleet, since, now.at)

    assert len(first) == 2
    assert found(fleet, since, now.at) == first


def test_a_copy_of_a_host_in_another_fleet_is_silent_by_itself(ann: Any, now: Clock) -> None:
    since, fleets_ = now.at, [make_fleet(ann, label=label) for label in ("Edge", "Other")]
    for each in fleets_:
        each.agent(uid=b"a copy of a host").start()
    now.moves(minutes=20)

    watching.watch(since, now.at)
    silent = [each.about.fleet_id for each in waiting(ann.organization_id) if each.type == "instance.silent"]
    assert sorted(map(str, silent)) == sorted(fleet.id for fleet in fleets_)


def test_hosts_that_said_that_they_stop_and_pods_are_not_silent(ann: Any, now: Clock) -> None:
    since = now.at
    hosts, pods = make_fleet(ann, label="Hosts"), make_fleet(ann, "kubernetes-supervisor", "Pods")
    stopping = hosts.agent()
    stopping.start()
    stopping.leaves()
    pods.agent().start()
    now.moves(minutes=20)

    assert found(hosts, since, now.at) == []
    assert found(pods, since, now.at) == []


def test_tokens_are_told_of_a_week_and_a_day_before_they_expire(fleet: Fleet, now: Clock) -> None:
    organization_id = fleet.member.organization_id
    account = identity.create_service_account(organization_id, "ci").id
    # The second one lives for less than a week.
    for name, days in (("deploy", 10), ("short", 3)):
        expires_at = now.at + timedelta(days=days)
        identity.create_token(organization_id, account, name=name, access="read", expires_at=expires_at)
    told = []
    for _ in range(11):
        since = now.at
        now.moves(days=1)
        told += found(fleet, since, now.at)

    assert [(one.type, one.about.name, one.about.reason) for one in told] == [
        ("token.expiring", "short", "It expires in a day"),
        ("token.expiring", "deploy", "It expires in 7 days"),
        ("token.expiring", "deploy", "It expires in a day"),
    ]


def test_the_token_of_a_fleet_is_told_of_too(fleet: Fleet, now: Clock) -> None:
    made = create_fleet(fleet.member, "Expiring", expires_in="180d").json()["id"]
    now.moves(days=180 - 8)
    since = now.at
    now.moves(days=2)

    assert [(one.about.fleet_id, one.about.reason) for one in found(fleet, since, now.at)] == [
        (made, "It expires in 7 days")
    ]


def test_the_own_token_of_a_group_is_told_of_and_those_before_a_renewal(fleet: Fleet, now: Clock) -> None:
    made = create_fleet(fleet.member, "Expiring", expires_in="180d").json()["id"]
    expiring = replace(fleet, id=made)
    group = expiring.add_group("own", 1)
    path = f"/api/v1/public/fleets/{made}/deployments/{group}/env"
    assert fleet.member.http.patch(path, json={"secrets": {"API_KEY": "a"}}).is_success
    now.moves(days=180 - 8)
    since = now.at
    now.moves(days=2)
    told = found(fleet, since, now.at)
    assert {(one.about.deployment_id, one.about.reason) for one in told} == {
        (None, "It expires in 7 days"),
        (group, "It expires in 7 days"),
    }

    fleets.renew_token(admin_of(expiring), made, "7d")
    own_tokens.renew(admin_of(expiring), made, group, "7d")
    since = now.at
    # Both end when they would have expired.
    now.moves(days=5, hours=12)
    previous = "The token before the last renewal expires in a day"
    told = found(fleet, since, now.at)
    assert {(one.about.deployment_id, one.about.reason) for one in told} == {(None, previous), (group, previous)}


def test_a_limit_is_told_of_once_until_there_was_room(
    fleet: Fleet, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(limit: int) -> list[dict[str, int]]:
        monkeypatch.setenv("HEADGATE_INSTANCE_LIMIT", str(limit))
        settings.cache_clear()
        return [one.about.figures for one in found(fleet, now.at, now.at)]

    for _ in range(3):
        fleet.agent().start()
    assert [told(4), told(3), told(3), told(10), told(3)] == [
        *([], [{"limit": 3, "instances": 3}], []),
        *([], [{"limit": 3, "instances": 3}]),
    ]


def test_only_one_sweep_is_under_way(fleet: Fleet, now: Clock) -> None:
    organization_id = fleet.member.organization_id
    swept()
    assert store.begin(now.at) is not None
    put(of_hosts(organization_id, fleet.id, 1))
    now.moves(minutes=2)
    assert swept().messages == 0
    # The process that held it died.
    now.moves(minutes=5)
    assert swept().messages >= 1


@pytest.mark.parametrize("fault", [LostRace(), KeyError("a defect")], ids=["a lost race", "a defect"])
def test_a_fault_of_one_organization_holds_up_no_other(
    fleet: Fleet, now: Clock, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    swept()
    mine, other = fleet.member.organization_id, new_id("org")
    transact([events.write("fleet.limit_near", one, About(figures={"limit": 1}), now.at) for one in (mine, other)])
    whole = bus.put

    def refusing(messages: Any) -> None:
        if messages[0].organization_id == mine:
            raise fault
        whole(messages)

    with monkeypatch.context() as patch:
        patch.setattr(bus, "put", refusing)
        with pytest.raises(NotSwept):
            swept()
    assert (len(types(mine)), len(types(other))) == (1, 0)
    swept()
    assert types(mine) == []


PLANTED = "planted-secret"


def test_no_event_holds_yaml_samples_or_what_a_host_said(fleet: Fleet, on_the_bus: Any, now: Clock) -> None:
    """Whatever the product writes: the outbox, the bus and the deliveries are read whole."""
    organization_id = fleet.member.organization_id
    admin = Admin.of(organization_id)
    made = admin.create(f"https://hooks.example.com/{PLANTED}")
    text = f"# {PLANTED}\nservice: {{pipelines: {{logs: {{receivers: [nop], exporters: [nop]}}}}}}\n"
    fleet.assign(fleet.publish(text))
    agent = fleet.agent()
    agent.start()
    agent.applies()
    agent.says_health(healthy=False, error=f"exporters: bearer {PLANTED}")
    swept()
    now.moves(minutes=20)
    swept()
    outbox = repr(waiting(organization_id))
    now.moves(minutes=2)
    swept()
    documents = json.dumps([one["detail"] for one in on_the_bus.read()])
    sent = [one["type"] for one in admin.deliveries(made["id"])]

    assert {"configuration.published", "instance.silent", "instance.stale"} <= set(sent)
    for read in (outbox, documents, json.dumps(admin.deliveries(made["id"]))):
        assert PLANTED not in read
