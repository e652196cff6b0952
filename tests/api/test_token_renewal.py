"""A renewed token reaches hosts that prove themselves, and nobody else."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from nacl.exceptions import CryptoError
from nacl.public import SealedBox
from nacl.signing import SigningKey

from headgate.deployments import own_tokens
from headgate.fleets import service, tokens
from headgate.fleets.model import Grace
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.identity import member_store, sessions
from headgate.identity.model import Member, User
from headgate.webhooks.notifications import watching
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API
from tests.support.opamp_agent import Agent
from tests.support.signing_host import SigningHost
from tests.support.world import joined, session_of

__all__ = ["ann", "fleet", "now"]
ABLE = b'{"v":1,"supervisor":{"version":"1"},"can":["restart","renew_token"]}'


@pytest.fixture
def admin(organization_id: str) -> Caller:
    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    member = Member(organization_id, Principal("user", user.id, user.email), "admin", "active", clock.now())
    member_store.add_user(member)
    return sessions.caller(sessions.begin(user, "cli", clock.now(), organization_id)[0], organization_id)


@pytest.fixture
def host(fleet: Fleet) -> SigningHost:
    return SigningHost.of(fleet)


@pytest.fixture
def agent(host: SigningHost, now: Clock) -> Agent:
    """It signs, and its supervisor takes a renewed token."""
    agent = host.agent()
    agent.start()
    agent.tells(ABLE)
    now.moves(seconds=1)
    return agent


def sealed(answer: wire.ServerToAgent) -> bytes | None:
    """What the answer has of a token."""
    if not answer.HasField("custom_message"):
        return None
    token = json.loads(answer.custom_message.data).get("token")
    return base64.b64decode(token) if token else None


def opened(answer: wire.ServerToAgent, key: SigningKey) -> str | None:
    content = sealed(answer)
    return SealedBox(key.to_curve25519_private_key()).decrypt(content).decode() if content else None


def events(fleet: Fleet, instance_id: object) -> list[str]:
    path = f"{API}/fleets/{fleet.id}/instances/{instance_id}/history"
    return [one["event"] for one in fleet.member.http.get(path).json()["items"]]


def on_old_token(fleet: Fleet) -> list[str]:
    answer = fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances", params={"old_token": "true"})
    return sorted(one["host_name"] for one in answer.json()["items"])


def test_a_renewed_token_reaches_a_host_sealed_for_its_key_and_is_used(
    fleet: Fleet, host: SigningHost, agent: Agent, admin: Caller, now: Clock
) -> None:
    away = SigningHost.of(fleet).agent(host_name="away")
    away.start()
    now.moves(seconds=1)
    assert sealed(agent.heartbeat()) is None
    service.renew_token(admin, fleet.id, "7d")

    token = opened(agent.heartbeat(), host.key)
    assert token == tokens.value_of(fleet.id, 2)
    with pytest.raises(CryptoError):
        opened(agent.heartbeat(), SigningKey.generate())
    assert on_old_token(fleet) == ["away", "edge-1"]

    (before,) = [one for one in fleet.instances() if one["host_name"] == "edge-1"]
    host.token = token
    assert sealed(agent.heartbeat()) is None
    assert on_old_token(fleet) == ["away"]
    assert "token_renewed" in events(fleet, before["id"])
    assert len(fleet.instances()) == 2


def test_a_group_s_own_token_is_renewed_the_same_way_and_never_for_the_fleet_s(
    fleet: Fleet, agent: Agent, host: SigningHost, admin: Caller, now: Clock
) -> None:
    bank = fleet.add_group("bank", 1)
    path = f"{API}/fleets/{fleet.id}/deployments/{bank}/env"
    assert fleet.member.http.patch(path, json={"secrets": {"KEY": "x"}}).status_code == 200
    own = SigningHost.of(fleet, bank, tokens.value_of(bank, 1))
    teller = own.agent(host_name="teller")
    teller.start()
    teller.tells(ABLE)
    # The fleet's token, in the group that has its own.
    guest = SigningHost.of(fleet, bank)
    visitor = guest.agent(host_name="visitor")
    visitor.start()
    visitor.tells(ABLE)
    now.moves(seconds=1)
    own_tokens.renew(admin, fleet.id, bank, "1d")
    service.renew_token(admin, fleet.id, "1d")

    # Hosts that still use the fleet's former token are listed, even if their group has a token of its own since.
    left = fleet.member.http.get(f"{API}/fleets/{fleet.id}/token").json()
    assert sorted(host["host_name"] for host in left["hosts"]) == ["edge-1", "visitor"]
    assert opened(teller.heartbeat(), own.key) == tokens.value_of(bank, 2)
    assert opened(visitor.heartbeat(), guest.key) == tokens.value_of(fleet.id, 2)
    assert opened(agent.heartbeat(), host.key) == tokens.value_of(fleet.id, 2)


def test_whoever_has_the_former_token_alone_gets_no_other(
    fleet: Fleet, host: SigningHost, agent: Agent, admin: Caller, now: Clock
) -> None:
    unsigned = fleet.agent(host_name="unsigned")
    unsigned.start()
    unsigned.tells(ABLE)
    now.moves(seconds=1)
    service.renew_token(admin, fleet.id, "7d")
    now.moves(seconds=1)

    assert sealed(unsigned.heartbeat()) is None
    # A thief with a key of his own: as a new host, for the id of a host without a key, and for one with a key.
    for uid in (None, unsigned.uid, agent.uid):
        thief = SigningHost.of(fleet).agent(**({"uid": uid} if uid else {}))
        thief.start()
        assert sealed(thief.tells(ABLE)) is None
        assert sealed(thief.heartbeat()) is None
    # A message of the host again, and another key's signature under the host's.
    agent.heartbeat()
    assert host.posts(*host.sent[-1]).json()["code"] == "message_repeated"
    forged = replace(agent, sequence_num=900).message().SerializeToString()
    by_another = SigningHost.of(fleet).signature(forged).split(".")
    by_another[1] = host.signature(forged).split(".")[1]
    assert host.posts(forged, ".".join(by_another)).json()["code"] == "signature_invalid"


def test_a_token_that_ended_at_once_is_answered_nothing(
    fleet: Fleet, host: SigningHost, agent: Agent, admin: Caller
) -> None:
    service.renew_token(admin, fleet.id, "none")
    assert host.posts(agent.message().SerializeToString()).status_code == 401


def act(fleet: Fleet, instance_id: object, what: str) -> Any:
    path = f"{API}/fleets/{fleet.id}/instances/{instance_id}/{what}"
    assert fleet.member.http.post(path).status_code == 403
    organization_id = fleet.member.organization_id
    response = fleet.member.http.post(path, headers=session_of(joined(organization_id, "contributor"), organization_id))
    assert response.status_code == 200, response.text
    return response.json()


def test_a_host_that_is_cut_off_is_refused_and_gets_no_renewed_token_until_it_is_let_in(
    fleet: Fleet, host: SigningHost, agent: Agent, admin: Caller
) -> None:
    (seen,) = fleet.instances()
    assert act(fleet, seen["id"], "cut-off")["cut_off_at"] is not None
    service.renew_token(admin, fleet.id, "7d")
    before = fleet.instances()
    for _ in range(2):
        refused = host.posts(agent.full().SerializeToString())
        assert (refused.status_code, refused.json()["code"]) == (403, "host_cut_off")
    assert fleet.instances() == before
    assert before[0]["state_message"] == "A person has cut this host off: its messages are refused"
    restart = fleet.member.http.post(f"{API}/fleets/{fleet.id}/instances/{seen['id']}/restart")
    assert (restart.status_code, restart.json()["code"]) == (409, "instance_not_reporting")
    assert "cut off" in restart.json()["detail"]
    assert {"cut_off", "refused"} <= set(events(fleet, seen["id"]))

    assert act(fleet, seen["id"], "let-in")["cut_off_at"] is None
    assert fleet.instances()[0]["state_message"] is None
    assert opened(agent.heartbeat(), host.key) == tokens.value_of(fleet.id, 2)


def test_fifty_hosts_are_renewed_with_two_away(fleet: Fleet, admin: Caller, now: Clock) -> None:
    hosts = [SigningHost.of(fleet) for _ in range(50)]
    agents = [host.agent(host_name=f"web-{n}") for n, host in enumerate(hosts)]
    for agent in agents:
        agent.start()
        agent.tells(ABLE)
    now.moves(seconds=1)
    grace: Grace = "unused"
    service.renew_token(admin, fleet.id, grace)
    for host, agent in list(zip(hosts, agents, strict=True))[:48]:
        host.token = opened(agent.heartbeat(), host.key) or ""
        agent.heartbeat()

    assert on_old_token(fleet) == ["web-48", "web-49"]
    watching.watch(now.at, now.at)
    assert hosts[48].posts(agents[48].message().SerializeToString()).status_code == 200
    assert len({str(one["id"]) for one in fleet.instances()}) == 50
    for host, agent in list(zip(hosts, agents, strict=True))[48:]:
        host.token = opened(agent.heartbeat(), host.key) or ""
        agent.heartbeat()
    assert on_old_token(fleet) == []
    watching.watch(now.at, now.at)
    hosts[48].token = fleet.token
    assert hosts[48].posts(agents[48].message().SerializeToString()).status_code == 401
    assert hosts[47].posts(agents[47].message().SerializeToString()).status_code == 200


def test_a_group_s_former_token_ends_when_no_host_uses_it(fleet: Fleet, admin: Caller, now: Clock) -> None:
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/env"
    assert fleet.member.http.patch(path, json={"secrets": {"KEY": "x"}}).status_code == 200
    own = SigningHost.of(fleet, token=tokens.value_of(fleet.deployment_id, 1))
    teller = own.agent()
    teller.start()
    teller.tells(ABLE)
    own_tokens.renew(admin, fleet.id, fleet.deployment_id, "unused")
    watching.watch(now.at, now.at)
    assert sealed(teller.heartbeat()) is None
    now.moves(minutes=10)
    own_tokens.renew(admin, fleet.id, fleet.deployment_id, "unused")
    own.token = tokens.value_of(fleet.deployment_id, 2)
    own.token = opened(teller.heartbeat(), own.key) or ""
    teller.heartbeat()
    watching.watch(now.at, now.at)
    own.token = tokens.value_of(fleet.deployment_id, 2)
    assert own.posts(teller.message().SerializeToString()).status_code == 401
