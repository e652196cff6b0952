"""A host's key decides who may speak for an instance: what is stored of it never changes by a message of another."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from nacl.signing import SigningKey

from headgate.fleets import keys, tokens
from headgate.opamp import senders
from headgate.storage import table
from tests.support.fleet_of_agents import Clock, Fleet, ann, changes_of, fleet, make_fleet, now, version
from tests.support.members import API, Member
from tests.support.opamp_agent import Agent
from tests.support.signing_host import SigningHost
from tests.support.world import joined, session_of

__all__ = ["ann", "fleet", "now"]


@pytest.fixture
def host(fleet: Fleet, now: Clock) -> SigningHost:
    fleet.assign(1)
    return SigningHost.of(fleet)


@pytest.fixture
def agent(host: SigningHost) -> Agent:
    """It has registered its key, and applied version 1."""
    agent = host.agent()
    agent.start()
    agent.applies()
    return agent


def shown(fleet: Fleet) -> dict[str, Any]:
    (seen,) = fleet.instances()
    return seen


def item(fleet: Fleet, instance_id: object) -> Any:
    return table.fleets.get(keys.instance(fleet.id, str(instance_id)))


def events(fleet: Fleet, instance_id: object) -> list[tuple[str, object]]:
    path = f"{API}/fleets/{fleet.id}/instances/{instance_id}/history"
    return [(one["event"], one["reason"]) for one in fleet.member.http.get(path).json()["items"]]


def in_all(fleet: Fleet) -> tuple[int, int]:
    """The fleet's collectors, and those without a key."""
    seen = fleet.member.http.get(f"{API}/fleets/{fleet.id}").json()
    return seen["instances"]["total"], seen["hosts_without_key"]


def test_the_first_signed_message_registers_the_key_and_hosts_without_one_are_counted(
    fleet: Fleet, host: SigningHost, agent: Agent
) -> None:
    old = fleet.agent(host_name="old")
    old.start()

    seen = {str(one["host_name"]): one for one in fleet.instances()}
    assert {name: one["host_key"] is not None for name, one in seen.items()} == {"edge-1": True, "old": False}
    assert in_all(fleet) == (2, 1)
    listed = fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances", params={"without_key": "true"}).json()["items"]
    assert [one["host_name"] for one in listed] == ["old"]
    assert "key_registered" in [event for event, _ in events(fleet, seen["edge-1"]["id"])]
    # A host that is upgraded registers its key with its next start.
    SigningHost.of(fleet).agent(uid=old.uid, host_name="old").start()
    assert in_all(fleet) == (2, 0)


@pytest.mark.parametrize(
    ("sends", "code", "reason"),
    [
        (lambda host, body: host.fleet.post(body), "signature_missing", "it was not signed"),
        (lambda host, body: host.posts(body + b"\x00\x00"), "not_opamp", None),
        (lambda host, body: host.posts(body, host.signature(body + b"x")), "signature_invalid", None),
        (lambda host, body: host.posts(body, "v1.x"), "signature_invalid", None),
        (
            lambda host, body: host.posts(*host.sent[-1]),
            "message_repeated",
            "its signed number, or a later one, came before: it was late, or is an old one",
        ),
        (
            lambda host, body: host.posts(*host.sent[0]),
            "message_repeated",
            "its signed number, or a later one, came before: it was late, or is an old one",
        ),
    ],
    ids=["unsigned", "not a message", "of another body", "malformed", "the last one again", "the first one again"],
)
def test_what_does_not_prove_to_be_of_the_host_is_refused_and_changes_nothing(
    fleet: Fleet,
    host: SigningHost,
    agent: Agent,
    sends: Callable[[SigningHost, bytes], Any],
    code: str,
    reason: str | None,
) -> None:
    instance_id = shown(fleet)["id"]
    stored = item(fleet, instance_id)
    forged = replace(agent, sequence_num=900, health=type(agent.health)(healthy=False, last_error="x"))
    for _ in range(5):
        response = sends(host, forged.full().SerializeToString())
        assert (response.status_code, response.json()["code"]) == (400 if code == "not_opamp" else 403, code)

    assert item(fleet, instance_id) == stored
    refused = [why for event, why in events(fleet, instance_id) if event == "refused"]
    assert refused == ([reason] if reason else [])
    uid = agent.uid
    for _ in range(5):
        agent.heartbeat()
    assert (agent.uid, fleet.state()) == (uid, "applied")


def test_an_unstored_heartbeat_cannot_be_repeated(fleet: Fleet, host: SigningHost, agent: Agent) -> None:
    for _ in range(3):
        agent.heartbeat()
    for sent in host.sent[-3:]:
        assert host.posts(*sent).json()["code"] == "message_repeated"


def test_a_host_of_that_uid_in_another_fleet_lets_none_repeat_a_heartbeat(
    fleet: Fleet, ann: Member, host: SigningHost, agent: Agent
) -> None:
    for _ in range(3):
        agent.heartbeat()
    SigningHost.of(make_fleet(ann, label="elsewhere")).agent(uid=agent.uid).start()

    assert [host.posts(*sent).status_code for sent in host.sent[-3:]] == [403] * 3


def test_a_message_is_signed_for_its_token_and_group(fleet: Fleet, host: SigningHost, agent: Agent) -> None:
    """A captured message is good for nothing with another token, or in another group."""
    other = fleet.add_group("other", 1)
    body = agent.message().SerializeToString()
    signature = host.signature(body)
    response = fleet.post(body, group=other, **{"x-host-signature": signature})
    assert response.json()["code"] == "signature_invalid"
    assert host.posts(body, signature).status_code == 200


def test_two_hosts_with_one_uid_are_told_apart_by_their_keys(fleet: Fleet, host: SigningHost, agent: Agent) -> None:
    uid, instance_id = agent.uid, shown(fleet)["id"]
    stored = item(fleet, instance_id)
    copy = SigningHost.of(fleet).agent(uid=uid, host_name="copy", sequence_num=50)
    copy.start()
    copy.start()

    assert item(fleet, instance_id) == stored
    assert copy.uid != uid
    agent.heartbeat()
    assert agent.uid == uid
    assert sorted(str(one["host_name"]) for one in fleet.instances()) == ["copy", "edge-1"]
    assert ("refused", "another key signed it") in events(fleet, instance_id)


def test_of_two_copies_of_a_disk_the_later_start_keeps_the_uid(fleet: Fleet, host: SigningHost, agent: Agent) -> None:
    """Both have the key. An earlier start cannot be the host any more, whether a copy runs or a message is repeated."""
    uid = agent.uid
    copy = SigningHost.of(fleet, key=host.key, start=2).agent(uid=uid, status=agent.status)
    copy.start()
    agent.heartbeat()
    agent.start()

    assert (copy.uid, agent.uid != uid, len(fleet.instances())) == (uid, True, 2)


def test_a_restarted_host_is_the_same_whatever_its_numbers_begin_with(
    fleet: Fleet, host: SigningHost, agent: Agent
) -> None:
    again = SigningHost.of(fleet, key=host.key, start=7)
    back = again.agent(uid=agent.uid, status=agent.status)
    back.sequence_num = 1
    back.send(back.full())
    for _ in range(5):
        back.heartbeat()

    assert (back.uid, fleet.state()) == (agent.uid, "applied")


def test_the_key_moves_a_host_to_another_scope_with_what_is_meant_for_it(
    fleet: Fleet, host: SigningHost, agent: Agent
) -> None:
    bank = fleet.add_group("bank", 1)
    path = f"{API}/fleets/{fleet.id}/deployments/{bank}/env"
    assert fleet.member.http.patch(path, json={"secrets": {"KEY": "x"}}).status_code == 200
    instance_id = shown(fleet)["id"]
    override = {"version_number": 2, "until": "2026-11-22T12:00:00Z"}
    fleet.publish_up_to(2)
    path = f"{API}/fleets/{fleet.id}/instances/{instance_id}/override"
    assert fleet.member.http.put(path, json=override).status_code == 200
    moved = SigningHost.of(fleet, bank, tokens.value_of(bank, 1), key=host.key, start=2).agent(uid=agent.uid)
    moved.start()

    assert (moved.uid, moved.config) == (agent.uid, version(2).encode())
    assert (shown(fleet)["id"], shown(fleet)["deployment_id"]) == (instance_id, bank)
    assert {"moved", "scope_changed"} <= {event for event, _ in events(fleet, instance_id)}


@pytest.mark.parametrize("known", [True, False], ids=["known", "new"])
def test_of_two_keys_that_register_for_one_uid_at_once_exactly_one_wins(fleet: Fleet, known: bool) -> None:
    first = fleet.agent()
    if known:
        first.start()
    hosts = [SigningHost.of(fleet) for _ in range(2)]
    agents = [one.agent(uid=first.uid, host_name=f"host-{n}") for n, one in enumerate(hosts)]
    ready = threading.Barrier(2)

    def starts(agent: Agent) -> None:
        ready.wait()
        agent.start()

    threads = [threading.Thread(target=starts, args=(agent,)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(agent.uid == first.uid for agent in agents) == [False, True]
    for agent in agents:
        agent.start()
        agent.heartbeat()
    assert len({agent.uid for agent in agents}) == 2
    assert in_all(fleet) == (2, 0)


def allowed(fleet: Fleet, instance_id: object) -> Any:
    path = f"{API}/fleets/{fleet.id}/instances/{instance_id}/allow-move"
    assert fleet.member.http.post(path).status_code == 403
    organization_id = fleet.member.organization_id
    response = fleet.member.http.post(path, headers=session_of(joined(organization_id, "contributor"), organization_id))
    assert response.status_code == 200, response.text
    return response.json()


def test_a_person_lets_another_host_take_its_place_once_within_the_hour(
    fleet: Fleet, host: SigningHost, agent: Agent, now: Clock
) -> None:
    uid, instance_id = agent.uid, shown(fleet)["id"]
    assert allowed(fleet, instance_id) == {"move_allowed_until": "2026-11-21T13:00:00.000Z"}
    # The host itself does not use it up.
    agent.heartbeat()
    new = SigningHost.of(fleet).agent(uid=uid, host_name="rebuilt")
    new.start()
    assert (new.uid, shown(fleet)["host_name"]) == (uid, "rebuilt")
    agent.heartbeat()
    assert agent.uid != uid
    assert changes_of(fleet)["instance.move_allowed"] == f"fleets/{fleet.id}/instances/{instance_id}/allow-move"
    assert {"key_replaced", "move_allowed"} <= {event for event, _ in events(fleet, instance_id)}

    allowed(fleet, instance_id)
    now.moves(hours=1)
    late = SigningHost.of(fleet).agent(uid=uid)
    late.start()
    assert late.uid != uid


def test_a_permission_also_takes_a_host_without_a_key(fleet: Fleet, host: SigningHost, agent: Agent) -> None:
    """As after a host went back to an older supervisor."""
    assert fleet.post(agent.full().SerializeToString()).status_code == 403
    allowed(fleet, shown(fleet)["id"])
    older = fleet.agent(uid=agent.uid)
    older.start()

    assert (older.uid, shown(fleet)["host_key"], in_all(fleet)) == (agent.uid, None, (1, 1))


def test_refusals_are_noted_once_an_hour_and_process(fleet: Fleet, host: SigningHost, agent: Agent, now: Clock) -> None:
    instance_id = shown(fleet)["id"]
    for _ in range(2):
        for _ in range(20):
            assert fleet.post(agent.full().SerializeToString()).status_code == 403
        now.moves(hours=1)

    assert [event for event, _ in events(fleet, instance_id)].count("refused") == 2
    assert len(senders._noted) <= 20_000


def test_a_refusal_that_two_processes_note_in_one_millisecond_is_a_refusal_to_both(
    fleet: Fleet, host: SigningHost, agent: Agent
) -> None:
    instance_id = shown(fleet)["id"]
    for _ in range(2):
        # As in a process that has noted nothing yet.
        senders._noted.clear()
        assert fleet.post(agent.full().SerializeToString()).status_code == 403
    # For another reason, as a third one notes.
    SigningHost.of(fleet, key=SigningKey.generate()).agent(uid=agent.uid).start()

    assert [event for event, _ in events(fleet, instance_id)].count("refused") == 2


def test_nobody_uses_up_the_messages_of_a_host_that_signs(fleet: Fleet, host: SigningHost, agent: Agent) -> None:
    statuses = {fleet.post(agent.message().SerializeToString()).status_code for _ in range(100)}
    assert statuses == {403, 429}

    agent.heartbeat()
    assert agent.answer.instance_uid == agent.uid


def test_a_key_that_was_never_registered_proves_nothing(fleet: Fleet, now: Clock) -> None:
    """A host without a key, and a stranger that signs with one of its own in another scope."""
    bank = fleet.add_group("bank", 1)
    path = f"{API}/fleets/{fleet.id}/deployments/{bank}/env"
    assert fleet.member.http.patch(path, json={"secrets": {"KEY": "x"}}).status_code == 200
    old = fleet.agent()
    old.start()
    stranger = SigningHost.of(fleet, bank, tokens.value_of(bank, 1), key=SigningKey.generate()).agent(uid=old.uid)
    stranger.start()

    assert stranger.uid != old.uid
    assert shown(fleet)["deployment_id"] == fleet.deployment_id
